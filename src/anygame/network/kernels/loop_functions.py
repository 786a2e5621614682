"""The functions that evaluate gates from data; ``gate_loop`` writes the data."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from anygame.network.kernels.function import GO, ONES, RESTART, ZERO, FunctionBuilder, SharedFunctions
from anygame.network.kernels.gate_code import Presence, state_function

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.target import Target

#: Number of words of an operation: its kind, two masks of phases, whether it needs a restarting lane, and
#: four arguments.
OPERATION_WORDS = 8
_PARAMETERS = ["i64 %from", "i64 %until", "i64 %plain", "i64 %inverted"]


def loop_functions(
    phases: Phases,
    bits: int,
    unrolled: Sequence[tuple[int, int]],
    places_of: Sequence[int],
    target: Target,
    *,
    factors: bool,
) -> tuple[str, SharedFunctions]:
    """Write the functions of a game that evaluate gates from data, and the shared functions that they call.

    Row numbers have ``bits`` bits. Each shape of ``unrolled``, a pair of the numbers of plain and of inverted
    inputs, has its own function. ``places_of`` has indices in the data: where the operations of the state, of
    late goals and of moves begin, and where the operations end. With ``factors``, the gates read moves as
    groups and members; see ``RowLayout``.
    """
    names = ("evaluate_options", "evaluate_goals", "evaluate_factors" if factors else "evaluate_moves")
    shared = SharedFunctions(
        {
            "set": _set(target),
            "cycle": _cycle(target),
            "run": _run(bits, target),
            "scatter": _scatter(target),
            **{
                f"run_{plain}_{inverted}": _run_unrolled(bits, plain, inverted, target)
                for plain, inverted in unrolled
            },
        }
    )
    parts = [_operate_function(phases, list(shared), target)]
    shared["run_cycle"] = _run_cycle(target)
    for name, (begin, end) in zip(names, pairwise(places_of), strict=True):
        code = FunctionBuilder(name, target)
        code.line(f"call void @operate(ptr %rows, ptr %data, i64 {begin}, i64 {end})")
        parts.append(code.text())
    return "".join([*parts, state_function(target)]), shared


def _operate_function(phases: Phases, kinds: Sequence[str], target: Target) -> str:
    """Write a function that does the operations in a range of words, if the phase of the lanes needs them.

    ::

        for each operation:
            if (during & present or only & alone) and (not restarting or a lane restarts):
                kinds[kind](begin, end, first, second)
    """
    code = FunctionBuilder("operate", target, parameters=["i64 %first", "i64 %end"])
    presence = Presence(code, phases)
    steady = code.let(f"xor i1 {code.any_lane(code.load(RESTART))}, true")
    count = code.let(f"sdiv i64 {code.let('sub i64 %end, %first')}, {OPERATION_WORDS}")
    for index in code.repeat(count):
        place = code.let(f"add i64 %first, {code.let(f'mul i64 {index}, {OPERATION_WORDS}')}")
        words = [_number(code, code.let(f"add i64 {place}, {offset}")) for offset in range(OPERATION_WORDS)]
        kind, during, only, restarting, *words_of_call = words
        needed = code.let(
            f"or i64 {code.let(f'and i64 {presence.present}, {during}')}, "
            f"{code.let(f'and i64 {presence.alone}, {only}')}"
        )
        skipped = code.let(f"and i1 {steady}, {code.let(f'trunc i64 {restarting} to i1')}")
        done = code.let(f"or i1 {skipped}, {code.let(f'icmp eq i64 {needed}, 0')}")
        with code.when(code.let(f"xor i1 {done}, true")):
            arguments = ", ".join(f"i64 {word}" for word in words_of_call)
            labels, done_with = [code.new_label() for _ in kinds], code.new_label()
            cases = " ".join(f"i64 {number}, label %{label}" for number, label in enumerate(labels))
            code.line(f"switch i64 {kind}, label %{done_with} [ {cases} ]")
            for name, label in zip(kinds, labels, strict=True):
                code.label(label)
                code.line(f"call void @{name}(ptr %rows, ptr %data, {arguments})")
                code.jump(done_with)
            code.label(done_with)
    return code.text()


def _cycle(target: Target) -> str:
    """Write a function that evaluates a cycle until no gate changes, with a maximum number of rounds."""
    code = FunctionBuilder("cycle", target, parameters=_PARAMETERS)
    with code.walk("0", "%plain") as rounds:
        changed = code.let("call i1 @run_cycle(ptr %rows, ptr %data, i64 %from, i64 %until)")
        after = code.let(f"add i64 {code.word(rounds)}, 1")
        code.set_word(rounds, code.let(f"select i1 {changed}, i64 {after}, i64 %plain"))
    return code.text()


def _entry(code: FunctionBuilder, index: str) -> tuple[str, str, str, str]:
    """Read an entry: the value of its source, a pointer to its target, the target's lowest bit and number."""
    source, target = _number(code, index), _number(code, code.let(f"add i64 {index}, 1"))
    value = code.read(_row_at(code, source))
    inverted = _spread(code, source)
    return code.xor(value, inverted), _row_at(code, target), _spread(code, target), target


