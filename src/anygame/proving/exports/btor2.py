"""Games in BTOR2, the language of word-level model checkers, here with words of one bit.

After Niemetz, Preiner, Wolf and Biere ("BTOR2, BtorMC and Boolector 3.0", 2018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.proving.exports.names import without_blanks
from anygame.proving.exports.transitions import Transitions

if TYPE_CHECKING:
    from anygame.proving.model import Model


def btor2_text(model: Model) -> str:
    """Return a game in BTOR2; what the rules say of a state are its outputs."""
    found = Transitions(model)
    lines = ["sort bitvec 1", "zero 1", "one 1"]

    def line(text: str) -> int:
        lines.append(text)
        return len(lines)

    # Lines are numbered from 1; a number with a minus is the inverse.
    of = [2, *(line(f"input 1 {without_blanks(term)}") for term in found.inputs)]
    for term, first, _ in found.latches:
        state = line(f"state 1 {without_blanks(term)}")
        of.append(state)
        line(f"init 1 {state} {3 if first else 2}")

    def literal(number: int) -> int:
        node = of[number >> 1]
        return -node if number & 1 else node

    for high, low in found.gates:
        of.append(line(f"and 1 {literal(high)} {literal(low)}"))
    for place, (_, _, after) in enumerate(found.latches, 1 + len(found.inputs)):
        line(f"next 1 {of[place]} {literal(after)}")
    for name, bad in found.bad:
        line(f"bad {literal(bad)} {name}")
    for term, output in found.outputs:
        line(f"output {literal(output)} {without_blanks(term)}")
    return "".join(f"{number} {text}\n" for number, text in enumerate(lines, 1))
