"""Standings of players as plain data, as a table for people, and as a table for pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anygame.match.broadcast import Cell, Table
from anygame.tournament.standings import RATING, describe_estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.tournament.standings import Estimate, Standing


@dataclass(frozen=True, slots=True)
class StandingTable:
    """The standings of players, with their ratings if ``is_rated``."""

    standings: Sequence[Standing]
    is_rated: bool = True

    def to_json(self) -> list[dict[str, Any]]:
        """Return one object for each player; unknown numbers are None."""
        names = ("name", "rating", "mu", "sigma") if self.is_rated else ("name",)
        return [
            {name: getattr(each, name) for name in names}
            | describe_estimate(each.estimate)
            | {"errors": each.errors}
            for each in self.standings
        ]

    def rows(self) -> list[tuple[str, ...]]:
        """Return a table of strings: the titles, and a row for each player."""
        titles = ("player", *([RATING] if self.is_rated else ()), "goals", "games", "replaced")
        return [titles, *(tuple([cell.text for cell in self._cells(each)]) for each in self.standings)]

    def page(self, note: str) -> Table:
        """Return a table for a page, with the strengths of rated players and their means on each sheet."""
        sheets = (
            sorted({sheet for each in self.standings for sheet in each.by_sheet}) if self.is_rated else []
        )
        name, *titles = self.rows()[0]
        titles[1:1] = ["strength"] if self.is_rated else []
        rows = []
        for each in self.standings:
            cells = self._cells(each)
            if self.is_rated:
                means = [f"{each.by_sheet[sheet]:.1f}" if sheet in each.by_sheet else "" for sheet in sheets]
                cells = [*cells[:2], _strength(each), *cells[2:], *map(Cell, means)]
            rows.append(tuple(cells))
        return Table((name, *titles, *[Path(sheet).stem for sheet in sheets]), tuple(rows), note)

    def _cells(self, standing: Standing) -> list[Cell]:
        rating = "-" if standing.rating is None else f"{standing.rating:.1f}"
        return [
            Cell(standing.name),
            *([Cell(rating)] if self.is_rated else ()),
            _goals(standing.estimate),
            Cell(str(standing.games)),
            Cell(str(standing.errors or "")),
        ]


def _goals(estimate: Estimate | None) -> Cell:
    """Return the mean of the goals, with its 95 % interval."""
    if estimate is None:
        return Cell("-")
    mean, margin = estimate.mean, estimate.margin
    return Cell(str(estimate), None if estimate.is_unsure else (mean - margin, mean, mean + margin))


def _strength(standing: Standing) -> Cell:
    mu, sigma = standing.mu, standing.sigma
    if mu is None or sigma is None:
        return Cell("-")
    return Cell(f"{mu:.1f} ± {3 * sigma:.1f}", (mu - 3 * sigma, mu, mu + 3 * sigma))
