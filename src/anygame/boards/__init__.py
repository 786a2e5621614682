"""Boards: the fluents of a game that lie on a board, pictures of states, and their renderers.

`find_boards` finds boards in the rules, `picture` places the facts of a state on them, and `svg`, `draw` and
`text` render the picture. No game is recognised by its name.

A fluent such as ``(cell 1 2 white)`` lies on a board if two of its arguments have ordered values: numbers,
letters, or a chain of the rules (see `anygame.analysis.axes`). The other arguments are the content of the
square. A comment in the sheet overrules these choices (see `anygame.boards.finding.hints`). The chapter on
boards lists the evidence for each kind of board.

- **Squares**: the squares that ``base`` allows. Without ``base``, they are the squares of the initial state
  if one of its contents is blank. Otherwise they are all combinations of rows and columns.
- **Rows and columns**: if rows grow and then shrink by one square at a time, the board is a hexagon with the
  first row at the top. Otherwise the variables of the rules decide: ``?row ?col`` (first row at the top) or
  ``?x ?y`` (``y`` grows upwards). Without such variables, letters name columns and numbers rows, as in chess,
  and rows grow upwards. Without letters, the first argument is ``x`` and the second ``y``.
- **Several boards**: of three ordered arguments, the argument with a different number of values distinguishes
  boards, or else the last argument. Of four, the first two arguments do. An unordered argument distinguishes
  boards if two things share a square without it.
- **Blank**: a content with a name such as ``empty``. Otherwise it is a content that fills three quarters of
  the board at the start, beside other contents.
- **Choice**: of several fluents that lie on boards, those with initial facts are drawn, unless they are much
  smaller than the largest board. In doubt, no board is drawn, and the facts are listed like all others.
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
