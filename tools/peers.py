"""Speeds of other systems: recorded in a file, or measured in alternation with this package.

A peer is any command that plays a sheet at random. Its last line has three numbers: playouts per second,
states per second, and the seconds of set-up. The peer and the network run in alternation and equally often,
on the same core, so that both run under the same conditions. The result is the ratio of each pair of runs.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import shlex
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from tools.processes import Server, enough_playouts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

#: Timeout of a run of a peer, in seconds; Sancho needs half a minute to set up some public sheets.
_RUN_SECONDS: Final = 300
_LINE: Final = "playouts/s, states/s, set-up seconds"


class PeerSpeed(NamedTuple):
    """The speed of another system on a sheet; 0 if unknown."""

    states: float
    playouts: float


#: Recorded speeds by system and sheet.
Recorded = dict[str, dict[str, PeerSpeed]]


@dataclass(frozen=True)
class Peer:
    """Another system: its name, and the words of its command; ``{sheet}`` stands for the sheet's path."""

    name: str
    words: tuple[str, ...]

    def command(self, sheet: Path) -> list[str]:
        """Return the command that plays a sheet."""
        return [word.replace("{sheet}", str(sheet.resolve())) for word in self.words]

    def speed(self, sheet: Path, core: int | None) -> PeerSpeed:
        """Play a sheet on a core.

        Raises:
            OSError: the command cannot run, fails, times out, or does not print the three numbers.
        """
        try:
            with _on(core):
                done = subprocess.run(
                    self.command(sheet),
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=_RUN_SECONDS,
                    check=False,
                )
        except subprocess.TimeoutExpired:
            raise OSError(f"no result after {_RUN_SECONDS} s") from None
        words = (done.stdout.strip().splitlines() or [""])[-1].split()
        with suppress(ValueError):
            playouts, states, _ = map(float, words)
            if not done.returncode and 0 <= playouts < math.inf and 0 < states < math.inf:
                return PeerSpeed(states, playouts)
        told = (done.stderr.strip().splitlines() or [" ".join(words)])[-1][:200]
        raise OSError(f"expected a line of numbers ({_LINE}), found status {done.returncode}: {told}")


@contextmanager
def _on(core: int | None) -> Iterator[None]:
    """Pin processes that the body starts to a core, if the system allows it."""
    if core is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def some_peer(text: str) -> Peer:
    """Read ``NAME=COMMAND``, in which ``{sheet}`` stands for the path of the sheet."""
    name, _, command = text.partition("=")
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}: {command}") from error
    if not name.strip() or not words:
        raise argparse.ArgumentTypeError(f"expected NAME=COMMAND, found {text}")
    if not any("{sheet}" in word for word in words):
        raise argparse.ArgumentTypeError(f"the command has no {{sheet}}: {command}")
    return Peer(name.strip(), words)


@dataclass(frozen=True)
class Pairs:
    """Alternating runs of the network and of a peer, with playouts and states per second.

    Attributes:
        own: the runs of the network.
        other: the runs of the peer.
        error: the reason for missing numbers; otherwise empty.
    """

    own: Sequence[PeerSpeed] = ()
    other: Sequence[PeerSpeed] = ()
    error: str = ""

    @property
    def ratios(self) -> list[float]:
        """Per pair, the speed of the network relative to the peer: by playouts if known, else by states."""
        by_playouts = all(speed.playouts for speed in (*self.own, *self.other))
        return [
            own.playouts / other.playouts if by_playouts else own.states / other.states
            for own, other in zip(self.own, self.other, strict=True)
        ]


def measure_pairs(
    sheet: Path, peers: Sequence[Peer], seconds: float, repeats: int, core: int | None
) -> dict[str, Pairs]:
    """Play a sheet with the network and each peer, in alternation on one core; return pairs by peer."""
    if not peers:
        return {}
    own: list[PeerSpeed] = []
    others: dict[str, list[PeerSpeed]] = {peer.name: [] for peer in peers}
    errors: dict[str, str] = {}
    try:
        with Server(sheet, [core]) as server:
            server.answer()
            playouts, _ = enough_playouts(server, seconds)
            for _ in range(repeats):
                server.play(playouts)
                played, made = server.rates()
                own.append(PeerSpeed(made, played))
                for peer in peers:
                    if peer.name not in errors:
                        try:
                            others[peer.name].append(peer.speed(sheet, core))
                        except OSError as error:
                            errors[peer.name] = str(error)
    except OSError as error:
        return {peer.name: Pairs(error=f"ours: {error}") for peer in peers}
    return {
        name: Pairs(error=errors[name]) if name in errors else Pairs(own, other)
        for name, other in others.items()
    }


def read_recorded(path: Path) -> Recorded:
    """Read recorded speeds of other systems; exit if the file cannot be used."""
    wanted = {"engine", "sheet", "states_per_second"}
    recorded: Recorded = {}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            missing = wanted - set(rows.fieldnames or ())
            if missing:
                raise SystemExit(f"benchmark: {path} lacks the columns {', '.join(sorted(missing))}")
            for row in rows:
                speed = PeerSpeed(float(row["states_per_second"]), float(row.get("playouts_per_second") or 0))
                recorded.setdefault(row["engine"], {})[row["sheet"]] = speed
    except (OSError, ValueError) as error:
        raise SystemExit(f"benchmark: cannot read {path}: {error}") from error
    return recorded
