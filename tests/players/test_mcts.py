"""The strong player: always a legal move in time, the tree kept, lines followed, nobody disturbed."""

from __future__ import annotations

import threading
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest
from tests.game.sheets import SHEETS
from tests.match.games import COUNTDOWN

import anygame
from anygame.errors import LimitError, PlayerError
from anygame.match import run
from anygame.players import Clock, MctsPlayer, make_player
from anygame.search import PracticeReport, Search, save_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TIC_TAC_TOE = anygame.load(SHEETS / "tic_tac_toe.kif", machine="reasoner")


def _player(iterations: int | None, seed: int = 1, role: str = "x", *, pondering: bool = False) -> MctsPlayer:
    player = MctsPlayer(seed, iterations=iterations, pondering=pondering)
    player.begin(TIC_TAC_TOE, TIC_TAC_TOE.roles[TIC_TAC_TOE.role_index(role)], Clock.of(0))
    return player


def _after(*moves: str) -> anygame.State:
    state = TIC_TAC_TOE.initial_state()
    for number, move in enumerate(moves):
        state = state.next([move, "noop"] if number % 2 == 0 else ["noop", move])
    return state


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    yield
    assert [thread for thread in threading.enumerate() if thread.name == "pondering"] == []


def test_it_wins_and_hinders_wins() -> None:
    winning = _after("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)")
    assert str(_player(300).move(winning, Clock.of(60))) == "(mark 1 3)"
    threatened = _after("(mark 1 1)", "(mark 2 2)", "(mark 1 2)")
    assert str(_player(300, role="o").move(threatened, Clock.of(60))) == "(mark 1 3)"


def test_the_same_seed_plays_the_same() -> None:
    assert len({str(_player(60, 3).move(_after(), Clock.of(60))) for _ in range(3)}) == 1


def test_a_single_move_is_made_at_once() -> None:
    assert str(_player(None).move(_after("(mark 1 1)"), Clock.of(1e9))) == "noop"


@pytest.mark.parametrize("seconds", [0, 0.05, 0.3])
def test_there_is_a_move_in_time(seconds: float) -> None:
    state = _after()
    player = _player(None)
    assert player.move(state, Clock.of(seconds)) in state.legal_moves("x")
    assert player.best is not None


def test_the_tree_is_kept_from_move_to_move() -> None:
    player = _player(300)
    first = player.move(_after(), Clock.of(60))
    line = player._search.analysis().moves[player.role][0].line
    assert line[0][0] == first
    known = player._search.run(_after(str(first), str(line[1][1])), iterations=0)
    assert sum(each.visits for each in known.moves[player.role]) > 3


@pytest.mark.slow
def test_a_role_without_moves_is_no_error() -> None:
    game = anygame.loads(
        "(role a) (role b) (init (at start)) (<= (legal a go) (true (at start)))"
        "(<= (legal b wait) (true (at start))) (<= (next (at end)) (does a go))"
        "(<= terminal (true (at never)))",
        machine="reasoner",
    )
    record = run(game, ["mcts:iterations=20"] * 2, start_clock=60, play_clock=60, seed=1)
    assert record.goals is None


def test_simultaneous_moves_are_played() -> None:
    players = ["mcts:iterations=20"] * 2
    record = run(anygame.loads(COUNTDOWN, machine="reasoner"), players, start_clock=60, play_clock=60, seed=1)
    assert record.goals is not None
    assert not any(filter(None, [error for errors in record.errors for error in errors]))


def test_rules_that_fail_in_the_search_leave_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> Iterator[int]:
        raise LimitError("too many facts", "facts")
        yield 0

    player = _player(None)
    monkeypatch.setattr(Search, "slices", failing)
    assert player.move(_after(), Clock.of(5)) in _after().legal_moves("x")


def test_it_thinks_while_others_are_to_move_if_it_may() -> None:
    player = _player(50, pondering=True)
    first = player.move(_after(), Clock.of(60))
    deadline = monotonic() + 60
    while player._search.analysis(lines=False).nodes < 100 and monotonic() < deadline:
        sleep(0.01)
    assert player._search.analysis(lines=False).nodes >= 100
    state = _after(str(first))
    assert player.move(state.next(["noop", state.legal_moves("o")[0]]), Clock.of(60)) in _after().legal_moves(
        "x"
    )
    player.stop({})
    for thread in threading.enumerate():
        if thread.name == "pondering":
            thread.join(60)


def test_it_does_not_think_in_the_time_of_others_unless_asked() -> None:
    player = _player(10)
    player.move(_after(), Clock.of(60))
    assert player._pondering is None


def test_a_hanging_search_does_not_delay_the_player() -> None:
    player = _player(20, pondering=True)
    release = threading.Event()

    def slow(*_: object, **__: object) -> Iterator[int]:
        release.wait(60)
        yield 1

    player._search.slices = slow  # type: ignore[method-assign]
    player.move(_after("(mark 1 1)"), Clock.of(60))
    assert player.move(_after(), Clock.of(0.1)) in _after().legal_moves("x")
    release.set()
    assert player._pondering is not None
    assert player._pondering.stop(60)


