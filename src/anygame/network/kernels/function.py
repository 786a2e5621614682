"""Builder of functions over rows of bits, in LLVM's text form, and the rows with a fixed meaning.

A row has one bit per lane: eight 64-bit words on a processor. Values are LLVM's names or constants. The
builder folds constants, so adders with constant inputs cost nothing. A bit literal is ``2 * row + inverted``.
Row 0 never holds, so literal 0 is false and literal 1 is true.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING

from anygame.network.kernels.target import PROCESSOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.network.kernels.target import Target


#: Number of lanes, and number of 64-bit words of a row, on a processor.
LANES, WORDS = PROCESSOR.lanes, PROCESSOR.row_words
ZERO = "zeroinitializer"
ONES = "splat (i64 -1)"


class FunctionBuilder:
    """Function under construction.

    The first parameters are ``%rows``, the aligned rows of a block of lanes, and ``%data``, the data of
    loops. If several threads share a row, each thread has a pointer to its own words. Until the next label,
    the builder reuses the values of rows that it has read or written.

    Args:
        parameters: further parameters, each with its type.
        rare: whether the function should compile fast rather than run fast.
        inlined: whether LLVM inlines the function into its callers in the same module.
    """

    def __init__(
        self,
        name: str,
        target: Target,
        result: str = "void",
        parameters: Sequence[str] = (),
        rare: bool = False,
        inlined: bool = False,
    ) -> None:
        self.name = name
        self.target = target
        self._row = target.row
        self._align = 8 * target.words
        given = [f"ptr noalias align {self._align} %rows", "ptr noalias %data", *parameters]
        casts: list[str] = []
        if not inlined:  # the callers of inlined functions know the address spaces of pointers
            given, casts = target.received(given)
        self._lines = [
            f"define {target.linkage}{result} @{name}({', '.join(given)}) "
            f"{target.attributes}{' cold noinline optnone' * rare}{' alwaysinline' * inlined} {{",
            "entry:",
            *casts,
        ]
        self._head = 2
        self._names = 0
        self._known: dict[int, str] = {}
        self._inverted: dict[str, str] = {}

    def line(self, text: str) -> None:
        """Add an instruction without a result."""
        self._lines.append("  " + text)

    def let(self, expression: str) -> str:
        """Add an instruction and return the name of its result."""
        self._names += 1
        name = f"%v{self._names}"
        self._lines.append(f"  {name} = {expression}")
        return name

    def new_label(self) -> str:
        """Return the name of a new label."""
        self._names += 1
        return f"b{self._names}"

    def label(self, name: str) -> None:
        """Begin a basic block at a label."""
        self._lines.append(f"{name}:")
        self._known.clear()
        self._inverted.clear()

    def call(self, name: str, pointers: Sequence[str], numbers: Sequence[str | int]) -> None:
        """Call a function that may change any row, with pointers and 64-bit words as arguments."""
        arguments = ["ptr %rows", "ptr %data", *(f"ptr {pointer}" for pointer in pointers)]
        arguments += [f"i64 {number}" for number in numbers]
        self.line(f"call void @{name}({', '.join(arguments)})")
        self._known.clear()

    def jump(self, label: str) -> None:
        """Jump to a label."""
        self.line(f"br label %{label}")

    def begin_block(self) -> str:
        """Begin a basic block at a new label, and return the label."""
        label = self.new_label()
        self.jump(label)
        self.label(label)
        return label

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Jump to one of two labels."""
        self.line(f"br i1 {condition}, label %{yes}, label %{no}")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Write the body of the ``with`` under a condition. No other code can use names from the body."""
        yes, done = self.new_label(), self.new_label()
        self.branch(condition, yes, done)
        self.label(yes)
        yield
        self.jump(done)
        self.label(done)

    @contextmanager
    def either(self, condition: str) -> Iterator[Callable[[], None]]:
        """Write two branches. A call of the yielded function in the body begins the second branch."""
        yes, no, done = (self.new_label() for _ in range(3))
        self.branch(condition, yes, no)
        self.label(yes)

        def otherwise() -> None:
            self.jump(done)
            self.label(no)

        yield otherwise
        self.jump(done)
        self.label(done)

    def repeat(self, count: str) -> Iterator[str]:
        """Write a loop like ``loop``, but allow zero rounds."""
        if not count.isdigit():
            with self.when(self.let(f"icmp ne i64 {count}, 0")):
                yield from self.loop(count)
        elif int(count):
            yield from self.loop(int(count))

    def loop(self, count: int | str) -> Iterator[str]:
        """Write a loop with ``count`` rounds, at least one; only variables keep their values between rounds.

        In Python, the loop runs once, and yields the name that the index has in LLVM's text form::

            for index in code.loop(8):
                code.set_word(table, 0, index)
        """
        before, begin = self.begin_block(), self.begin_block()
        end, done = self.new_label(), self.new_label()
        self.line(f"%index.{begin} = phi i64 [ 0, %{before} ], [ %next.{begin}, %{end} ]")
        yield f"%index.{begin}"
        self.jump(end)
        self.label(end)
        self.line(f"%next.{begin} = add i64 %index.{begin}, 1")
        self.branch(self.let(f"icmp eq i64 %next.{begin}, {count}"), done, begin)
        self.label(done)

    @contextmanager
    def walk(self, first: str, end: str) -> Iterator[str]:
        """Write a loop that runs at least once, until the body has set a variable to at least ``end``."""
        place = self.word_variable(first)
        again, done = self.begin_block(), self.new_label()
        yield place
        self.branch(self.let(f"icmp ult i64 {self.word(place)}, {end}"), again, done)
        self.label(done)

    def set_bits(self, word: str) -> Iterator[str]:
        """Write a loop over the set bits of a word, and yield the number of the bit."""
        unvisited = self.word_variable(0)
        self.set_word(unvisited, word)
        again, inside, done = self.begin_block(), self.new_label(), self.new_label()
        bits = self.word(unvisited)
        self.branch(self.let(f"icmp eq i64 {bits}, 0"), done, inside)
        self.label(inside)
        self.set_word(unvisited, self.let(f"and i64 {bits}, {self.let(f'sub i64 {bits}, 1')}"))
        yield self.let(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 true)")
        self.jump(again)
        self.label(done)

    def text(self, result: str = "ret void") -> str:
        """Return the finished function."""
        return "\n".join([*self._lines, f"  {result}", "}", ""])

    def address(self, row: int) -> str:
        """Return a pointer to a row."""
        return self.let(f"getelementptr inbounds i8, ptr %rows, i64 {row * self.target.stride}")

    def addresses(self, index: str, row: int, count: int) -> list[str]:
        """Return pointers to the ``count`` rows of a table's entry; the table begins at row ``row``."""
        return self.addresses_from(self.address(row), index, count)

    def addresses_from(self, first: str, index: str | int, count: int) -> list[str]:
        """Return pointers to the ``count`` rows of a table's entry; the table begins at pointer ``first``."""
        start = self.let(f"mul i64 {index}, {count * self.target.row_words}")
        return self.rows_at(self.offset(first, start), count)

    def rows_at(self, first: str, count: int) -> list[str]:
        """Return pointers to adjacent rows, given a pointer to the first row."""
        return [self.offset(first, self.target.row_words * number) for number in range(count)]

    def row_at(self, first: str, index: str) -> str:
        """Return a pointer to the row at an index, given a pointer to the first row."""
        return self.offset(first, self.let(f"mul i64 {index}, {self.target.row_words}"))

    def load(self, row: int) -> str:
        """Return the value of a row."""
        if row == 0:
            return ZERO
        value = self._known.get(row)
        if value is None:
            value = self._known[row] = self.read(self.address(row))
        return value

    def store(self, row: int, value: str) -> None:
        """Set a row."""
        self.write(self.address(row), value)
        self._known[row] = value

    def read(self, pointer: str) -> str:
        """Return the row at a pointer."""
        return self.let(f"load {self._row}, ptr {pointer}, align {self._align}")

    def write(self, pointer: str, value: str) -> None:
        """Set the row at a pointer."""
        self.line(f"store {self._row} {value}, ptr {pointer}, align {self._align}")

    def variable(self, value: str = ZERO) -> str:
        """Return a pointer to a row on the stack, kept in a register if possible."""
        pointer = self._reserve(f"alloca {self._row}, align {self._align}")
        self.write(pointer, value)
        return pointer

    def array(self, count: int, value: str | None = None) -> list[str]:
        """Return pointers to adjacent rows on the stack, set to ``value`` if it is given."""
        size = count * self.target.threads  # rows on the stack have the same stride as rows in memory
        first = self._reserve(f"alloca [{size} x {self._row}], align {self._align}")
        pointers = self.rows_at(first, count)
        if value is not None:
            for pointer in pointers:
                self.write(pointer, value)
        return pointers

    def word_variable(self, value: str | int) -> str:
        """Return a pointer to a 64-bit word on the stack, kept in a register if possible."""
        pointer = self._reserve("alloca i64")
        self.set_word(pointer, value)
        return pointer

    def _reserve(self, expression: str) -> str:
        self._names += 1
        # Allocate stack memory at the beginning of the function: once for all iterations of a loop.
        self._lines.insert(self._head, f"  %v{self._names} = {expression}")
        return f"%v{self._names}"

    def word(self, pointer: str, offset: str | int = 0) -> str:
        """Return the 64-bit word at an offset, in words, from a pointer."""
        return self.let(f"load i64, ptr {self.offset(pointer, offset)}")

    def set_word(self, pointer: str, value: str | int, offset: str | int = 0) -> None:
        """Set the 64-bit word at an offset, in words, from a pointer."""
        self.line(f"store i64 {value}, ptr {self.offset(pointer, offset)}")

    def offset(self, pointer: str, offset: str | int) -> str:
        """Return a pointer moved by ``offset`` words."""
        return self.let(f"getelementptr inbounds i64, ptr {pointer}, i64 {offset}") if offset else pointer

    def place_in_block(self, offset: str | int) -> str:
        """Return a pointer to a word of a block's record; the words of all threads are interleaved."""
        if self.target.threads > 1:
            offset = self.let(f"mul i64 {offset}, {self.target.threads}")
        return self.offset("%block", offset)

    def word_of_block(self, offset: int) -> str:
        """Return a word of a block's record."""
        return self.word(self.place_in_block(offset))

    def set_word_of_block(self, value: str | int, offset: int) -> None:
        """Set a word of a block's record."""
        self.set_word(self.place_in_block(offset), value)

    def broadcast(self, word: str) -> str:
        """Return a row that repeats a word."""
        one = self.let(f"insertelement {self._row} poison, i64 {word}, i64 0")
        mask = f"<{self.target.words} x i32> zeroinitializer"
        return self.let(f"shufflevector {self._row} {one}, {self._row} poison, {mask}")

    def bits(self, literal: int) -> str:
        """Return the value of a bit literal."""
        value = self.load(literal >> 1)
        return self.not_(value) if literal & 1 else value

    def not_(self, a: str) -> str:
        """Return the complement."""
        if a == ZERO:
            return ONES
        if a == ONES:
            return ZERO
        result = self._inverted.get(a)
        if result is None:
            result = self._inverted[a] = self._binary("xor", a, ONES)
            self._inverted[result] = a
        return result

    def and_(self, a: str, b: str) -> str:
        """Return the conjunction."""
        if ZERO in (a, b):
            return ZERO
        if ONES in (a, b):
            return a if b == ONES else b
        return a if a == b else self._binary("and", a, b)

    def or_(self, a: str, b: str) -> str:
        """Return the disjunction."""
        if ONES in (a, b):
            return ONES
        if ZERO in (a, b):
            return a if b == ZERO else b
        return a if a == b else self._binary("or", a, b)

    def xor(self, a: str, b: str) -> str:
        """Return the lanes in which two values differ."""
        if a == b:
            return ZERO
        if ZERO in (a, b):
            return a if b == ZERO else b
        if ONES in (a, b):
            return self.not_(a if b == ONES else b)
        return self._binary("xor", a, b)

    def all(self, values: Iterable[str]) -> str:
        """Return the conjunction of any number of values, as a shallow tree."""
        return self._tree(self.and_, list(values), ONES)

    def any(self, values: Iterable[str]) -> str:
        """Return the disjunction of any number of values, as a shallow tree."""
        return self._tree(self.or_, list(values), ZERO)

    def parity(self, a: str, b: str, c: str) -> str:
        """Return the sum bit of a full adder."""
        return self.xor(self.xor(a, b), c)

    def majority(self, a: str, b: str, c: str) -> str:
        """Return the carry bit of a full adder."""
        constant = next((v for v in (ZERO, ONES) if v in (a, b, c)), None)
        if constant is not None:
            others = [a, b, c]
            others.remove(constant)
            return (self.and_ if constant == ZERO else self.or_)(*others)
        return self.or_(self.and_(a, b), self.and_(c, self.or_(a, b)))

    def mux(self, condition: str, yes: str, no: str) -> str:
        """Return ``yes`` in the lanes of the condition and ``no`` in the other lanes: a multiplexer."""
        if yes == no:
            return yes
        return self.or_(self.and_(condition, yes), self.and_(self.not_(condition), no))

    @staticmethod
    def _tree(operation: Callable[[str, str], str], values: list[str], neutral: str) -> str:
        # On some machines, one instruction combines three values.
        while len(values) > 1:
            values = [reduce(operation, values[start : start + 3]) for start in range(0, len(values), 3)]
        return values[0] if values else neutral

    def _binary(self, operator: str, a: str, b: str) -> str:
        return self.let(f"{operator} {self._row} {a}, {b}")

    def add(self, a: str, b: str) -> str:
        """Return the sum of two rows, word by word."""
        return self._binary("add", a, b)

    def rotate_left(self, a: str, count: int) -> str:
        """Return a row with each word rotated to the left."""
        row = self._row
        name = f"@llvm.fshl.v{self.target.words}i64"
        return self.let(f"call {row} {name}({row} {a}, {row} {a}, {row} splat (i64 {count}))")

    def count(self, row: int, value: str) -> None:
        """Add the number of lanes in which ``value`` holds to a row of counters, word by word."""
        if value == ZERO:
            return
        self.store(row, self.add(self.load(row), self.lanes_by_word(value)))

    def lanes_by_word(self, value: str) -> str:
        """Return for each word the number of lanes in which ``value`` holds."""
        return self.let(f"call {self._row} @llvm.ctpop.v{self.target.words}i64({self._row} {value})")

    def popcount(self, value: str) -> str:
        """Return the number of lanes of all threads in which ``value`` holds."""
        own = self._own_count(value)
        return own if self.target.threads == 1 else self.let(f"call i64 @sum_over_threads(i64 {own})")

    def count_before(self, value: str) -> str:
        """Return the number of lanes of earlier threads in which ``value`` holds."""
        if self.target.threads == 1:
            return "0"
        return self.let(f"call i64 @sum_before(i64 {self._own_count(value)})")

    def _own_count(self, value: str) -> str:
        counts = self.lanes_by_word(value)
        name = f"@llvm.vector.reduce.add.v{self.target.words}i64"
        return self.let(f"call i64 {name}({self._row} {counts})")

    def any_lane(self, value: str) -> str:
        """Return whether ``value`` holds in a lane of any thread."""
        count = self.target.words
        words = self.let(f"icmp ne {self._row} {value}, {ZERO}")
        own = self.let(f"icmp ne i{count} {self.let(f'bitcast <{count} x i1> {words} to i{count}')}, 0")
        return own if self.target.threads == 1 else self.let(f"call i1 @any_thread(i1 {own})")

    def least(self, number: str) -> str:
        """Return the minimum of the numbers of all threads that share a row."""
        if self.target.threads == 1:
            return number
        return self.let(f"call i64 @least_of_threads(i64 {number})")


