"""Search of information sets: nobody acts on what it cannot know, and what is certain is found."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pytest

import anygame
from anygame.game.state import Observation, RoleView
from anygame.match.running import run
from anygame.players import Clock, Player
from anygame.players.loading import make_player
from anygame.players.mcts import IsmctsPlayer
from anygame.search.hidden.belief import Belief
from anygame.search.hidden.searcher import InformationSetSearch, RoleTree

_SHEETS = Path(__file__).parents[2] / "data" / "hidden"
#: A coin is hidden; the guesser may guess, or take 60 for sure.
_COIN = """
    (role guesser) (role random) (side heads) (side tails) (init start)
    (<= (legal random (hide ?s)) (true start) (side ?s)) (<= (legal random noop) (not (true start)))
    (<= (legal guesser noop) (true start)) (<= (legal guesser (say ?s)) (not (true start)) (side ?s))
    (<= (legal guesser sure) (not (true start)))
    (<= (next (hidden ?s)) (does random (hide ?s))) (<= (next (hidden ?s)) (true (hidden ?s)))
    (<= (next (said ?s)) (does guesser (say ?s))) (<= (next safe) (does guesser sure))
    (<= terminal (true safe)) (<= terminal (true (said ?s)))
    (<= (goal guesser 60) (true safe)) (<= (goal guesser 100) (true (said ?s)) (true (hidden ?s)))
    (<= (goal guesser 0) (true (said ?s)) (not (true (hidden ?s)))) (goal random 0)
    (<= (sees guesser nothing) (does random (hide side)))"""
#: The same with a glimpse of the coin.
_GLIMPSE = _COIN + "(<= (sees guesser (glimpse ?s)) (does random (hide ?s)))"


def _move(
    game: anygame.Game, view: RoleView, state: anygame.State, **options: object
) -> tuple[str, IsmctsPlayer]:
    player = make_player("ismcts", seed=1, **{"iterations": 600, **options})
    assert isinstance(player, IsmctsPlayer)
    player.begin(game, game.roles[0], Clock.of(60))
    player.view = view
    return str(player.move(state, Clock.of(60))), player


@pytest.mark.parametrize(("sheet", "expected"), [(_COIN, "sure"), (_GLIMPSE, "(say tails)")])
def test_the_search_does_not_use_hidden_facts(sheet: str, expected: str) -> None:
    game = anygame.loads(sheet)
    start = game.initial_state()
    joint = ("noop", "(hide tails)")
    noop = start.legal_moves("guesser")[0]
    view = RoleView(start, (Observation(noop, start.percepts(joint)["guesser"]),))
    found, _ = _move(game, view, start.next(joint))
    assert found == expected


@pytest.mark.parametrize("goals", [(-100, -50, 0), (100, 200, 300)], ids=str)
def test_goals_outside_0_to_100_are_distinguished(goals: tuple[int, ...]) -> None:
    least, middle, most = goals
    game = anygame.loads(f"""
        (role me) (role you) (init start) (box a) (box b) (box c) (sees me nothing)
        (<= (legal me (open ?b)) (box ?b)) (legal you noop) (<= (next (opened ?b)) (does me (open ?b)))
        (<= terminal (not (true start))) (goal you 0)
        (<= (goal me {least}) (true (opened a))) (<= (goal me {middle}) (true (opened b)))
        (<= (goal me {most}) (true (opened c)))""")
    start = game.initial_state()
    found, player = _move(game, RoleView(start), start, iterations=300)
    assert found == "(open c)"
    known = player._search.analysis().moves[game.roles[0]]
    told = {str(each.move): each.goal for each in known}
    assert told == pytest.approx({"(open a)": least, "(open b)": middle, "(open c)": most}, abs=0.01)


def test_modelled_opponents_do_not_use_hidden_facts() -> None:
    """Both hide a coin for the other: a hider would lose always if guessers could see."""
    sheet = """
        (role a) (role b) (side heads) (side tails) (init (step 1))
        (<= (legal a (hide ?s)) (true (step 1)) (side ?s)) (<= (legal a keep) (true (step 1)))
        (<= (legal b noop) (true (step 1))) (<= (legal a noop) (true (step 2)))
        (<= (legal b (say ?s)) (true (step 2)) (side ?s))
        (<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
        (<= (next (hidden ?s)) (does a (hide ?s))) (<= (next (hidden ?s)) (true (hidden ?s)))
        (<= (next (said ?s)) (does b (say ?s))) (<= terminal (true (step 3)))
        (<= hit (true (hidden ?s)) (true (said ?s))) (<= hides (true (hidden ?s)))
        (<= (goal a 100) hides (not hit)) (<= (goal a 0) hit) (<= (goal a 30) (not hides))
        (<= (goal b 100) hit) (<= (goal b 0) (not hit)) (<= (sees b done) (does a keep))"""
    game = anygame.loads(sheet)
    start = game.initial_state()
    found, _ = _move(game, RoleView(start), start)
    assert found.startswith("(hide")


def test_a_move_is_legal_in_all_states_believed_in_if_one_is() -> None:
    sheet = """
        (role me) (role random) (init start) (n 1) (n 2) (n 3)
        (<= (legal random (open ?n)) (true start) (n ?n)) (<= (legal random noop) (not (true start)))
        (<= (legal me noop) (true start)) (<= (legal me (go ?n)) (true (opened ?n)))
        (<= (legal me safe) (true (opened ?n)))
        (<= (next (opened ?n)) (does random (open ?n))) (<= (next over) (not (true start)))
        (<= (goal me 100) (true over) (not (true safely))) (<= (goal me 10) (true safely))
        (<= terminal (true over))
        (<= (next safely) (does me safe)) (goal random 0) (<= (sees me one) (does random (open 1)))"""
    game = anygame.loads(sheet)
    start = game.initial_state()
    noop = start.legal_moves("me")[0]
    state = start.next(["noop", "(open 3)"])
    found, _ = _move(game, RoleView(start, (Observation(noop, ()),)), state)
    assert found == "safe"
    seen = start.percepts(["noop", "(open 1)"])["me"]
    found, _ = _move(game, RoleView(start, (Observation(noop, seen),)), start.next(["noop", "(open 1)"]))
    assert found == "(go 1)"


def test_with_an_empty_belief_the_given_state_is_searched() -> None:
    game = anygame.loads(_GLIMPSE)
    start = game.initial_state()
    noop = start.legal_moves("guesser")[0]
    state = start.next(["noop", "(hide tails)"])
    both = tuple(game.percept_terms("guesser"))
    found, player = _move(game, RoleView(start, (Observation(noop, both),)), state)
    assert found == "(say tails)"
    assert player.take_said() == ("no state was found that agrees with all observations",)


def test_without_a_network_the_given_state_is_searched() -> None:
    game = anygame.loads(_GLIMPSE, machine="reasoner")
    start = game.initial_state()
    state = start.next(["noop", "(hide tails)"])
    found, player = _move(game, RoleView(start), state, iterations=60)
    assert found == "(say tails)"
    assert "has no compiled network: searching one state" in player.take_said()[0]


def test_without_hidden_information_a_winning_move_is_found() -> None:
    game = anygame.load("tic_tac_toe")
    state = game.initial_state()
    for joint in (
        ["(mark 1 1)", "noop"],
        ["noop", "(mark 2 1)"],
        ["(mark 1 2)", "noop"],
        ["noop", "(mark 2 2)"],
    ):
        state = state.next(joint)
    player = make_player("ismcts:iterations=400", seed=1)
    player.begin(game, game.roles[0], Clock.of(60))
    assert str(player.move(state, Clock.of(60))) == "(mark 1 3)"


@pytest.mark.parametrize("player", ["ismcts:iterations=200", "mcts:iterations=200"])
def test_two_thirds_of_the_cars_of_monty_hall(player: str) -> None:
    game = anygame.load("monty_hall")
    decided = []
    for seed in range(8):
        record = run(game, [player], seed=seed, start_clock=60, play_clock=60)
        decided.append(record.moves[3][0])
        assert not any(map(any, record.errors))
    assert decided == ["switch"] * 8


def test_trees_forget_when_they_are_full_and_still_choose() -> None:
    game = anygame.load("monty_hall")
    game.compile()
    belief = Belief(game, game.roles[0])
    search = InformationSetSearch(game, game.roles[0], belief, 1, memory=1)
    belief.follow(RoleView(game.initial_state()), inf)
    for _ in range(3):
        search.forget_if_full()
        search.run(20)
    assert search.tries == 60


def test_it_is_a_player_by_name_with_options() -> None:
    player = make_player("ismcts:iterations=10,memory=1MB,aloud=yes", seed=3)
    assert isinstance(player, Player)
    record = run(anygame.load("monty_hall"), [player], seed=1, start_clock=60, play_clock=60)
    said = " ".join(str(record.to_json()).split())
    assert "possible states" in said


@pytest.mark.parametrize(
    ("name", "least"),
    # Random guesses reach 5 on average, random tries 50.
    [("code_breaking", 40), ("blind_tic_tac_toe", 75)],
)
def test_the_search_uses_percepts(name: str, least: int) -> None:
    game = anygame.load(_SHEETS / f"{name}.kif")
    found = []
    for number in range(6):
        place = number % 2
        players: list[Player | str] = [make_player("random", seed=number)] * sum(
            not role.is_random for role in game.roles
        )
        place %= len(players)
        players[place] = IsmctsPlayer(seed=number, iterations=160)
        record = run(game, players, start_clock=600, play_clock=600, seed=number)
        assert record.goals is not None
        assert {error for step in record.errors for error in step} == {""}
        found.append(record.goals[place])
    assert sum(found) / len(found) >= least


def test_sums_stay_exact_over_many_tries() -> None:
    tree = RoleTree(actions=1, most=1)
    (node,) = tree.add(np.array([1], np.uint64))
    lanes = np.full(1 << 18, node), np.zeros(1 << 18, np.int64), np.full(1 << 18, 0.6)
    tree.learn(*lanes)
    assert tree.sums[node, 0] / tree.tries[node, 0] == pytest.approx(0.6, abs=1e-9)
    tree.tries[node, 0] = 1 << 24
    tree.learn(*lanes)
    assert tree.tries[node, 0] == (1 << 24) + (1 << 18)