def test_puzzles_are_played_by_their_line() -> None:
    game = anygame.load(SHEETS / "lights_out.kif", machine="reasoner")
    record = run(game, [MctsPlayer(1)], start_clock=60, play_clock=20, seed=1)
    assert record.goals == [100]


def test_thousands_of_moves_a_state() -> None:
    numbers = " ".join(f"(digit {n})" for n in range(18))
    game = anygame.loads(
        f"(role me) (role you) {numbers} (<= (legal me (pick ?a ?b ?c)) (digit ?a) (digit ?b) (digit ?c))"
        "(legal you wait) (<= (next (picked ?a)) (does me (pick ?a ?b ?c))) (<= terminal (true (picked ?a)))"
        "(<= (goal me 100) (true (picked 1))) (<= (goal you 0) (true (picked 1)))",
        machine="reasoner",
    )
    player = MctsPlayer(1)
    player.begin(game, game.roles[0], Clock.of(0.05))
    state = game.initial_state()
    assert player.move(state, Clock.of(0.05)) in state.legal_moves("me")


def test_states_of_a_table_are_played_perfectly(tmp_path: Path) -> None:
    path = tmp_path / "values"
    table = anygame.solve(anygame.load(SHEETS / "tic_tac_toe.kif"), table=True).table
    assert table is not None
    save_table(table, path)
    player = make_player(f"mcts:table={path},iterations=1")
    player.begin(TIC_TAC_TOE, TIC_TAC_TOE.roles[1], Clock.of(0))
    assert str(player.move(_after("(mark 1 1)"), Clock.of(5))) == "(mark 2 2)"
    other = anygame.loads(COUNTDOWN, machine="reasoner")
    player.begin(other, other.roles[0], Clock.of(0))
    assert player.move(other.initial_state(), Clock.of(0.2)) in other.initial_state().legal_moves(
        other.roles[0]
    )
    with pytest.raises(PlayerError, match="cannot be made: there is no file nowhere"):
        make_player("mcts:table=nowhere")


def test_options_may_follow_the_name() -> None:
    player = make_player("mcts:threads=2,memory=512MB,pondering=yes,iterations=30", seed=3)
    assert isinstance(player, MctsPlayer)
    assert (player.threads, player.memory, player.pondering, player.iterations) == (2, 512 << 20, True, 30)
    preferred = make_player("mcts:memory=1.5G", pondering=True, other=1)
    assert isinstance(preferred, MctsPlayer)
    assert (preferred.memory, preferred.pondering) == (3 << 29, True)
    unasked = make_player("mcts:pondering=no", pondering=True)
    assert isinstance(unasked, MctsPlayer)
    assert not unasked.pondering


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "mcts:thread=2",
            "the player mcts has no option 'thread'; its options are threads, memory",
        ),
        ("legal:threads=2", "the player legal has no option 'threads'; it has none"),
        ("mcts:threads=many", "expected a whole number for threads, found 'many'"),
        ("mcts:threads=1.5", "expected a whole number for threads, found '1.5'"),
        ("mcts:pondering=2", "expected yes or no for pondering, found '2'"),
        ("mcts:threads=2,memory", "expected OPTION=VALUE,... after mcts:, found 'memory'"),
        ("mtcs:threads=2", "there is no player 'mtcs'; did you mean mcts"),
    ],
)
def test_invalid_options_raise_errors(spec: str, message: str) -> None:
    with pytest.raises(PlayerError) as caught:
        make_player(spec)
    assert message in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "clock", "practises"),
    [
        ("connect_four", {}, 60.0, True),
        ("connect_four", {"practice": False}, 60.0, False),
        ("connect_four", {"iterations": 30}, 60.0, False),
        ("connect_four", {}, 0.5, False),
        ("tic_tac_toe", {}, 60.0, False),
    ],
    ids=["time enough", "not wanted", "iterations", "too short", "proven at once"],
)
def test_it_practises_on_the_start_clock(
    monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any], clock: float, practises: bool
) -> None:
    asked = []

    def practise(_: Search, *, seconds: float, stop: Callable[[], bool]) -> PracticeReport:
        asked.append(seconds)
        assert not stop()
        return PracticeReport(300, 6000, 0.5, 6, 6.0, True)

    monkeypatch.setattr(Search, "practise", practise)
    monkeypatch.setattr(MctsPlayer, "_think", lambda *_: None)
    game = anygame.load(name)
    game.compile()
    player = MctsPlayer(seed=1, aloud=True, **options)
    player.begin(game, game.roles[0], Clock.of(clock))
    assert bool(asked) == practises
    assert all(1 < seconds < clock for seconds in asked)
    told = ["self-play: 300 games in 0.5 s; 6 points in 6 trial matches: used"]
    assert list(player.take_said()) == told * practises


def test_mcts_comments_on_its_moves_on_request() -> None:
    game = anygame.load("tic_tac_toe")
    state = game.initial_state().next(["(mark 1 1)", "noop"]).next(["noop", "(mark 2 1)"])
    for aloud in (False, True):
        player = MctsPlayer(seed=1, aloud=aloud)
        player.begin(game, game.roles[0], Clock.of(0.2))
        move = player.move(state, Clock.of(0.5))
        said = player.take_said()
        assert len(said) == aloud
        assert all(line.startswith(f"{move}: ") and "goal" in line for line in said)
