"""Names: spelling, numbers of arguments, and variables that occur once in a rule."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.code import CODES, check
from anygame.doctor.sheet import span_of, times
from anygame.doctor.spelling import nearest
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import KEYWORDS, atoms_in, atoms_of
from anygame.language.sentences import OPERATORS
from anygame.language.terms import Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.sheet import Name, Sheet
    from anygame.language.diagnostics import Diagnostic


@check("case-differs", needs_all=False)
def _case_differs(sheet: Sheet) -> Iterator[Diagnostic]:
    yield from _capitals([name for name in sheet.names if name.kind != "variable"], "")
    for names in sheet.names_by_rule:
        yield from _capitals([name for name in names if name.kind == "variable" and not name.is_unused], "?")


def _capitals(names: Iterable[Name], mark: str) -> Iterator[Diagnostic]:
    spellings: dict[str, dict[str, list[Name]]] = defaultdict(lambda: defaultdict(list))
    styles: Counter[tuple[str, bool, bool]] = Counter()
    for name in names:
        spellings[name.text.lower()][name.text].append(name)
        styles[name.kind, *_style(name.text)] += 1
    for group in spellings.values():
        if len(group) == 1:
            continue
        # Of two equally frequent spellings, the usual one is written like most other names.
        usual = max(group, key=lambda text: (len(group[text]), styles[group[text][0].kind, *_style(text)]))
        for text, places in group.items():
            if text != usual:
                yield CODES["case-differs"].found(
                    f"{mark}{shown(text)} (used {times(len(places))}) and {mark}{shown(usual)} "
                    f"(used {times(len(group[usual]))}) are different names: capitals count",
                    places[0].span,
                    Note("the other spelling", group[usual][0].span),
                    hint=f"{mark}{shown(usual)}, if the names should be equal",
                )


def _style(text: str) -> tuple[bool, bool]:
    return text[:1].isupper(), text.isupper()


@check("relation-arity", "function-arity", needs_all=False)
def _arity(sheet: Sheet) -> Iterator[Diagnostic]:
    yield from _arities(sheet, "relation")
    yield from _arities(sheet, "function")


def _arities(sheet: Sheet, kind: str) -> Iterator[Diagnostic]:
    groups: dict[str, dict[int, list[Name]]] = defaultdict(lambda: defaultdict(list))
    for name in sheet.names:
        if name.kind == kind and name.text not in KEYWORDS:
            groups[name.text][name.arity].append(name)
    for text, group in groups.items():
        if len(group) == 1:
            continue
        usual = max(group, key=lambda arity: len(group[arity]))
        for arity, places in group.items():
            if arity != usual:
                yield CODES[f"{kind}-arity"].found(
                    f"{shown(text)} has {_count(arity)} here and {usual} elsewhere, so these are "
                    f"different {kind}s",
                    places[0].node.span,
                    Note(f"with {_count(usual)}", group[usual][0].node.span),
                    hint="use one number of arguments, or two names",
                )


def _count(arity: int) -> str:
    return "1 argument" if arity == 1 else f"{arity or 'no'} arguments"


@check("shared-name", needs_all=False)
def _shared_name(sheet: Sheet) -> Iterator[Diagnostic]:
    relations = grouped((name.text, name) for name in sheet.names if name.kind == "relation")
    functions = grouped((name.text, name) for name in sheet.names if name.kind == "function")
    for text, (first, *_) in functions.items():
        if text in relations:
            message = f"{shown(text)} is the name of a function here and of a relation elsewhere"
            note = Note("the relation", relations[text][0].span)
            yield CODES["shared-name"].found(message, first.span, note, hint="different names")


_ORDINARY: Final = re.compile(r"[A-Za-z0-9_+-]+")


@check("unusual-character", needs_all=False)
def _unusual_character(sheet: Sheet) -> Iterator[Diagnostic]:
    odd = grouped((name.text, name) for name in sheet.names if not _ORDINARY.fullmatch(name.text))
    for text, (first, *_) in odd.items():
        characters = " ".join(sorted(set(_ORDINARY.sub("", text))))
        message = f"the name {shown(text)} contains {shown(characters)}; other systems may not read it"
        yield CODES["unusual-character"].found(message, first.span, hint="letters, digits, _ and - only")


@check("keyword-constant", "operator-constant", needs_all=False)
def _keyword_constant(sheet: Sheet) -> Iterator[Diagnostic]:
    constants = grouped((name.text.lower(), name) for name in sheet.names if name.kind == "constant")
    for keyword, (name, *_) in constants.items():
        if keyword in OPERATORS:
            message = f"{shown(name.text)} is an operator, but here it is read as a name, probably by mistake"
            hint = "is a parenthesis missing before it?"
            yield CODES["operator-constant"].found(message, name.span, hint=hint)
        elif keyword in KEYWORDS:
            message = (
                f"{shown(name.text)} is a keyword of GDL, but here it is an ordinary name, which "
                "confuses other systems"
            )
            yield CODES["keyword-constant"].found(message, name.span, hint="another name")


_ROLE_FIRST: Final = frozenset(("legal", "does", "goal", "input", "sees", "percept"))


@check("unknown-role")
def _unknown_role(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.roles:
        return
    names = ", ".join(map(str, sheet.roles[:5]))
    for rule in sheet.program.rules:
        for atom in atoms_of(rule):
            if atom.predicate in _ROLE_FIRST and len(atom.arguments) == 2:
                role = atom.arguments[0]
                if not isinstance(role, Variable) and role not in sheet.roles:
                    node = atom.node
                    place = node.argument(0).span if node and node.children else span_of(atom, rule)
                    yield CODES["unknown-role"].found(
                        f"{role} is not a role; the roles are {names}", place, hint=names
                    )


@check("single-variable", needs_all=False)
def _single_variable(sheet: Sheet) -> Iterator[Diagnostic]:
    for each in sheet.names_by_rule:
        names = [name for name in each if name.kind == "variable" and name.rule.body]
        if not names:
            continue
        counts = Counter(name.text for name in names)
        # Variables outside of positive atoms are unsafe, which is a worse fault.
        positive_atoms = [atom for atom, positive in atoms_in(names[0].rule.body) if positive]
        joined = {variable.name for atom in positive_atoms for variable in atom.variables()}
        for name in names:
            if counts[name.text] == 1 and not name.is_unused and name.text in joined:
                others = [text for text in counts if text != name.text]
                near = nearest(name.text, others, is_stray=True)
                yield CODES["single-variable"].found(
                    f"?{shown(name.text)} occurs nowhere else in this rule",
                    name.span,
                    hint=f"?{shown(near)}" if near else f"?_{shown(name.text)}, if any value is allowed",
                )
