"""Names: spelling, numbers of arguments, and variables that occur once in a rule."""

from __future__ import annotations

import re
from collections import Counter
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
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.doctor.sheet import Name, Sheet
    from anygame.language.diagnostics import Diagnostic


@check("case-differs", needs_all=False)
def _case_differs(sheet: Sheet) -> Iterator[Diagnostic]:
    yield from _capitals([name for name in sheet.names if name.kind != "variable"], "")
    for names in sheet.names_by_rule:
        yield from _capitals([name for name in names if name.kind == "variable" and not name.is_unused], "?")


def _capitals(names: Sequence[Name], mark: str) -> Iterator[Diagnostic]:
    styles = Counter(map(_style, names))
    # If two spellings are equally frequent, the spelling whose capitals most other names share is usual.
    spellings = _unusual(
        names,
        lambda name: name.text.lower(),
        lambda name: name.text,
        lambda places: (len(places), styles[_style(places[0])]),
    )
    for places, usual_places in spellings:
        text, usual = shown(places[0].text), shown(usual_places[0].text)
        yield CODES["case-differs"].found(
            f"{mark}{text} (used {times(len(places))}) and {mark}{usual} "
            f"(used {times(len(usual_places))}) are different names: names are case-sensitive",
            places[0].span,
            Note("the other spelling", usual_places[0].span),
            hint=f"{mark}{usual}, if the names should be equal",
        )


def _style(name: Name) -> tuple[str, bool, bool]:
    return name.kind, name.text[:1].isupper(), name.text.isupper()


def _unusual(
    names: Iterable[Name],
    name_of: Callable[[Name], str],
    form_of: Callable[[Name], str | int],
    commonness: Callable[[list[Name]], tuple[int, ...]],
) -> Iterator[tuple[list[Name], list[Name]]]:
    """Yield the places of each unusual form of a name, with the places of its most common form."""
    for same in grouped((name_of(name), name) for name in names).values():
        forms = list(grouped((form_of(name), name) for name in same).values())
        usual = max(forms, key=commonness)
        yield from ((places, usual) for places in forms if places is not usual)


@check("relation-arity", "function-arity", needs_all=False)
def _arity(sheet: Sheet) -> Iterator[Diagnostic]:
    for kind in ("relation", "function"):
        names = [name for name in sheet.names if name.kind == kind and name.text not in KEYWORDS]
        arities = _unusual(names, lambda name: name.text, lambda name: name.arity, lambda each: (len(each),))
        for (place, *_), (usual, *_) in arities:
            yield CODES[f"{kind}-arity"].found(
                f"{shown(place.text)} has {_count(place.arity)} here and {usual.arity} elsewhere, so these "
                f"are different {kind}s",
                place.node.span,
                Note(f"with {_count(usual.arity)}", usual.node.span),
                hint="use the same number of arguments everywhere, or two names",
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
        yield CODES["unusual-character"].found(message, first.span, hint="use only letters, digits, _ and -")


@check("keyword-constant", "operator-constant", needs_all=False)
def _keyword_constant(sheet: Sheet) -> Iterator[Diagnostic]:
    constants = grouped((name.text.lower(), name) for name in sheet.names if name.kind == "constant")
    for keyword, (name, *_) in constants.items():
        if keyword in OPERATORS:
            message = f"{shown(name.text)} is an operator, but is read as an ordinary name here"
            hint = "check for a missing parenthesis before the operator"
            yield CODES["operator-constant"].found(message, name.span, hint=hint)
        elif keyword in KEYWORDS:
            message = (
                f"{shown(name.text)} is a keyword of GDL; as an ordinary name, it confuses other systems"
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
        # A variable that occurs only outside positive atoms has the diagnostic `unsafe-variable`.
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
