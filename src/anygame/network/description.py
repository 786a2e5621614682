"""Figures of a compiled game, and a picture of it for Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.errors import LimitError
from anygame.language.diagnostics import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anygame.network.compiled import CompiledGame
    from anygame.network.network import Network

#: Maximum number of nodes in a picture. Larger pictures are unreadable, and take Graphviz minutes.
_MOST_DRAWN: Final = 1_000
#: Maximum number of characters of a name in a picture. Longer names are cut, so that boxes stay small.
_LONGEST_NAME: Final = 60


def describe(compiled: CompiledGame, code: Mapping[str, int | str]) -> dict[str, Any]:
    """Return the figures of a compiled game as plain data."""
    network = compiled.network
    roles = zip(compiled.roles, compiled.actions, strict=True)
    return {
        "passes": [{"pass": name, **figures} for name, figures in compiled.passes],
        "stages": [{"stage": name, **figures} for name, figures in compiled.stages],
        "fluents": network.fluents,
        "actions": {str(role): len(moves) for role, moves in roles},
        "gates": network.gates,
        "state_gates": network.state_gates,
        "inputs": len(network.inputs),
        "levels": levels(network),
        "cycles": [cycle.end - cycle.first for cycle in network.cycles],
        "code": dict(code),
    }


def levels(network: Network) -> int:
    """Return the number of gates on the longest path through the network without its back edges."""
    starts, inputs = network.starts.tolist(), network.inputs.tolist()
    depth = [0] * network.nodes
    for gate in range(network.gates):
        read = inputs[starts[gate] : starts[gate + 1]]
        depth[network.first_gate + gate] = 1 + max([depth[literal >> 1] for literal in read])
    return max(depth, default=0)


def text(described: Mapping[str, Any]) -> str:
    """Format the result of ``describe`` as text."""
    lines = []
    for figures in described["passes"]:
        old, new = figures["rewrote"], figures["made"]
        done = f"{counted(old, 'rule')} became {new:,}" if old else "nothing to do"
        lines.append(f"{figures['pass']}: {done} ({figures['seconds']:.3f} s)")
    before: dict[str, float] = {}
    for stage in described["stages"]:
        figures = {name: value for name, value in stage.items() if name not in ("stage", "seconds")}
        shown = ", ".join(
            f"{value:,.0f} {name}{_saved(name, value, before)}" for name, value in figures.items()
        )
        lines.append(f"{stage['stage']}: {shown} ({stage.get('seconds', 0):.3f} s)")
        before.update(figures)
    actions = ", ".join(f"{count:,} of {role}" for role, count in described["actions"].items())
    cycles, code = described["cycles"], described["code"]
    of_cycles = f"{len(cycles)}, with {', '.join(map(str, cycles[:20]))} gates" if cycles else "none"
    lines += [
        f"inputs of the network: {described['fluents']:,} fluents; moves: {actions}",
        f"gates: {described['gates']:,} with {described['inputs']:,} inputs on {described['levels']:,} "
        f"levels; {described['state_gates']:,} depend on the state alone",
        f"cycles: {of_cycles}",
        f"code: {code['style']}; {code['lanes']} lanes in "
        f"{code['rows']:,} rows, {code['bytes']:,} bytes a thread",
    ]
    return "\n".join(lines)


def _saved(name: str, value: float, before: Mapping[str, float]) -> str:
    old = before.get(name)
    return f" (-{100 * (1 - value / old):.1f} %)" if old and value < old else ""


def picture(compiled: CompiledGame) -> str:
    """Return a picture of the network in Graphviz's language, for ``dot -Tsvg``.

    Boxes are facts and moves, and circles are conjunctions. A line that ends in a dot inverts its value.
    Raises LimitError if the network is too large.
    """
    network = compiled.network
    if network.nodes > _MOST_DRAWN:
        message = f"the network has {network.nodes:,} fluents, moves and gates; a picture shows at most"
        raise LimitError(f"{message} {_MOST_DRAWN:,}", "nodes", _MOST_DRAWN)
    lines = [*_nodes(compiled), *_gates(network), *_outputs(compiled)]
    return "\n".join(["digraph network {", "  rankdir=LR;", *lines, "}", ""])


def _nodes(compiled: CompiledGame) -> Iterator[str]:
    for node, fact in enumerate(compiled.fluents, start=1):
        yield f"  n{node} [shape=box, label={_quoted(f'true {fact}')}];"
    node = compiled.network.first_action
    for role, moves in zip(compiled.roles, compiled.actions, strict=True):
        for move in moves:
            label = _quoted(f"does {role} {move}")
            yield f"  n{node} [shape=box, style=rounded, label={label}];"
            node += 1


def _gates(network: Network) -> Iterator[str]:
    starts, inputs = network.starts.tolist(), network.inputs.tolist()
    for gate in range(network.gates):
        node = network.first_gate + gate
        yield f'  n{node} [shape=circle, label="&"];'
        for literal in inputs[starts[gate] : starts[gate + 1]]:
            yield _edge(literal, f"n{node}")


def _outputs(compiled: CompiledGame) -> Iterator[str]:
    network = compiled.network
    wanted = [("terminal", network.terminal)]
    legal = iter(network.legal.tolist())
    for role, moves in zip(compiled.roles, compiled.actions, strict=True):
        wanted += [(f"legal {role} {move}", next(legal)) for move in moves]
    for role, values in zip(compiled.roles, network.goals, strict=True):
        wanted += [(f"goal {role} {value}", literal) for value, literal in values]
    wanted += [
        (f"next {fact}", after) for fact, after in zip(compiled.fluents, network.next.tolist(), strict=True)
    ]
    for number, (name, literal) in enumerate(wanted):
        yield f"  o{number} [shape=box, style=bold, label={_quoted(name)}];"
        yield _edge(literal, f"o{number}")


def _edge(literal: int, target: str) -> str:
    if literal < 2:
        return f'  {target} [xlabel="{"always" if literal else "never"}"];'
    return f"  n{literal >> 1} -> {target}{' [arrowhead=odot]' if literal & 1 else ''};"


def _quoted(name: str) -> str:
    if len(name) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME - 3]}..."
    plain = "".join(character if character.isprintable() else "?" for character in name)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
