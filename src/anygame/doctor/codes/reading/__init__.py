"""Codes of what is found while a sheet is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.codes.reading import (
    and_formula,
    bad_encoding,
    bad_head,
    control_character,
    derived_role,
    empty_body,
    empty_list,
    empty_or,
    empty_variable,
    formula_arity,
    infix_character,
    infix_name,
    infix_syntax,
    keyword_arity,
    keyword_in_term,
    list_as_name,
    no_role,
    old_declaration,
    state_in_head,
    stray_rule,
    token_too_long,
    too_deep,
    too_large,
    too_many_arguments,
    too_many_problems,
    unclosed_list,
    unexpected_close,
    variable_as_name,
    variable_in_fact,
    variable_sentence,
    wrong_arrow,
    zero_arity,
)

if TYPE_CHECKING:
    from anygame.doctor.code import Code

__all__ = ["CODES"]

CODES: Final[tuple[Code, ...]] = (
    bad_encoding.CODE,
    control_character.CODE,
    too_deep.CODE,
    too_large.CODE,
    too_many_problems.CODE,
    token_too_long.CODE,
    unclosed_list.CODE,
    unexpected_close.CODE,
    infix_character.CODE,
    infix_name.CODE,
    infix_syntax.CODE,
    empty_list.CODE,
    empty_variable.CODE,
    list_as_name.CODE,
    too_many_arguments.CODE,
    variable_as_name.CODE,
    variable_sentence.CODE,
    zero_arity.CODE,
    and_formula.CODE,
    bad_head.CODE,
    derived_role.CODE,
    empty_body.CODE,
    empty_or.CODE,
    formula_arity.CODE,
    keyword_arity.CODE,
    keyword_in_term.CODE,
    no_role.CODE,
    old_declaration.CODE,
    state_in_head.CODE,
    stray_rule.CODE,
    variable_in_fact.CODE,
    wrong_arrow.CODE,
)
