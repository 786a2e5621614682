"""Speeds of the machines on sheets, and tables of these speeds as text and in Markdown.

``benchmark.py`` creates the objects of these classes. Tables omit empty columns.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.tables import aligned, as_markdown, number, plain, seconds, spread, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tools.peers import Pairs, PeerSpeed, Recorded

    Column = tuple[str, Callable[["Sheet"], str]]
    Ratio = Callable[["Sheet"], float]

#: Steps of set-up, in order, without imports.
STEPS: Final = ("read", "ground", "build", "code", "first")


@dataclass(frozen=True)
class Speed:
    """The measurements of one machine on one sheet.

    Attributes:
        setup: seconds of each step with cached machine code; imports are a separate step, and so is waiting
            for faster code.
        cold: seconds of each step without cached machine code.
        states: joint moves per second, in each repeat.
        playouts: finished playouts per second, in each repeat.
        core: minimum fraction of a repeat in which the process had its core; below 1 on a busy machine.
        one_state: microseconds per state through the Python contract.
        peak: peak memory use of the process in MiB.
        growth: growth of the peak memory use after the first repeat, in MiB.
        gates: number of gates; likewise ``inputs``. ``bytes`` is the memory of the network per thread.
        error: the reason for missing numbers; otherwise empty.
    """

    setup: Mapping[str, float] = field(default_factory=dict)
    cold: Mapping[str, float] = field(default_factory=dict)
    states: Sequence[float] = ()
    playouts: Sequence[float] = ()
    core: float = 0.0
    one_state: float = 0.0
    peak: float = 0.0
    growth: float = 0.0
    gates: int = 0
    inputs: int = 0
    bytes: int = 0
    error: str = ""


@dataclass(frozen=True)
class Threads:
    """Threads of one process, compared with the same number of processes in alternating runs.

    Attributes:
        count: number of threads.
        alone: playouts per second of one process with one thread, while the other cores are idle.
        together: total playouts per second of the threads, in each repeat.
        apart: total playouts per second of the processes, in each repeat.
        error: the reason for missing numbers; otherwise empty.
    """

    count: int
    alone: float = 0.0
    together: Sequence[float] = ()
    apart: Sequence[float] = ()
    error: str = ""

    @property
    def share(self) -> float:
        """The speed of the threads relative to the speed of the processes."""
        return median(one / other for one, other in zip(self.together, self.apart, strict=True))


@dataclass(frozen=True)
class Sheet:
    """The measurements of one sheet; None if not requested. The keys of ``pairs`` are names of peers."""

    name: str
    network: Speed | None = None
    reasoner: Speed | None = None
    threads: Threads | None = None
    pairs: Mapping[str, Pairs] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """The speed of the network relative to the reasoner, by states per second; 0 if one is missing."""
        if not (self.network and self.reasoner and self.network.states and self.reasoner.states):
            return 0.0
        return median(self.network.states) / median(self.reasoner.states)

    def times(self, peer: PeerSpeed) -> float:
        """Return the speed of this package relative to another system; 0 if it is unknown.

        Compares playouts if both have measured playouts, otherwise states. Compares states of the reasoner,
        whose playouts can take too long.
        """
        network, reasoner = self.network, self.reasoner
        if network and network.playouts and median(network.playouts) and peer.playouts:
            return median(network.playouts) / peer.playouts
        own = (network.states if network else ()) or (reasoner.states if reasoner and not network else ())
        return median(own) / peer.states if own and peer.states else 0.0

    def times_in_pairs(self, peer: str) -> float:
        """Return the speed of this package relative to a peer, as ``times`` does, from alternating runs."""
        ratios = self.pairs[peer].ratios if peer in self.pairs else []
        return median(ratios) if ratios else 0.0


# -- cells --------------------------------------------------------------------------------------


def _median(values: Sequence[float]) -> str:
    return number(median(values)) if values else ""


def _total(steps: Mapping[str, float]) -> float:
    return sum(steps.get(name, 0.0) for name in STEPS)


def _of(machine: str, show: Callable[[Speed], str]) -> Callable[[Sheet], str]:
    """Return a function that gives a sheet's cell for a machine; empty without a measurement."""

    def cell(sheet: Sheet) -> str:
        speed: Speed | None = getattr(sheet, machine)
        return show(speed) if speed and not speed.error else ""

    return cell


