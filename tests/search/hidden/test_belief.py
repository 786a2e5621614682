"""Beliefs: just the states that agree with what a role did and saw, each as probable as it is."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import inf
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.examples import examples
from tests.game.sheets import SHEETS
from tests.match.test_hiding import SECRET
from tests.network.random_rules import sheets_with_percepts

import anygame
from anygame.game.state import Observation, RoleView
from anygame.search.hidden.belief import Belief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_HIDING = [path for path in sorted(SHEETS.glob("*.kif")) if anygame.load(path).is_gdl2]
_MOST_HISTORIES = 1_500


def _enumerated(view: RoleView, role: anygame.Role) -> dict[anygame.State, float] | None:
    """Return the probability of each state by going through all histories; None where they are too many."""
    found = {view.start: 1.0}
    for observation in view.observations:
        following: dict[anygame.State, float] = defaultdict(float)
        tried = 0
        for state, weight in found.items():
            if state.is_terminal:
                continue
            options = [
                [observation.move] if each == role and observation.move else state.legal_moves(each)
                for each in state.game.roles
            ]
            if observation.move is not None and observation.move not in state.legal_moves(role):
                continue
            joints = list(product(*options))
            tried += len(joints)
            if tried > _MOST_HISTORIES:
                return None
            for joint in joints:
                after = state.next(joint)
                if set(state.percepts(joint)[role]) != set(observation.percepts):
                    continue
                if observation.legal is None or after.legal_moves(role) == observation.legal:
                    following[after] += weight / len(joints)
        found = following
    total = sum(found.values())
    return {state: weight / total for state, weight in found.items()}


def _played(
    game: anygame.Game, role: anygame.Role, random: Random, steps: int
) -> list[tuple[RoleView, anygame.State]]:
    """Return what a role knows at each turn of a random match, and the state."""
    state = start = game.initial_state()
    observations: list[Observation] = []
    found = [(RoleView(start), start)]
    tells_legal = random.random() < 0.5
    for _ in range(steps):
        legal = [state.legal_moves(each) for each in game.roles]
        if state.is_terminal or not all(legal):
            break
        joint = tuple(random.choice(moves) for moves in legal)
        seen = state.percepts(joint)[role]
        state = state.next(joint)
        own = joint[game.role_index(role)] if random.random() < 0.9 else None
        observations.append(Observation(own, seen, state.legal_moves(role) if tells_legal else None))
        found.append((RoleView(start, tuple(observations)), state))
    return found


def _believed(belief: Belief, game: anygame.Game) -> dict[frozenset[anygame.Term], float]:
    assert belief.particles is not None
    batch = game.batch(len(belief.particles))
    batch.set_packed(belief.particles.states)
    found: dict[frozenset[anygame.Term], float] = defaultdict(float)
    for lane, weight in enumerate(belief.particles.weights.tolist()):
        found[batch.state(lane).facts] += weight
    return found


def _assert_exact(text: str, seed: int, *, steps: int = 6) -> int:
    random, compared = Random(seed), 0
    game, plain = anygame.loads(text, machine="network"), anygame.loads(text, machine="reasoner")
    for role in game.roles:
        belief = Belief(game, role, seed)
        for view, _ in _played(plain, role, random, steps):
            expected = _enumerated(view, role)
            if expected is None or len(expected) > 400:
                break
            belief.follow(view, inf)
            if not belief.is_exact:
                # Few states, but what the roles have observed differs in too many ways.
                break
            found = _believed(belief, game)
            assert found.keys() == {state.facts for state in expected}
            assert all(abs(found[state.facts] - weight) < 1e-9 for state, weight in expected.items())
            compared += len(found)
    return compared


@pytest.mark.parametrize("sheet", _HIDING, ids=lambda path: path.stem)
def test_beliefs_are_exact_while_they_fit(sheet: object) -> None:
    assert _assert_exact(SHEETS.joinpath(str(sheet)).read_text(), seed=1, steps=4) > 5


@pytest.mark.slow
@pytest.mark.parametrize("block", range(examples(2)))
def test_beliefs_in_random_sheets_are_exact(block: int) -> None:
    compared = 0
    for seed, text in sheets_with_percepts(range(6 * block, 6 * block + 6)):
        try:
            compared += _assert_exact(text, seed, steps=3)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{text}") from None
    assert compared > 10


def test_particles_agree_with_the_observations() -> None:
    game, plain = anygame.loads(SECRET, machine="network"), anygame.loads(SECRET, machine="reasoner")
    for seed in range(4):
        belief = Belief(game, game.roles[0], seed, most=20)
        for view, _ in _played(plain, plain.roles[0], Random(seed), 4):
            belief.follow(view, inf)
            assert belief.particles is not None
            assert 0 < len(belief.particles) <= 20
            expected = _enumerated(view, plain.roles[0])
            assert expected is not None
            assert _believed(belief, game).keys() <= {state.facts for state in expected}
        assert not belief.is_exact


def test_a_belief_that_has_run_empty_is_found_again_from_the_start() -> None:
    game = anygame.loads(SECRET, machine="network")
    role, start = game.roles[0], game.initial_state()
    noop = start.legal_moves(role)[0]
    hidden = start.next(["noop", "(hide 6)"])
    guess = next(move for move in hidden.legal_moves(role) if str(move) == "(guess 6)")
    even, right = Observation(noop, start.percepts(["noop", "(hide 6)"])[role]), Observation(guess, ())
    for seed in range(5):
        # One particle in fifty is the right one.
        belief = Belief(game, role, seed, most=5)
        belief.follow(RoleView(start, (even,)), inf)
        assert not belief.is_exact
        belief.follow(RoleView(start, (even, right)), inf)
        assert belief.particles is None or [*map(_hidden, _believed(belief, game))] == [{"(hidden 6)"}]
    impossible = Observation(guess, (noop,))
    belief.follow(RoleView(start, (even, impossible)), inf)
    assert belief.particles is None
    belief.follow(RoleView(start, (even, impossible, right)), inf)
    assert belief.particles is None
    # What was told may be taken back, as moves are.
    belief.follow(RoleView(start, (even,)), inf)
    assert belief.particles is not None


def test_a_role_that_must_move_knows_that_the_match_continues() -> None:
    game = anygame.loads(
        """
        (role me) (role other) (legal me wait) (legal other stop) (legal other (go 1)) (legal other (go 2))
        (<= (next stopped) (does other stop)) (<= (next (at ?n)) (does other (go ?n)))
        (<= terminal (true stopped)) (<= (sees me nothing) (true stopped)) (goal me 0) (goal other 0)""",
        machine="network",
    )
    me, start = game.roles[0], game.initial_state()
    belief = Belief(game, me)
    belief.follow(RoleView(start, (Observation(start.legal_moves(me)[0], ()),)), inf)
    assert len(_believed(belief, game)) == 3
    belief.leave_out_ends()
    left = {" ".join(map(str, facts)): weight for facts, weight in _believed(belief, game).items()}
    assert left == {"(at 1)": pytest.approx(0.5), "(at 2)": pytest.approx(0.5)}


def _hidden(facts: frozenset[anygame.Term]) -> set[str]:
    return {str(fact) for fact in facts if str(fact).startswith("(hidden")}


_DEALING = """
(role me) (role other) (role random) (card 1) (card 2) (card 3) (init (step 0))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= dealing (not (true (step 2))))
(<= (legal ?p wait) dealing (player ?p)) (player me) (player other)
(<= (legal ?p (say ?c)) (player ?p) (card ?c) (not dealing))
(<= (legal random (deal ?p ?c)) dealing (player ?p) (card ?c) (not (true (dealt ?c))))
(<= (legal random rest) (not dealing))
(<= (next (dealt ?c)) (does random (deal ?p ?c)))
(<= (next (dealt ?c)) (true (dealt ?c)))
(<= (next (has ?p ?c)) (does random (deal ?p ?c)))
(<= (next (has ?p ?c)) (true (has ?p ?c)))
(<= (sees ?p ?c) (does random (deal ?p ?c)))
(<= terminal (true (step 3)))
(goal me 0) (goal other 0) (goal random 0)"""


def _dealt_pairs(deals: Sequence[str]) -> tuple[NDArray[np.uint64], anygame.Game]:
    """Return the keys of the roles after two deals, in one order and in the other: [orders, roles]."""
    game = anygame.loads(_DEALING, machine="network")
    belief = Belief(game, game.roles[0])
    compiled = game.backends.needed_network().compiled
    start = np.frombuffer(game.batch(1).packed().tobytes(), np.uint64)
    lanes = belief.pool.holding(np.tile(start, (2, 1)))
    keys = belief.observing.at_start(lanes.packed()[:2])
    numbers = [{str(term): number for number, term in enumerate(terms)} for terms in compiled.actions]
    for turn in range(2):
        drawn = [numbers[2][deals[turn]], numbers[2][deals[1 - turn]]]
        waits = [np.full(2, numbers[role]["wait"]) for role in range(2)]
        made = [*waits, np.array(drawn)]
        belief.pool.step(lanes, made)
        counts = [np.ones(2, np.int64), np.ones(2, np.int64), np.full(2, 6 - 2 * turn)]
        keys = belief.observing.after(keys, made, counts, lanes, np.arange(2))
    return keys, game


def test_roles_have_the_same_key_where_they_cannot_tell_histories_apart() -> None:
    game = anygame.loads(SECRET, machine="network")
    guesser = game.roles[0]
    belief = Belief(game, guesser)
    belief.follow(RoleView(game.initial_state(), (Observation(None, ()),)), inf)
    assert belief.particles is not None
    assert len(belief.particles) == 50
    assert len(np.unique(belief.particles.keys[:, 0])) == 1


def test_of_others_the_order_is_left_out_in_which_they_saw_things_between_choices() -> None:
    of_mine, _ = _dealt_pairs(["(deal me 1)", "(deal me 2)"])
    assert of_mine[0, 0] != of_mine[1, 0]
    of_others, _ = _dealt_pairs(["(deal other 1)", "(deal other 2)"])
    assert of_others[0, 1] == of_others[1, 1]
    # Who sees another card knows more; chance has no key at all.
    different, game = _dealt_pairs(["(deal other 1)", "(deal other 3)"])
    assert different[0, 1] != of_others[0, 1]
    assert not different[:, 2].any()
    # So hands count, not the orders in which they were dealt.
    start = game.initial_state()
    wait = start.legal_moves(game.roles[0])[0]
    belief = Belief(game, game.roles[0])
    belief.follow(RoleView(start, (Observation(wait, ()), Observation(wait, ()))), inf)
    assert belief.particles is not None
    assert len(belief.particles) == 3


def test_a_game_without_hidden_information_is_believed_as_it_is() -> None:
    game = anygame.load("tic_tac_toe", machine="network")
    state = game.initial_state().next(["(mark 1 1)", "noop"])
    belief = Belief(game, game.roles[0])
    belief.follow(RoleView(state), inf)
    assert belief.is_exact
    assert list(_believed(belief, game)) == [state.facts]
