"""States that no play need lead to: the network answers for any of its facts as the reasoner does."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from tests.datalog.programs import LIMITS, Case, asking, cases
from tests.examples import examples
from tests.game.sheets import SHEETS
from tests.network.evaluate import evaluate_moves, evaluate_state

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.language.parser import parse_program
from anygame.language.rules import Atom, Rule
from anygame.language.source import Source
from anygame.network.compiled import compile_game
from anygame.network.grounding.grounder import GroundingLimits
from anygame.network.kernels.kernel import build_kernel
from anygame.network.lanes import DOUBLE, MISSING, Lanes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.network.compiled import CompiledGame
    from anygame.network.kernels.kernel import Style

_LANES = 530  # more than a block
_ASKED = 60  # states that the reasoner is asked about


def _mixed(game: anygame.Game, compiled: CompiledGame, random: Random) -> list[frozenset[anygame.Term]]:
    """Return the facts of states that play leads to, with some put in and some taken out."""
    found: list[frozenset[anygame.Term]] = []
    state = game.initial_state()
    while len(found) < _LANES:
        legal = [state.legal_moves(role) for role in game.roles]
        over = state.is_terminal or not all(legal)
        state = game.initial_state() if over else state.next([random.choice(moves) for moves in legal])
        chance = random.choice((0.0, 0.02, 0.1, 0.5))
        change = {fact for fact in compiled.fluents if random.random() < chance}
        found.append(frozenset(state.facts ^ change))
    return found


def _columns(compiled: CompiledGame, states: list[frozenset[anygame.Term]]) -> NDArray[np.bool_]:
    return np.array([[fact in facts for fact in compiled.fluents] for facts in states], np.bool_)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["straight", "loop"])
@pytest.mark.parametrize("sheet", sorted(SHEETS.glob("*.kif")), ids=lambda path: path.stem)
def test_every_lane_answers_as_the_reasoner(sheet: object, style: Style) -> None:
    game = anygame.load(str(sheet), machine="reasoner")
    compiled = compile_game(game.backends.reasoner.reasoner)
    random = Random(str(sheet))
    facts = _mixed(game, compiled, random)
    lanes = Lanes(build_kernel(compiled.network, style), _LANES)
    lanes.load(_columns(compiled, facts))
    legal, terminal, goals = lanes.legal(), lanes.terminal, lanes.goals()
    first = np.cumsum([0, *map(len, compiled.actions)])
    moves = np.zeros((len(game.roles), _LANES), np.int64)
    stuck = []
    for lane in range(_LANES):
        for role in range(len(game.roles)):
            some = np.flatnonzero(legal[lane, first[role] : first[role + 1]])
            moves[role, lane] = random.choice(some.tolist()) if len(some) else 0
            if not len(some) and not terminal[lane]:
                stuck.append(lane)
    for lane in stuck:  # a lane in which somebody cannot move stays out of the step
        lanes.set(lane, lanes.network.initial)
        for role in range(len(game.roles)):
            some = np.flatnonzero(lanes.legal()[lane, first[role] : first[role + 1]])
            moves[role, lane] = some[0]
    lanes.step(list(moves))
    after = lanes.observation()
    for lane in random.sample(range(_LANES), _ASKED):
        state = game.state(facts[lane])
        assert state.is_terminal == terminal[lane]
        for role, name in enumerate(game.roles):
            places = np.flatnonzero(legal[lane, first[role] : first[role + 1]]).tolist()
            assert tuple(compiled.actions[role][place] for place in places) == state.legal_moves(name)
            assert _goal(state, name) == goals[role][lane]
        if lane in stuck:
            continue
        joint = [compiled.actions[role][moves[role, lane]] for role in range(len(game.roles))]
        expected = state.facts if state.is_terminal else state.next(joint).facts
        assert {compiled.fluents[place] for place in np.flatnonzero(after[lane])} == expected


def _goal(state: anygame.State, role: str) -> int:
    try:
        goal = state.goal(role)
    except anygame.GoalError:
        return DOUBLE
    return MISSING if goal is None else goal


@pytest.mark.slow
@settings(
    max_examples=examples(8),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    phases=set(Phase) - {Phase.explain},
)
@given(cases())
def test_random_programs_agree(case: Case) -> None:
    program = _started(asking(case))
    try:
        game = anygame.loads(program, limits=LIMITS, machine="reasoner")
        limits = GroundingLimits(instances=20_000, join=50_000)
        compiled = compile_game(Reasoner(parse_program(Source("<case>", program)), LIMITS), limits)
        states = [game.state(facts) for facts in case.states]
        legal = [[state.legal_moves(role) for role in game.roles] for state in states]
        expected = [_everything(state, case) for state in states]
    except anygame.LimitError:
        assume(False)
        raise
    assert all(move in of_role for moves in legal for move, of_role in zip(case.moves, moves, strict=True))
    for answers in (_plain(compiled, case), _in_lanes(compiled, case)):
        assert answers == expected


Answers = tuple[list[list[str]], bool, list[str]]


def _started(case: Case) -> str:
    """Return the program with the facts of the states as facts of the start, for the network to know."""
    facts = {fact for facts in case.states for fact in facts}
    return "\n".join(
        [str(case.program), *(str(Rule(Atom("init", (fact,)))) for fact in sorted(facts, key=str))]
    )


def _everything(state: anygame.State, case: Case) -> Answers:
    legal = [list(map(str, state.legal_moves(role))) for role in state.game.roles]
    return legal, state.is_terminal, sorted(map(str, state.next(case.moves).facts))


def _plain(compiled: CompiledGame, case: Case) -> list[Answers]:
    network, count = compiled.network, len(case.states)
    bits = _columns(compiled, [frozenset(facts) for facts in case.states])
    packed = [sum(1 << lane for lane in range(count) if column[lane]) for column in bits.T]
    values = evaluate_state(network, packed, count)
    legal = np.array([[values.literal(bit) >> lane & 1 for bit in network.legal] for lane in range(count)])
    terminal = [bool(values.literal(network.terminal) >> lane & 1) for lane in range(count)]
    taken = {(role, move) for role, move in enumerate(case.moves)}
    does = [
        (1 << count) - 1 if (role, move) in taken else 0
        for role, moves in enumerate(compiled.actions)
        for move in moves
    ]
    after = evaluate_moves(network, values, does)
    following = np.array([[value >> lane & 1 for value in after] for lane in range(count)], np.bool_)
    return _told(compiled, legal.astype(np.bool_), terminal, following)


def _in_lanes(compiled: CompiledGame, case: Case) -> list[Answers]:
    """Answer by the machine code; lanes at their end do not move, so what follows is left to others."""
    plain = _plain(compiled, case)
    lanes = Lanes(build_kernel(compiled.network), len(case.states))
    lanes.load(_columns(compiled, [frozenset(facts) for facts in case.states]))
    legal, terminal = lanes.legal(), lanes.terminal.tolist()
    count = len(case.states)
    chosen = [
        np.full(count, moves.index(move)) for moves, move in zip(compiled.actions, case.moves, strict=True)
    ]
    lanes.step(chosen)
    told = _told(compiled, legal, terminal, lanes.observation())
    return [
        (mine[0], mine[1], other[2] if mine[1] else mine[2]) for mine, other in zip(told, plain, strict=True)
    ]


def _told(
    compiled: CompiledGame, legal: NDArray[np.bool_], terminal: list[bool], after: NDArray[np.bool_]
) -> list[Answers]:
    ends = np.cumsum([0, *map(len, compiled.actions)])
    found = []
    for lane, end in enumerate(terminal):
        moves = [
            [str(move) for move, holds in zip(of_role, legal[lane, first:], strict=False) if holds]
            for of_role, first in zip(compiled.actions, ends, strict=False)
        ]
        facts = [str(fact) for fact, holds in zip(compiled.fluents, after[lane], strict=True) if holds]
        found.append((moves, end, sorted(facts)))
    return found
