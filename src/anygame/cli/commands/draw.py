"""The ``draw`` command: the boards of a state, on the terminal or as SVG."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from anygame.answers.position import Position
from anygame.boards import picture, svg, text
from anygame.cli.options import Command, command_options, flag, option, several
from anygame.cli.output import Screen, complain, print_json
from anygame.cli.positions import load_game, play_after
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape
from anygame.cli.sheets import write_text

if TYPE_CHECKING:
    from anygame.boards import Cell, Picture

_SHAPE: Final = """\
{"game", "step", "terminal",
   "boards": [{"title", "cells": [{"id", "name", "x", "y", "shape", "marks", "facts"}]}],
   "others": {FLUENT: [TEXT]}, "moves": {ROLE: {MOVE: [ID]}}}
  x and y are the coordinates of the centre of a cell; the unit is the size of a cell, and y grows
  downwards. With --legal, "moves" gives the cells that each legal move names."""


@command_options
class _Options(PositionOptions):
    svg: str | None = option("--svg", "OUT", "write the drawing to this SVG file; - for standard output")
    dark: bool = flag("--dark", "draw the SVG for a dark background (default: for a light background)")
    text: bool = flag("--text", "draw with plain characters, even on a terminal")
    legal: list[str] = several("--legal", "ROLE", "mark the cells of the legal moves of ROLE")


def _draw(options: _Options) -> None:
    game = load_game(options)
    states, moves = play_after(game, options)
    before = states[-2] if moves else None
    boards = picture(states[-1], last=moves[-1] if moves else None, before=before, legal_for=options.legal)
    for note in boards.notes:
        complain(f"note: {note}")
    if options.json:
        print_json(Position(game, states[-1], len(moves)).to_json() | _described(boards))
    elif options.svg is not None:
        drawing = svg(boards, dark=options.dark)
        if options.svg == "-":
            print(drawing, end="")
        else:
            write_text(options.svg, drawing)
    else:
        screen = Screen()
        if options.text:
            screen.say(text(boards, width=screen.width))
        else:
            screen.draw(boards)


def _described(boards: Picture) -> dict[str, Any]:
    moves: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for touch in boards.touches:
        moves[touch.role][str(touch.move)] = [*(touch.cells or touch.area)]
    return {
        "boards": [{"title": grid.title, "cells": [*map(_cell, grid.cells)]} for grid in boards.grids],
        "others": {listing.name: [text for text, _ in listing.facts] for listing in boards.others},
        "moves": moves,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "id": cell.id,
        "name": cell.name,
        "x": cell.x,
        "y": cell.y,
        "shape": cell.shape,
        "marks": sorted(cell.marks),
        "facts": [str(thing.fact) for thing in cell.things],
    }


_DETAILS: Final = f"""\
Without --svg, the boards are drawn on the terminal, or with plain characters if the output goes
to a file or a pipe. The last move of --after is marked. A comment such as `;; board: hex` in a
rule sheet determines how its boards are drawn.

{AFTER}
{json_shape(_SHAPE)}"""

COMMANDS: Final = {"draw": Command(_Options, _draw, _DETAILS)}
