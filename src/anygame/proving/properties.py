"""The built-in properties of games, as literals of the model.

A well-formed game has most of these properties: playability, goals and winnability (Love, Hinrichs, Haley,
Schkufza and Genesereth 2008, "General game playing: game description language specification").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.errors import GoalError
from anygame.network.network import FALSE
from anygame.proving.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.proving.matches import Sample
    from anygame.proving.model import Model

#: The range of goal values in GDL.
LOWEST, HIGHEST = 0, 100
#: Built-in properties whose claims are the same for all games.
CLAIMS: Final = {
    "playable": "every role has a legal move in every state until the end",
    "ends": "every match ends",
    "goals": f"every role has exactly one goal at the end, from {LOWEST} to {HIGHEST}",
    "turn-taking": "in every state, at most one role has a choice",
}


@dataclass(frozen=True)
class Property:
    """A property of states.

    Attributes:
        name: the name that users pass, such as ``winnable white``.
        claim: the statement that a proof shows.
        literal: holds in each state that refutes the property or, with ``to_be_reached``, proves it.
        seen_by: asks the reasoner whether ``literal`` holds in a state, given the joint move if needed.
        to_be_reached: whether one state with the literal proves, instead of refutes, the property.
        of_ends: whether the property is about terminal states only.
        note_of: returns a note about a state in which the literal holds.
        value: the number in the claim, if any.
    """

    name: str
    claim: str
    literal: int
    seen_by: Callable[..., bool]
    to_be_reached: bool = False
    of_ends: bool = False
    note_of: Callable[..., str] = lambda *_: ""
    value: int | None = None

    def settled(self, **details: Any) -> Verdict:
        """Return the verdict if the literal holds in no reachable state."""
        return Verdict(self.name, self.claim, "refuted" if self.to_be_reached else "proved", **details)

    def shown(self, match: Sequence[Any], last: Sequence[Any], *, shortest: bool) -> Verdict:
        """Return the verdict if a match leads to a state in which the literal holds."""
        return Verdict(
            self.name,
            self.claim,
            "proved" if self.to_be_reached else "refuted",
            match=tuple(match),
            is_shortest=shortest,
            note=self.note_of(*last),
        )

    def open(self, depth: int) -> Verdict:
        """Return the verdict if no match of up to ``depth`` moves decides the property."""
        return Verdict(self.name, self.claim, "open", depth=max(0, depth))


def built_in(game: Game, model: Model, sample: Sample) -> Iterator[Property]:
    """Yield the built-in properties that are about states, and add their gates to the model.

    The sample determines the expected sum of goals.
    """
    gates, places = model.gates, range(len(model.roles))
    roles = [role for role in game.roles if not role.is_random]
    literals = violations(model)
    sums = _sums(game, model)
    expected = _usual(model, sample, sums)
    one = [_has_one_goal(model, place) for place in places if not game.roles[place].is_random]
    ends_so = gates.conjunction([sums.get(expected, FALSE), *one])
    seen_by: dict[str, Callable[[State], bool]] = {
        "playable": lambda state: not state.is_terminal and state.stuck_role is not None,
        "goals": lambda state: state.is_terminal and any(_goal(state, role) is None for role in roles),
        "turn-taking": lambda state: len(state.movers) > 1,
    }
    for name, seen in seen_by.items():
        yield Property(name, CLAIMS[name], literals[name], seen, of_ends=name == "goals")
    yield Property(
        "zero-sum",
        f"the goals add up to {expected} in every final state",
        gates.conjunction([model.terminal, ends_so ^ 1]),
        lambda state: state.is_terminal and _goal_sum(state, roles) != expected,
        of_ends=True,
        value=expected,
    )
    for role in roles:
        place = game.role_index(role)
        best = gates.disjunction([holds for value, holds in model.goals[place] if value == HIGHEST])
        yield Property(
            f"winnable {role}",
            f"a match can end with {HIGHEST} for {role}",
            gates.conjunction([model.terminal, best, _has_one_goal(model, place)]),
            _wins(role),
            to_be_reached=True,
        )


def choosers(game: Game, model: Model) -> Property:
    """Return the property "in every state, at most one role besides ``random`` has a choice"."""
    roles = [role for role in game.roles if not role.is_random]
    several = [chooses(model, game.role_index(role)) for role in roles]
    return Property(
        "one chooses",
        "in every state, at most one role besides random has a choice",
        model.gates.conjunction([model.terminal ^ 1, model.at_most_one(several) ^ 1]),
        lambda state: sum(not role.is_random for role in state.movers) > 1,
    )


def violations(model: Model) -> dict[str, int]:
    """Return, for each property of well-formed games, a literal that holds in the states that violate it.

    ``playable``: a state is not terminal, and a role has no legal move. ``goals``: a state is terminal, and a
    role other than ``random`` does not have exactly one valid goal. ``turn-taking``: two roles have a choice.
    """
    gates, places = model.gates, range(len(model.roles))
    one = [_has_one_goal(model, place) for place in places if str(model.roles[place]) != "random"]
    several = [chooses(model, place) for place in places]
    return {
        "playable": model.blocked,
        "goals": gates.conjunction([model.terminal, gates.conjunction(one) ^ 1]),
        "turn-taking": gates.conjunction([model.terminal ^ 1, model.at_most_one(several) ^ 1]),
    }


def chooses(model: Model, place: int) -> int:
    """Return a literal that holds if a role has several legal moves, even in terminal states."""
    return model.at_most_one(model.legal_of(place)) ^ 1


def _has_one_goal(model: Model, place: int) -> int:
    usable = model.gates.disjunction([holds for _, holds in _usable(model, place)])
    return model.gates.conjunction([usable, model.at_most_one([holds for _, holds in model.goals[place]])])


def _usable(model: Model, place: int) -> list[tuple[int, int]]:
    return [(value, holds) for value, holds in model.goals[place] if LOWEST <= value <= HIGHEST]


def _sums(game: Game, model: Model) -> dict[int, int]:
    """Map each possible sum of valid goals to the literal for this sum."""
    gates = model.gates
    sums = {0: 1}
    for place, role in enumerate(game.roles):
        if role.is_random:
            continue
        then: dict[int, list[int]] = {}
        for total, holds in sums.items():
            for value, has in _usable(model, place):
                then.setdefault(total + value, []).append(gates.conjunction([holds, has]))
        sums = {total: gates.disjunction(parts) for total, parts in then.items()}
    return sums


def _usual(model: Model, sample: Sample, sums: dict[int, int]) -> int:
    """Return the sum of goals in the sample's first terminal state, or ``HIGHEST`` without such a state."""
    ends = sample.states[model.values([model.terminal], sample.states)[:, 0]][:1]
    if len(ends) and sums:
        holds = model.values(list(sums.values()), ends)[0]
        for total, here in zip(sums, np.asarray(holds).tolist(), strict=True):
            if here:
                return total
    return HIGHEST


def _goal(state: State, role: Role) -> int | None:
    try:
        goal = state.goal(role)
    except GoalError:
        return None
    return goal if goal is not None and LOWEST <= goal <= HIGHEST else None


def _goal_sum(state: State, roles: Sequence[Role]) -> int | None:
    goals = [_goal(state, role) for role in roles]
    return None if None in goals else sum(goal for goal in goals if goal is not None)


def _wins(role: Role) -> Callable[[State], bool]:
    return lambda state: state.is_terminal and _goal(state, role) == HIGHEST
