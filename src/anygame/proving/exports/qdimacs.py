"""Whether a role can force a goal, as a quantified boolean formula: QDIMACS.

There is a move of the role such that for all moves of the others there is a move of the role, and so on, with
the rules as a circuit for each step. What is quantified are bits that number moves in binary. A number of no
legal move means the first legal one, so that each assignment is a play, and nobody can cheat.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError
from anygame.network.logic.gates import Gates
from anygame.network.network import FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.proving.model import Model

#: Inputs of gates, all steps together: each is a clause of two literals, in all some hundred megabytes.
_MOST_INPUTS: Final = 3_000_000
#: Inputs of the gates that make a move of its number, beside one for each bit.
_OF_A_MOVE: Final = 9


def qdimacs_text(model: Model, depth: int, role: int, goal: int) -> str:
    """Return a formula that is true where a role can force a goal. For one role, SAT solvers read it, too.

    Where roles move at once, the others know the move of the role. A play that stops because a role has no
    legal move is lost.

    Args:
        model: the game.
        depth: in so many joint moves.
        role: the number of the role.
        goal: at least.

    Raises:
        LimitError: the formula is too large.
    """
    return "".join(f"{line}\n" for line in _Unrolled(model, depth, role, goal).lines())


class _Unrolled:
    """A game unrolled: gates over bits, which are the first nodes.

    Attributes:
        bits: of each step, the bits of each role, least first.
        known: of each step, how many gates there are when the role has moved, and the others have not.
        wins: the literal that the role wins.
    """

    def __init__(self, model: Model, depth: int, role: int, goal: int) -> None:
        self._model, self._role = model, role
        self._widths = [(len(moves) - 1).bit_length() if moves else 0 for moves in model.actions]
        blocked, goals = model.blocked, model.goals[role]
        wanted = [*model.legal, model.terminal, blocked, *(each for _, each in goals), *model.next]
        self._cone = [node for node in model.cone(wanted) if node >= model.gates.inputs]
        self._check_size(depth)
        bit = iter(range(1, 1 + depth * sum(self._widths)))
        self.bits = [[[next(bit) for _ in range(width)] for width in self._widths] for _ in range(depth)]
        self.gates = Gates(1 + depth * sum(self._widths))
        self.known: list[int] = []

        state = [TRUE if holds else FALSE for holds in model.initial.tolist()]
        won, going = [], []
        for step in range(depth + 1):
            of = {0: FALSE, **dict(enumerate(state, 1))}
            # What depends on the state alone.
            self._evaluate(of)
            value = _reader(of)
            enough = [value(each) for number, each in goals if number >= goal]
            less = [value(each) ^ 1 for number, each in goals if number < goal]
            won.append(self.gates.conjunction([value(model.terminal), self.gates.disjunction(enough), *less]))
            going.append(self.gates.conjunction([value(model.terminal) ^ 1, value(blocked) ^ 1]))
            if step < depth:
                self._move(of, role, step)
                self.known.append(len(self.gates.gates))
                for other in range(len(model.roles)):
                    if other != role:
                        self._move(of, other, step)
                self._evaluate(of)
                state = list(map(value, model.next))
        self.wins = FALSE
        for here, goes_on in zip(reversed(won), reversed(going), strict=True):
            self.wins = self.gates.disjunction([here, self.gates.conjunction([goes_on, self.wins])])

    def _check_size(self, depth: int) -> None:
        model = self._model
        of_rules = sum(len(model.gates.inputs_of(2 * node) or ()) for node in self._cone)
        of_moves = sum(
            len(nodes) * (width + _OF_A_MOVE)
            for nodes, width in zip(model.moves_of, self._widths, strict=True)
        )
        inputs = (depth + 1) * (of_rules + of_moves)
        if inputs > _MOST_INPUTS:
            raise LimitError(
                f"a depth of {depth:,} takes up to {inputs:,} inputs of gates, and {_MOST_INPUTS:,} are "
                "written at most; choose a smaller one",
                limit="inputs",
                bound=_MOST_INPUTS,
            )

    def _evaluate(self, of: dict[int, int]) -> None:
        """Add the gates of a step whose inputs are known."""
        value = _reader(of)
        for node in self._cone:
            inputs = self._model.gates.inputs_of(2 * node) or ()
            if node not in of and all(literal >> 1 in of for literal in inputs):
                of[node] = self.gates.conjunction(map(value, inputs))

    def _move(self, of: dict[int, int], role: int, step: int) -> None:
        """Let a role make the move that its bits number if it is legal, else the first one that is."""
        gates, bits, value = self.gates, self.bits[step][role], _reader(of)
        legal = list(map(value, self._model.legal_of(role)))
        named = [
            gates.conjunction([literal, *(2 * bit | ~number >> place & 1 for place, bit in enumerate(bits))])
            for number, literal in enumerate(legal)
        ]
        none_before = gates.conjunction([literal ^ 1 for literal in named])
        for node, literal, by_number in zip(self._model.moves_of[role], legal, named, strict=True):
            of[node] = gates.disjunction([by_number, gates.conjunction([none_before, literal])])
            none_before = gates.conjunction([none_before, literal ^ 1])

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file: what the bits mean, the prefix, a clause each."""
        model, needed = self._model, self._needed()
        variables = dict(enumerate(range(1, self.gates.inputs), 1))
        for node in needed:
            variables[node] = len(variables) + 1
        top = len(variables) + 1
        for role, moves in zip(model.roles, model.actions, strict=True):
            for number, move in enumerate(moves):
                yield f"c number {number} of {role} is {move}"
        for step, of_roles in enumerate(self.bits):
            for role, bits in zip(model.roles, of_roles, strict=True):
                listed = "".join(f" {bit}" for bit in bits)
                yield f"c step {step + 1}: bits of {role}, least first:{listed}"
        clauses = sum(1 + len(self.gates.inputs_of(2 * node) or ()) for node in needed)
        yield f"p cnf {top} {clauses + 2}"
        if len(model.roles) > 1:
            yield from self._prefix(needed, variables, top)
        yield from self._clauses(needed, variables)
        # The last variable stands for what is always true.
        wins = variables.get(self.wins >> 1, -top)
        yield f"{top} 0"
        yield f"{-wins if self.wins & 1 else wins} 0"

    def _needed(self) -> list[int]:
        """Return the gates that the win depends on, ascending."""
        seen, pending = set(), [self.wins >> 1]
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending += [literal >> 1 for literal in self.gates.inputs_of(2 * node) or ()]
        return sorted(node for node in seen if node >= self.gates.inputs)

    def _clauses(self, needed: Iterable[int], variables: dict[int, int]) -> Iterator[str]:
        """Yield the clauses that say what gates are (Tseitin 1968)."""
        for node in needed:
            read = [
                -variables[literal >> 1] if literal & 1 else variables[literal >> 1]
                for literal in self.gates.inputs_of(2 * node) or ()
            ]
            for literal in read:
                yield f"{-variables[node]} {literal} 0"
            yield f"{variables[node]} {' '.join(str(-literal) for literal in read)} 0"

    def _prefix(self, needed: Sequence[int], variables: dict[int, int], top: int) -> Iterator[str]:
        """Yield the quantifiers: gates follow the bits that they depend on."""
        blocks: list[tuple[str, list[int]]] = []
        gates = iter([*needed, self.gates.inputs + len(self.gates.gates)])
        gate = next(gates)
        for known, of_roles in zip(self.known, self.bits, strict=True):
            mine = list(of_roles[self._role])
            while gate < self.gates.inputs + known:
                mine.append(variables[gate])
                gate = next(gates)
            blocks.append(("e", mine))
            others = [bits for role, bits in enumerate(of_roles) if role != self._role]
            blocks.append(("a", [bit for bits in others for bit in bits]))
        last = [variables[node] for node in needed if node >= gate]
        blocks.append(("e", [*last, top]))
        filled = [block for block in blocks if block[1]]
        for quantifier, same in groupby(filled, key=lambda block: block[0]):
            bound = (str(variable) for _, of_block in same for variable in of_block)
            yield f"{quantifier} {' '.join(bound)} 0"


def _reader(of: dict[int, int]) -> Callable[[int], int]:
    """Return the values of literals by those of nodes."""
    return lambda literal: of[literal >> 1] ^ (literal & 1)
