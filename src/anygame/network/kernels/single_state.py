"""Answers about a single state, with bytes in and out: one call of machine code each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.kernels.function import WORDS, FunctionBuilder
from anygame.network.kernels.game_table import Field
from anygame.network.kernels.rows import FIRST_FLUENT, GO, RESTART

if TYPE_CHECKING:
    from anygame.network.kernels.game_numbers import GameNumbers


def single_state_functions(game: GameNumbers) -> str:
    """Write ``@query`` and ``@advance``, which use the first word of the rows, all its lanes alike.

    ``@query`` takes a state, a byte per fluent, and gives a byte for each of ``gate_code.answer_bits``.
    ``@advance`` takes the numbers of the actions taken, and gives the next state; it is to follow ``@query``.
    """
    return "".join((game.constants, _query(game), _advance(game)))


def _query(game: GameNumbers) -> str:
    code = FunctionBuilder("query", parameters=["ptr noalias %state", "ptr noalias %out"])
    first = code.address(FIRST_FLUENT)
    for index in code.repeat(game.number(code, Field.FLUENTS)):
        byte = code.let(f"load i8, ptr {_byte(code, '%state', index)}")
        code.set_word(_row(code, first, index), code.let(f"sub i64 0, {code.let(f'zext i8 {byte} to i64')}"))
    code.line("call void @evaluate_state(ptr %rows, ptr %data)")
    for index in code.repeat(game.number(code, Field.ANSWER_COUNT)):
        bit = game.answer(code, index)
        row = code.let(f"lshr i64 {bit}, 1")
        _give(code, code.let(f"xor i64 {code.word(_row(code, '%rows', row))}, {bit}"), index)
    return code.text()


def _advance(game: GameNumbers) -> str:
    code = FunctionBuilder("advance", parameters=["ptr noalias %taken", "i64 %roles", "ptr noalias %out"])
    fluents = code.address(FIRST_FLUENT)
    actions = _row(code, fluents, game.number(code, Field.FLUENTS))
    for index in code.repeat(game.number(code, Field.ACTIONS)):
        code.set_word(_row(code, actions, index), 0)
    for role in code.repeat("%roles"):
        slot = code.let(f"getelementptr inbounds i32, ptr %taken, i64 {role}")
        action = code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")
        code.set_word(_row(code, actions, action), -1)
    code.set_word(code.address(GO), -1)
    code.set_word(code.address(RESTART), 0)
    code.line("call void @evaluate_moves(ptr %rows, ptr %data)")
    for index in code.repeat(game.number(code, Field.FLUENTS)):
        _give(code, code.word(_row(code, fluents, index)), index)
    return code.text()


def _row(code: FunctionBuilder, first: str, index: str) -> str:
    return code.offset(first, code.let(f"shl i64 {index}, {WORDS.bit_length() - 1}"))


def _byte(code: FunctionBuilder, pointer: str, index: str) -> str:
    return code.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {index}")


def _give(code: FunctionBuilder, word: str, index: str) -> None:
    byte = code.let(f"trunc i64 {code.let(f'and i64 {word}, 1')} to i8")
    code.line(f"store i8 {byte}, ptr {_byte(code, '%out', index)}")
