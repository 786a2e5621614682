"""`Search`: budgets, wishes to stop, and which tree is grown."""

from __future__ import annotations

import warnings
from itertools import count
from random import Random
from threading import Event, Thread
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest
from tests.game.sheets import SHEETS

import anygame
from anygame.search import Analysis, Search, solve
from anygame.search.one_player import LineSearch
from anygame.search.state_tree import StateSearcher

if TYPE_CHECKING:
    from collections.abc import Callable


def _tic_tac_toe() -> anygame.Game:
    return anygame.load("tic_tac_toe", machine="reasoner")


def test_a_number_of_iterations_is_kept_and_repeats_with_the_seed() -> None:
    game = _tic_tac_toe()
    first, second = (Search(game, seed=7).run(iterations=80) for _ in range(2))
    assert first.iterations == 80
    assert (first.moves, first.nodes) == (second.moves, second.nodes)
    assert first.engine == "states"


def test_time_ends_a_run() -> None:
    found = Search(_tic_tac_toe()).run(seconds=0.3)
    assert found.iterations > 0
    assert found.seconds > 0.1


def test_a_late_run_shortens_later_runs_by_at_most_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search = Search(_tic_tac_toe())
    search.run(iterations=1)
    looks = count()
    # A machine that has other things to do makes no run late.
    monkeypatch.setattr("anygame.search.searching.perf_counter", lambda: 0.01 * next(looks))
    search._overrun = 60.0
    assert search.run(seconds=0.2).iterations > 0
    assert search._overrun <= 0.2


def test_a_search_without_time_still_returns_a_move() -> None:
    game = _tic_tac_toe()
    search = Search(game)
    assert search.run(seconds=0).best("x") in game.initial_state().legal_moves("x")
    assert search.best(1) == game.initial_state().legal_moves("o")[0]


def test_a_search_stopped_by_another_thread_can_continue() -> None:
    game = _tic_tac_toe()
    search, stop = Search(game, seed=1), Event()
    thread = Thread(target=lambda: search.run(stop=stop.is_set))
    thread.start()
    sleep(0.2)
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    before = search.analysis()
    after = search.run(iterations=10)
    role = game.roles[0]
    count = [sum(each.visits for each in found.moves[role]) for found in (before, after)]
    assert after.iterations == 10
    assert count[1] == count[0] + 10


def test_the_search_reports_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.search.searching._BETWEEN_REPORTS", 0.0)
    told: list[Analysis] = []
    Search(_tic_tac_toe()).run(iterations=50, progress=told.append)
    assert told[-1].iterations == 50


def test_an_interrupted_run_returns_its_results_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    advance = StateSearcher.advance

    def interrupted(self: StateSearcher, seconds: float, iterations: int | None = None) -> int:
        advance(self, 60, 20)
        raise KeyboardInterrupt

    monkeypatch.setattr(StateSearcher, "advance", interrupted)
    found = Search(_tic_tac_toe(), seed=1).run(seconds=60)
    assert found.interrupted
    assert found.nodes > 10


def test_a_run_may_be_interrupted_while_it_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.search.searching._BETWEEN_REPORTS", 0.0)
    told: list[Analysis] = []

    def tell(analysis: Analysis) -> None:
        told.append(analysis)
        raise KeyboardInterrupt

    search = Search(_tic_tac_toe(), seed=1)
    found = search.run(iterations=10_000, progress=tell)
    assert found.interrupted
    assert len(told) == 1
    assert not search.run(iterations=5).interrupted


def test_ends_and_proven_states_end_a_run_at_once() -> None:
    game = _tic_tac_toe()
    over = game.state(["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 x)", "(control o)"])
    found = Search(game).run(over)
    assert (found.iterations, found.goals) == (0, {"x": 100, "o": 0})
    assert found.is_solved


@pytest.mark.parametrize("options", [{"threads": 0}, {"threads": 5000}, {"memory": 0}])
def test_numbers_out_of_range_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(
        ValueError, match=r"expected (1 to 4096 threads|a memory limit of at least 1 byte), got"
    ):
        Search(_tic_tac_toe(), **options)  # type: ignore[arg-type]


