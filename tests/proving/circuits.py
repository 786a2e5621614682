"""Readers of circuits in AIGER, BTOR2 and SMV, by the documents of these languages alone: steps by names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


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


def read_btor2(text: str) -> Circuit:
    """Read BTOR2 with words of one bit."""
    inputs: list[str] = []
    state: dict[str, bool] = {}
    nodes: list[tuple[str, object]] = [("constant", False)]
    next_of: dict[str, int] = {}
    bad_of: dict[str, int] = {}
    output_of: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        identifier, kind, *rest = line.split(" ")
        assert int(identifier) == number
        node: tuple[str, object] = ("none", ())
        if kind in {"input", "state"}:
            assert rest[0] == "1"
            node = (kind, rest[1])
            if kind == "input":
                inputs.append(rest[1])
        elif kind in {"zero", "one"}:
            node = ("constant", kind == "one")
        elif kind == "and":
            node = ("and", tuple(map(int, rest[1:])))
            assert max(map(abs, map(int, rest[1:]))) < number
        elif kind in {"init", "next"}:
            name = str(nodes[int(rest[1])][1])
            if kind == "init":
                assert int(rest[2]) < int(rest[1])
                state[name] = bool(nodes[int(rest[2])][1])
            else:
                next_of[name] = int(rest[2])
        elif kind in {"bad", "output"}:
            (bad_of if kind == "bad" else output_of)[rest[1]] = int(rest[0])
        else:
            assert (kind, rest) == ("sort", ["bitvec", "1"])
        nodes.append(node)
    return _Gates(inputs, state, nodes, next_of, bad_of, output_of, lambda found: (abs(found), found < 0))


class _Module:
    """A module of NuSMV; names are those of the comments."""

    def __init__(self, text: str) -> None:
        lines = text.splitlines()
        self._named = dict(re.findall(r"^  (\w+) [:=]+ [^-\n]*; -- (.*)$", text, re.MULTILINE))
        self.state: dict[str, bool] = {}
        self.inputs: list[str] = []
        self._variables, self._defined, self._next = {}, {}, {}
        self._bad, self._actions = {}, {}
        for line in lines:
            code = line.partition(" --")[0].strip().rstrip(";")
            if found := re.fullmatch(r"(move_\w+) : \{(.*)\}", code):
                self._variables[found[1]] = found[2].split(", ")
            elif found := re.fullmatch(r"(\w+) := (move_\w+) = (\w+)", code):
                assert found[3] in self._variables[found[2]]
                self._actions[found[1]] = self._named[found[1]]
            elif found := re.fullmatch(r"init\((\w+)\) := (TRUE|FALSE)", code):
                self.state[self._named[found[1]]] = found[2] == "TRUE"
            elif found := re.fullmatch(r"next\((\w+)\) := case ended : (\w+); TRUE : (!?\w+); esac", code):
                assert found[1] == found[2]
                self._next[found[1]] = found[3]
            elif found := re.fullmatch(r"TRANS ended \| (!?\w+)", code):
                self._made = found[1]
            elif found := re.fullmatch(r"INVARSPEC NAME (\w+) := !(\w+)", code):
                self._bad[found[1]] = found[2]
            elif found := re.fullmatch(r"(\w+) := ([!\w &]+)", code):
                self._defined[found[1]] = found[2].split(" & ")
        self.inputs = list(self._actions.values())

    def _value(self, moves: Iterable[str]) -> Callable[[str], bool]:
        known = {"TRUE": True, "FALSE": False}
        known |= {name: self.state[self._named[name]] for name in self._next}
        known |= {name: action in moves for name, action in self._actions.items()}

        def value(name: str) -> bool:
            if name.startswith("!"):
                return not value(name[1:])
            if name not in known:
                known[name] = all(map(value, self._defined[name]))
            return known[name]

        return value

    def outputs(self) -> dict[str, bool]:
        value = self._value(())
        states = {*self._next, *self._actions}
        return {term: value(name) for name, term in self._named.items() if name not in states}

    def bad(self) -> dict[str, bool]:
        value = self._value(())
        return {name: value(found) for name, found in self._bad.items()}

    def step(self, moves: Collection[str]) -> None:
        value = self._value(moves)
        assert value("ended") or value(self._made), "TRANS allows no such step"
        self.state = {
            self._named[name]: value(name if value("ended") else after) for name, after in self._next.items()
        }


def read_smv(text: str) -> Circuit:
    """Read a module of NuSMV as it is written here."""
    return _Module(text)
