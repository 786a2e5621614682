"""Every code of a diagnostic: what it means, examples, and the check that finds it.

Those of ``reading``, ``reasoning`` and ``play`` are found by other stages: while a sheet is read, when its
rules are put in order for the reasoner, and in play. A check stands with the few codes that it alone finds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.codes import (
    arithmetic,
    arity,
    case_differs,
    duplicate_rule,
    goal_value,
    growing_recursion,
    idle_declaration,
    idle_distinct,
    keyword_constant,
    keyword_in_body,
    large_join,
    likely_typo,
    literal_order,
    loose_pair,
    loose_recursion,
    lost_fluent,
    missing_case,
    missing_combination,
    missing_condition,
    missing_link,
    missing_role,
    needless_wait,
    negated_formula,
    negation_by_name,
    nested_or,
    never_fires,
    no_declarations,
    no_goal,
    no_legal,
    no_terminal,
    odd_fact,
    odd_goal,
    odd_move,
    odd_number,
    overlapping_goals,
    play,
    reading,
    reasoning,
    repeated_literal,
    same_conditions,
    shared_name,
    single_variable,
    stray_text,
    swapped_arguments,
    symmetry,
    unconditional_next,
    undeclared,
    undefined_relation,
    unknown_role,
    unmade_move,
    unread_fluent,
    unread_move,
    unused_relation,
    unusual_character,
)

if TYPE_CHECKING:
    from anygame.doctor.code import Check, Code

__all__ = ["CHECKS", "CODES"]

#: All checks, in the order in which they run.
CHECKS: Final[tuple[Check, ...]] = (
    no_legal.CHECK,
    no_goal.CHECK,
    no_terminal.CHECK,
    no_declarations.CHECK,
    unknown_role.CHECK,
    goal_value.CHECK,
    undefined_relation.CHECK,
    unmade_move.CHECK,
    unused_relation.CHECK,
    unread_fluent.CHECK,
    unread_move.CHECK,
    undeclared.CHECK,
    idle_declaration.CHECK,
    unconditional_next.CHECK,
    loose_recursion.CHECK,
    loose_pair.CHECK,
    needless_wait.CHECK,
    same_conditions.CHECK,
    never_fires.CHECK,
    lost_fluent.CHECK,
    swapped_arguments.CHECK,
    odd_fact.CHECK,
    symmetry.CHECK,
    odd_goal.CHECK,
    odd_move.CHECK,
    odd_number.CHECK,
    missing_case.CHECK,
    missing_combination.CHECK,
    missing_condition.CHECK,
    missing_link.CHECK,
    missing_role.CHECK,
    repeated_literal.CHECK,
    growing_recursion.CHECK,
    negation_by_name.CHECK,
    overlapping_goals.CHECK,
    case_differs.CHECK,
    arithmetic.CHECK,
    arity.CHECK,
    shared_name.CHECK,
    unusual_character.CHECK,
    keyword_constant.CHECK,
    likely_typo.CHECK,
    stray_text.CHECK,
    single_variable.CHECK,
    keyword_in_body.CHECK,
    negated_formula.CHECK,
    nested_or.CHECK,
    literal_order.CHECK,
    idle_distinct.CHECK,
    duplicate_rule.CHECK,
    large_join.CHECK,
)
#: Every code there is, by its name.
CODES: Final[dict[str, Code]] = {
    code.name: code
    for codes in (reading.CODES, reasoning.CODES, *(check.codes for check in CHECKS), play.CODES)
    for code in codes
}
