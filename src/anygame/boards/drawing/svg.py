"""Pictures as SVG: boards with stones, pieces, walls and arrows, in light or dark colours."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import combinations, groupby
from math import hypot
from typing import TYPE_CHECKING, Final

from anygame.boards.drawing.elements import (
    CELL,
    OUTLINES,
    Paints,
    circle,
    escaped,
    number,
    pixels,
    polygon,
    shortened,
    tag,
    words,
)
from anygame.boards.drawing.pictures import HEXAGON_ROW, UNKNOWN
from anygame.boards.names import BODIES, DRAUGHTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.boards.drawing.pictures import Aim, Arrow, Cell, Grid, Hand, Label, Look, Picture, Wall

_FONT: Final = "system-ui, 'DejaVu Sans', 'Liberation Sans', sans-serif"
#: Maximum number of characters of a text on a board; longer text overlaps neighbouring cells.
_SYMBOL: Final = 7
#: Maximum number of characters of the description for screen readers.
_DESCRIBED: Final = 4000
#: Maximum number of things drawn on one cell; the title of the cell names the others.
_STACKED: Final = 4
#: Width of the margin around the whole picture, in cells.
_MARGIN: Final = 0.2
#: Height of a line of the legend or of facts, in cells.
_LINE: Final = 0.55
#: Font size of labels, legends and facts, in cells.
_SMALL: Final = 0.34
#: Minimum width of a legend, or of facts without a board, in cells.
_LEGEND: Final = 8.0
#: Maximum number of fluents listed for a game without a board, and of hands listed for each fluent.
_FACT_LINES: Final = 40
#: Height of a card, in lines.
_CARD_LINES: Final = 2.0
#: Maximum number of cards drawn for one hand.
_MOST_CARDS: Final = 60
#: Opacity of the highlights of the last move.
_MOVED: Final = {"to": 0.55, "from": 0.3, "last": 0.3, "changed": 0.2}
#: The corners of a hexagon of width 1.
_CORNERS: Final = ((0, -0.5774), (0.5, -0.2887), (0.5, 0.2887), (0, 0.5774), (-0.5, 0.2887), (-0.5, -0.2887))
#: The corners of a square of width 1.
_SQUARE: Final = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
#: Maximum distance between the centres of cells that touch, even if only at a corner.
_TOUCHING: Final = 1.5
_SIDES: Final = {"north": (0.0, -0.5), "south": (0.0, 0.5), "east": (0.5, 0.0), "west": (-0.5, 0.0)}
#: Height of a title, in cells.
_TITLE: Final = 0.8
#: Space for labels on each side of a board, in cells.
_LABEL: Final = 0.8
#: Gap between boards, in cells.
_GAP: Final = 0.5
#: Maximum total width of groups of boards that are drawn side by side, in cells.
_WIDEST: Final = 24.0


def svg(picture: Picture, *, dark: bool | None = None) -> str:
    """Return a picture as the text of an SVG element.

    Each cell is a group ``<g id="..." class="cell ...">`` with the id of the cell. The group has the marks of
    the cell as classes, the name of the cell as ``data-cell``, and a title with the contents.

    Args:
        picture: the picture.
        dark: whether to use the colours for dark surroundings; None for the viewer's preference.
    """
    return _drawn(picture, Paints(dark))


def clickable_svg(picture: Picture) -> str:
    """Return a picture as an SVG grid of rows of cells, for pages on which people click cells.

    Each cell can be focused, and has its id as ``data-id`` and its coordinates as ``data-terms``. The page
    must include the CSS rules of `paint_rules`. Legal moves are not marked, because they depend on the
    viewer.
    """
    return _drawn(picture, Paints(None), is_clickable=True)


def _drawn(picture: Picture, paint: Paints, *, is_clickable: bool = False) -> str:
    drawing = _Drawing(picture, paint, is_clickable=is_clickable)
    return _page([drawing], [f"<desc>{drawing.described()}</desc>", *drawing.elements()], paint)


def animation(pictures: Sequence[Picture], *, dark: bool | None = None) -> str:
    """Return pictures as the text of an endless SVG animation that shows each picture for one second.

    Raises:
        ValueError: there is no picture.
    """
    if not pictures:
        raise ValueError("an animation needs at least one picture")
    paint = Paints(dark)
    drawings = [_Drawing(picture, paint, prefix=f"step{step}-") for step, picture in enumerate(pictures)]
    inner = []
    for step, drawing in enumerate(drawings):
        shown = _shown(step, len(drawings))
        inner.append(f'<g visibility="{"hidden" if step else "visible"}">{shown}')
        inner += [*drawing.elements(), "</g>"]
    return _page(drawings, inner, paint)


def _shown(step: int, steps: int) -> str:
    """Return the ``animate`` element that shows a group during one second of the animation."""
    if steps == 1:
        return ""
    times, values = [step / steps, (step + 1) / steps], ["visible", "hidden"]
    if step:
        times, values = [0.0, *times], ["hidden", *values]
    if step == steps - 1:
        times, values = times[:-1], values[:-1]
    keys = ";".join(f"{time:.5f}".rstrip("0").rstrip(".") for time in times)
    return (
        f'<animate attributeName="visibility" calcMode="discrete" dur="{steps}s" '
        f'repeatCount="indefinite" values="{";".join(values)}" keyTimes="{keys}"/>'
    )


def _page(drawings: Sequence[_Drawing], inner: Sequence[str], paint: Paints) -> str:
    width, height = max(drawing.width for drawing in drawings), max(drawing.height for drawing in drawings)
    title = escaped(drawings[0].picture.title)
    size = f'width="{pixels(width)}" height="{pixels(height)}"'
    box = f'viewBox="{pixels(-_MARGIN)} {pixels(-_MARGIN)} {pixels(width)} {pixels(height)}"'
    paper = tag("rect", paint(fill="paper"), x=-_MARGIN, y=-_MARGIN, width=width, height=height)
    role, style = 'role="img"', paint.style
    if drawings[0].is_clickable:
        role, style = 'role="grid" aria-label="Board"', ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} {role} font-family="{_FONT}">\n'
        f"<title>{title}</title>\n{style}{paper}\n" + "\n".join(inner) + "\n</svg>\n"
    )


class _Drawing:
    def __init__(
        self, picture: Picture, paint: Paints, *, prefix: str = "", is_clickable: bool = False
    ) -> None:
        self.picture = picture
        self._paint = paint
        self._prefix, self.is_clickable = prefix, is_clickable
        self._placed, self._width, height = _arranged(picture.grids)
        self._bottom = height
        self._where = {
            cell.id: placed.at(cell.x, cell.y) for placed in self._placed for cell in placed.grid.cells
        }
        self._below, lines = self._legend() if picture.grids else self._facts()
        self.width = max(self._width, 1.0) + 2 * _MARGIN
        self.height = height + _LINE * lines + 2 * _MARGIN

    def elements(self) -> list[str]:
        boards = [element for placed in self._placed for element in self._grid(placed)]
        aims = [element for aim in self.picture.aims for element in self._aim(aim)]
        chains = [element for chain in self.picture.chains for element in self._chain(chain)]
        arrows = [element for arrow in self.picture.arrows for element in self._arrow(arrow)]
        below = ['<g class="below">', *self._below, "</g>"] if self._below else []
        return [*boards, *aims, *arrows, *chains, *below]

    def described(self) -> str:
        described = (f"{cell.name}: {_names(cell)}" for cell in self.picture.cells() if cell.contents)
        return escaped("; ".join(described), _DESCRIBED)

    def _grid(self, placed: _Placed) -> Iterator[str]:
        grid = placed.grid
        if grid.title:
            paint = self._paint(fill="ink")
            x, y = placed.x - 0.5, placed.top + 0.4
            yield words(shortened(grid.title, 60), x, y, paint, size=0.38, anchor="start")
        for _, row in groupby(grid.cells, lambda cell: cell.y):
            drawn = [element for cell in row for element in self._cell(cell, placed)]
            yield from ['<g role="row">', *drawn, "</g>"] if self.is_clickable else drawn
        for x, y in grid.dots:
            yield circle(*placed.at(x, y), 0.09, self._paint(fill="ink"))
        for wall in grid.walls:
            yield self._wall(wall)
        for label in grid.labels:
            yield self._label(label, placed)

    def _cell(self, cell: Cell, placed: _Placed) -> Iterator[str]:
        x, y = placed.at(cell.x, cell.y)
        name = escaped(cell.name)
        title = f"{name}: {escaped(_names(cell))}" if cell.contents else name
        title += ": not known" if "unknown" in cell.marks else ""
        sides = dict.fromkeys(aim.side for aim in self.picture.aims if cell.id in aim.cells)
        title += f"; goal of {escaped(', '.join(sides))}" if sides else ""
        marks = cell.marks - {"legal"} if self.is_clickable else cell.marks
        own, classes = escaped(self._prefix + cell.id), " ".join(["cell", *sorted(marks)])
        attributes = f'data-cell="{name}"'
        if self.is_clickable:
            terms = escape(" ".join(map(str, cell.terms)))
            attributes = f'role="gridcell" tabindex="-1" data-id="{own}" data-terms="{terms}"'
            attributes += f' aria-label="{title}"'
        yield f'<g id="{own}" class="{classes}" {attributes}><title>{title}</title>'
        if cell.ends is not None:
            yield self._line(cell, placed)
        else:
            yield _outline(cell, x, y, self._paint(fill=_ground(cell), stroke="line"))
            moved = max((opacity for mark, opacity in _MOVED.items() if mark in marks), default=0.0)
            if moved:
                yield _outline(cell, x, y, f'{self._paint(fill="moved")} fill-opacity="{number(moved)}"')
            if "legal" in marks:
                paint = self._paint(fill="legal")
                yield circle(x, y, 0.44 if cell.contents else 0.12, f'{paint} fill-opacity="0.55"')
            yield from self._things(cell, x, y)
            if "unknown" in marks:
                yield words(UNKNOWN, x, y, self._paint(fill="faint"), size=0.4)
        yield "</g>"

    def _line(self, cell: Cell, placed: _Placed) -> str:
        """Return a line between two dots: solid if a fact draws the line, else faint and dashed."""
        assert cell.ends is not None
        (x1, y1), (x2, y2) = (placed.at(*end) for end in cell.ends)
        ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        # An invisible wide line makes the thin line easy to click.
        wide = tag("line", ' stroke="#000" stroke-opacity="0"', **ends, stroke_width=0.3)
        if not cell.contents:
            dashed = f'{self._paint(stroke="line")} stroke-dasharray="{pixels(0.08)}"'
            return wide + tag("line", dashed, **ends, stroke_width=0.05)
        colour = cell.contents[0].look.colour or "ink"
        paint = self._paint(stroke="moved" if cell.marks & {"to", "changed"} else colour)
        return wide + tag("line", paint, **ends, stroke_width=0.12)

    def _things(self, cell: Cell, x: float, y: float) -> Iterator[str]:
        shown = [thing.look for thing in cell.contents if thing.look.form not in ("block", "mark")]
        marks = [thing.look for thing in cell.contents if thing.look.form == "mark"]
        if len(shown) == 1:
            yield self._thing(shown[0], x, y, 1.0)
        for position, look in enumerate(shown[:_STACKED] if len(shown) > 1 else ()):
            dx, dy = 0.48 * (position % 2) - 0.24, 0.48 * (position // 2) - 0.24 * (len(shown) > 2)
            yield self._thing(look, x + dx, y + dy, 0.5)
        # If a cell has a mark and another thing, the mark is drawn in the corner.
        for position, look in enumerate(marks[:_STACKED]):
            place = (x + 0.38, y - 0.38 + 0.2 * position, 0.25) if shown or position else (x, y, 1.0)
            yield self._thing(look, *place)

    def _thing(self, look: Look, x: float, y: float, size: float) -> str:
        body = look.colour if look.colour in BODIES else ""
        if look.form == "stone":
            return circle(x, y, 0.38 * size, self._paint(fill=body or "ink", stroke="edge"))
        if look.form == "mark":
            half = 0.3 * size
            paint = self._paint(fill=body or "mark")
            return tag("rect", paint, x=x - half, y=y - half, width=2 * half, height=2 * half, rx=0.06)
        if look.figure in DRAUGHTS:
            body = body or "grey"
            disc = circle(x, y, 0.38 * size, self._paint(fill=body, stroke="edge"))
            ring = self._paint(stroke="white" if body == "black" else "edge")
            if look.figure == "man":
                return disc + circle(x, y, 0.24 * size, ring)
            place = f"translate({pixels(x)} {pixels(y)}) scale({number(0.62 * size * CELL)})"
            crown = self._paint(fill="gold", stroke="edge")
            return f'{disc}<path d="{OUTLINES["king"]}" transform="{place}" stroke-width="0.04"{crown}/>'
        if look.figure in OUTLINES:
            paint = self._paint(fill=body or "grey", stroke="white" if body == "black" else "edge")
            place = f"translate({pixels(x)} {pixels(y)}) scale({number(1.1 * size * CELL)})"
            path = f'd="{OUTLINES[look.figure]}" transform="{place}"'
            return f'<path {path} stroke-width="0.025" stroke-linejoin="round"{paint}/>'
        symbol = shortened(look.symbol, _SYMBOL)
        fitting = min(0.62, 1.35 / max(len(symbol), 1)) * size
        return words(symbol, x, y, self._paint.text(body), size=fitting, bold=True)

    def _wall(self, wall: Wall) -> str:
        x, y = self._where[wall.cell]
        dx, dy = _SIDES[wall.side]
        x, y = x + dx, y + dy
        if wall.sign:
            return words(wall.sign, x, y, self._paint(fill="ink"), size=0.4, bold=True)
        paint = f'{self._paint(stroke="ink")} stroke-linecap="round"'
        return tag("line", paint, x1=x - dy, y1=y - dx, x2=x + dy, y2=y + dx, stroke_width=0.1)

    def _label(self, label: Label, placed: _Placed) -> str:
        x, y = placed.at(label.x, label.y)
        # Above and below hexagons, labels need a larger distance.
        near = 0.0 if placed.grid.hexagons else 0.2
        dx, dy, anchor = {
            "west": (0.35, 0.0, "end"),
            "east": (-0.2, 0.0, "start"),
            "north": (0.0, near, "middle"),
            "south": (0.0, -near, "middle"),
        }[label.side]
        text = shortened(label.text, _SYMBOL)
        return words(text, x + dx, y + dy, self._paint(fill="faint"), size=_SMALL, anchor=anchor)

    def _aim(self, aim: Aim) -> Iterator[str]:
        """Yield lines along a rim of the board if all goal cells of a side lie there, or else rings."""
        cells = [cell for cell in self.picture.cells() if cell.id in aim.cells]
        sides = [self._rim(cell) for cell in cells]
        common = sorted(set.intersection(*sides)) if sides else []
        places = [self._where[cell.id] for cell in cells]
        drawn = "".join(
            f"M{pixels(x + x1)} {pixels(y + y1)}L{pixels(x + x2)} {pixels(y + y2)}"
            for x, y in places
            for (x1, y1), (x2, y2) in common
        )
        yield '<g class="aim">'
        # A darker line below a white line makes the white line visible on white paper.
        for paint, width in (("edge", 0.18), (aim.colour, 0.12)):
            stroke = f'{self._paint(stroke=paint)} stroke-linecap="round"'
            if drawn:
                yield f'<path d="{drawn}" stroke-width="{pixels(width)}"{stroke}/>'
            for x, y in () if drawn else places:
                yield circle(x, y, 0.44, f'{stroke} stroke-width="{pixels(width / 2)}"')
        yield "</g>"

    def _chain(self, chain: Aim) -> Iterator[str]:
        """Yield rings around the cells of a chain, and lines between touching cells."""
        places = [self._where[cell] for cell in chain.cells]
        lines = "".join(
            f"M{pixels(x1)} {pixels(y1)}L{pixels(x2)} {pixels(y2)}"
            for (x1, y1), (x2, y2) in combinations(places, 2)
            if hypot(x2 - x1, y2 - y1) < _TOUCHING
        )
        yield '<g class="chain">'
        for paint, width in (("edge", 0.09), ("won", 0.05)):
            stroke = f'{self._paint(stroke=paint)} stroke-linecap="round" stroke-width="{pixels(width)}"'
            if lines:
                yield f'<path d="{lines}" {stroke}/>'
            for x, y in places:
                yield circle(x, y, 0.42, f'fill="none" {stroke}')
        yield "</g>"

    def _rim(self, cell: Cell) -> set[tuple[tuple[float, float], tuple[float, float]]]:
        """Return the end points of the sides of a cell that border on no other cell."""
        if cell.shape not in ("square", "hexagon"):
            return set()
        corners = _CORNERS if cell.shape == "hexagon" else _SQUARE
        x, y = self._where[cell.id]
        rim = set()
        for (x1, y1), (x2, y2) in zip(corners, (*corners[1:], corners[0]), strict=True):
            beyond = x + x1 + x2, y + y1 + y2
            if all(hypot(u - beyond[0], v - beyond[1]) > 0.3 for u, v in self._where.values()):
                rim.add(((x1, y1), (x2, y2)))
        return rim

    def _arrow(self, arrow: Arrow) -> Iterator[str]:
        """Yield an arrow between two cells that ends shortly before the middle of the second cell."""
        (x1, y1), (x2, y2) = self._where[arrow.start], self._where[arrow.end]
        length = hypot(x2 - x1, y2 - y1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        x2, y2 = x2 - 0.3 * dx, y2 - 0.3 * dy
        x3, y3 = x2 - 0.3 * dx, y2 - 0.3 * dy
        shaft = f'{self._paint(stroke="moved")} stroke-linecap="round"'
        tip = (x2, y2), (x3 - 0.17 * dy, y3 + 0.17 * dx), (x3 + 0.17 * dy, y3 - 0.17 * dx)
        yield '<g class="arrow" opacity="0.7">'
        yield tag("line", shaft, x1=x1, y1=y1, x2=x3, y2=y3, stroke_width=0.12)
        yield f"{polygon(tip, self._paint(fill='moved'))}</g>"

    def _legend(self) -> tuple[list[str], int]:
        looks = dict.fromkeys(look for grid in self.picture.grids for look in grid.legend)
        elements: list[str] = []
        x, line, longest = 0.0, 0, self._width
        for look in looks:
            if look.form != "text" or look.empty:
                continue
            symbol, label = shortened(look.symbol, _SYMBOL), shortened(look.label, 30)
            after = x + 0.3 + 0.24 * len(symbol)
            end = after + 0.22 * len(label)
            if x and end > max(self._width, _LEGEND):
                end, after, x, line = end - x, after - x, 0.0, line + 1
            y = self._bottom + _LINE * (line + 0.5)
            elements += [
                words(symbol, x, y, self._paint.text(look.colour), size=_SMALL, anchor="start", bold=True),
                words(label, after, y, self._paint(fill="faint"), size=_SMALL, anchor="start"),
            ]
            x, longest = end + 0.4, max(longest, end)
        self._width = longest
        return elements, line + 1 if elements else 0

    def _facts(self) -> tuple[list[str], float]:
        """Return elements that show the facts of each fluent on a separate line, and the number of lines."""
        paint = self._paint(fill="ink")
        elements: list[str] = []
        self._width, line = max(self._width, _LEGEND), 0.0
        for listing in self.picture.others[:_FACT_LINES]:
            if listing.hands:
                for hand in listing.hands[:_FACT_LINES]:
                    elements += self._hand(" ".join(filter(None, [listing.name, hand.owner])), hand, line)
                    line += _CARD_LINES
                continue
            text = " ".join([listing.name, *(text for text, _ in listing.facts)])
            y = _LINE * (line + 0.5)
            self._width = max(self._width, 0.19 * min(len(text), 60) + 0.3)
            elements.append(words(shortened(text, 60), 0.1, y, paint, size=_SMALL, anchor="start"))
            line += 1
        return elements, line

    def _hand(self, name: str, hand: Hand, line: float) -> Iterator[str]:
        y = _LINE * (line + _CARD_LINES / 2)
        name = shortened(name, 30)
        yield words(name, 0.1, y, self._paint.text(hand.colour), size=_SMALL, anchor="start")
        x = 0.3 + 0.21 * len(name)
        for card in hand.cards[:_MOST_CARDS]:
            text = shortened(card, 12)
            width = max(0.62, 0.22 * len(text) + 0.3)
            paint = self._paint(fill="cell", stroke="line")
            yield tag("rect", paint, x=x, y=y - 0.43, width=width, height=0.86, rx=0.1, stroke_width=0.04)
            yield words(text, x + width / 2, y, self._paint(fill="ink"), size=_SMALL, bold=True)
            x += width + 0.12
        self._width = max(self._width, x)


def _outline(cell: Cell, x: float, y: float, attributes: str) -> str:
    if cell.shape == "hexagon":
        return polygon(((x + dx, y + dy) for dx, dy in _CORNERS), attributes)
    half, bend = (0.46, 0.25) if cell.shape == "pit" else (0.5, 0.0)
    rounded = {"rx": bend} if bend else {}
    return tag("rect", attributes, x=x - half, y=y - half, width=2 * half, height=2 * half, **rounded)


def _ground(cell: Cell) -> str:
    if any(thing.look.form == "block" for thing in cell.contents):
        return "block"
    return ("dark" if cell.dark else "light") if cell.chequered else "cell"


def _names(cell: Cell) -> str:
    return ", ".join(thing.look.label or "marked" for thing in cell.contents)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A grid, the middle of its first cell (``x``, ``y``), and the top of its title and labels, in cells."""

    grid: Grid
    x: float
    y: float
    top: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.x + x, self.y + y * (HEXAGON_ROW if self.grid.hexagons else 1.0)


