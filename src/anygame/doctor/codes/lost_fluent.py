"""Fluents that become false because no rule keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import CODES, check
from anygame.doctor.sheet import by_fluent, key_of, named, pattern
from anygame.doctor.unfounded import item_of
from anygame.language.diagnostics import Note
from anygame.language.rules import Atom, Distinct, Literal, atoms_in
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from anygame.analysis.domains import Top
    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Key, Sheet
    from anygame.doctor.unfounded import Item
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula, Rule


#: Maximum number of initial facts that one move can rewrite; more facts count as a board.
_MOST_WRITTEN: Final = 4
#: Minimum number of arguments of a fluent that is a board: two coordinates and a mark.
_COORDINATES: Final = 3
#: Maximum number of facts that one move makes true of a fluent. Two facts can be a piece and its neighbour.
_PAIR: Final = 2
#: Maximum number of values of an argument that is checked value by value; more values are probably numbers.
_MOST_VALUES: Final = 50


@check("lost-fluent")
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report fluents that rules read, although no `next` rule keeps the fluent or some of its values."""
    nexts = sheet.heads.get(("next", 1), [])
    if any(key_of(rule.head.arguments[0]) is None for rule in nexts):
        return
    writers = by_fluent(nexts)
    starts = by_fluent(sheet.heads.get(("init", 1), ()))
    for key in dict.fromkeys([*starts, *writers]):
        readers = [atom for atom in sheet.reads.get(("true", 1), ()) if key_of(atom.arguments[0]) == key]
        if not readers or not key[1]:  # a fluent without arguments may mark the first turn
            continue
        what, blamed = _loss(sheet, key, starts.get(key, []), writers.get(key, []))
        if what:
            hint = f"(<= (next {pattern(key)}) (true {pattern(key)}) ...)"
            note = Note("this literal reads the fluent", readers[0].span)
            yield CODES["lost-fluent"].found(f"{named(key)} {what}", blamed[0].span, note, hint=hint)


def _loss(
    sheet: Sheet, key: Key, starts: Sequence[Rule], writers: Sequence[Rule]
) -> tuple[str, Sequence[Rule]]:
    """Return a phrase that says when a fluent is lost, and the rules to blame; empty if nothing is lost."""
    if not starts:
        lost = key[1] >= _COORDINATES and all(_is_of_move(rule, key) for rule in writers)
        lost = lost or (_is_of_one_move(sheet, key, writers) and _is_needed_later(sheet, key))
        what = "becomes true when a role moves, but no rule keeps it, so it is false again one move later"
        return what if lost else "", writers
    if not writers:
        return "is true at the start, but no rule keeps it, so it is false after the first move", starts
    by_rules = any(set(rule.head.variables()) for rule in starts)
    if not by_rules and len(starts) <= max(_MOST_WRITTEN, len(sheet.roles)):
        return "", ()  # one move may rewrite all initial facts
    if not _is_kept(key, writers):
        what = "is true at the start, but no rule keeps the facts that the first move does not write again"
        return what, starts
    place, lost_values = _lost_values(sheet, key)
    if not lost_values:
        return "", ()
    written = [(rule, getattr(rule.head.arguments[0], "arguments", ())) for rule in writers]
    blamed = [rule for rule, terms in written if terms[place] in lost_values]
    where = f"if argument {place + 1} is {' or '.join(map(str, lost_values[:3]))}"
    return f"is false again one move later {where}, because no rule keeps it", blamed or starts


def _is_of_move(rule: Rule, key: Key) -> bool:
    """Return whether a rule takes all arguments of a fluent from a move, and none from the previous state."""
    moves = [atom for atom, positive in atoms_in(rule.body) if atom.predicate == "does" and positive]
    written = rule.head.arguments[0]
    assert isinstance(written, Compound)
    named = {variable for atom in moves for variable in atom.variables()}
    is_of_move = all(term in named or term.is_ground for term in written.arguments)
    return bool(moves) and is_of_move and not _asked(rule.body, key)


def _asked(body: Iterable[Formula], key: Key, how: Container[bool] = (True, False)) -> list[Compound]:
    """Return the terms of a fluent in a body; ``how`` has True for positive, and False for negated atoms."""
    atoms = [atom for atom, positive in atoms_in(body) if positive in how]
    terms = [atom.arguments[0] for atom in atoms if item_of(atom) == ("true", key)]
    return [term for term in terms if isinstance(term, Compound)]


