"""What model checkers are given: a game, and what must not be, as latches and gates of two inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError
from anygame.language.terms import Compound, Constant
from anygame.network.network import FALSE, TRUE
from anygame.proving.properties import violations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.language.terms import Term
    from anygame.proving.model import Model

#: Gates of two inputs; as text they take 20 bytes each.
_MOST_GATES: Final = 2_000_000


def _fluents_of(model: Model) -> list[Term]:
    """Return ``(true FACT)`` for each fluent."""
    return [Compound("true", (fact,)) for fact in model.fluents]


def _actions_of(model: Model, relation: str) -> list[Term]:
    """Return ``(relation ROLE MOVE)`` for each action, role after role."""
    return [
        Compound(relation, (role, move))
        for role, moves in zip(model.roles, model.actions, strict=True)
        for move in moves
    ]


def _outputs_of(model: Model) -> list[tuple[Term, int]]:
    """Return the atoms of ``legal``, ``terminal`` and ``goal``, each with its literal."""
    return [
        *zip(_actions_of(model, "legal"), model.legal, strict=True),
        (Constant("terminal"), model.terminal),
        *(
            (Compound("goal", (role, Constant(str(value)))), literal)
            for role, values in zip(model.roles, model.goals, strict=True)
            for value, literal in values
        ),
    ]


def _legally_chosen(model: Model, role: int) -> int:
    """Return the literal that holds where a role makes a legal move."""
    pairs = zip(model.moves_of[role], model.legal_of(role), strict=True)
    return model.gates.disjunction([model.gates.conjunction([2 * node, legal]) for node, legal in pairs])


class Transitions:
    """A game as inputs, latches and gates of two inputs, numbered as AIGER asks: in this order.

    Literals are twice the number, plus one where it is inverted. An input is a move. A latch is a fluent, but
    for the last one, ``illegal``, which remembers a step that was none of play: from the end, or one in which
    a role did not make exactly one move, a legal one. What must not hold counts where ``illegal`` is false.

    Args:
        violated: what must not be, by name; None for what must not be in any game.

    Attributes:
        inputs: their terms.
        latches: per latch its term, its initial value, and the literal of its next value.
        gates: the two inputs of each gate, the larger one first.
        bad: name and literal of what must not hold.
        outputs: terms and literals of what the rules say of a state.

    Raises:
        LimitError: there are too many gates.
    """

    def __init__(self, model: Model, violated: dict[str, int] | None = None) -> None:
        self.inputs = _actions_of(model, "does")
        facts, moves = len(model.fluents), len(self.inputs)
        self.first_gate = moves + facts + 2
        self.gates: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int], int] = {}
        illegal = 2 * (self.first_gate - 1)
        bad = violations(model) if violated is None else violated
        outputs = _outputs_of(model)
        step = [model.terminal ^ 1]
        for role, nodes in enumerate(model.moves_of):
            step += [_legally_chosen(model, role), model.at_most_one([2 * node for node in nodes])]
        made = model.gates.conjunction(step)

        self._of = {0: FALSE}
        self._of.update((1 + number, 2 * (1 + moves + number)) for number in range(facts))
        self._of.update((1 + facts + number, 2 * (1 + number)) for number in range(moves))
        for node in model.cone([made, *bad.values(), *model.next, *(literal for _, literal in outputs)]):
            if node >= model.gates.inputs:
                self._of[node] = self._all(map(self._literal, model.gates.inputs_of(2 * node) or ()))
        self.latches: list[tuple[Term, bool, int]] = [
            (term, bool(first), self._literal(after))
            for term, first, after in zip(_fluents_of(model), model.initial, model.next, strict=True)
        ]
        lasting = self._both(illegal ^ 1, self._literal(made)) ^ 1
        self.latches.append((Constant("illegal"), False, lasting))
        self.bad = [(name, self._both(illegal ^ 1, self._literal(found))) for name, found in bad.items()]
        self.outputs = [(term, self._literal(literal)) for term, literal in outputs]

    def _literal(self, literal: int) -> int:
        return self._of[literal >> 1] ^ (literal & 1)

    def _all(self, literals: Iterable[int]) -> int:
        """Return the conjunction of some literals, as a tree."""
        level = list(literals)
        while len(level) > 1:
            pairs = zip(level[::2], [*level[1::2], TRUE][: (len(level) + 1) // 2], strict=True)
            level = [self._both(one, other) for one, other in pairs]
        return level[0]

    def _both(self, one: int, other: int) -> int:
        high, low = max(one, other), min(one, other)
        if low == FALSE or high == low ^ 1:
            return FALSE
        if low == TRUE or high == low:
            return high
        found = self._known.get((high, low))
        if found is None:
            if len(self.gates) == _MOST_GATES:
                raise LimitError(
                    f"the game takes more than {_MOST_GATES:,} gates of two inputs", "gates", _MOST_GATES
                )
            found = self._known[high, low] = 2 * (self.first_gate + len(self.gates))
            self.gates.append((high, low))
        return found
