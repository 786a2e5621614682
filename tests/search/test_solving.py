"""Exact solutions against theory, against counts that are known, and against a plain iteration."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from tests.search.board_sheets import breakthrough, connect
from tests.search.graph_games import KINDS, bounds, completed, missing, random_nodes, reached, sheet

import anygame
from anygame.search import solve
from anygame.search.one_player import LineSearch

if TYPE_CHECKING:
    from anygame import Game, State
    from anygame.search import Solution


NIM = """
(role first) (role second) {heaps} (init (control first)) {less}
(<= (above ?n ?m) (less ?n ?m)) (<= (above ?n ?k) (less ?n ?m) (above ?m ?k))
(other first second) (other second first)
(<= (legal ?r (leave ?h ?m)) (true (control ?r)) (true (heap ?h ?n)) (above ?n ?m))
(<= (legal ?r noop) (other ?r ?s) (true (control ?s)))
(<= (next (heap ?h ?m)) (does ?r (leave ?h ?m)))
(<= (next (heap ?h ?n)) (true (heap ?h ?n)) (does ?r (leave ?g ?m)) (distinct ?g ?h))
(<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
(<= left (true (heap ?h ?n)) (above ?n 0))
(<= terminal (not left))
(<= (goal ?r 100) (other ?r ?s) (true (control ?s))) (<= (goal ?r 0) (true (control ?r)))
"""


def _nim(*heaps: int) -> Game:
    less = " ".join(f"(less {n + 1} {n})" for n in range(max(heaps)))
    return anygame.loads(
        NIM.format(heaps=" ".join(f"(init (heap h{h} {n}))" for h, n in enumerate(heaps)), less=less)
    )


@pytest.mark.parametrize("heaps", [(1,), (2, 2), (1, 2, 3), (3, 4), (1, 3, 5), (2, 2, 1)])
def test_nim_is_won_as_in_theory(heaps: tuple[int, ...]) -> None:
    sum_without_carry = 0
    for heap in heaps:
        sum_without_carry ^= heap
    found = solve(_nim(*heaps))
    assert found.goals == ({"first": 100, "second": 0} if sum_without_carry else {"first": 0, "second": 100})


def test_tic_tac_toe_has_5478_states_and_is_a_draw() -> None:
    game = anygame.load("tic_tac_toe")
    found = solve(game)
    assert (found.solved, found.states, found.expanded, found.edges) == (True, 5478, 5478, 16167)
    assert found.depth == 9
    assert found.goals == {"x": 50, "o": 50}
    end = _after(game, found.line)
    assert end.is_terminal
    assert [end.goal(role) for role in game.roles] == [50, 50]


def _after(game: Game, line: tuple[tuple[anygame.Term, ...], ...]) -> State:
    state = game.initial_state()
    for joint in line:
        state = state.next(joint)
    return state


def test_every_state_of_a_game_has_the_value_of_a_plain_minimax() -> None:
    game = anygame.load("tic_tac_toe", machine="reasoner")

    @cache
    def value(state: State) -> int:
        if state.is_terminal:
            return state.goal("x") or 0
        x, o = state.legal_moves("x"), state.legal_moves("o")
        values = [value(state.next([a, b])) for a in x for b in o]
        return max(values) if len(x) > 1 else min(values)

    random = Random(5)
    for _ in range(12):
        state = game.initial_state()
        for _ in range(random.randrange(2, 7)):
            if not state.is_terminal:
                state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        assert solve(game, state).goals["x"] == value(state)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    "kinds", [("left",), ("left", "right"), ("left", "right", "random"), KINDS], ids="-".join
)
def test_games_on_graphs_have_the_values_of_a_plain_iteration(kinds: tuple[str, ...], forward: bool) -> None:
    random = Random(f"{kinds} {forward}")
    for _ in range(5):
        nodes = random_nodes(random, kinds, forward=forward, missing=0.1)
        if not any(nodes[n].goals[0] is not None for n in reached(nodes)):
            continue
        text = sheet(nodes)
        least, most, exact = bounds(nodes)
        for machine in ("reasoner", "network"):
            found = solve(anygame.loads(text, machine=machine))
            assert found.states == len(reached(nodes))
            known = found.bounds["left"]
            assert known is not None
            # Where values are approached too slowly for both, ours are the closer ones.
            assert least - 1e-6 < known.least <= known.most < most + 1e-6, text
            if exact:
                assert tuple(known) == pytest.approx((least, most), abs=1e-6), text
                assert found.solved == (most - least < 1e-9)


def test_the_line_of_one_role_is_a_shortest_one() -> None:
    game = anygame.load("lights_out")
    found = solve(game)
    assert (found.method, found.goals) == ("best goal", {"player": 100})
    states, length = {game.initial_state()}, 0
    while not any(state.is_terminal and state.goal("player") == 100 for state in states):
        length += 1
        states = {s.next([m]) for s in states if not s.is_terminal for m in s.legal_moves("player")}
    assert len(found.line) == length
    assert _after(game, found.line).goal("player") == 100


def test_the_winner_hurries_and_the_loser_delays() -> None:
    found = solve(_nim(3, 4))
    # First makes the heaps equal; second then answers with as little as it can, and is mirrored.
    assert len(found.line) == 7


@pytest.mark.parametrize("forward", [True, False])
def test_the_winner_takes_the_shortest_way_and_the_loser_the_longest(forward: bool) -> None:
    """Against layers of states: from which best play ends within one joint move, two, and so on."""
    random, lengths = Random(f"lengths {forward}"), set()
    for _ in range(60):
        nodes = random_nodes(random, ("left", "right"), forward=forward)
        game = anygame.loads(sheet(nodes), machine="reasoner")
        found = solve(game, table=True)
        if not found.solved or found.table is None:
            continue
        values = {n: found.table.value(game.state([f"(at {n})"])) or {} for n in reached(nodes)}
        goals = [node.goals[0] for n, node in enumerate(nodes) if n in values and node.goals[0] is not None]
        middle = (min(goals) + max(goals)) / 2
        ended, within = {n for n in values if not nodes[n].after}, 0
        while 0 not in ended:
            within += 1
            joining = set()
            for n in values.keys() - ended:
                keeping = {after for after in nodes[n].after.values() if values[after] == values[n]}
                lefts, rights, _ = nodes[n].moves
                own = values[n]["left"].least
                late = (own < middle and len(lefts) > 1) or (own > middle and len(rights) > 1)
                if keeping <= ended if late else keeping & ended:
                    joining.add(n)
            assert joining
            ended |= joining
        assert len(found.line) == within, sheet(nodes)
        lengths.add(within)
    assert len(lengths) > 2


def test_mixed_strategies_have_their_expectation() -> None:
    found = solve(anygame.load("rock_paper_scissors"))
    assert found.method == "maximin of mixed strategies"
    assert found.goals == {"left": 50, "right": 50}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("monty_hall", "hide information"),
        ("three_player_chomp", "3 roles have choices"),
    ],
)
def test_games_without_one_solution_get_none(name: str, reason: str) -> None:
    found = solve(anygame.load(name))
    assert not found.solved
    assert found.method == "none"
    assert set(found.goals.values()) == {None}
    assert reason in found.reason


def test_a_game_that_is_left_to_chance_has_no_value() -> None:
    found = solve(
        anygame.loads(
            "(role random) (legal random on) (<= (next over) (does random on))(<= terminal (true over))"
        ),
        table=True,
    )
    assert (found.solved, found.method, found.table) == (False, "none", None)
    assert "only chance decides" in found.reason


def counted(game: Game, memory: int) -> Solution:
    """What counting alone finds out, before a proof is looked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anygame.search.solving.with_proof", lambda _game, _start, solution, *_: solution)
        return solve(game, memory=memory)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "goals"),
    [
        (connect(4, 4), {"first": 50, "second": 50}),
        (breakthrough(4, 4), {"first": 0, "second": 100}),
    ],
)
def test_a_game_too_large_for_enumeration_can_be_proven(rules: str, goals: dict[str, int]) -> None:
    found = counted(anygame.loads(rules), memory=6 << 20)
    assert (found.solved, found.method) == (False, "none")
    assert "are too little memory" in found.reason
    told: list[int] = []
    found = solve(
        anygame.loads(rules), memory=6 << 20, seconds=600, proving=lambda known: told.append(known.iterations)
    )
    assert (found.solved, found.method, found.goals, found.reason) == (True, "maximin", goals, "")
    assert found.bounds == {role: (goal, goal) for role, goal in goals.items()}
    assert found.leaves > 1000
    assert all(0 < leaves <= found.leaves for leaves in told)
    state = anygame.loads(rules).initial_state()
    for joint in found.line:
        state = state.next(joint)
    assert found.line


