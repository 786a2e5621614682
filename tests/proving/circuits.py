"""Readers of circuits in AIGER, BTOR2 and SMV, by the documents of these languages alone: steps by names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


class Circuit(Protocol):
    """A state that is stepped; everything has its name."""

    state: dict[str, bool]
    inputs: list[str]

    def outputs(self) -> dict[str, bool]:
        """Return what is said of the state."""

    def bad(self) -> dict[str, bool]:
        """Return what must not hold."""

    def step(self, moves: Collection[str]) -> None:
        """Make a step, with the inputs that are on."""


@dataclass
class _Gates:
    """Nodes by number, each with its value as a function of the values of those before; operands by signs."""

    inputs: list[str]
    state: dict[str, bool]
    nodes: list[tuple[str, object]]
    next_of: dict[str, int]
    bad_of: dict[str, int]
    output_of: dict[str, int]
    inverted: Callable[[int], tuple[int, bool]]

    def _values(self, moves: Collection[str]) -> Callable[[int], bool]:
        values: list[bool] = []

        def value(operand: int) -> bool:
            node, negative = self.inverted(operand)
            return values[node] != negative

        for kind, content in self.nodes:
            if kind == "constant":
                values.append(bool(content))
            elif kind == "input":
                values.append(content in moves)
            elif kind == "state":
                values.append(self.state[str(content)])
            else:
                assert isinstance(content, tuple)
                values.append(all(map(value, content)))
        return value

    def outputs(self) -> dict[str, bool]:
        value = self._values(())
        return {name: value(operand) for name, operand in self.output_of.items()}

    def bad(self) -> dict[str, bool]:
        value = self._values(())
        return {name: value(operand) for name, operand in self.bad_of.items()}

    def step(self, moves: Collection[str]) -> None:
        assert set(moves) <= set(self.inputs)
        value = self._values(moves)
        self.state = {name: value(operand) for name, operand in self.next_of.items()}


def read_aiger(data: bytes) -> Circuit:
    """Read AIGER 1.9, ASCII or binary."""
    header, _, rest = data.partition(b"\n")
    magic, *counts = header.split()
    most, inputs, latches, outputs, ands, bad = map(int, counts)
    assert (magic in {b"aag", b"aig"}, outputs, most) == (True, 0, inputs + latches + ands)
    is_binary = magic == b"aig"

    def lines(count: int) -> list[list[int]]:
        nonlocal rest
        *found, rest = rest.split(b"\n", count)
        return [list(map(int, line.split())) for line in found]

    if not is_binary:
        assert lines(inputs) == [[2 * number] for number in range(1, inputs + 1)]
    latch_lines = lines(latches)
    if is_binary:
        latch_lines = [[2 * (inputs + n), *line] for n, line in enumerate(latch_lines, 1)]
    bad_lines = lines(bad)
    gates = lines(ands) if not is_binary else []
    if is_binary:
        place = 0

        def delta() -> int:
            nonlocal place
            total = shift = 0
            while True:
                byte = rest[place]
                place += 1
                total |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return total

        for number in range(1 + inputs + latches, 1 + most):
            high = 2 * number - delta()
            gates.append([2 * number, high, high - delta()])
        rest = rest[place:]
    for number, (left, high, low) in enumerate(gates, 1 + inputs + latches):
        assert left == 2 * number > high >= low >= 0
    table, _, comment = rest.decode().partition("c\n")
    names: dict[str, list[str]] = {"i": [], "l": [], "b": []}
    for line in table.splitlines():
        key, name = line.split(" ", 1)
        assert len(names[key[0]]) == int(key[1:])
        names[key[0]].append(name)
    assert list(map(len, names.values())) == [inputs, latches, bad]
    assert [line[0] for line in latch_lines] == [2 * (inputs + n) for n in range(1, latches + 1)]
    return _Gates(
        inputs=names["i"],
        state={name: line[2:] == [1] for name, line in zip(names["l"], latch_lines, strict=True)},
        nodes=[
            ("constant", False),
            *(("input", name) for name in names["i"]),
            *(("state", name) for name in names["l"]),
            *(("and", tuple(line[1:])) for line in gates),
        ],
        next_of={name: line[1] for name, line in zip(names["l"], latch_lines, strict=True)},
        bad_of={name: line[0] for name, line in zip(names["b"], bad_lines, strict=True)},
        output_of={
            name: int(literal) for literal, name in (line.split(" ", 1) for line in comment.splitlines())
        },
        inverted=lambda literal: (literal >> 1, bool(literal & 1)),
    )
