"""Boards found in the rules of a game, pictures of states, and renderers of pictures.

`find_boards` finds boards in the rules, and `picture` places the facts of a state on them. `svg`, `draw` and
`text` render the picture. No game is recognised by its name.

A fluent such as ``(cell 1 2 white)`` lies on a board if two of its arguments have ordered values. Numbers and
letters have an order, and rules can put other values in a chain (see `anygame.analysis.axes`). The other
arguments are the content of the square. A comment in the sheet can describe the boards instead (see
`anygame.boards.finding.hints`). The chapter on boards lists the evidence for each kind of board.

- **Squares**: ``base`` determines the squares. Without ``base``, initial facts determine the squares if a
  square is blank at the start. Without a blank square, all combinations of rows and columns are squares.
- **Rows and columns**: if rows grow and then shrink by one square at a time, the board is a hexagon with the
  first row at the top. For other boards, names of variables decide: ``?row ?col`` (first row at the top) or
  ``?x ?y`` (``y`` grows upwards). If variables have other names, letters name columns, numbers name rows, and
  rows grow upwards, as in chess. Without letters, the first argument is ``x`` and the second ``y``.
- **Several boards**: of three ordered arguments, the argument with a unique number of values distinguishes
  boards (of three unique numbers, the smallest). If all three numbers are equal, the last argument
  distinguishes boards. Of four ordered arguments, the first two distinguish boards. An unordered argument
  distinguishes boards if several things would otherwise share a square.
- **Blank**: a square is empty if its content is a word such as ``empty``. If the squares start with different
  contents, a content on three quarters of the squares also means an empty square.
- **Choice**: if several fluents lie on boards, only boards with initial facts are drawn. A board much smaller
  than the largest board is not drawn. In doubt, no board is drawn, and the facts are listed as text.
"""

from __future__ import annotations

from anygame.boards.drawing.composing import BoardView, Painter, match_pictures, picture, view
from anygame.boards.drawing.elements import paint_rules
from anygame.boards.drawing.pictures import (
    Aim,
    Arrow,
    Cell,
    Grid,
    Hand,
    Label,
    Listing,
    Look,
    Picture,
    Thing,
    Touch,
    Wall,
    said_colours,
)
from anygame.boards.drawing.svg import animation, svg
from anygame.boards.drawing.terminal import Line, Piece, draw, text
from anygame.boards.finding.layout import Boards, Content, Layout, Square
from anygame.boards.finding.search import find_boards
from anygame.boards.names import COLOURS

__all__ = [
    "COLOURS",
    "Aim",
    "Arrow",
    "BoardView",
    "Boards",
    "Cell",
    "Content",
    "Grid",
    "Hand",
    "Label",
    "Layout",
    "Line",
    "Listing",
    "Look",
    "Painter",
    "Picture",
    "Piece",
    "Square",
    "Thing",
    "Touch",
    "Wall",
    "animation",
    "draw",
    "find_boards",
    "match_pictures",
    "paint_rules",
    "picture",
    "said_colours",
    "svg",
    "text",
    "view",
]
