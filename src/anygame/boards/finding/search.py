"""Search for the boards of a game, the overlays on their cells, and hands of cards."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from anygame.boards.finding.arrangement import side_by_side, whole_board
from anygame.boards.finding.evidence import cell_places
from anygame.boards.finding.fitting import fit
from anygame.boards.finding.hints import Hint, HintError, read_hints
from anygame.boards.finding.layout import Boards, Overlay, Wish
from anygame.boards.finding.orientation import fluents_of
from anygame.boards.finding.positions import find_lines, find_positions
from anygame.boards.names import BLOCKS, CARDS, COLOURS, SIDES, SIGNS, words
from anygame.errors import AnygameError
from anygame.language.diagnostics import did_you_mean
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from anygame.boards.finding.evidence import Predicate
    from anygame.boards.finding.layout import Content, Layout
    from anygame.boards.finding.orientation import Fluent
    from anygame.boards.names import Side
    from anygame.game.game import Game
    from anygame.language.rules import Rule

#: Maximum number of facts of a relation that is drawn.
_FIXED_LIMIT: Final = 4096


def find_boards(game: Game) -> Boards:
    """Return the boards of a game; none if its fluents show no board or cannot be inferred."""
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
    # Beside a board, things with two coordinates usually lie on that board.
    if not (layouts or lines or hints):
        layouts += find_positions(fluents, game.program.rules)
    hands = {fluent.key: int(fluent.arity > 1) for fluent in fluents if CARDS & {*words(fluent.functor)}}
    boards = Boards(tuple(layouts), lines, hands)
    wishes = tuple(wish for hint in goals for wish in _wished(hint, boards, game, notes))
    return replace(boards, wishes=wishes, notes=tuple(notes))


def _wished(hint: Hint, boards: Boards, game: Game, notes: list[str]) -> Iterator[Wish]:
    """Yield the goal cells of a hint; note sides and cells that the game does not have."""
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
    """Join boards that are parts of one board, by a relation of the rules or by their two coordinates."""
    if len(layout.squares) < 2 or layout.shape != "square":
        return layout
    places = whole_board(layout, game.initial_state(), game.program.rules)
    if not places and len(layout.boards) == 2:
        places = side_by_side(layout)
    return replace(layout, places=places or {})


def _overlaid(layouts: Sequence[Layout], fluents: Sequence[Fluent], rules: Sequence[Rule]) -> list[Layout]:
    """Join fluents that share a board: the fluent with the most initial facts gets the others as overlays."""
    filled = {fluent.key: len(fluent.initial) for fluent in fluents}
    taken: set[tuple[str, int]] = set()
    joined: dict[tuple[str, int], Layout] = {}
    for layout in sorted(layouts, key=lambda layout: -filled[layout.fluent]):
        if layout.fluent in taken:
            continue
        overlays = tuple(
            overlay
            for overlay in find_overlays(layout, fluents, rules)
            if overlay.fluent not in taken | joined.keys()
            and not (overlay.contents and 2 * filled.get(overlay.fluent, 0) > layout.size)
        )
        taken |= {overlay.fluent for overlay in overlays}
        joined[layout.fluent] = replace(layout, overlays=overlays, sides=sides_of(layout.values))
    return [joined[layout.fluent] for layout in layouts if layout.fluent in joined]


def _as_hinted(fluents: Sequence[Fluent], hint: Hint, notes: list[str]) -> list[Layout]:
    meant = [
        fluent for fluent in fluents if fluent.functor == hint.functor and hint.arity in (None, fluent.arity)
    ]
    if not meant:
        near = get_close_matches(hint.functor or "", sorted({fluent.functor for fluent in fluents}), n=1)
        notes.append(f"board hint `{hint.text}`: the game has no such fluent{did_you_mean(near)}")
    layouts = []
    for fluent in meant:
        if layout := fit(fluent, hint):
            layouts.append(layout)
        else:
            notes.append(f"board hint `{hint.text}`: {fluent.functor}/{fluent.arity} cannot be laid out so")
    return layouts


def _as_found(fluents: Sequence[Fluent], hints: Sequence[Hint], notes: list[str]) -> list[Layout]:
    """Return the layouts of the fluents that seem to be boards; a hint may give the shape."""
    hint = hints[0] if hints else None
    started = {fluent.functor for fluent in fluents if fluent.initial}
    fitted = [layout for fluent in fluents if (layout := fit(fluent, hint))]
    if hint and not fitted:
        notes.append(
            f"board hint `{hint.text}`: no board was found; name the fluent: (cell ?row ?column ?content)"
        )
    with_content = [layout for layout in fitted if layout.contents]
    chosen = [layout for layout in with_content if layout.functor in started] or with_content or fitted
    largest = max((layout.size for layout in chosen), default=0)
    if len(chosen) < len(with_content):
        # Beside a small initial board, there may be a larger board that fills during play.
        later = [layout for layout in with_content if layout not in chosen and layout.boards]
        chosen = [*chosen, *(layout for layout in later if layout.size > largest)]
    return [layout for layout in chosen if 4 * layout.size >= largest]


def find_overlays(layout: Layout, fluents: Sequence[Fluent], rules: Sequence[Rule]) -> tuple[Overlay, ...]:
    """Return the overlays on the cells of a board.

    An overlay is a fluent with arguments that name a cell in the rules, and at most one further argument,
    the content. Relations of facts are overlays, too, if they have a name such as wall, hole or exit.
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
        # One shared variable alone is weak evidence.
        if len(key) == 1 and not (contents and predicate.kind == "fluent"):
            continue
        if predicate.kind == "fluent" and (fluent := by_key.get(predicate[1:])):
            values = tuple((value,) for index in contents for value in fluent.domains[index])
            overlays.append(_overlay(predicate, key, contents, values))
        elif predicate.kind == "relation":
            overlays += _fixed(predicate, key, contents, rules)
    return tuple(overlays)


