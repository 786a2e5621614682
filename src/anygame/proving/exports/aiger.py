"""Export of games as and-inverter graphs, in the format AIGER 1.9.

See Biere, Heljanko and Wieringa ("AIGER 1.9 and beyond", 2011), https://fmv.jku.at/aiger/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError
from anygame.language.terms import Compound, Constant
from anygame.network.network import FALSE, TRUE
from anygame.proving.properties import violations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.terms import Term
    from anygame.proving.model import Model

#: Maximum number of gates with two inputs. A gate takes 20 bytes as text.
_MOST_GATES: Final = 2_000_000


def aiger_text(model: Model) -> str:
    """Return a game in the ASCII format."""
    system = _Transitions(model)
    first = 1 + len(system.inputs)
    lines = [
        f"aag {_header(system)}",
        *(str(2 * number) for number in range(1, first)),
        *(f"{2 * number} {_latch(latch)}" for number, latch in enumerate(system.latches, first)),
        *(str(literal) for _, literal in system.bad),
        *(f"{2 * number} {high} {low}" for number, (high, low) in enumerate(system.gates, system.first_gate)),
        *_names(system),
    ]
    return "".join(f"{line}\n" for line in lines)


def aiger_bytes(model: Model) -> bytes:
    """Return a game in the binary format."""
    system = _Transitions(model)
    head = [
        f"aig {_header(system)}",
        *map(_latch, system.latches),
        *(str(literal) for _, literal in system.bad),
    ]
    deltas = bytearray()
    for number, (high, low) in enumerate(system.gates, system.first_gate):
        for delta in (2 * number - high, high - low):
            while delta > 127:
                deltas.append(128 | delta & 127)
                delta >>= 7
            deltas.append(delta)
    texts = ("".join(f"{line}\n" for line in lines) for lines in (head, _names(system)))
    return bytes(deltas).join(text.encode() for text in texts)


def _header(system: _Transitions) -> str:
    variables = system.first_gate + len(system.gates) - 1
    return f"{variables} {len(system.inputs)} {len(system.latches)} 0 {len(system.gates)} {len(system.bad)}"


def _latch(latch: tuple[object, bool, int]) -> str:
    _, first, after = latch
    return f"{after} 1" if first else str(after)


def _names(system: _Transitions) -> Iterator[str]:
    """Yield the symbol table, then a comment with the literals of ``legal``, ``terminal`` and ``goal``."""
    for number, term in enumerate(system.inputs):
        yield f"i{number} {term}"
    for number, (term, _, _) in enumerate(system.latches):
        yield f"l{number} {term}"
    for number, (name, _) in enumerate(system.bad):
        yield f"b{number} {name}"
    yield "c"
    for term, literal in system.outputs:
        yield f"{literal} {term}"


def _actions_of(model: Model, relation: str) -> list[Term]:
    return [
        Compound(relation, (role, move))
        for role, moves in zip(model.roles, model.actions, strict=True)
        for move in moves
    ]


class _Transitions:
    """A game as inputs (numbered first), latches (second), and gates with two inputs (last).

    A literal is twice the number of a variable, plus one if negated. Inputs are moves; latches are fluents.
    An illegal step sets the last latch, ``illegal``. A step is illegal if it starts in a terminal state, or
    if a role does not make exactly one legal move. If ``illegal`` is set, the state does not count as bad.
    """

    def __init__(self, model: Model) -> None:
        self.inputs = _actions_of(model, "does")
        facts, moves = len(model.fluents), len(self.inputs)
        self.first_gate = moves + facts + 2
        #: The two inputs of each gate, the larger input first.
        self.gates: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int], int] = {}
        illegal = 2 * (self.first_gate - 1)
        bad, gates = violations(model), model.gates
        outputs = [
            *zip(_actions_of(model, "legal"), model.legal, strict=True),
            (Constant("terminal"), model.terminal),
            *(
                (Compound("goal", (role, Constant(str(value)))), literal)
                for role, values in zip(model.roles, model.goals, strict=True)
                for value, literal in values
            ),
        ]
        step = [model.terminal ^ 1]
        for role, nodes in enumerate(model.moves_of):
            pairs = zip(nodes, model.legal_of(role), strict=True)
            chosen = [gates.conjunction([2 * node, legal]) for node, legal in pairs]
            step += [gates.disjunction(chosen), model.at_most_one([2 * node for node in nodes])]
        made = gates.conjunction(step)

        self._of = {0: FALSE}
        self._of.update((1 + number, 2 * (1 + moves + number)) for number in range(facts))
        self._of.update((1 + facts + number, 2 * (1 + number)) for number in range(moves))
        for node in model.cone([made, *bad.values(), *model.next, *(literal for _, literal in outputs)]):
            if node >= model.gates.inputs:
                self._of[node] = self._all(map(self._literal, model.gates.inputs_of(2 * node) or ()))
        #: For each latch, its term, its initial value and the literal of its next value.
        self.latches: list[tuple[Term, bool, int]] = [
            (Compound("true", (fact,)), bool(first), self._literal(after))
            for fact, first, after in zip(model.fluents, model.initial, model.next, strict=True)
        ]
        lasting = self._both(illegal ^ 1, self._literal(made)) ^ 1
        self.latches.append((Constant("illegal"), False, lasting))
        #: Names and literals of the properties that a state can violate.
        self.bad = [
            (name, self._both(illegal ^ 1, self._literal(violation))) for name, violation in bad.items()
        ]
        self.outputs = [(term, self._literal(literal)) for term, literal in outputs]

    def _literal(self, literal: int) -> int:
        return self._of[literal >> 1] ^ (literal & 1)

    def _all(self, literals: Iterable[int]) -> int:
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
        gate = self._known.get((high, low))
        if gate is None:
            if len(self.gates) == _MOST_GATES:
                raise LimitError(
                    f"the game needs more than {_MOST_GATES:,} gates with two inputs", "gates", _MOST_GATES
                )
            gate = self._known[high, low] = 2 * (self.first_gate + len(self.gates))
            self.gates.append((high, low))
        return gate
