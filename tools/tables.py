"""Tables of measurements, as text and in Markdown. A tool writes them between its marks in a file."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def number(value: float) -> str:
    """Return a number with three significant digits and a unit; empty for 0."""
    if not value:
        return ""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= 0.9995 * unit:
            return _three(value / unit) + name
    return _three(value)


def plain(value: float) -> str:
    """Return a number with at least three significant digits, without a unit; empty for 0."""
    return f"{value:,.0f}" if value >= 99.95 else number(value)


def _three(value: float) -> str:
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{digits}f}" if abs(value) >= 0.1 else f"{value:.2g}"


def seconds(value: float) -> str:
    """Return seconds with three decimals; empty for 0."""
    return f"{value:.3f}" if value else ""


def spread(values: Sequence[float]) -> str:
    """Return half the range of some values, relative to the median."""
    middle = median(values) if values else 0
    return f"±{(max(values) - min(values)) / 2 / middle:.0%}" if middle else ""


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table in which all columns except the first are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def as_markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the Markdown lines of a table in which all columns except the first are right-aligned."""
    line = ["---", *("---:" for _ in rows[0][1:])]
    return [f"| {' | '.join(row)} |" for row in (rows[0], line, *rows[1:])]


def marks(tool: str) -> tuple[str, str]:
    """Return the marks of a tool: the lines between which it writes."""
    return f"<!-- written by tools/{tool}.py -->", f"<!-- end of what tools/{tool}.py writes -->"


def part(text: str, tool: str) -> tuple[str, str, str]:
    """Return the parts of a text before, between and after the marks of a tool.

    Raises:
        ValueError: the text does not have each mark exactly once, in the right order.
    """
    first, last = marks(tool)
    before, begin, rest = text.partition(f"{first}\n")
    between, end, after = rest.partition(f"\n{last}")
    if not (begin and end) or any(mark in before + between + after for mark in (first, last)):
        raise ValueError(f"expected one line `{first}`, and one line `{last}` after it")
    return before + begin, between.strip("\n"), end + after


def put_into(path: Path, block: str, tool: str) -> None:
    """Replace the text between the marks of a tool in a file, atomically.

    Raises:
        ValueError: the file does not have each mark exactly once, in the right order.
    """
    before, _, after = part(path.read_text(encoding="utf-8"), tool)
    new = path.with_name(f".{path.name}.new")
    new.write_text(f"{before}\n{block}\n{after}", encoding="utf-8")
    os.replace(new, path)


def processor() -> str:
    """Return the name of this machine's processor."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def told(repeats: int, seconds: float) -> str:
    """Return a sentence about the conditions of a measurement."""
    return (
        f"Medians of {repeats} runs of {seconds:g} s each, on one core: {processor()}, "
        f"Python {platform.python_version()}."
    )