def _speed_columns(sheets: Sequence[Sheet], recorded: Recorded) -> list[Column]:
    return [
        ("playouts/s", _of("network", lambda speed: _median(speed.playouts))),
        ("±", _of("network", lambda speed: spread(speed.playouts))),
        ("states/s", _of("network", lambda speed: _median(speed.states))),
        ("core", _of("network", lambda speed: f"{speed.core:.0%}")),
        ("us/state", _of("network", lambda speed: plain(speed.one_state))),
        ("| reasoner states/s", _of("reasoner", lambda speed: _median(speed.states))),
        ("±", _of("reasoner", lambda speed: spread(speed.states))),
        ("core", _of("reasoner", lambda speed: f"{speed.core:.0%}")),
        ("us/state", _of("reasoner", lambda speed: plain(speed.one_state))),
        *_ratio_columns(sheets, recorded),
    ]


def _ratio_columns(sheets: Sequence[Sheet], recorded: Recorded) -> list[Column]:
    """Return a column for each ratio, and a column for its spread if it was measured in pairs."""

    def shown(ratio: Ratio) -> Callable[[Sheet], str]:
        return lambda sheet: number(ratio(sheet))

    def spread_of(name: str) -> Callable[[Sheet], str]:
        return lambda sheet: spread(sheet.pairs[name].ratios) if name in sheet.pairs else ""

    columns: list[Column] = []
    for heading, ratio in _ratios(sheets, recorded).items():
        columns.append((heading, shown(ratio)))
        if (name := heading.removeprefix("x ")) in _peers(sheets):
            columns.append(("±", spread_of(name)))
    return columns


def _ratios(sheets: Sequence[Sheet], recorded: Recorded) -> dict[str, Ratio]:
    """Return functions by heading: each gives a sheet's speed relative to something else; 0 if unknown."""

    def in_pairs(name: str) -> Ratio:
        return lambda sheet: sheet.times_in_pairs(name)

    def as_recorded(speeds: Mapping[str, PeerSpeed]) -> Ratio:
        return lambda sheet: sheet.times(speeds[sheet.name]) if sheet.name in speeds else 0.0

    return {
        "x reasoner": lambda sheet: sheet.ratio,
        **{f"x {name}": in_pairs(name) for name in _peers(sheets)},
        **{f"x {name} (recorded)": as_recorded(speeds) for name, speeds in recorded.items()},
    }


def _peers(sheets: Sequence[Sheet]) -> list[str]:
    return list(dict.fromkeys(name for sheet in sheets for name in sheet.pairs))


def _setup_columns() -> list[Column]:
    def step(name: str) -> Callable[[Speed], str]:
        return lambda speed: seconds(speed.setup.get(name, 0.0))

    return [
        ("cold s", _of("network", lambda speed: seconds(_total(speed.cold)))),
        ("kept s", _of("network", lambda speed: seconds(_total(speed.setup)))),
        *((name, _of("network", step(name))) for name in STEPS),
        ("code, cold", _of("network", lambda speed: seconds(speed.cold.get("code", 0.0)))),
        ("gates", _of("network", lambda speed: f"{speed.gates:,}")),
        ("inputs", _of("network", lambda speed: f"{speed.inputs:,}")),
        ("KiB", _of("network", lambda speed: number(speed.bytes / 1024))),
        ("MiB", _of("network", lambda speed: f"{speed.peak:.0f}")),
        ("grew", _of("network", lambda speed: f"{speed.growth:.1f}")),
        ("| reasoner s", _of("reasoner", lambda speed: seconds(_total(speed.setup)))),
        ("MiB", _of("reasoner", lambda speed: f"{speed.peak:.0f}")),
    ]


def _thread_columns() -> list[Column]:
    def cell(show: Callable[[Threads], str]) -> Callable[[Sheet], str]:
        return lambda sheet: show(sheet.threads) if sheet.threads and not sheet.threads.error else ""

    return [
        ("threads", cell(lambda found: str(found.count))),
        ("one alone, playouts/s", cell(lambda found: number(found.alone))),
        ("threads together", cell(lambda found: _median(found.together))),
        ("processes together", cell(lambda found: _median(found.apart))),
        ("threads / processes", cell(lambda found: f"{found.share:.3f}")),
    ]


