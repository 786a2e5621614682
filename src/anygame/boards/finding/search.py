"""Search for the boards of a game, the overlays on their cells, and hands of cards."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Final

from anygame.analysis.axes import numbered, ordered
from anygame.boards.finding.evidence import cell_places, occurrences
from anygame.boards.finding.fitting import fit
from anygame.boards.finding.hints import Hint, HintError, read_hints
from anygame.boards.finding.layout import Boards, Overlay, Wish
from anygame.boards.finding.orientation import fluents_of
from anygame.boards.finding.positions import find_lines, find_positions
from anygame.boards.names import BLOCKS, CARDS, COLOURS, SIDES, SIGNS, words
from anygame.errors import AnygameError
from anygame.language.diagnostics import did_you_mean
from anygame.language.rules import Atom, atoms_in
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.boards.finding.evidence import Predicate
    from anygame.boards.finding.layout import Cell, Content, Layout, Place
    from anygame.boards.finding.orientation import Fluent
    from anygame.boards.names import Side
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.rules import Rule

#: Maximum number of facts of a relation that is drawn.
_FIXED_LIMIT: Final = 4096
#: Gap between the parts of one board, in cells.
_GAP: Final = 0.5


def find_boards(game: Game) -> Boards:
    """Return the boards of a game; empty if no fluent lies on a board or the fluents cannot be inferred."""
    hints: list[Hint] = []
    notes: list[str] = []
    for hint in read_hints(game.program.source.text if game.program.source else ""):
        if isinstance(hint, HintError):
            notes.append(str(hint))
        else:
            hints.append(hint)
    goals, hints = [hint for hint in hints if hint.side], [hint for hint in hints if not hint.side]
    if any(hint.none for hint in hints):
        return Boards(notes=tuple(notes))
    try:
        fluents = fluents_of(game)
    except AnygameError as error:
        return Boards(notes=(*notes, f"no board is drawn: {error}"))
    if any(hint.functor for hint in hints):
        layouts = [layout for hint in hints if hint.functor for layout in _as_hinted(fluents, hint, notes)]
    else:
        layouts = _as_found(fluents, hints, notes)
    layouts = [_joined(layout, game) for layout in _overlaid(layouts, fluents, game.program.rules)]
    lines = () if any(hint.functor for hint in hints) else find_lines(fluents, game)
    # If a game has a board, things with two coordinate fluents usually lie on it.
    if not (layouts or lines or hints):
        layouts += find_positions(fluents, game.program.rules)
    hands = {fluent.key: int(fluent.arity > 1) for fluent in fluents if CARDS & {*words(fluent.functor)}}
    boards = Boards(tuple(layouts), lines, hands)
    wishes = tuple(wish for hint in goals for wish in _wished(hint, boards, game, notes))
    return replace(boards, wishes=wishes, notes=tuple(notes))


def _wished(hint: Hint, boards: Boards, game: Game, notes: list[str]) -> Iterator[Wish]:
    """Yield the goal cells of a hint; add notes about unknown sides and cells."""
    sides = [*map(str, game.roles), *sorted(COLOURS)]
    if hint.side not in sides:
        advice = did_you_mean(get_close_matches(hint.side, sides, n=1))
        notes.append(f"board hint `{hint.text}`: {hint.side} is neither a role nor a colour{advice}")
        return
    cells = set(boards.cells())
    for pattern in hint.goals:
        wish = Wish(hint.side, pattern)
        if any(map(wish.covers, cells)):
            yield wish
        else:
            notes.append(f"board hint `{hint.text}`: no cell is called {' '.join(pattern)}")


def _joined(layout: Layout, game: Game) -> Layout:
    """Combine boards into one large board if rules or two coordinates say where each board lies."""
    if len(layout.squares) < 2 or layout.shape != "square":
        return layout
    places = whole_board(layout, game.initial_state(), game.program.rules)
    if not places and len(layout.boards) == 2:
        places = side_by_side(layout)
    return replace(layout, places=places or {})


def whole_board(layout: Layout, state: State, rules: Sequence[Rule]) -> dict[Cell, Place] | None:
    """Return the place of each cell on one large board; None if no relation of the rules gives the places.

    The first arguments of the relation are a board and the coordinates of a cell. The last two arguments are
    ordered coordinates on the large board, and no two cells share a pair.
    """
    size = len(layout.key)
    for name in sorted(_naming(layout, rules)):
        variables = tuple(Variable(f"?{number}") for number in range(size + 2))
        try:
            bindings = list(islice(state.query(Atom(name, variables)), layout.size + 1))
        except AnygameError:
            continue
        rows = [tuple(binding[str(variable)] for variable in variables) for binding in bindings]
        points = {row[:size]: row[size:] for row in rows}
        across, up = (ordered(row[at] for row in rows) for at in (size, size + 1))
        if not (across and up and len(rows) == layout.size == len(set(points.values()))):
            continue
        cells = {
            (board, square): layout.terms(board, square)
            for board, squares in layout.squares.items()
            for square in squares
        }
        if points.keys() >= set(cells.values()):
            x, y = numbered(across), numbered(up)
            places: dict[Cell, Place] = {}
            for cell, terms in cells.items():
                first, second = points[terms]
                column, row = (x[first], y[second]) if layout.column < layout.row else (y[second], x[first])
                places[cell] = column, len(up) - 1 - row if layout.upwards else row
            return places
    return None


def side_by_side(layout: Layout) -> dict[Cell, Place]:
    """Return the place of each cell on one large board, on which the boards form rows and columns."""
    wide, high = len(layout.columns) + _GAP, len(layout.rows) + _GAP
    columns, rows = numbered(layout.columns), numbered(layout.rows)
    return {
        (board, square): (down[1] * wide + columns[square[1]], down[0] * high + rows[square[0]])
        for board, down in layout.arrangement.items()
        for square in layout.squares[board]
    }


def _naming(layout: Layout, rules: Iterable[Rule]) -> set[str]:
    """Return the names of relations whose arguments are the coordinates of a cell and two further terms."""
    names = set()
    for rule in rules:
        atoms = [atom for atom, _ in atoms_in(rule.body)]
        cells = {
            tuple(item.arguments[index] for index in layout.key)
            for item in occurrences(atoms)
            if item.predicate == ("fluent", *layout.fluent)
        }
        names |= {atom.predicate for atom in atoms if atom.arguments[:-2] in cells}
    return names


def _overlaid(layouts: Sequence[Layout], fluents: Sequence[Fluent], rules: Sequence[Rule]) -> list[Layout]:
    """Make fluents overlays of the fluent that has the most initial facts on the same cells."""
    filled = {fluent.key: len(fluent.initial) for fluent in fluents}
    taken: set[tuple[str, int]] = set()
    joined: dict[tuple[str, int], Layout] = {}
    for layout in sorted(layouts, key=lambda layout: -filled[layout.fluent]):
        if layout.fluent in taken:
            continue
        overlays = tuple(
            overlay
            for overlay in _overlays_of(layout, fluents, rules)
            if overlay.fluent not in taken | joined.keys()
            and not (overlay.contents and 2 * filled.get(overlay.fluent, 0) > layout.size)
        )
        taken |= {overlay.fluent for overlay in overlays}
        joined[layout.fluent] = replace(layout, overlays=overlays, sides=_sides_of(layout.values))
    return [joined[layout.fluent] for layout in layouts if layout.fluent in joined]


def _as_hinted(fluents: Sequence[Fluent], hint: Hint, notes: list[str]) -> list[Layout]:
    matching = [
        fluent for fluent in fluents if fluent.functor == hint.functor and hint.arity in (None, fluent.arity)
    ]
    if not matching:
        near = get_close_matches(hint.functor or "", sorted({fluent.functor for fluent in fluents}), n=1)
        notes.append(f"board hint `{hint.text}`: the game has no such fluent{did_you_mean(near)}")
    layouts = []
    for fluent in matching:
        if layout := fit(fluent, hint):
            layouts.append(layout)
        else:
            notes.append(f"board hint `{hint.text}`: {fluent.functor}/{fluent.arity} does not fit the layout")
    return layouts


def _as_found(fluents: Sequence[Fluent], hints: Sequence[Hint], notes: list[str]) -> list[Layout]:
    """Return the layouts of the fluents that seem to be boards; a hint can determine the shape."""
    hint = hints[0] if hints else None
    started = {fluent.functor for fluent in fluents if fluent.initial}
    fitted = [layout for fluent in fluents if (layout := fit(fluent, hint))]
    if hint and not fitted:
        notes.append(
            f"board hint `{hint.text}`: no board found; name the fluent, as in (cell ?row ?column ?content)"
        )
    with_content = [layout for layout in fitted if layout.contents]
    chosen = [layout for layout in with_content if layout.functor in started] or with_content or fitted
    largest = max((layout.size for layout in chosen), default=0)
    if len(chosen) < len(with_content):
        # Beside a small initial board, there can be a larger board that fills during play.
        later = [layout for layout in with_content if layout not in chosen and layout.boards]
        chosen = [*chosen, *(layout for layout in later if layout.size > largest)]
    return [layout for layout in chosen if 4 * layout.size >= largest]


def _overlays_of(layout: Layout, fluents: Sequence[Fluent], rules: Sequence[Rule]) -> tuple[Overlay, ...]:
    """Return the overlays on the cells of a board.

    An overlay is a fluent whose arguments name a cell in the rules, with at most one further argument, the
    content. A relation with facts only, and with a name such as wall or hole, is also an overlay.
    """
    places = cell_places(rules, layout)
    by_key = {fluent.key: fluent for fluent in fluents}
    overlays: list[Overlay] = []
    for predicate, keys in sorted(places.items()):
        if len(keys) > 1 or predicate == ("fluent", *layout.fluent):
            continue
        (key,) = keys
        contents = tuple(index for index in range(predicate.arity) if index not in key)
        if len(contents) > 1:
            continue
        # One variable that a rule shares with a cell is weak evidence.
        if len(key) == 1 and not (contents and predicate.kind == "fluent"):
            continue
        facts: tuple[Compound, ...] = ()
        if predicate.kind == "fluent" and (fluent := by_key.get(predicate[1:])):
            values = [(value,) for index in contents for value in fluent.domains[index]]
        elif predicate.kind == "relation" and (facts := _facts(predicate, rules)):
            values = sorted({(fact.arguments[index],) for fact in facts for index in contents})
        else:
            continue
        side, sign = _side(predicate.name) if not contents else (None, "")
        sides = _sides_of(values)
        overlays.append(Overlay(*predicate[1:], key, contents, tuple(values), side, sign, sides, facts))
    return tuple(overlays)


def _sides_of(values: Iterable[Content]) -> Mapping[Content, Side]:
    """Return the side of a cell that each content names; empty unless every content names a side."""
    sides = {content: SIDES.get(" ".join(map(str, content)).lower()) for content in values}
    known = {content: side for content, side in sides.items() if side}
    return known if len(known) == len(sides) else {}


def _facts(predicate: Predicate, rules: Iterable[Rule]) -> tuple[Compound, ...]:
    """Return the facts of a relation that has only facts, and a name such as wall or hole."""
    if not set(words(predicate.name)) & BLOCKS:
        return ()
    named = [rule for rule in rules if rule.head.key == predicate[1:]]
    if len(named) > _FIXED_LIMIT or any(rule.body for rule in named):
        return ()
    facts = [Compound(predicate.name, rule.head.arguments) for rule in named]
    return tuple(fact for fact in facts if all(isinstance(term, Constant) for term in fact.arguments))


def _side(name: str) -> tuple[Side | None, str]:
    """Return the side and the sign in a name such as ``gt_below``; the sign of a wall is empty."""
    parts = words(name)
    side = next((SIDES[word] for word in parts if word in SIDES), None)
    sign = next((SIGNS[word] for word in parts if word in SIGNS), "")
    if sign and side in ("north", "south"):
        sign = {"<": "\u2227", ">": "\u2228"}[sign]
    return (side, sign) if sign or BLOCKS & {*parts} else (None, "")
