"""Points and pits: places joined by lines, places on a map of the author, stores beside rows of pits."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.analysis.axes import AXIS_LIMIT, numbered
from anygame.boards.finding.fitting import blank_of, values_of
from anygame.boards.finding.layout import ONLY_ROW, Layout, Overlay
from anygame.boards.names import STORES, words
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.boards.finding.hints import Hint
    from anygame.boards.finding.layout import Place, Square
    from anygame.boards.finding.orientation import Fluent
    from anygame.game.roles import Role
    from anygame.language.rules import Rule
    from anygame.language.terms import Term

    Link = tuple[Square, Square]

#: Maximum number of facts read from the rules.
_FACTS_LIMIT: Final = 50_000
#: Two rows of pits face each other. With more rows, the stores are at the ends.
_FACING: Final = 2
#: Maximum number of lines at a point: a relation that holds for nearly all pairs is not a set of lines.
_MOST_LINKS: Final = 8


def mapped(fluent: Fluent, hint: Hint) -> Layout | None:
    """Return a layout with the places of the map in a hint; None if no fact can lie there."""
    assert hint.place is not None
    if hint.place >= fluent.arity or not {name for name, _, _ in hint.places} & {
        str(value) for value in fluent.domains[hint.place]
    }:
        return None
    lines: dict[int, list[int]] = defaultdict(list)
    for _, x, y in hint.places:
        lines[y].append(x)
    left = min(x for _, x, _ in hint.places)
    gaps = [after - x for xs in lines.values() for x, after in pairwise(xs)]
    unit = min(gaps, default=1)
    squares = {name: (ONLY_ROW, Constant(name)) for name, _, _ in hint.places}
    contents = tuple(index for index in range(fluent.arity) if index != hint.place)
    values = values_of(fluent, contents)
    return Layout(
        fluent.functor,
        fluent.arity,
        row=hint.place,
        column=hint.place,
        boards=(),
        contents=contents,
        rows=(ONLY_ROW,),
        upwards=False,
        columns=tuple(column for _, column in squares.values()),
        squares={(): frozenset(squares.values())},
        shape="track",
        offsets=(0,),
        values=values,
        blank=blank_of(fluent, contents, values),
        places={((), squares[name]): ((x - left) / unit, y) for name, x, y in hint.places},
    )


def with_stores(layout: Layout, fluents: Iterable[Fluent], roles: Sequence[Role]) -> Layout:
    """Return rows of pits with their stores: a fluent with a name such as `store` and a fact per row.

    The row of the first role lies below, with its store at the right, as players sit.
    """
    rows = layout.rows
    if layout.shape != "track" or layout.row == layout.column or len(layout.columns) >= AXIS_LIMIT:
        return layout
    players = tuple(Constant(str(role)) for role in roles)
    if set(rows) == set(players):
        rows = players[::-1]
    store = next((fluent for fluent in fluents if _is_store(fluent, layout)), None)
    if store is None:
        return replace(layout, rows=rows)
    owner = next(index for index, values in enumerate(store.domains) if set(values) == set(rows))
    name = Constant(store.functor)
    at: dict[Term, Square] = {row: (row, name) for row in rows}
    contents = tuple(index for index in range(store.arity) if index != owner)
    overlay = Overlay(store.functor, store.arity, (owner,), contents, values_of(store, contents), at=at)
    places: dict[tuple[tuple[Term, ...], Square], Place] = {
        ((), (row, column)): (1 + across, down)
        for row, down in numbered(rows).items()
        for column, across in numbered(layout.columns).items()
    }
    right = 1 + len(layout.columns)
    for row, down in numbered(rows).items():
        facing = len(rows) == _FACING
        places[(), (row, name)] = (0 if facing and down == 0 else right, 0.5 if facing else down)
    return replace(
        layout,
        rows=rows,
        columns=(*layout.columns, name),
        squares={(): layout.squares[()] | set(at.values())},
        overlays=(*layout.overlays, overlay),
        places=places,
    )


def _is_store(fluent: Fluent, layout: Layout) -> bool:
    return (
        fluent.arity == 2
        and bool(set(words(fluent.functor)) & STORES)
        and len(fluent.initial) == len(layout.rows)
        and any(set(values) == set(layout.rows) for values in fluent.domains)
    )


def linked(layout: Layout, rules: Sequence[Rule]) -> Layout:
    """Return a layout whose squares are points, if facts of the rules show that lines join them.

    On a board of two coordinates, the facts must join distant points with nothing between them, or some
    diagonals and not others. On a map, each fact that names two places is a line.
    """
    if list(layout.squares) != [()] or layout.shape not in ("square", "track"):
        return layout
    where = layout.places or {
        ((), (row, column)): (across, down)
        for row, down in numbered(layout.rows).items()
        for column, across in numbered(layout.columns).items()
        if (row, column) in layout.squares[()]
    }
    at = {square: place for (_, square), place in where.items()}
    named = {layout.terms((), square): square for square in at}
    if layout.shape == "track" and layout.row == layout.column:
        named = {(square[1],): square for square in at}
    is_map = layout.shape == "track" and bool(layout.places) and layout.row == layout.column
    if not is_map and layout.shape == "track":
        return layout
    found = []
    for links in _links_by_relation(rules, named).values():
        few = len(links) <= _MOST_LINKS * len(at) / 2
        if few and {square for link in links for square in link} == set(at):
            drawn = is_map or _are_lines(links, at)
            if drawn:
                found.append(sorted(links, key=str))
    best = min(found, key=lambda links: (sum(_length(link, at) for link in links), str(links)), default=[])
    return replace(layout, links=tuple(best))


def _links_by_relation(
    rules: Sequence[Rule], named: Mapping[tuple[Term, ...], Square]
) -> dict[tuple[str, int], set[Link]]:
    found: dict[tuple[str, int], set[Link]] = defaultdict(set)
    size = len(next(iter(named), ()))
    for rule in rules[:_FACTS_LIMIT]:
        if not rule.body:
            squares = list(_named(rule.head.arguments, size, named))
            if len(squares) > 1:
                for one, other in pairwise(squares):
                    found[rule.head.key].add((min(one, other, key=str), max(one, other, key=str)))
    return found


def _named(
    arguments: Sequence[Term], size: int, named: Mapping[tuple[Term, ...], Square]
) -> Iterator[Square]:
    index = 0
    while index + size <= len(arguments):
        square = named.get(tuple(arguments[index : index + size]))
        if square is not None:
            yield square
        index += 1 if square is None else size


def _are_lines(links: Iterable[Link], at: Mapping[Square, Place]) -> bool:
    """Return whether links are straight, pass over no square, and are not just all adjacent pairs."""
    taken = set(at.values())
    diagonals = straight = far = 0
    for one, other in links:
        (x, y), (u, v) = at[one], at[other]
        across, down = u - x, v - y
        length = max(abs(across), abs(down))
        if one == other or (across and down and abs(across) != abs(down)):
            return False
        steps = range(1, int(length))
        if any((x + across * step / length, y + down * step / length) in taken for step in steps):
            return False
        far += length > 1
        diagonals += bool(across and down)
        straight += not (across and down)
    beside = sum(((x + 1, y) in taken) + ((x, y + 1) in taken) for x, y in taken)
    crossing = sum(((x + 1, y + 1) in taken) + ((x - 1, y + 1) in taken) for x, y in taken)
    return bool(far) or (straight == beside and 0 < diagonals < crossing)


def _length(link: Link, at: Mapping[Square, Place]) -> float:
    (x, y), (u, v) = at[link[0]], at[link[1]]
    return max(abs(u - x), abs(v - y))