# -- tables -------------------------------------------------------------------------------------


def table(sheets: Sequence[Sheet], recorded: Recorded) -> str:
    """Return the tables as text: speeds, threads, set-up and size; then the errors."""
    parts = []
    for columns in (_speed_columns(sheets, recorded), _thread_columns(), _setup_columns()):
        rows = _cells(sheets, columns)
        if len(rows[0]) > 1:
            rows += _summary(rows[0], sheets, recorded) if columns[0][0] == "playouts/s" else []
            parts.append("\n".join(aligned(rows)))
    parts.append("\n".join(_errors(sheets)))
    return "\n\n".join(filter(None, parts))


def _cells(sheets: Sequence[Sheet], columns: Sequence[Column]) -> list[list[str]]:
    shown = [[heading, *map(cell, sheets)] for heading, cell in columns]
    return list(
        map(list, zip(["sheet", *(sheet.name for sheet in sheets)], *_filled(shown), strict=True)),
    )


def _filled(columns: Sequence[list[str]]) -> list[list[str]]:
    return [column for column in columns if any(column[1:])]


def _summary(head: Sequence[str], sheets: Sequence[Sheet], recorded: Recorded) -> list[list[str]]:
    """Return the last rows: geometric mean and minimum of the ratios, and the number of compared sheets."""
    known = {
        heading: [value for value in map(ratio, sheets) if value]
        for heading, ratio in _ratios(sheets, recorded).items()
    }
    if not any(known.values()):
        return []

    def row(name: str, summary: Callable[[list[float]], str]) -> list[str]:
        return [name, *(summary(known[heading]) if known.get(heading) else "" for heading in head[1:])]

    return [
        row("geometric mean", lambda values: number(geometric_mean(values))),
        row("minimum", lambda values: number(min(values))),
        row("sheets compared", lambda values: str(len(values))),
    ]


def _errors(sheets: Sequence[Sheet]) -> Iterator[str]:
    for sheet in sheets:
        for name in ("network", "reasoner", "threads"):
            found = getattr(sheet, name)
            if found is not None and found.error:
                yield f"{sheet.name}, {name}: {found.error}"
        for name, pairs in sheet.pairs.items():
            if pairs.error:
                yield f"{sheet.name}, {name}: {pairs.error}"


# -- in Markdown ------------------------------------------------------------------------------------


def markdown_columns(sheets: Sequence[Sheet], recorded: Recorded) -> list[Column]:
    """Return the columns of the table in Markdown, except the column of sheets."""
    return [
        ("playouts a second", _of("network", lambda speed: _median(speed.playouts))),
        ("states a second", _of("network", lambda speed: _median(speed.states))),
        ("set-up, s", _of("network", lambda speed: f"{_total(speed.setup):.2f}")),
        ("first time, s", _of("network", lambda speed: f"{_total(speed.cold):.2f}")),
        ("one state, µs", _of("network", lambda speed: plain(speed.one_state))),
        ("reasoner: states a second", _of("reasoner", lambda speed: _median(speed.states))),
        ("one state, µs", _of("reasoner", lambda speed: plain(speed.one_state))),
        *_ratio_columns(sheets, recorded),
    ]


def markdown(sheets: Sequence[Sheet], recorded: Recorded, repeats: int, length: float) -> str:
    """Return the table in Markdown, after a sentence about the measurement: number and length of repeats."""
    rows = _cells(sheets, markdown_columns(sheets, recorded))
    rows += _summary(rows[0], sheets, recorded)[:2]
    rows[1 : len(sheets) + 1] = [[f"`{name}`", *cells] for name, *cells in rows[1 : len(sheets) + 1]]
    sentences = [told(repeats, length), *(_told_of_pairs(name, repeats) for name in _peers(sheets))]
    if recorded:
        sentences.append("Columns marked as recorded divide by speeds that were measured at another time.")
    return "\n".join([" ".join(sentences), "", *as_markdown(rows)])


def _told_of_pairs(peer: str, repeats: int) -> str:
    return (
        f"`x {peer}` is the median of {repeats} ratios: each time {peer} ran in turn with the network, "
        "on the same core; ± is half of what lies between the least and the greatest ratio, by the median."
    )
