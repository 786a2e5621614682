"""Variables that stand nowhere else in a rule."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL, PRACTICE, Check, Code
from anygame.doctor.sheet import names_of_rule
from anygame.language.diagnostics import Severity, shown
from anygame.language.rules import KEYWORDS, atoms_in
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

_NEARNESS: Final = 0.8

_SINGLE_VARIABLE: Final = Code(
    "single-variable",
    Severity.INFO,
    "a variable used once in its rule",
    demand="A variable stands in its rule twice at least, or its name starts with an underscore.",
    why="A variable joins things; one that stands alone is often a misspelt one. Where any value will do, "
    "?_name says so.",
    source=GDL + "; the convention of Prolog",
    bad="(<= (p ?row) (q ?row ?col))",
    good="(<= (p ?row) (q ?row ?_col))",
)


def _single_variable(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report variables that join nothing, unless their names start with an underscore."""
    for each in sheet.names_by_rule:
        names = [name for name in each if name.kind == "variable" and name.rule.body]
        if not names:
            continue
        counts = Counter(name.text for name in names)
        joined = _in_positive_atoms(names[0].rule)
        for name in names:
            if counts[name.text] == 1 and name.text[0] != "_" and name.text in joined:
                others = [text for text in counts if text != name.text]
                near = get_close_matches(name.text, others, n=1, cutoff=_NEARNESS)
                yield _SINGLE_VARIABLE.found(
                    f"?{shown(name.text)} stands nowhere else in this rule",
                    name.span,
                    hint=f"?{shown(near[0])}" if near else f"?_{shown(name.text)}, if any value will do",
                )


def _in_positive_atoms(rule: Rule) -> set[str]:
    """Return the names of the variables that a body could bind; the others are unsafe, which is worse."""
    atoms = [atom for atom, positive in atoms_in(rule.body) if positive]
    return {variable.name for atom in atoms for variable in atom.variables()}


_LOOSE_PAIR: Final = Code(
    "loose-pair",
    Severity.WARNING,
    "who the other role is, asked where nothing is said of it",
    demand="Where a rule asks for the other role, it says something of that one.",
    why="There always is another role: to ask for it alone tests nothing, what was asked of it is missing.",
    source=PRACTICE,
    bad="(role x)\n(role o)\n(other x o)\n(other o x)\n"
    "(<= (ahead ?r) (true (score ?r ?n)) (other ?r ?q) (less 0 ?n))\n(less 0 1)",
    good="(role x)\n(role o)\n(other x o)\n(other o x)\n"
    "(<= (ahead ?r) (true (score ?r ?n)) (other ?r ?q) (true (score ?q ?m)) (less ?m ?n))\n(less 0 1)",
)


def _loose_pair(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report literals that only pair roles, with a variable that stands nowhere else in the rule."""
    pairing = {key for key in sheet.heads if _pairs_roles(sheet, key)}
    for rule in sheet.program.rules if pairing else ():
        often = Counter(name.text for name in names_of_rule(rule) if name.kind == "variable")
        for atom, positive in atoms_in(rule.body):
            if positive and atom.key in pairing:
                variables = [each for each in atom.arguments if isinstance(each, Variable)]
                loose = [each for each in variables if often[each.name] == 1 and each.name[0] != "_"]
                if loose:
                    message = f"{shown(str(loose[0]))} stands nowhere else in this rule: there always is one"
                    hint = f"a condition on {shown(str(loose[0]))}, or leave {shown(str(atom))} out"
                    yield _LOOSE_PAIR.found(message, atom.span, hint=hint)


def _pairs_roles(sheet: Sheet, key: Key) -> bool:
    """Return whether a relation is given by facts of two roles each."""
    facts = sheet.heads[key]
    roles = {*sheet.roles}
    is_pair = key[1] == 2 and key[0] not in KEYWORDS
    return is_pair and all(not fact.body and {*fact.head.arguments} <= roles for fact in facts)


CHECKS: Final = (
    Check((_SINGLE_VARIABLE,), _single_variable, needs_all=False),
    Check((_LOOSE_PAIR,), _loose_pair),
)
