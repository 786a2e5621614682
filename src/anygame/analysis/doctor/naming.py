"""Checks of names: spelling, capitals, numbers of arguments, names used once."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.registry import check, define, found
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import KEYWORDS, atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.analysis.doctor.sheet import Name, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

_ORDINARY: Final = re.compile(r"[A-Za-z0-9_+-]+")
_OPERATORS: Final = frozenset(("<=", "not", "and", "or", "distinct"))
_SHORTEST_TYPO: Final = 4
_COMMON: Final = 3
_NEARNESS: Final = 0.8
_MOST_COMPARED: Final = 400


@check("case-differs", Severity.WARNING, "names that differ only by capitals", needs_all=False)
def capitals(sheet: Sheet) -> Iterator[Diagnostic]:
    """Compare names over the whole sheet, and variables inside each rule."""
    yield from _capitals([name for name in sheet.names if name.kind != "variable"], "")
    by_rule: dict[int, list[Name]] = defaultdict(list)
    for name in sheet.names:
        if name.kind == "variable":
            by_rule[id(name.rule)].append(name)
    for names in by_rule.values():
        yield from _capitals(names, "?")


def _capitals(names: Iterable[Name], mark: str) -> Iterator[Diagnostic]:
    spellings: dict[str, dict[str, list[Name]]] = defaultdict(lambda: defaultdict(list))
    for name in names:
        spellings[name.text.lower()][name.text].append(name)
    for group in spellings.values():
        if len(group) == 1:
            continue
        usual = max(group, key=lambda text: len(group[text]))
        for text, places in group.items():
            if text != usual:
                yield found(
                    "case-differs",
                    f"{mark}{shown(text)} ({_times(places)}) and {mark}{shown(usual)} "
                    f"({_times(group[usual])}) are different names: capitals count",
                    places[0].span,
                    Note("the other spelling stands here", group[usual][0].span),
                    hint=f"{mark}{shown(usual)}, if they should be the same",
                )


def _times(places: Iterable[Name]) -> str:
    count = len(list(places))
    return "used once" if count == 1 else f"used {count} times"


def _arities(sheet: Sheet, kind: str, code: str) -> Iterator[Diagnostic]:
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
                yield found(
                    code,
                    f"{shown(text)} has {_count(arity)} here and {usual} elsewhere: these are two "
                    f"different {kind}s",
                    places[0].node.span,
                    Note(f"with {_count(usual)}", group[usual][0].node.span),
                    hint="the same number of arguments everywhere, or two names",
                )


def _count(arity: int) -> str:
    return "1 argument" if arity == 1 else f"{arity or 'no'} arguments"


@check("relation-arity", Severity.WARNING, "a relation with different numbers of arguments", needs_all=False)
def relation_arity(sheet: Sheet) -> Iterator[Diagnostic]:
    """Compare the uses of each relation."""
    yield from _arities(sheet, "relation", "relation-arity")


@check("function-arity", Severity.WARNING, "a function with different numbers of arguments", needs_all=False)
def function_arity(sheet: Sheet) -> Iterator[Diagnostic]:
    """Compare the uses of each function: of fluents, moves and other compound terms."""
    yield from _arities(sheet, "function", "function-arity")


@check("shared-name", Severity.INFO, "one name for a relation and for a function", needs_all=False)
def shared_name(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report functions that are named as a relation is."""
    first: dict[str, Name] = {}
    for name in sheet.names:
        if name.kind == "relation":
            first.setdefault(name.text, name)
    reported = set()
    for name in sheet.names:
        if name.kind == "function" and name.text in first and name.text not in reported:
            reported.add(name.text)
            yield found(
                "shared-name",
                f"{shown(name.text)} is the name of a function here and of a relation elsewhere",
                name.span,
                Note("the relation", first[name.text].span),
                hint="a name of its own for each",
            )


@check("unusual-character", Severity.INFO, "a name with characters beyond A-Z a-z 0-9 _ + -", needs_all=False)
def unusual_character(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report each unusual name once."""
    reported = set()
    for name in sheet.names:
        if not _ORDINARY.fullmatch(name.text) and name.text not in reported:
            reported.add(name.text)
            odd = sorted(set(_ORDINARY.sub("", name.text)))
            yield found(
                "unusual-character",
                f"the name {shown(name.text)} has {shown(' '.join(odd))} in it; others may not read it",
                name.span,
                hint="letters, digits, _ and - only",
            )


define("operator-constant", Severity.WARNING, "an operator as an object")


@check("keyword-constant", Severity.INFO, "a keyword as an object", needs_all=False)
def keyword_constant(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report each keyword and each operator once that stands as a constant."""
    reported = set()
    for name in sheet.names:
        keyword = name.text.lower()
        if name.kind != "constant" or keyword in reported:
            continue
        if keyword in _OPERATORS:
            reported.add(keyword)
            message = (
                f"{shown(name.text)} joins formulas; as an object it is a mere name, most likely by mistake"
            )
            hint = "is a parenthesis missing before it?"
            yield found("operator-constant", message, name.span, hint=hint)
        elif keyword in KEYWORDS:
            reported.add(keyword)
            message = (
                f"{shown(name.text)} is a keyword of GDL; as an object it is a mere name here, and confuses "
                "other systems"
            )
            yield found("keyword-constant", message, name.span, hint="another name")


@check("likely-typo", Severity.INFO, "a name used once that is nearly another one", needs_all=False)
def likely_typo(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report constants and functions used once, where a name used often is like them."""
    names = [name for name in sheet.names if name.kind in {"constant", "function"}]
    counts = Counter(name.text for name in names)
    common = [
        text for text, count in counts.most_common(_MOST_COMPARED) if count >= _COMMON and _is_word(text)
    ]
    rare = [name for name in names if counts[name.text] == 1 and _is_word(name.text)]
    for name in rare[:_MOST_COMPARED]:
        near = [
            text
            for text in get_close_matches(name.text, common, n=3, cutoff=_NEARNESS)
            if text.lower() != name.text.lower()
        ]
        if near:
            yield found(
                "likely-typo",
                f"{shown(name.text)} is used nowhere else, but {shown(near[0])} is, {counts[near[0]]} times",
                name.span,
                hint=shown(near[0]),
            )


def _is_word(text: str) -> bool:
    return len(text) >= _SHORTEST_TYPO and not any(map(str.isdigit, text))


@check("single-variable", Severity.INFO, "a variable used once in its rule", needs_all=False)
def single_variable(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report variables that join nothing, unless their names start with an underscore."""
    by_rule: dict[int, list[Name]] = defaultdict(list)
    for name in sheet.names:
        if name.kind == "variable" and name.rule.body:
            by_rule[id(name.rule)].append(name)
    for names in by_rule.values():
        counts = Counter(name.text for name in names)
        joined = _in_positive_atoms(names[0].rule)
        for name in names:
            if counts[name.text] == 1 and name.text[0] != "_" and name.text in joined:
                others = [text for text in counts if text != name.text]
                near = get_close_matches(name.text, others, n=1, cutoff=_NEARNESS)
                yield found(
                    "single-variable",
                    f"?{shown(name.text)} stands nowhere else in this rule",
                    name.span,
                    hint=f"?{shown(near[0])}" if near else f"?_{shown(name.text)}, if any value will do",
                )


def _in_positive_atoms(rule: Rule) -> set[str]:
    """Return the names of the variables that a body could bind; the others are unsafe, which is worse."""
    atoms = [atom for atom, positive in atoms_in(rule.body) if positive]
    return {variable.name for atom in atoms for variable in atom.variables()}
