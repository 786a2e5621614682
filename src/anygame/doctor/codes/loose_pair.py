"""A relation between roles that is asked for one whose name stands nowhere else."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.sheet import names_of_rule
from anygame.language.diagnostics import Severity, shown
from anygame.language.rules import KEYWORDS, atoms_in
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
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


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
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
                    yield _CODE.found(message, atom.span, hint=hint)


def _pairs_roles(sheet: Sheet, key: Key) -> bool:
    """Return whether a relation is given by facts of two roles each."""
    facts = sheet.heads[key]
    roles = {*sheet.roles}
    is_pair = key[1] == 2 and key[0] not in KEYWORDS
    return is_pair and all(not fact.body and {*fact.head.arguments} <= roles for fact in facts)


CHECK: Final = Check((_CODE,), _check)
