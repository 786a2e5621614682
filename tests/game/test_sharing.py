"""Games and states shared by processes and threads: the answers stay the same."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from threading import Barrier
from typing import TYPE_CHECKING

import pytest
from tests.datalog.ways import loads
from tests.game.sheets import SHEETS, answers_of, texts

import anygame
from anygame.datalog.strategy import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# -- processes ----------------------------------------------------------------------------------------

_SCRIPT = """
import pickle, sys
import anygame, anygame.cli.commands.explain
game = anygame.load(sys.argv[1])
print(hash("x"))
for playout in game.playouts(3, seed=11):
    print([list(map(str, joint)) for joint in playout.moves], playout.goals)
state = game.initial_state()
for joint in playout.moves[:2]:
    state = state.next(joint)
print([str(move) for role in game.roles for move in state.legal_moves(role)])
print(*[str(found) for found in state.query("(true ?f)")])
print(state.explain("(legal ?r ?m)"))
print(anygame.cli.commands.explain.explain(game, "plan"))
print(pickle.dumps(state).hex())
"""


def _run(sheet: Path, hash_seed: str) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(sheet)],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["six_in_a_row", "pig", "rock_paper_scissors"])
def test_other_processes_give_the_sameanswers_of(name: str) -> None:
    one, other = _run(SHEETS / f"{name}.kif", "1"), _run(SHEETS / f"{name}.kif", "2")
    assert one[0] != other[0]
    assert one[1:-1] == other[1:-1]
    state, same = pickle.loads(bytes.fromhex(one[-1])), pickle.loads(bytes.fromhex(other[-1]))
    assert state == same
    assert len({state, same}) == 1
    game = anygame.load(SHEETS / f"{name}.kif")
    playouts = list(game.playouts(3, seed=11))
    assert one[1:4] == [
        f"{[list(map(str, joint)) for joint in playout.moves]} {playout.goals}" for playout in playouts
    ]
    reached = game.initial_state().next(playouts[-1].moves[0]).next(playouts[-1].moves[1])
    assert state == reached
    assert hash(state) == hash(reached)


# -- threads ------------------------------------------------------------------------------------------


@pytest.fixture
def hasty_switching() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def _match(game: anygame.Game, seed: int) -> list[object]:
    random = Random(seed)
    state = game.initial_state()
    seen: list[object] = []
    while not state.is_terminal:
        seen.append(answers_of(state))
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
    return [*seen, texts(state.facts), [state.goal(role) for role in game.roles]]


@pytest.mark.slow
@pytest.mark.usefixtures("hasty_switching")
@pytest.mark.parametrize("name", ["tic_tac_toe", "capture_chess", "copolymer"])
def test_threads_may_share_a_game(name: str) -> None:
    expected = [_match(anygame.load(SHEETS / f"{name}.kif"), seed) for seed in range(8)]
    game = anygame.load(SHEETS / f"{name}.kif")
    ready = Barrier(8)

    def play(seed: int) -> list[object]:
        ready.wait()
        return _match(game, seed)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(play, range(8))) == expected


@pytest.mark.usefixtures("hasty_switching")
def test_threads_may_share_a_state() -> None:
    expected = answers_of(anygame.load(SHEETS / "capture_chess.kif").initial_state())
    for _ in range(10):
        state = anygame.load(SHEETS / "capture_chess.kif").initial_state()
        ready = Barrier(8)

        def ask(_: int, state: anygame.State = state, ready: Barrier = ready) -> tuple[object, ...]:
            ready.wait()
            return answers_of(state)

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(8))) == [expected] * 8


@pytest.mark.usefixtures("hasty_switching")
def test_states_may_be_made_to_forget_by_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.game.state._MOST_RECENT", 1)
    expected = [_match(anygame.load(SHEETS / "copolymer.kif"), seed) for seed in range(8)]
    game = anygame.load(SHEETS / "copolymer.kif")
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            assert list(pool.map(lambda seed: _match(game, seed), range(8))) == expected


#: Some work for one question.
TRIANGLES = """
(role r) (init on) (legal r go)
(<= (path ?x ?y) (edge ?x ?y) (true on))
(<= (path ?x ?z) (path ?x ?y) (edge ?y ?z))
(<= (round_trip ?x ?y ?z) (path ?x ?y) (path ?y ?z) (edge ?z ?x) (distinct ?x ?y))
(<= (next (trip ?x ?y ?z)) (round_trip ?x ?y ?z) (not (edge ?x ?y)) (does r go))
""" + "".join(f"(edge {n} {(n * 7 + 3) % 40}) (edge {n} {(n * 5 + 1) % 40})" for n in range(40))


@pytest.mark.usefixtures("hasty_switching")
def test_threads_share_the_clock_of_a_game() -> None:
    watchful = replace(DEFAULT, ticks=1)
    expected = texts(loads(TRIANGLES, watchful).initial_state().next(["go"]).facts)
    assert expected
    game = loads(TRIANGLES, watchful)
    ready = Barrier(8)

    def ask(_: int) -> list[list[str]]:
        ready.wait()
        return [texts(game.initial_state().next(["go"]).facts) for _ in range(3)]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [[expected] * 3] * 8
