"""Games as and-inverter graphs: AIGER 1.9.

After Biere, Heljanko and Wieringa ("AIGER 1.9 and beyond", 2011), https://fmv.jku.at/aiger/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.proving.exports.transitions import Transitions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.proving.model import Model


def aiger_text(model: Model) -> str:
    """Return a game in the ASCII form."""
    found = Transitions(model)
    first = 1 + len(found.inputs)
    lines = [
        f"aag {_header(found)}",
        *(str(2 * number) for number in range(1, first)),
        *(f"{2 * number} {_latch(latch)}" for number, latch in enumerate(found.latches, first)),
        *(str(literal) for _, literal in found.bad),
        *(f"{2 * number} {high} {low}" for number, (high, low) in enumerate(found.gates, found.first_gate)),
        *_names(found),
    ]
    return "".join(f"{line}\n" for line in lines)


def aiger_bytes(model: Model, bad: int | None = None) -> bytes:
    """Return a game in the binary form; with one literal that must not hold, and numbers for names."""
    found = Transitions(model, None if bad is None else {"bad": bad})
    names = _names(found) if bad is None else (f"l{n} {n}" for n in range(len(found.latches)))
    head = [f"aig {_header(found)}", *map(_latch, found.latches), *(str(literal) for _, literal in found.bad)]
    deltas = bytearray()
    for number, (high, low) in enumerate(found.gates, found.first_gate):
        for delta in (2 * number - high, high - low):
            while delta > 127:
                deltas.append(128 | delta & 127)
                delta >>= 7
            deltas.append(delta)
    texts = ("".join(f"{line}\n" for line in lines) for lines in (head, names))
    return bytes(deltas).join(text.encode() for text in texts)


def _header(found: Transitions) -> str:
    variables = found.first_gate + len(found.gates) - 1
    return f"{variables} {len(found.inputs)} {len(found.latches)} 0 {len(found.gates)} {len(found.bad)}"


def _latch(latch: tuple[object, bool, int]) -> str:
    _, first, after = latch
    return f"{after} 1" if first else str(after)


def _names(found: Transitions) -> Iterator[str]:
    """Yield the table of symbols, then a comment with the literals of what the rules say of a state."""
    for number, term in enumerate(found.inputs):
        yield f"i{number} {term}"
    for number, (term, _, _) in enumerate(found.latches):
        yield f"l{number} {term}"
    for number, (name, _) in enumerate(found.bad):
        yield f"b{number} {name}"
    yield "c"
    for term, literal in found.outputs:
        yield f"{literal} {term}"
