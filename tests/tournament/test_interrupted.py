"""A tournament that is killed and begun again has the moves of one that was never interrupted."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from tests.match.games import COUNTDOWN, DICE

import anygame
from anygame.match import LocalSeat, Terms, Turn, Watcher
from anygame.players import make_player
from anygame.tournament import Store, Tournament

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.match import Seat

_ROOT = Path(__file__).parents[2]
#: Longer than any move here takes: no clock has a say.
_TERMS: Final = Terms(600, 600, seed=7)
_SIMPLE: Final = {"random": "random", "greedy": "greedy"}
_SEARCHING: Final = {"uct": "uct:tries=12", "mcts": "mcts:iterations=60", "random": "random"}


class _Killing(Watcher):
    """Ends the process, without a word, when a number of moves have been made or asked for."""

    def __init__(self, events: int) -> None:
        self.events = events

    def asked(self, step: int, seconds: float) -> None:
        self._count()

    def moved(self, turn: Turn) -> None:
        self._count()

    def _count(self) -> None:
        self.events -= 1
        if not self.events:
            os.kill(os.getpid(), signal.SIGKILL)


def _seat(player: tuple[str, str], seed: int) -> Seat:
    return LocalSeat(make_player(player[1], seed=seed), name=player[0])


def play(path: Path, players: Mapping[str, str], events: int = 0) -> dict[str, list[list[str]]]:
    """Play what is left of a tournament, and return the moves of all matches."""
    games = {
        "count": anygame.loads(COUNTDOWN),
        "dice": anygame.loads(DICE),
        "lines": anygame.load("tic_tac_toe"),
    }
    with Store(path) as store:
        event, watcher = Tournament(games, players, store, _TERMS, _seat), _Killing(events)

        async def go_on() -> None:
            async for meeting in event.to_be_played(event.meetings(1)):
                await event.play(meeting, watcher)

        asyncio.run(go_on())
        records = {meeting.key: store.record(meeting) for meeting in event.meetings(1)}
    return {key: record.moves for key, record in records.items() if record is not None}


def _killed(path: Path, name: str, events: int) -> bool:
    """Play on in a process of its own that is killed; return whether there was so much to do."""
    code = (
        "from pathlib import Path; import tests.tournament.test_interrupted as t; "
        f"t.play(Path({str(path)!r}), t.{name}, {events})"
    )
    paths = os.pathsep.join([str(_ROOT), *sys.path])
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(("name", "kills"), [("_SIMPLE", (6, 25, 14)), ("_SEARCHING", (16, 50, 37))])
def test_a_tournament_that_was_killed_has_the_moves_of_one_that_was_not(
    tmp_path: Path, name: str, kills: tuple[int, ...]
) -> None:
    players: Mapping[str, str] = globals()[name]
    assert all(_killed(tmp_path / "parts", name, events) for events in kills)
    whole = play(tmp_path / "whole", players)
    assert play(tmp_path / "parts", players) == whole
    assert sum(map(len, whole.values())) > 20


def test_matches_of_players_that_remember_restart_and_others_continue(tmp_path: Path) -> None:
    class Stopping(Watcher):
        def moved(self, turn: Turn) -> None:
            if turn.step == 2:
                raise asyncio.CancelledError

    games = {"lines": anygame.load("tic_tac_toe", machine="reasoner")}
    for players, resumed in ((_SIMPLE, True), ({"uct": "uct:tries=5", "random": "random"}, False)):
        with Store(tmp_path / f"{resumed}") as store:
            event = Tournament(games, players, store, _TERMS, _seat)
            meeting = event.meetings(1)[0]
            with pytest.raises(asyncio.CancelledError):
                asyncio.run(event.play(meeting, Stopping()))
            found = asyncio.run(event.play(meeting))
            assert found.is_completed
            assert bool(found.own.get("resumed")) == resumed
