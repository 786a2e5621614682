"""The laws of the contract, for every machine and every rule sheet of the project.

A new way to compute games joins ``MACHINES`` and inherits every test.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

import pytest
from tests.game.sheets import SHEETS, texts

import anygame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_MOST_MOVES: Final = 500
_MATCHES: Final = 3


def over_the_reasoner(sheet: Path) -> anygame.Game:
    return anygame.load(sheet, machine="reasoner")


def over_the_network(sheet: Path) -> anygame.Game:
    game = anygame.load(sheet, machine="network")
    assert game.compile()
    return game


#: Ways to make a game of a sheet, one for each machine.
MACHINES: Final[list[Callable[[Path], anygame.Game]]] = [over_the_reasoner, over_the_network]
ALL_SHEETS: Final = sorted(SHEETS.glob("*.kif"))


@pytest.fixture(scope="module", params=MACHINES, ids=lambda make: make.__name__)
def make_game(request: pytest.FixtureRequest) -> Callable[[Path], anygame.Game]:
    make: Callable[[Path], anygame.Game] = request.param
    return make


@pytest.fixture(scope="module", params=ALL_SHEETS, ids=lambda sheet: sheet.stem)
def game(request: pytest.FixtureRequest, make_game: Callable[[Path], anygame.Game]) -> anygame.Game:
    sheet: Path = request.param
    return make_game(sheet)


@pytest.fixture(scope="module")
def matches(game: anygame.Game) -> list[list[anygame.State]]:
    """Return the states of some random matches, each from the initial to the last one."""
    return [list(_match(game, seed)) for seed in range(_MATCHES)]


def _match(game: anygame.Game, seed: int) -> Iterator[anygame.State]:
    random = Random(seed)
    state = game.initial_state()
    yield state
    for _ in range(_MOST_MOVES):
        if state.is_terminal:
            return
        state = state.next([random.choice(state.legal_moves(role)) for role in game.roles])
        yield state


def _some(states: list[anygame.State]) -> list[anygame.State]:
    """Return about a dozen states of a match, the first and the last among them."""
    return [*states[:: len(states) // 12 + 1], states[-1]]


def _joint(state: anygame.State, random: Random) -> list[anygame.Term]:
    return [random.choice(state.legal_moves(role)) for role in state.game.roles]


def test_there_are_sheets() -> None:
    assert len(ALL_SHEETS) >= 10


def test_matches_end(matches: list[list[anygame.State]]) -> None:
    for states in matches:
        assert len(states) > 1
        assert [state.is_terminal for state in states] == [False] * (len(states) - 1) + [True]


def test_legal_moves_are_sorted_without_duplicates(matches: list[list[anygame.State]]) -> None:
    for state in (state for states in matches for state in states):
        for role in state.game.roles:
            names = [str(move) for move in state.legal_moves(role)]
            assert names == sorted(set(names))
            assert all(move.is_ground for move in state.legal_moves(role))


def test_everybody_has_a_move_until_the_end(matches: list[list[anygame.State]]) -> None:
    for state in (state for states in matches for state in states[:-1]):
        assert all(state.legal_moves(role) for role in state.game.roles)


def test_every_fact_is_declared_by_base(matches: list[list[anygame.State]]) -> None:
    declared = {found["f"] for found in matches[0][0].query("(base ?f)")}
    assert declared
    for state in (state for states in matches for state in states):
        assert state.facts <= declared


def test_every_legal_move_is_declared(matches: list[list[anygame.State]]) -> None:
    declared = {(str(found["r"]), found["m"]) for found in matches[0][0].query("(input ?r ?m)")}
    for state in (state for states in matches for state in states):
        for role in state.game.roles:
            assert {(role, move) for move in state.legal_moves(role)} <= declared


def test_goals_at_the_end_are_single_and_in_range(matches: list[list[anygame.State]]) -> None:
    for states in matches:
        goals = [states[-1].goal(role) for role in states[-1].game.roles]
        assert all(goal is not None and 0 <= goal <= 100 for goal in goals)


def test_one_move_is_enough_where_one_role_has_a_choice(matches: list[list[anygame.State]]) -> None:
    random = Random(8)
    for state in (state for states in matches for state in _some(states[:-1])):
        roles = state.game.roles
        assert state.movers == tuple(role for role in roles if len(state.legal_moves(role)) > 1)
        joint = dict(zip(roles, _joint(state, random), strict=True))
        for role in roles:
            if set(state.movers) <= {role}:
                assert state.play(role, joint[role]) == state.next(joint)
                assert not state.movers or state.play(str(joint[role])) == state.next(joint)
            else:
                with pytest.raises(anygame.SimultaneousMovesError, match="can choose here"):
                    state.play(role, joint[role])
        if not state.movers:
            assert {state.play(move) for move in joint.values()} == {state.next(joint)}


def test_no_role_moves_at_the_end(matches: list[list[anygame.State]]) -> None:
    for states in matches:
        end = states[-1]
        assert end.movers == ()
        assert end.skip_forced() is end
        with pytest.raises(anygame.IllegalMoveError, match="the game is over"):
            end.play(end.game.roles[0], "anything")


def test_skipping_leads_to_the_next_choice_or_to_the_end(matches: list[list[anygame.State]]) -> None:
    for states in matches:
        choices = [state for state in states if state.movers or state.is_terminal]
        for state in _some(states):
            wanted = next(later for later in states[states.index(state) :] if later in choices)
            assert state.skip_forced() == wanted


def test_all_goals_are_those_of_the_roles(matches: list[list[anygame.State]]) -> None:
    for state in (state for states in matches for state in _some(states)):
        for default in (None, -1, "none"):
            goals = state.goals(default=default)
            assert tuple(goals) == state.game.roles
            for role, goal in goals.items():
                try:
                    wanted = state.goal(role)
                except anygame.GoalError:
                    wanted = None
                assert goal == (default if wanted is None else wanted)


def test_terms_have_names_and_arguments(matches: list[list[anygame.State]]) -> None:
    for state in (state for states in matches for state in _some(states)):
        for term in (*state.facts, *(move for role in state.game.roles for move in state.legal_moves(role))):
            words = " ".join([term.name, *map(str, term.args)])
            assert str(term) == (f"({words})" if term.args else words)


def test_the_machine_has_a_name(game: anygame.Game, make_game: Callable[[Path], anygame.Game]) -> None:
    assert f"over_the_{game.machine}" == make_game.__name__


def test_moves_leave_a_state_as_it_was(game: anygame.Game, matches: list[list[anygame.State]]) -> None:
    random = Random(1)
    for state in _some(matches[0][:-1]):
        untouched = game.state(state.facts)
        before = _everything(state)
        following = [state.next(_joint(state, random)) for _ in range(3)]
        for next_state in following:
            next_state.legal_moves(game.roles[0])
        assert _everything(state) == before == _everything(untouched)


def test_the_same_moves_lead_to_the_same_state(
    game: anygame.Game, matches: list[list[anygame.State]]
) -> None:
    random = Random(2)
    for state in _some(matches[1][:-1]):
        joint = _joint(state, random)
        by_text = dict(zip(map(str, game.roles), map(str, joint), strict=True))
        results = [state.next(joint), state.next(by_text), game.state(state.facts).next(joint)]
        assert len(set(results)) == 1
        assert len({result.facts for result in results}) == 1


def test_an_illegal_move_changes_nothing(matches: list[list[anygame.State]]) -> None:
    for state in _some(matches[0][:-1]):
        before = _everything(state)
        joint: list[anygame.Term | str] = list(_joint(state, Random(3)))
        joint[-1] = "(no such move)"
        with pytest.raises(anygame.IllegalMoveError):
            state.next(joint)
        assert _everything(state) == before


@pytest.mark.slow
def test_a_state_is_its_facts(game: anygame.Game, matches: list[list[anygame.State]]) -> None:
    for states in matches:
        for state in _some(states):
            again = game.state(state.facts)
            assert again == state
            assert hash(again) == hash(state)
            assert again.facts == state.facts
            assert game.state(reversed(texts(state.facts))) == state
            assert _everything(again) == _everything(state)
        assert states[0] == game.initial_state()
        assert states[0] != states[1]


def test_questions_agree_with_methods(matches: list[list[anygame.State]]) -> None:
    for state in _some(matches[2]):
        legal = {(str(found["r"]), found["m"]) for found in state.query("(legal ?r ?m)")}
        assert legal == {(role, move) for role in state.game.roles for move in state.legal_moves(role)}
        assert {found["f"] for found in state.query("(true ?f)")} == state.facts
        assert any(True for _ in state.query("terminal")) == state.is_terminal
        if not state.is_terminal:
            joint = _joint(state, Random(4))
            assert {found["f"] for found in state.query("(next ?f)", joint)} == state.next(joint).facts


def test_playouts_follow_the_rules(game: anygame.Game) -> None:
    for playout in game.playouts(_MATCHES, seed=6, limit=_MOST_MOVES):
        assert playout.is_complete
        state = game.initial_state()
        for joint in playout.moves:
            state = state.next(joint)
        assert state.is_terminal
        assert playout.goals == {role: state.goal(role) for role in game.roles}


def _everything(state: anygame.State) -> tuple[object, ...]:
    legal = {role: state.legal_moves(role) for role in state.game.roles}
    answers = [str(found) for found in state.query("(legal ?r ?m)")]
    return state.facts, legal, state.is_terminal, answers
