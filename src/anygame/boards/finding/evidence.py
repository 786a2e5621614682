"""Evidence in the rules for what a board is like: which squares are neighbours, what moves leave behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.boards.finding.cell_places import occurrence
from anygame.boards.finding.layout import split_name
from anygame.language.rules import atoms_in
from anygame.language.terms import Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.boards.finding.layout import Square
    from anygame.language.rules import Rule
    from anygame.language.terms import Term

#: Facts of the rules that are looked at; a board that can be drawn has no more pairs of neighbours.
_FACTS_LIMIT: Final = 50_000


def neighbours_in(
    rules: Sequence[Rule], domains: Sequence[Sequence[Term]]
) -> frozenset[tuple[Square, Square]]:
    """Return the pairs of squares that facts of the rules name together.

    Args:
        rules: of the game.
        domains: the values of each argument of a fluent. One whose values are all names of squares, such as
            ``c3``, is looked for.
    """
    named = [set(values) for values in domains if values and all(map(split_name, values))]
    if len(named) != 1:
        return frozenset()
    (names,) = named
    found = set()
    for rule in rules[:_FACTS_LIMIT]:
        cells = [argument for argument in rule.head.arguments if argument in names]
        if not rule.body and len(cells) == 2:
            one, other = (split_name(cell) for cell in cells)
            if one and other:
                found.add((one, other))
    return frozenset(found)


def left_behind(rules: Sequence[Rule], fluent: str, arity: int) -> frozenset[tuple[int, Constant]]:
    """Return the contents that stand on a square after a move away from it, each with its argument.

    Such is `empty` in ``(<= (next (cell ?x ?y empty)) (does ?p (move ?x ?y ?u ?v)))``: the move names another
    square after the one that the fact is about.
    """
    found = set()
    for rule in rules:
        head = occurrence(rule.head)
        if rule.head.predicate != "next" or not head or head.predicate != ("fluent", fluent, arity):
            continue
        contents = [(i, term) for i, term in enumerate(head.arguments) if isinstance(term, Constant)]
        square = [term for term in head.arguments if isinstance(term, Variable)]
        does = [atom for atom, _ in atoms_in(rule.body) if atom.predicate == "does"]
        moves = [item for atom in does if (item := occurrence(atom))]
        if len(contents) == 1 and square and any(_from_first(item.arguments, square) for item in moves):
            found.add(contents[0])
    return frozenset(found)


def _from_first(arguments: Sequence[Term], square: Sequence[Term]) -> bool:
    """Whether a square is named among the arguments of a move, and after it as many others as it has."""
    size = len(square)
    return any(
        list(arguments[start : start + size]) == list(square)
        for start in range(len(arguments) - 2 * size + 1)
    )


def needed_for_moves(rules: Sequence[Rule], fluent: str, arity: int) -> frozenset[tuple[int, Constant]]:
    """Return the contents that a square must have for a move that names it alone, each with its argument.

    Such is `free` in ``(<= (legal ?p (take ?x)) (true (place ?x free)))``.
    """
    found = set()
    for rule in rules:
        move = occurrence(rule.head) if rule.head.predicate == "legal" else None
        for atom, positive in atoms_in(rule.body) if move else ():
            item = occurrence(atom)
            if not (move and positive and item and item.predicate == ("fluent", fluent, arity)):
                continue
            contents = [(i, term) for i, term in enumerate(item.arguments) if isinstance(term, Constant)]
            square = {term for term in item.arguments if isinstance(term, Variable)}
            if len(contents) == 1 and square and square == set(move.arguments):
                found.add(contents[0])
    return frozenset(found)