def _arranged(grids: Sequence[Grid]) -> tuple[list[_Placed], float, float]:
    """Place the grids of each group in rows and columns; return the placed grids, total width and height."""
    placed: list[_Placed] = []
    left = top = width = height = 0.0
    for _, members in groupby(grids, key=lambda grid: grid.group):
        group = list(members)
        boxes = [_box(grid) for grid in group]
        # The width and height of a grid include the gap after the grid.
        wide, high = (max(box[side] for box in boxes) + _GAP for side in (2, 3))
        rows, columns = (max(grid.place[axis] for grid in group) + 1 for axis in (0, 1))
        if left and left + columns * wide - _GAP > _WIDEST:
            left, top = 0.0, height + _GAP
        for grid, (west, north, _, _) in zip(group, boxes, strict=True):
            row, column = grid.place
            y = top + row * high
            placed.append(_Placed(grid, left + column * wide + west, y + north, y))
        left += columns * wide
        width, height = max(width, left - _GAP), max(height, top + rows * high - _GAP)
    return placed, width, height


def _box(grid: Grid) -> tuple[float, float, float, float]:
    """Return the offset of the first cell in a grid with title and labels, and the size of the grid."""
    scale = HEXAGON_ROW if grid.hexagons else 1.0
    half = 0.5774 if grid.hexagons else 0.5
    points = [(cell.x, cell.y) for cell in grid.cells] + list(grid.dots) or [(0.0, 0.0)]
    sides = {label.side for label in grid.labels}
    slanting = [label.x + 0.3 for label in grid.labels if label.side == "west"]
    longest = max((len(label.text) for label in grid.labels if label.side in ("west", "east")), default=0)
    beside = max(_LABEL, 0.2 * min(longest, 7) + 0.2)
    west = max(0.5 - min(x for x, _ in points) + beside * ("west" in sides), -min(slanting, default=0.0))
    north = half - min(y for _, y in points) * scale + _LABEL * ("north" in sides) + _TITLE * bool(grid.title)
    east = max(x for x, _ in points) + 0.5 + beside * ("east" in sides)
    lowest = max([y for _, y in points] + [label.y - 1 for label in grid.labels if label.side == "south"])
    south = lowest * scale + half + _LABEL * ("south" in sides)
    return west, north, west + east, north + south
