"""Answers about a single state, with bytes in and out: one call of machine code each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.kernels.function import WORDS, FunctionBuilder
from anygame.network.kernels.rows import GO, RESTART

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.network.kernels.gate_code import GateOutputs
    from anygame.network.kernels.rows import RowLayout

__all__ = ["answer_bits", "single_state_functions"]


def answer_bits(gates: GateOutputs) -> list[int]:
    """Return the bit literals of the answers: the end, the legal actions, the goals role by role."""
    return [gates.terminal, *gates.legal, *(bit for role in gates.goals for _, bit in role)]


def single_state_functions(layout: RowLayout, gates: GateOutputs) -> str:
    """Write ``@query`` and ``@advance``, which use the first word of the rows, all its lanes alike.

    ``@query`` takes a state, a byte per fluent, and gives a byte for each of ``answer_bits``. ``@advance``
    takes the numbers of the actions taken, and gives the next state; it is to follow ``@query``.
    """
    bits = answer_bits(gates)
    table = ", ".join(f"i32 {bit}" for bit in bits)
    constant = f"@answers = private unnamed_addr constant [{len(bits)} x i32] [{table}]\n"
    return "".join((constant, _query(layout, len(bits)), _advance(layout)))


def _query(layout: RowLayout, answers: int) -> str:
    code = FunctionBuilder("query", parameters=["ptr noalias %state", "ptr noalias %out"])
    first = code.address(layout.fluents)

    def put(index: str) -> None:
        byte = code.let(f"load i8, ptr {_byte(code, '%state', index)}")
        code.set_word(_row(code, first, index), code.let(f"sub i64 0, {code.let(f'zext i8 {byte} to i64')}"))

    def get(index: str) -> None:
        slot = code.let(f"getelementptr inbounds i32, ptr @answers, i64 {index}")
        bit = code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")
        row = code.let(f"lshr i64 {bit}, 1")
        _give(code, code.let(f"xor i64 {code.word(_row(code, '%rows', row))}, {bit}"), index)

    _loop(code, layout.actions - layout.fluents, put)
    code.line("call void @evaluate_state(ptr %rows, ptr %data)")
    _loop(code, answers, get)
    return code.text()


def _advance(layout: RowLayout) -> str:
    code = FunctionBuilder("advance", parameters=["ptr noalias %taken", "i64 %roles", "ptr noalias %out"])
    fluents, actions = code.address(layout.fluents), code.address(layout.actions)
    rows = layout.action_rows
    _loop(code, rows.stop - rows.start, lambda index: code.set_word(_row(code, actions, index), 0))
    taking, taken, behind = (code.new_label() for _ in range(3))
    before = code.new_label()
    code.jump(before)
    code.label(before)
    code.branch(code.let("icmp eq i64 %roles, 0"), behind, taking)
    code.label(taking)
    code.line(f"%role = phi i64 [ 0, %{before} ], [ %next.role, %{taken} ]")
    slot = code.let("getelementptr inbounds i32, ptr %taken, i64 %role")
    action = code.let(f"zext i32 {code.let(f'load i32, ptr {slot}')} to i64")
    code.set_word(_row(code, actions, action), -1)
    code.jump(taken)
    code.label(taken)
    code.line("%next.role = add i64 %role, 1")
    code.branch(code.let("icmp eq i64 %next.role, %roles"), behind, taking)
    code.label(behind)
    code.set_word(code.address(GO), -1)
    code.set_word(code.address(RESTART), 0)
    code.line("call void @evaluate_moves(ptr %rows, ptr %data)")
    _loop(
        code,
        layout.actions - layout.fluents,
        lambda index: _give(code, code.word(_row(code, fluents, index)), index),
    )
    return code.text()


def _loop(code: FunctionBuilder, count: int, body: Callable[[str], None]) -> None:
    if count:
        code.loop(count, body)


def _row(code: FunctionBuilder, first: str, index: str) -> str:
    return code.offset(first, code.let(f"shl i64 {index}, {WORDS.bit_length() - 1}"))


def _byte(code: FunctionBuilder, pointer: str, index: str) -> str:
    return code.let(f"getelementptr inbounds i8, ptr {pointer}, i64 {index}")


def _give(code: FunctionBuilder, word: str, index: str) -> None:
    byte = code.let(f"trunc i64 {code.let(f'and i64 {word}, 1')} to i8")
    code.line(f"store i8 {byte}, ptr {_byte(code, '%out', index)}")