def test_counting_is_bounded_by_time() -> None:
    found = solve(anygame.loads(breakthrough(4, 4)), seconds=0)
    assert (found.solved, found.states, found.leaves) == (False, 1, 0)
    assert "0 s were too short" in found.reason


def test_games_with_chance_have_no_proof_search() -> None:
    found = solve(anygame.load("pig"), memory=1 << 20, seconds=600)
    assert (found.solved, found.leaves) == (False, 0)


def test_an_unsolved_large_game_has_counts_of_states() -> None:
    found = counted(anygame.load("connect_four"), memory=8 << 20)
    assert not found.solved
    assert "are too little memory" in found.reason
    assert 0 < found.expanded < found.states
    assert found.bytes <= 8 << 20
    assert 0 < found.depth < 42


def test_an_interrupt_returns_the_results_so_far() -> None:
    def interrupt(expanded: int, _found: int) -> None:
        if expanded > 5000:
            raise KeyboardInterrupt

    found = solve(anygame.load("connect_four"), progress=interrupt)
    assert not found.solved
    assert "interrupted" in found.reason
    assert 5000 < found.expanded < found.states


def test_a_state_that_no_play_leads_to_is_solved_too() -> None:
    game = anygame.load("tic_tac_toe")
    game.compile()
    state = game.state(["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 b)", "(control x)", "(stranger here)"])
    assert solve(game, state).states >= 1


