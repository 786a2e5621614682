"""Answers about a single state, with bytes in and out: one call of machine code each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.kernels.function import WORDS, FunctionBuilder
from anygame.network.kernels.gate_code import answer_bits
from anygame.network.kernels.rows import FIRST_FLUENT, GO, RESTART

if TYPE_CHECKING:
    from anygame.network.kernels.gate_code import GateOutputs
    from anygame.network.kernels.rows import RowLayout


def single_state_functions(layout: RowLayout, gates: GateOutputs) -> str:
    """Write ``@query`` and ``@advance``, which use the first word of the rows, all its lanes alike.

    ``@query`` takes a state, a byte per fluent, and gives a byte for each of ``gate_code.answer_bits``.
    ``@advance`` takes the numbers of the actions taken, and gives the next state; it is to follow ``@query``.
    """
    bits = answer_bits(gates)
    words = ", ".join(f"i32 {bit}" for bit in bits)
    table = f"@answers = private unnamed_addr constant [{len(bits)} x i32] [{words}]\n"
    fluents, actions = str(layout.actions - layout.fluents), str(len(layout.chosen))
    return "".join((table, _query(fluents, str(len(bits))), _advance(fluents, actions)))


def _query(fluents: str, answers: str) -> str:
    code = FunctionBuilder("query", parameters=["ptr noalias %state", "ptr noalias %out"])
    first = code.address(FIRST_FLUENT)
    for index in code.repeat(fluents):
        byte = code.let(f"load i8, ptr {_byte(code, '%state', index)}")
        code.set_word(_row(code, first, index), code.let(f"sub i64 0, {code.let(f'zext i8 {byte} to i64')}"))
    code.line("call void @evaluate_state(ptr %rows, ptr %data)")
    for index in code.repeat(answers):
        slot = code.let(f"getelementptr inbounds i32, ptr @answers, i64 {index}")
        bit = code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")
        row = code.let(f"lshr i64 {bit}, 1")
        _give(code, code.let(f"xor i64 {code.word(_row(code, '%rows', row))}, {bit}"), index)
    return code.text()


def _advance(fluents: str, actions: str) -> str:
    code = FunctionBuilder("advance", parameters=["ptr noalias %taken", "i64 %roles", "ptr noalias %out"])
    state = code.address(FIRST_FLUENT)
    moves = _row(code, state, fluents)
    for index in code.repeat(actions):
        code.set_word(_row(code, moves, index), 0)
    for role in code.repeat("%roles"):
        slot = code.let(f"getelementptr inbounds i32, ptr %taken, i64 {role}")
        action = code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")
        code.set_word(_row(code, moves, action), -1)
    code.set_word(code.address(GO), -1)
    code.set_word(code.address(RESTART), 0)
    code.line("call void @evaluate_moves(ptr %rows, ptr %data)")
    for index in code.repeat(fluents):
        _give(code, code.word(_row(code, state, index)), index)
    return code.text()


def _row(code: FunctionBuilder, first: str, index: str) -> str:
    return code.offset(first, code.let(f"shl i64 {index}, {WORDS.bit_length() - 1}"))


def _byte(code: FunctionBuilder, pointer: str, index: str) -> str:
    return code.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {index}")


def _give(code: FunctionBuilder, word: str, index: str) -> None:
    byte = code.let(f"trunc i64 {code.let(f'and i64 {word}, 1')} to i8")
    code.line(f"store i8 {byte}, ptr {_byte(code, '%out', index)}")
