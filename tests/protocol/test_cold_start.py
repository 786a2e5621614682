"""A player of the command line where nothing has been compiled yet: it moves from the first clock on."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.protocol.loops import RULES, listening, processes, run, say

import anygame
from anygame.language.parser import parse_term

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame import Game

_ROOT = Path(__file__).parents[2]
_SHEETS = _ROOT / "gdl"

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="nobody tells what runs here")

#: Getting ready takes for ever; playing does not need it, or does.
PLAYERS = """
import time
from anygame.players import LegalPlayer

class Waiting(LegalPlayer):
    @classmethod
    def prepare(cls):
        while True:
            time.sleep(1)

class Playing(Waiting):
    plays_unprepared = True
"""


@contextmanager
def _player(strategy: str, cache: Path) -> Iterator[int]:
    """A player of the command line, and its port; whatever it has begun is ended at last."""
    command = [sys.executable, "-m", "anygame", "player", "--port", "0", "--strategy", strategy]
    environment = os.environ | {"ANYGAME_CACHE": str(cache)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_ROOT, env=environment) as player:
        assert player.stdout is not None
        try:
            yield int(player.stdout.readline().split(";")[0].rpartition(":")[2])
        finally:
            begun = _descendants(player.pid)
            player.terminate()
            player.stdout.read()
            for process in begun:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


def _descendants(process: int) -> set[int]:
    children = processes(process)
    return children.union(*map(_descendants, children))


async def _play(port: int, match_id: str, game: Game, sheet: str, turns: int) -> list[str]:
    """Play the first role with short clocks against first moves; return the answers that are not legal."""
    first = game.roles[0]
    found = []
    ready = await say(port, f"(START {match_id} {first} {sheet} 4 2)")
    found += [ready] if ready != "ready" else []
    state, told = game.initial_state(), "NIL"
    for _ in range(turns):
        answer = await say(port, f"(PLAY {match_id} {told})")
        legal = state.legal_moves(first)
        move = parse_term(answer)
        if move not in legal:
            found.append(answer)
            move = legal[0]
        joint = [move, *(state.legal_moves(role)[0] for role in game.roles[1:])]
        state, told = state.next(joint), f"({' '.join(map(str, joint))})"
        if state.is_terminal:
            break
    return found


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["mcts", "uct"])
def test_every_answer_is_legal_while_the_search_is_compiled(strategy: str, tmp_path: Path) -> None:
    game = anygame.load("tic_tac_toe", machine="reasoner")
    sheet = f"({re.sub(r';.*', '', (_SHEETS / 'tic_tac_toe.kif').read_text())})"

    async def main(port: int) -> list[str]:
        found = await _play(port, "one", game, sheet, 3)
        assert await say(port, "(ABORT one)") == "aborted"
        found += await _play(port, "two", game, sheet, 9)
        assert await say(port, "(STOP two NIL)") == "done"
        return found + await _play(port, "three", game, sheet, 2)

    with _player(strategy, tmp_path / "cache") as port:
        assert asyncio.run(main(port)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "moves"), [("Waiting", {"go", "( Put 1 X )"}), ("Playing", {"( Put 1 X )"})]
)
def test_a_slow_player_does_not_delay_answers(name: str, moves: set[str], tmp_path: Path) -> None:
    path = tmp_path / "players.py"
    path.write_text(PLAYERS)

    async def main() -> None:
        async with listening(f"{path}:{name}") as (_, port):
            assert await say(port, f"(START m a {RULES} 5 3)") == "ready"
            assert await say(port, "(PLAY m NIL)") in moves
            assert await say(port, "(ABORT m)") == "aborted"
            assert await say(port, f"(START n a {RULES} 5 3)") == "ready"
            assert await say(port, "(PLAY n NIL)") in moves

    run(main, 60)