def test_a_terminal_state_is_its_own_solution() -> None:
    game = _nim(1)
    state = game.initial_state().next(["(leave h0 0)", "noop"])
    found = solve(game, state)
    assert (found.states, found.edges, found.depth, found.line, found.solved) == (1, 0, 0, (), True)
    assert found.goals == {"first": 100, "second": 0}


def test_a_role_is_promised_nothing_that_is_not_known() -> None:
    # Only chance moves; at one end in three the second role gets no goal.
    game = anygame.loads("""
        (role a) (role b) (role random) (legal a noop) (legal b noop) (number 1) (number 2) (number 3)
        (<= (legal random ?n) (number ?n)) (<= (next (drawn ?n)) (does random ?n))
        (<= terminal (true (drawn ?n))) (goal a 70)
        (<= (goal b 0) (true (drawn 1))) (<= (goal b 100) (true (drawn 2)))
    """)
    found = solve(game)
    assert found.bounds["a"] == (70, 70)
    assert found.bounds["b"] == pytest.approx((100 / 3, 200 / 3))
    assert not found.solved
    assert set(found.goals.values()) == {None}


# -- ends without a goal ---------------------------------------------------------------------------------

#: Left chooses where it ends.
CHOICE = """
(role left) (role right) (legal left a) (legal left b) (legal right noop)
(<= (next (chosen ?m)) (does left ?m)) (<= terminal (true (chosen ?m))) (<= (ended ?m) (true (chosen ?m)))
"""


@pytest.mark.parametrize(
    ("machine", "odd"),
    [
        ("reasoner", ""),
        ("network", ""),
        ("reasoner", "(<= (goal left 0) (ended a)) (<= (goal left 60) (ended a))"),
        ("network", "(<= (goal left 0) (ended a)) (<= (goal left 60) (ended a))"),
        ("reasoner", "(<= (goal left much) (ended a))"),
        ("reasoner", "(<= (goal left much) (ended a)) (<= (goal left 0) (ended a))"),
    ],
    ids=["none", "none", "several", "several", "no number", "a number and another"],
)
def test_a_value_that_depends_on_a_missing_goal_is_unknown(machine: str, odd: str) -> None:
    game = anygame.loads(
        CHOICE + "(<= (goal right 98) (ended a))"
        "(<= (goal left 0) (ended b)) (<= (goal right 100) (ended b))" + odd,
        machine=machine,  # type: ignore[arg-type]
    )
    found = solve(game, table=True)
    assert not found.solved
    assert found.goals == {"left": None, "right": None}
    assert found.bounds == {"left": (0, 100), "right": None}
    assert found.missing == {"left": 1, "right": 0}
    assert "1 final state gives left no goal" in found.reason
    assert found.table is not None
    assert found.table.value(game.initial_state()) == {"left": (0, 100)}
    assert [str(move) for move in found.table.best_moves(game.initial_state())["left"]] == ["a"]


def test_a_value_that_no_missing_goal_can_change_is_known() -> None:
    game = anygame.loads(
        CHOICE + "(<= (goal left 100) (ended a)) (<= (goal right 0) (ended a)) (<= (goal right 50) (ended b))"
    )
    found = solve(game)
    # Right's goal is not known: left may be as well off at the other end.
    assert (found.solved, found.goals) == (True, {"left": 100, "right": None})
    assert found.missing == {"left": 1, "right": 0}
    assert [str(joint[0]) for joint in found.line] == ["a"]


