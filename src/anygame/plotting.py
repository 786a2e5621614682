"""Plots on request: the one place that knows matplotlib.

What can be plotted has a method ``plot(ax=None)`` that draws on the axes given, or on new ones, and returns
them, as that of pandas does.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.errors import RecordError, needing

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes


_NEEDED: Final = "plots need matplotlib"


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure, which a notebook shows.

    Raises:
        MissingExtraError: there are none, and matplotlib is not installed.
    """
    if ax is not None:
        return ax
    with needing("plot", _NEEDED):
        from matplotlib import pyplot
    return pyplot.subplots(layout="constrained")[1]


@contextmanager
def image(
    path: str | os.PathLike[str],
    panes: int = 1,
    size: tuple[float, float] = (7, 4),
    *,
    same_rows: bool = False,
) -> Iterator[Sequence[Axes]]:
    """Yield axes beside each other, and write what was drawn on them.

    Args:
        path: the image; its suffix gives the format.
        panes: how many axes.
        size: of the image, in inches.
        same_rows: whether what stands upright is the same for all axes.

    Raises:
        MissingExtraError: matplotlib is not installed.
        RecordError: the image cannot be written.
    """
    with needing("plot", _NEEDED):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    yield figure.subplots(1, panes, sharey=same_rows, squeeze=False)[0]
    try:
        figure.savefig(Path(path))
    except (OSError, ValueError) as error:
        raise RecordError(f"cannot draw {path}: {getattr(error, 'strerror', None) or error}") from error