def test_nothing_is_known_before_a_run() -> None:
    with pytest.raises(ValueError, match="nothing has been searched"):
        Search(_tic_tac_toe()).analysis()


def test_a_game_whose_compile_fails_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("anygame.search.searching.Search._lane_searcher", failing)
    search = Search(anygame.load("tic_tac_toe"), seed=1)
    assert not search.compile(60)
    with pytest.warns(anygame.FallbackWarning, match="tic_tac_toe: the search is slow: MemoryError; "):
        found = search.run(iterations=20)
    assert (found.engine, found.fallback) == ("states", "MemoryError")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once is enough
        search.run(iterations=20)


def test_a_search_switches_to_code_compiled_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    game = _tic_tac_toe()
    ready = Event()
    made = StateSearcher(game, seed=1)

    def slow(*_: object) -> StateSearcher:
        ready.wait(60)
        return made

    monkeypatch.setattr("anygame.search.searching.Search._lane_searcher", slow)
    search = Search(game, seed=1)
    assert not search.compile(0)
    for number in search.slices(iterations=10_000):
        if number > 5:
            ready.set()
        if search._searcher is made:
            break
    assert search._searcher is made
    assert search.compile(60)


def test_one_role_is_searched_for_a_line_where_only_time_bounds_it() -> None:
    search = Search(anygame.load(SHEETS / "lights_out.kif", machine="reasoner"), seed=1)
    found = search.run(seconds=60)
    (role,) = found.moves
    best = found.moves[role][0]
    assert (found.engine, best.goal, best.proven, found.is_solved) == ("lines", 100, 100, True)
    assert search.best(0) == best.move == best.line[0][0]
    assert search.run(iterations=20).engine == "states"


def test_without_a_line_to_a_goal_a_tree_is_searched() -> None:
    game = anygame.loads("(role me) (legal me 1) (legal me 2) (<= terminal (true over))", machine="reasoner")
    found = Search(game, seed=1).run(seconds=0.1)
    assert found.engine == "states"


def test_a_search_for_a_role_uses_its_knowledge() -> None:
    game = anygame.load("kuhn_poker")
    start = game.initial_state()
    role = next(role for role in game.roles if not role.is_random)
    state = start
    while len(state.legal_moves(role)) < 2:
        state = state.next([state.legal_moves(each)[0] for each in game.roles])
    search = Search(game, seed=1, role=role)
    found = search.run(state, iterations=100)
    assert (found.engine, found.believed) == ("beliefs", "1 possible states")
    assert list(found.moves) == [role]
    assert sum(each.visits for each in found.moves[role]) == 100
    assert search.best(game.role_index(role)) == found.best(role)
    assert (search.believes, search.is_lost) == (True, False)


def test_without_a_network_with_percepts_the_state_is_searched() -> None:
    game = anygame.load("monty_hall", machine="reasoner")
    search = Search(game, seed=1, role=game.roles[0])
    assert search.run(iterations=20).engine == "states"
    assert "has no compiled network" in str(search.no_beliefs)


# -- ends ------------------------------------------------------------------------------------------------

#: Moves stay legal at the end, where they mean nothing.
_OVER = """
(role me) (role you) (legal me a) (legal me b) (legal you a) (legal you b)
(<= (next (did ?x)) (does me ?x)) (<= terminal (true (did ?x)))
(<= (goal me 100) (true (did a))) (<= (goal you 0) (true (did a)))
(<= (goal me 0) (true (did b))) (<= (goal you 100) (true (did b)))
"""
_ALONE = _OVER.replace("(role you) ", "").replace("(legal you a) (legal you b)", "")
_HIDDEN = _OVER + "(<= (sees me ?x) (does you ?x))"
#: Players of two end where nobody has a goal, after some moves that make a graph.
_NO_GOAL = """
(role me) {role} (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) {legal}
(<= (legal me (go ?m)) (true (at ?n)) (succ ?n ?m)) (<= (legal me stay) (true (at ?n)))
(<= (next (at ?m)) (does me (go ?m))) (<= (next (at ?n)) (does me stay) (true (at ?n)))
(<= terminal (true (at 3))) {goal}
"""


