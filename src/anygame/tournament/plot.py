"""A plot of the standings, as an image file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.errors import MissingExtraError, RecordError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from anygame.tournament.standings import Standing

#: What goals should be at most; bars of others end there.
_HIGHEST: Final = 100.0


def plot_standings(standings: Sequence[Standing], path: str | os.PathLike[str]) -> None:
    """Draw ratings with their uncertainty, and mean goals, the best player on top.

    Args:
        standings: as `anygame.tournament.standings.standings` returns them.
        path: the image; its suffix gives the format.

    Raises:
        MissingExtraError: the extra ``tournament`` is not installed.
        RecordError: the image cannot be written.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "plots need matplotlib: pip install 'anygame[tournament]'", "tournament"
        ) from error
    figure = Figure(figsize=(9, 1.5 + 0.4 * len(standings)), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    names = [standing.name for standing in standings]
    indexes = list(range(len(names)))
    rated = [(index, each) for index, each in enumerate(standings) if each.mu is not None]
    left.errorbar(
        [each.mu or 0.0 for _, each in rated],
        [index for index, _ in rated],
        xerr=[3 * (each.sigma or 0.0) for _, each in rated],
        fmt="o",
        capsize=3,
    )
    left.set_xlabel("rating: mu, and 3 sigma around it")
    left.set_yticks(indexes, names)
    left.invert_yaxis()
    estimates = [standing.estimate for standing in standings]
    right.barh(
        indexes,
        [min(max(each.mean, 0.0), _HIGHEST) if each else 0.0 for each in estimates],
        xerr=[min(each.margin, _HIGHEST) if each else 0.0 for each in estimates],
        color="lightsteelblue",
        capsize=3,
    )
    right.set_xlim(0, _HIGHEST)
    right.set_xlabel("mean goal, and its 95 % interval")
    try:
        figure.savefig(Path(path))
    except (OSError, ValueError) as error:
        raise RecordError(f"cannot draw {path}: {getattr(error, 'strerror', None) or error}") from error