def _number(code: FunctionBuilder, index: str) -> str:
    word = code.let(f"getelementptr inbounds i32, ptr %data, i64 {index}")
    return code.let(f"zext i32 {code.let(f'load i32, ptr {word}, align 4')} to i64")


def _row_at(code: FunctionBuilder, place: str) -> str:
    """Return a pointer to a row, given its offset in bytes; the lowest bit of the offset is ignored."""
    start = code.let(f"and i64 {place}, -{code.target.stride}")
    return code.let(f"getelementptr inbounds i8, ptr %rows, i64 {start}")


def _spread(code: FunctionBuilder, place: str) -> str:
    """Return a row that repeats the lowest bit of a number; a table of both words is faster than shifts."""
    bit = code.let(f"and i64 {place}, 1")
    return code.broadcast(code.word(f"@{code.name}.masks", bit))


def _with_masks(code: FunctionBuilder, result: str = "ret void") -> str:
    masks = "private unnamed_addr constant [2 x i64] [i64 0, i64 -1], align 16"
    return f"@{code.name}.masks = {masks}\n{code.text(result)}"


@contextmanager
def _each_entry(code: FunctionBuilder) -> Iterator[str]:
    with code.walk("%from", "%until") as place:
        index = code.word(place)
        yield index
        code.set_word(place, code.let(f"add i64 {index}, 2"))


def _run(bits: int, target: Target) -> str:
    """Write a function that evaluates gates of a shape.

    ::

        for each gate (plain..., inverted..., target):
            row[target] = all of row[plain] and not any of row[inverted]
    """
    code = FunctionBuilder("run", target, parameters=_PARAMETERS)
    value, seen = code.variable(), code.variable()
    with code.walk("%from", "%until") as place:
        code.write(value, ONES)
        code.write(seen, ZERO)
        for count, variable, operator in (("%plain", value, code.and_), ("%inverted", seen, code.or_)):
            start = code.word(place)
            for index in code.repeat(count):
                row = code.read(_row_of(code, bits, code.let(f"add i64 {start}, {index}")))
                code.write(variable, operator(code.read(variable), row))
            code.set_word(place, code.let(f"add i64 {start}, {count}"))
        end = code.word(place)
        code.write(_row_of(code, bits, end), code.and_(code.read(value), code.not_(code.read(seen))))
        code.set_word(place, code.let(f"add i64 {end}, 1"))
    return code.text()


