"""Boards: the fluents of a game that lie on a board, pictures of states, and their renderers.

`find_boards` finds boards in the rules, `picture` places the facts of a state on them, and `svg`, `draw` and
`text` render the picture. No game is recognised by its name.

A fluent such as ``(cell 1 2 white)`` lies on a board if two of its arguments have ordered values: numbers,
letters, or a chain of the rules (see `anygame.analysis.axes`). The other arguments are the content of the
square. A comment in the sheet overrules these choices (see `anygame.boards.finding.hints`). The chapter on
boards lists the evidence for each kind of board.

- **Squares** are the squares that ``base`` allows. Without ``base`` they are the squares of the initial state
  if one of its contents is blank, and else all combinations of rows and columns.
- **Rows and columns**: a board is a hexagon, with the first row at the top, if its rows grow and then shrink
  by one square at a time. Else the variables of the rules decide: ``?row ?col`` (first row at the top) or
  ``?x ?y`` (``y`` grows upwards). Else letters name columns and numbers rows, as in chess. Else the first
  argument is ``x``, the second ``y``. In both cases rows grow upwards.
- **Several boards**: of three ordered arguments, the one with a different number of values distinguishes
  boards, or the last; of four, the first two. So does an unordered argument without which two things would
  share a square.
- **Blank** is a content with such a name. Else it is a content that fills three quarters of the board at the
  start, beside other contents.
- Of several such fluents, boards are those with initial facts, unless they are much smaller than the largest
  board. In doubt there is no board, and the facts are listed like all others.
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