def test_a_line_of_best_play_avoids_ends_without_a_goal() -> None:
    # Right, who can end at once where nobody has a goal, is sure of 100 only one move later.
    game = anygame.loads("""
        (role left) (role right) (init (at 0))
        (<= (legal right ?m) (true (at 0)) (choice ?m)) (choice now) (choice later)
        (<= (legal right noop) (not (true (at 0)))) (legal left noop)
        (<= (next (at now)) (does right now)) (<= (next (at 1)) (does right later))
        (<= (next (at 2)) (true (at 1)))
        (<= terminal (true (at now))) (<= terminal (true (at 2)))
        (<= (goal left 0) (true (at 2))) (<= (goal right 100) (true (at 2)))
    """)
    found = solve(game)
    assert (found.solved, found.goals["right"]) == (True, 100)
    assert [str(joint[1]) for joint in found.line] == ["later", "noop"]


@pytest.mark.slow
@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    "kinds", [("left",), ("left", "right"), ("left", "right", "random"), KINDS], ids="-".join
)
def test_values_hold_whatever_goals_are_missing(kinds: tuple[str, ...], forward: bool) -> None:
    """Against a plain iteration, and against the same games with their goals filled in."""
    random = Random(f"missing {kinds} {forward}")
    solved = 0
    for _ in range(12):
        nodes = random_nodes(random, kinds, forward=forward, faults=0.25)
        lacking = {role: missing(nodes, place) for place, role in enumerate(("left", "right"))}
        for machine in ("reasoner", "network"):
            found = solve(anygame.loads(sheet(nodes), machine=machine))
            assert {role: found.missing[role] for role in lacking} == lacking, sheet(nodes)
            for place, role in enumerate(lacking):
                known = found.bounds[role]
                least, most, exact = bounds(nodes, place) if known is not None else (0, 0, False)
                if known is None or not exact:
                    assert found.goals[role] is None or found.solved
                    continue
                assert tuple(known) == pytest.approx((least, most), abs=1e-6), sheet(nodes)
                assert found.goals[role] is None or most - least < 1e-6
                solved += found.solved
            for _ in range(3):
                whole = solve(anygame.loads(sheet(completed(nodes, random)), machine=machine))
                for role, known in found.bounds.items():
                    value = whole.bounds[role]
                    if known is not None and value is not None:
                        assert known.least - 1e-6 <= value.least, sheet(nodes)
                        assert value.most <= known.most + 1e-6, sheet(nodes)
    assert solved


#: One role may go on, end without a goal, or end with a goal that is not the greatest one named.
_MISSED = """
(role me) (init (at 0)) (succ 0 1) (succ 1 2) (choice on) (choice out) (choice off)
(<= (legal me ?m) (choice ?m)) (<= (next (at ?m)) (does me on) (true (at ?n)) (succ ?n ?m))
(<= (next (at ?n)) (does me ?c) (distinct ?c on) (true (at ?n))) (<= (next (did ?c)) (does me ?c))
(<= over (true (did off))) (<= over (true (did out))) (<= over (true (at 2))) (<= terminal over)
(<= (goal me 60) (true (did off))) (<= (goal me 0) (true (at 2)) (true (did on)))
(<= (goal me 80) (true (never)))
"""


@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_all_searches_claim_the_same_where_an_end_has_no_goal(machine: Any) -> None:
    game = anygame.loads(_MISSED, machine=machine)
    found = solve(game)
    assert (found.solved, found.bounds["me"]) == (False, (60, 100))
    line = solve(game, seconds=5, memory=1)
    assert (line.method, line.solved, line.bounds) == ("best goal", False, found.bounds)
    search = LineSearch(game, seed=1)
    assert search.run(seconds=10).proven
    known = search.analysis()
    assert known.proven == {"me": None}
    assert known.moves[game.roles[0]][0].bounds == (60, 100)


def test_a_line_without_an_upper_bound_is_not_called_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.loads(_MISSED, machine="reasoner")
    short = replace(LineSearch(game, seed=1).run(seconds=10), proven=False, most=None, misses_goal=False)
    monkeypatch.setattr(LineSearch, "run", lambda *_args, **_options: short)
    found = solve(game, seconds=5, memory=1)
    assert (found.solved, found.goals, found.bounds) == (False, {"me": None}, {"me": (60, 100)})
    assert "are too little memory" in found.reason


def test_a_stuck_state_has_no_goal() -> None:
    game = anygame.loads("""
        (role left) (role right) (init (at 0)) (choice a) (choice b)
        (<= (legal left ?m) (true (at 0)) (choice ?m)) (legal right noop)
        (<= (next (at ?m)) (does left ?m)) (<= terminal (true (at b)))
        (<= (goal left 0) (true (at b))) (<= (goal right 100) (true (at b)))
    """)
    found = solve(game)
    assert (found.solved, found.bounds["left"], found.bounds["right"]) == (False, (0, 100), None)
    assert found.missing == {"left": 1, "right": 1}