def _is_of_one_move(sheet: Sheet, key: Key, writers: Sequence[Rule]) -> bool:
    """Return whether every rule for a fluent needs a move, and no rule for the fluent needs the fluent."""
    found = [_read_by(sheet, [rule], positively=True) for rule in writers]
    return not any(("true", key) in reads or ("true", None) in reads for reads in found) and all(
        any(kind == "does" for kind, _ in reads) for reads in found
    )


def _is_needed_later(sheet: Sheet, key: Key) -> bool:
    """Return whether rules need facts of a fluent that a move before the last move made true.

    A goal needs earlier facts if the end of the match does not depend on the fluent. A rule needs earlier
    facts if it reads more facts than one joint move makes true, such as three marks.
    """
    fluent = ("true", key)
    needs, ends = (_read_by(sheet, sheet.heads.get(key, ())) for key in (("goal", 2), ("terminal", 0)))
    at_once = max(len(_asked(rule.body, key, (True,))) for rule in sheet.program.rules)
    return (fluent in needs and fluent not in ends) or at_once > max(_PAIR, len(sheet.roles))


def _lost_values(sheet: Sheet, key: Key) -> tuple[int, list[Top]]:
    """Return the index of an argument, and the values of the argument that no `next` rule keeps."""
    if key[1] >= _COORDINATES and sheet.is_safe:
        heads = [(part, part.head.arguments[0]) for part in sheet.normal if part.head.predicate == "next"]
        parts = [part for part, head in heads if key_of(head) == key]
        for place in range(key[1]):
            values = sheet.domains.below(("true", 1, 0), key, place)
            keeping = [part for part in parts if not _is_at_move(part, place)]
            lost = values.difference(*(_values_met(sheet, part, key, place) for part in keeping))
            if lost and len(values) <= _MOST_VALUES and len(lost) < len(values):
                return place, sorted(lost, key=str)
    return 0, []


def _is_at_move(part: NormalRule, value: int) -> bool:
    """Return whether a rule writes only the cell that a move names."""
    terms = getattr(part.head.arguments[0], "arguments", ())
    moves = [f for f in part.body if isinstance(f, Literal) and f.atom.predicate == "does"]
    named = {variable for move in moves for variable in move.variables()}
    variables = {*Atom("", (*terms[:value], *terms[value + 1 :])).variables()}
    return bool(variables) and variables <= named


def _values_met(sheet: Sheet, part: NormalRule, key: Key, place: int) -> set[Top]:
    """Return the values of an argument for which a `next` rule reads the old facts of the fluent."""
    domains = sheet.domains.of_variables(part)
    literals = [formula for formula in part.body if isinstance(formula, Literal)]
    met: set[Top] = set()
    for term in (each.arguments[place] for each in _asked(literals, key)):
        if isinstance(term, Constant):
            met.add(term)
        elif isinstance(term, Variable):
            tests = [f for f in part.body if isinstance(f, Distinct) and term in {f.left, f.right}]
            excluded = {side for f in tests for side in (f.left, f.right) if isinstance(side, Constant)}
            met |= domains.get(term, frozenset()) - excluded
    return met


def _is_kept(key: Key, writers: Iterable[Rule]) -> bool:
    """Return whether any `next` rule of a fluent keeps facts of the fluent."""
    for rule in writers:
        same = _asked(rule.body, key)
        if any(_keeps(rule, term) for term in same) or (same and key[1] < _COORDINATES):
            return True
    return False


def _keeps(rule: Rule, asked: Compound) -> bool:
    """Return whether a rule writes the fluent that it reads, perhaps with exchanged arguments."""
    written = rule.head.arguments[0]
    assert isinstance(written, Compound)
    return sorted(written.arguments) == sorted(asked.arguments)


def _read_by(sheet: Sheet, rules: Iterable[Rule], *, positively: bool = False) -> set[Item]:
    """Return the items that rules read, also through relations; without negated items if ``positively``."""
    found: set[Item] = set()
    pending = list(rules)
    while pending:
        for atom, positive in atoms_in(pending.pop().body):
            item = item_of(atom)
            if item not in found and (positive or not positively):
                found.add(item)
                pending += sheet.heads.get(atom.key, ()) if not item[0] or atom.predicate == "legal" else ()
    return found
