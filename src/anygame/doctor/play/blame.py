"""Which rule of a sheet a derivation rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from anygame.language.derivations import Derivation
    from anygame.language.rules import Program, Rule

#: Rules that only hand on what another relation says, one below the other.
_DEEPEST: Final = 5


def rule_behind(derivation: Derivation, program: Program) -> Rule | None:
    """Return the rule that a derivation ends with; where it has one condition, the rule behind that."""
    places = {rule.span.place: rule for rule in program.rules if rule.span}
    found = places.get(derivation.place)
    for _ in range(_DEEPEST):
        if found is None or len(derivation.premises) != 1 or derivation.premises[0].reason != "rule":
            break
        derivation = derivation.premises[0]
        found = places.get(derivation.place) or found
    return found