def sides_of(values: Iterable[Content]) -> Mapping[Content, Side]:
    """Return the side of a cell that each content names; empty unless all contents name sides."""
    names = {content: " ".join(map(str, content)).lower() for content in values}
    return (
        {content: SIDES[name] for content, name in names.items()} if SIDES.keys() >= {*names.values()} else {}
    )


def _overlay(
    predicate: Predicate,
    key: tuple[int, ...],
    contents: tuple[int, ...],
    values: tuple[Content, ...],
    fixed: tuple[Compound, ...] = (),
) -> Overlay:
    side, sign = _side(predicate.name) if not contents else (None, "")
    return Overlay(*predicate[1:], key, contents, values, side, sign, sides_of(values), fixed)


def _fixed(
    predicate: Predicate, key: tuple[int, ...], contents: tuple[int, ...], rules: Iterable[Rule]
) -> Iterator[Overlay]:
    """Yield the overlay of a relation that has only facts, if it is named like a wall or a block."""
    if not set(words(predicate.name)) & BLOCKS:
        return
    named = [rule for rule in rules if rule.head.key == predicate[1:]]
    facts = [rule.head.arguments for rule in named if not rule.body]
    if len(facts) < len(named) or len(facts) > _FIXED_LIMIT:
        return
    flat = [arguments for arguments in facts if all(isinstance(each, Constant) for each in arguments)]
    fixed = tuple(Compound(predicate.name, arguments) for arguments in flat)
    values = tuple({tuple(arguments[index] for index in contents) for arguments in facts} - {()})
    yield _overlay(predicate, key, contents, values, fixed)


def _side(name: str) -> tuple[Side | None, str]:
    """Return the side and the sign in a name such as gt_below; the sign of a wall is empty."""
    parts = words(name)
    side = next((SIDES[word] for word in parts if word in SIDES), None)
    sign = next((SIGNS[word] for word in parts if word in SIGNS), "")
    if sign and side in ("north", "south"):
        sign = {"<": "\u2227", ">": "\u2228"}[sign]
    return (side, sign) if sign or BLOCKS & {*parts} else (None, "")