#: Numbers of the rows with a fixed meaning. Row 0 never holds. ``GO``: lanes that make a move in this step.
#: ``RESTART``: lanes that begin a playout after this step. ``RUNNING``: lanes that play a playout.
#: ``ACTIVE``: running lanes that must choose moves. ``ENDED``: lanes whose playouts end in this step.
#: ``CUT``: lanes whose playouts reach the limit. ``STUCK``: lanes in which a role has no legal move. From
#: ``RANDOM`` on: state of the random number generators. ``IDLE``: lanes that wait for the next playout.
#: ``ABSENT``: see ``gate_code.Presence``.
GO, RESTART, RUNNING, ACTIVE, ENDED, CUT, STUCK, RANDOM, IDLE, ABSENT = 1, 2, 3, 4, 5, 6, 7, 8, 12, 13
FIRST_FLUENT = 14


class SharedFunctions(dict[str, str]):
    """Definitions of functions that do not depend on the game, by name, in LLVM's text form.

    A game's module contains the definitions, or is linked with a separate module for each of them. A separate
    module is compiled once for all games.
    """

    def need(self, name: str, write: Callable[[str], str]) -> str:
        """Define a function by ``write(name)``, unless it is already defined; return the name."""
        if name not in self:
            self[name] = write(name)
        return name

    @property
    def text(self) -> str:
        """All definitions, for a module that contains them."""
        return re.sub("define (internal )?", "define internal ", "".join(self.values()))

    @property
    def declarations(self) -> str:
        """Declarations, for a module that is linked with the definitions."""
        return "".join(map(_declaration, self.values()))

    def modules(self, target: Target) -> list[str]:
        """Return a module for each function, with declarations of the functions that it calls."""
        modules = []
        for name, text in self.items():
            called = [self[other] for other in self if other != name and f"@{other}(" in text]
            modules.append("".join([target.preamble, *map(_declaration, called), text]))
        return modules


def _declaration(definition: str) -> str:
    begin = definition.index("define ") + len("define ")
    return f"declare {definition[begin : definition.index(')', begin) + 1]}\n"
