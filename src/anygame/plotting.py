"""Plots: the only module that imports matplotlib.

Results that can be plotted have a method ``plot(ax=None)``, as in pandas. The method draws on the given axes,
or on new axes, and returns the axes.
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
    """Return the given axes, or else the axes of a new figure, which a notebook shows."""
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
    """Yield a row of ``panes`` axes, and write them as an image of ``size`` inches at the end.

    The suffix of the path gives the format. With ``same_rows``, all axes share their vertical axis. Raises
    MissingExtraError without matplotlib, and RecordError if the file cannot be written.
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