@pytest.mark.parametrize("machine", ["reasoner", "network"])
@pytest.mark.parametrize("rules", [_OVER, _ALONE, _HIDDEN], ids=["two", "one", "hidden"])
@pytest.mark.parametrize("knows", [True, False])
def test_there_is_no_move_after_the_end(machine: Any, rules: str, knows: bool) -> None:
    game = anygame.loads(rules, machine=machine)
    search = Search(game, seed=1, role=None if knows else game.roles[0])
    start = game.initial_state()
    end = start.next(["a"] * len(game.roles))
    for budget in ({"iterations": 20}, {"seconds": 0.05}):
        for state in (start, end):
            found = search.run(state, **budget)
            for place, role in enumerate(game.roles):
                moves = found.moves.get(role, ())
                assert bool(moves) == (
                    state is start and (knows or not place or search.no_beliefs is not None)
                )
                if not moves:
                    with pytest.raises(ValueError, match=r"no (legal )?move"):
                        search.best(place)
                else:
                    assert search.best(place) == moves[0].move
        assert found.iterations == 0
    lines = LineSearch(anygame.loads(_ALONE, machine=machine))
    lines.begin(lines._game.initial_state().next(["a"]))
    assert lines.is_done
    assert set(lines.analysis().moves.values()) == {()}
    with pytest.raises(ValueError, match="no legal move"):
        lines.best(0)


@pytest.mark.parametrize("machine", ["reasoner", "network"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("second", [False, True])
def test_a_search_without_any_goal_ends_with_a_reason(machine: Any, threads: int, second: bool) -> None:
    role, legal = ("(role you)", "(legal you wait)") if second else ("", "")
    rules = _NO_GOAL.format(role=role, legal=legal, goal="(<= (goal me 50) (true (at 1)))")
    game = anygame.loads(rules, machine=machine)
    search = Search(game, seed=1, threads=threads)
    state = game.initial_state()
    for _ in range(2):
        found = search.run(state, stop=_soon())
        assert found.iterations < 10_000_000
        assert found.reason == solve(game, state).reason == "no final state gives me a goal"
        assert set(found.goals.values()) == set(found.proven.values()) == {None}
        assert {each.goal for each in found.moves[game.roles[0]]} == {None}
        assert str(found).endswith("not solved: no final state gives me a goal")
        assert found.to_json()["reason"] == found.reason
        state = state.play("me", state.legal_moves("me")[0])


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_a_search_continues_if_some_end_has_a_goal(machine: Any) -> None:
    rules = _NO_GOAL.format(role="", legal="", goal="") + (
        "(<= (legal me out) (true (at 1))) (<= (next out) (does me out)) (<= terminal (true out))"
        "(<= (goal me 60) (true out))"
    )
    found = Search(anygame.loads(rules, machine=machine), seed=1).run(iterations=3_000)
    assert found.iterations >= 3_000
    assert found.reason == ""
    assert next(iter(found.moves.values()))[0].bounds.least == 60


def _soon() -> Callable[[], bool]:
    """Ask for an end after far more slices than are needed, so that a search without one fails."""
    asked = count()
    return lambda: next(asked) > 400


def test_the_best_move_is_the_first_one_of_the_analysis_with_a_table_too() -> None:
    game = _tic_tac_toe()
    table = solve(game, table=True).table
    assert table is not None
    for seed in range(12):
        random = Random(seed)
        search, state = Search(game, seed=seed, table=table), game.initial_state()
        while not state.is_terminal:
            found = search.run(state, iterations=3)
            for place, role in enumerate(game.roles):
                assert (
                    search.best(place) == found.best(role) == search.analysis(lines=False).moves[role][0].move
                )
            ((mover, best),) = table.best_moves(state).items()
            assert found.best(mover) == best[0]
            state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
