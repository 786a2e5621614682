"""Every code of a diagnostic: what it means, examples, and the check that finds it.

Those of ``reading``, ``reasoning`` and ``play`` are found by other stages: while a sheet is read, when its
rules are put in order for the reasoner, and in play. A check stands with the few codes that it alone finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.codes import (
    arithmetic,
    cases,
    conditions,
    declarations,
    facts,
    goals,
    incomplete,
    large_join,
    left_out,
    likely_typo,
    lost_fluent,
    moves,
    names,
    never_fires,
    play,
    reading,
    reasoning,
    recursion,
    same_rules,
    stray_text,
    swapped_arguments,
    symmetry,
    unused,
    variables,
)

if TYPE_CHECKING:
    from anygame.doctor.code import Check, Code

__all__ = ["CHECKS", "CODES"]

#: All checks.
CHECKS: Final[tuple[Check, ...]] = (
    *arithmetic.CHECKS,
    *cases.CHECKS,
    *conditions.CHECKS,
    *declarations.CHECKS,
    *facts.CHECKS,
    *goals.CHECKS,
    *incomplete.CHECKS,
    *large_join.CHECKS,
    *left_out.CHECKS,
    *likely_typo.CHECKS,
    *lost_fluent.CHECKS,
    *moves.CHECKS,
    *names.CHECKS,
    *never_fires.CHECKS,
    *recursion.CHECKS,
    *same_rules.CHECKS,
    *stray_text.CHECKS,
    *swapped_arguments.CHECKS,
    *symmetry.CHECKS,
    *unused.CHECKS,
    *variables.CHECKS,
)
#: Every code there is, by its name.
CODES: Final[dict[str, Code]] = {
    code.name: code
    for codes in (reading.CODES, reasoning.CODES, *(check.codes for check in CHECKS), play.CODES)
    for code in codes
}