def _run_unrolled(bits: int, plain: int, inverted: int, target: Target) -> str:
    """Write ``run`` for a fixed shape, with ``target.reads`` memory reads in flight."""
    code = FunctionBuilder(f"run_{plain}_{inverted}", target, parameters=_PARAMETERS)
    size = plain + inverted + 1
    place = code.word_variable("%from")
    for gates in sorted({max(1, target.reads // size), 1}, reverse=True):
        again, inside, done = (code.new_label() for _ in range(3))
        code.jump(again)
        code.label(again)
        start = code.word(place)
        end = code.let(f"add i64 {start}, {gates * size}")
        code.branch(code.let(f"icmp ule i64 {end}, %until"), inside, done)
        code.label(inside)
        pointers = [
            [
                _row_of(code, bits, code.let(f"add i64 {start}, {size * gate + number}"))
                for number in range(size)
            ]
            for gate in range(gates)
        ]
        values = [[code.read(pointer) for pointer in of_gate[:-1]] for of_gate in pointers]
        for of_gate, value in zip(pointers, values, strict=True):
            result = code.and_(code.all(value[:plain]), code.not_(code.any(value[plain:])))
            code.write(of_gate[-1], result)
        code.set_word(place, end)
        code.jump(again)
        code.label(done)
    return code.text()


def _row_of(code: FunctionBuilder, bits: int, index: str) -> str:
    word = code.let(f"getelementptr inbounds i{bits}, ptr %data, i64 {index}")
    number = code.let(f"zext i{bits} {code.let(f'load i{bits}, ptr {word}')} to i64")
    return code.row_at("%rows", number)


def _run_cycle(target: Target) -> str:
    code = FunctionBuilder("run_cycle", target, "i1", _PARAMETERS[:2])
    all_hold, changed = code.variable(ONES), code.variable()
    with _each_entry(code) as index:
        value, row, last, number = _entry(code, index)
        value = code.and_(code.read(all_hold), value)
        differs = code.xor(code.read(row), value)
        code.write(changed, code.or_(code.read(changed), code.and_(last, differs)))
        with code.when(code.let(f"trunc i64 {number} to i1")):
            code.write(row, value)
        code.write(all_hold, code.or_(value, last))
    return _with_masks(code, f"ret i1 {code.any_lane(code.read(changed))}")


def _scatter(target: Target) -> str:
    """Write a function that clears and sets rows in the lanes that make a move.

    ::

        for each group (row, end) that some lane has chosen:
            for each move (member, cleared, set, rows...):
                value = row[group] and row[member]
                row[each of cleared] &= not value
                row[each of set] |= value
    """
    code = FunctionBuilder("scatter", target, parameters=_PARAMETERS)
    with code.walk("%from", "%until") as group:
        start = code.word(group)
        here = code.read(_row_at(code, _number(code, start)))
        end = _number(code, code.let(f"add i64 {start}, 1"))
        with code.when(code.any_lane(here)), code.walk(code.let(f"add i64 {start}, 2"), end) as place:
            move = code.word(place)
            first = code.let(f"add i64 {move}, 3")
            cleared, setting = (_number(code, code.let(f"add i64 {move}, {n}")) for n in (1, 2))
            middle = code.let(f"add i64 {first}, {cleared}")
            value = code.and_(here, code.read(_row_at(code, _number(code, move))))
            with code.when(code.any_lane(value)):
                for begin, count, inverted in ((first, cleared, True), (middle, setting, False)):
                    for index in code.repeat(count):
                        row = _row_at(code, _number(code, code.let(f"add i64 {begin}, {index}")))
                        old = code.read(row)
                        code.write(
                            row, code.and_(old, code.not_(value)) if inverted else code.or_(old, value)
                        )
            code.set_word(place, code.let(f"add i64 {middle}, {setting}"))
        code.set_word(group, end)
    return code.text()


def _set(target: Target) -> str:
    """Write a function that sets fluents; the lowest bit of the second number is the initial value.

    ::

        for each entry (source, target):
            value = go ? row[source] ^ inverted : row[target]
            row[target] = restart ? initial : value
    """
    code = FunctionBuilder("set", target, parameters=_PARAMETERS)
    go, restart = code.load(GO), code.load(RESTART)
    with _each_entry(code) as index:
        value, place, initial, _ = _entry(code, index)
        value = code.mux(go, value, code.read(place))
        code.write(place, code.mux(restart, initial, value))
    return _with_masks(code)
