"""Names that are probably misspelt: rare names that are similar to other names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import grouped
from anygame.doctor.code import CODES, check
from anygame.doctor.sheet import times
from anygame.doctor.spelling import is_near, nearest, slips
from anygame.language.diagnostics import shown
from anygame.language.rules import KEYWORDS, atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.sheet import Key, Name, Sheet
    from anygame.language.diagnostics import Diagnostic


#: Minimum number of uses of a common name.
_COMMON: Final = 2
#: Minimum length of compared variables and relations; shorter names, such as ?x and ?y, differ on purpose.
_SHORTEST: Final = 3
#: Maximum number of rules with the same misspelt name; authors rarely copy a mistake more than once.
_MOST_RULES: Final = 2
#: Maximum number of names that are compared.
_MOST_COMPARED: Final = 400


@check("likely-typo", needs_all=False)
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    yield from _relations(sheet)
    yield from _terms(sheet)
    yield from _variables(sheet)


def _relations(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report relations that rules only read or only define, and whose names resemble other names."""
    relations = [name for name in sheet.names if name.kind == "relation"]
    own = [name for name in relations if KEYWORDS.get(name.text) != name.arity]
    places = grouped(((name.text, name.arity), name) for name in own)
    strays = [key for key in places if key not in sheet.heads or key not in sheet.reads]
    for key in strays[:_MOST_COMPARED]:
        if len(_rules(places[key])) > _MOST_RULES:
            continue
        keyword = _near_keyword(key)
        near = keyword or _near_relation(sheet, key, places)
        if near is not None:
            what = "reads" if key in sheet.heads else "defines"
            kind = "a keyword" if keyword else f"used {times(len(places[near, key[1]]))}"
            message = f"no rule {what} {shown(key[0])}, but {shown(near)} is {kind}"
            yield CODES["likely-typo"].found(message, places[key][0].span, hint=shown(near))


def _near_keyword(key: Key) -> str | None:
    keywords = [word for word, arity in KEYWORDS.items() if arity == key[1]]
    slipped = [word for word in keywords if slips(key[0].lower(), word) == 1]
    return slipped[0] if slipped else nearest(key[0], keywords, _SHORTEST)


def _near_relation(sheet: Sheet, key: Key, places: dict[Key, list[Name]]) -> str | None:
    """Return a similar relation with the same arity; None if several rules contain the given relation."""
    if len(_rules(places[key])) > 1:
        return None
    same = [other for other in places if other[1] == key[1] and other != key]
    known = [other[0] for other in same if other in sheet.heads and other in sheet.reads]
    # Names of equal length with different first letters, such as nrow and prow, differ on purpose.
    longer = [name for name in known if len(name) != len(key[0])]
    near = nearest(key[0], known, _SHORTEST) or nearest(key[0], longer, is_stray=True)
    if near is not None:
        return near
    # If a relation is misspelt in a body, the correct name may occur only in a head, and vice versa.
    is_made = key in sheet.heads
    halves = [other[0] for other in same if (other in sheet.heads) != is_made and other[0] not in known]
    near = nearest(key[0], halves, _SHORTEST)
    if near is not None and len(_rules(places[near, key[1]])) == 1:
        return near if is_made else None  # of two similar names, the name in a head is reported
    return near


def _rules(names: Iterable[Name]) -> set[int]:
    return {id(name.rule) for name in names}


def _terms(sheet: Sheet) -> Iterator[Diagnostic]:
    names = [name for name in sheet.names if name.kind in {"constant", "function"}]
    counts = Counter(name.text for name in names)
    common = [text for text, count in counts.most_common(_MOST_COMPARED) if count >= _COMMON]
    for name in [name for name in names if counts[name.text] == 1][:_MOST_COMPARED]:
        near = nearest(name.text, common)
        if near is not None:
            message = f"{shown(name.text)} is used once, but {shown(near)} is used {times(counts[near])}"
            yield CODES["likely-typo"].found(message, name.span, hint=shown(near))


def _variables(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report misspelt variables, and variables and constants with a superfluous or missing question mark."""
    known = Counter(name.text for name in sheet.names if name.kind != "variable")
    rules_of = sheet.rules_of_variables
    for names in sheet.names_by_rule:
        counts = Counter(name.text for name in names if name.kind == "variable")
        for name in names:
            text = shown(name.text)
            if name.kind == "constant" and known[name.text] == 1 and counts[name.text]:
                message = f"{text} is used nowhere else, but ?{text} occurs in this rule"
                yield CODES["likely-typo"].found(message, name.span, hint=f"?{text}")
            if name.kind == "variable" and _has_extra_mark(name, counts, known, rules_of):
                message = f"?{text} occurs nowhere else, but {text} is used {times(known[name.text])}"
                yield CODES["likely-typo"].found(message, name.span, hint=text)
            if name.kind == "variable" and counts[name.text] == 1:
                near = [shown(other) for other in counts if _is_meant(name.text, other, counts, rules_of)]
                if near:
                    message = f"?{text} occurs once in this rule, but ?{near[0]} occurs there too"
                    yield CODES["likely-typo"].found(message, name.span, hint=f"?{near[0]}")


def _is_meant(name: str, other: str, counts: Counter[str], rules_of: Counter[str]) -> bool:
    """Return whether a variable that occurs once in a rule is probably a misspelling of another variable."""
    if other == name:
        return False
    is_stray = rules_of[name] == 1 and rules_of[other] > _COMMON
    if is_stray and is_near(name, other, _SHORTEST, is_stray=True):
        return True
    if rules_of[name] > _MOST_RULES:
        return False
    # Variables with different first letters, such as ?xAny and ?yAny, are coordinates.
    return counts[other] >= _COMMON and other[0] == name[0] and is_near(name, other, _SHORTEST)


def _has_extra_mark(name: Name, variables: Counter[str], known: Counter[str], rules_of: Counter[str]) -> bool:
    """Return whether an unbound variable that occurs once is probably a constant or relation."""
    text = name.text
    is_alone = variables[text] == rules_of[text] == 1
    if not is_alone or known[text] < _COMMON or len(text) < _SHORTEST:
        return False
    asked = (atom for atom, positive in atoms_in(name.rule.body) if positive)
    return all(variable.name != text for atom in asked for variable in atom.variables())
