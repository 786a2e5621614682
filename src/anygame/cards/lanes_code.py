"""The code of simultaneous games on a graphics card; the caller chooses the moves.

The code reads the row numbers of a game's values from tables, so it has the same size for all games.
``%answers`` has the bit literals of the end, the legal actions, the facts and the stuck lanes. A bit literal
is twice the number of a row, plus 1 if the row is inverted. ``%firsts`` has the number of the first action of
each role, and the number of all actions. ``%bits`` has the literals of the goals and ``%values`` their
values, role after role. ``%ends`` has the index of each role's first goal, and the number of all goals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cards.code import COLLECTIVES, entry
from anygame.native.code import make_ptx
from anygame.network.kernels.function import (
    ACTIVE,
    FIRST_FLUENT,
    GO,
    IDLE,
    ONES,
    RESTART,
    STUCK,
    ZERO,
    FunctionBuilder,
)
from anygame.network.kernels.target import WARP

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from anygame.network.kernels.kernel import Kernel

#: For each function that the driver starts: the parameters after the parameters that ``code.entry`` adds.
ENTRIES: Final = {
    "look": (
        *("ptr %answers", "i64 %count", "ptr %firsts", "i64 %roles", "ptr %told", "i64 %lanes"),
        *("ptr %ends", "ptr %bits", "ptr %values", "ptr %goals"),
    ),
    "check": (*("ptr %answers", "ptr %firsts", "i64 %roles", "ptr %choices", "ptr %wrong"),),
    "move": ("ptr %firsts", "i64 %roles", "ptr %choices"),
    "choose_moves": ("ptr %firsts", "i64 %roles", "ptr %chosen", "i64 %lanes"),
    "put_back": ("ptr %mask", "i64 %stride", "ptr %start", "i64 %fluents"),
}
#: The bits of a float32 that is not a number.
_NAN: Final = 0x7FC00000
#: Constants that expand 8 bits to 8 bytes. Multiplication by ``_COPIES`` copies the 8 bits to each byte.
#: ``_PLACES`` masks a different bit in each byte. The addition of ``_CARRY`` carries that bit to the top bit.
_COPIES, _PLACES, _CARRY = 0x0101010101010101, 0x8040201008040201, 0x7F7F7F7F7F7F7F7F


def warp_lanes_code(kernel: Kernel) -> tuple[str, NDArray[np.int32]]:
    """Return the code of a game's lanes as PTX, and the data that the code reads."""
    code, data = kernel.written_for(WARP)
    actions = kernel.layout.actions
    parts = [code, _look(), _check(), _move(actions), _choose_moves(actions), _put_back()]
    parts += [entry(f"{name}_of_lanes", name, parameters) for name, parameters in ENTRIES.items()]
    return make_ptx("".join([*parts, COLLECTIVES])), data


def _function(name: str) -> FunctionBuilder:
    return FunctionBuilder(name, WARP, parameters=[*ENTRIES[name], "i64 %first"])


def _number(code: FunctionBuilder, table: str, index: str) -> str:
    place = code.let(f"getelementptr inbounds i32, ptr {table}, i64 {index}")
    return code.let(f"sext i32 {code.let(f'load i32, ptr {place}')} to i64")


def _after(code: FunctionBuilder, number: str) -> str:
    return code.let(f"add i64 {number}, 1")


def _word(code: FunctionBuilder, table: str, index: str) -> str:
    """Return the thread's word of the bit literal at an index of a table."""
    literal = _number(code, table, index)
    row = code.word(code.row_at("%rows", code.let(f"lshr i64 {literal}, 1")))
    inverted = code.let(f"and i64 {literal}, 1")
    return code.let(f"xor i64 {row}, {code.let(f'sub i64 0, {inverted}')}")


def _each_role(code: FunctionBuilder) -> Iterator[tuple[str, str, str]]:
    """Write a loop over the roles; yield the role's number, its first action and its number of actions."""
    for role in code.repeat("%roles"):
        first = _number(code, "%firsts", role)
        yield role, first, code.let(f"sub i64 {_number(code, '%firsts', _after(code, role))}, {first}")


def _own_word(code: FunctionBuilder, row: int) -> str:
    return code.word(code.address(row))


def _at(code: FunctionBuilder, base: str, *offsets: str) -> str:
    for offset in offsets:
        base = code.let(f"getelementptr inbounds i8, ptr {base}, i64 {offset}")
    return base


def _look() -> str:
    """Write a function that evaluates all states, and stores answers as bytes and goals as floats, by lane.

    The function sets row ACTIVE to the lanes that can move, and row STUCK to the stuck lanes.
    """
    code = _function("look")
    code.line("call void @evaluate_state(ptr %rows, ptr %data)")
    able = code.word_variable(-1)
    for _, first, count in _each_role(code):
        some = code.word_variable(0)
        code.set_word(some, 0)
        for index in code.repeat(count):
            action = code.let(f"add i64 {first}, {_after(code, index)}")
            code.set_word(some, code.let(f"or i64 {code.word(some)}, {_word(code, '%answers', action)}"))
        code.set_word(able, code.let(f"and i64 {code.word(able)}, {code.word(some)}"))
    going = code.let(f"xor i64 {_word(code, '%answers', '0')}, -1")
    used = code.let(f"and i64 {_own_word(code, IDLE)}, {going}")
    code.set_word(code.address(ACTIVE), code.let(f"and i64 {used}, {code.word(able)}"))
    unable = code.let(f"xor i64 {code.word(able)}, -1")
    code.set_word(code.address(STUCK), code.let(f"and i64 {used}, {unable}"))
    for index in code.repeat("%count"):
        word = _word(code, "%answers", index)
        place = _at(code, "%told", code.let(f"mul i64 {index}, %lanes"), "%first")
        for byte in range(8):
            bits = code.let(f"and i64 {code.let(f'lshr i64 {word}, {8 * byte}')}, 255")
            apart = code.let(f"and i64 {code.let(f'mul i64 {bits}, {_COPIES}')}, {_PLACES - (1 << 64)}")
            high = code.let(f"lshr i64 {code.let(f'add i64 {apart}, {_CARRY}')}, 7")
            code.set_word(place, code.let(f"and i64 {high}, {_COPIES}"), byte)
    _tell_goals(code)
    return code.text()


def _tell_goals(code: FunctionBuilder) -> None:
    """Write code that stores the goals; a role without a goal or with several goals gets not-a-number."""
    for role in code.repeat("%roles"):
        seen, twice = code.word_variable(0), code.word_variable(0)
        for variable in (seen, twice):
            code.set_word(variable, 0)
        line = _at(code, "%goals", code.let(f"shl i64 {code.let(f'mul i64 {role}, %lanes')}, 2"))
        own = _at(code, line, code.let("shl i64 %first, 2"))
        begin, end = _number(code, "%ends", role), _number(code, "%ends", _after(code, role))
        for index in code.repeat(code.let(f"sub i64 {end}, {begin}")):
            place = code.let(f"add i64 {begin}, {index}")
            word = _word(code, "%bits", place)
            again = code.let(f"and i64 {code.word(seen)}, {word}")
            code.set_word(twice, code.let(f"or i64 {code.word(twice)}, {again}"))
            code.set_word(seen, code.let(f"or i64 {code.word(seen)}, {word}"))
            value = code.let(f"trunc i64 {_number(code, '%values', place)} to i32")
            for bit in code.set_bits(word):
                code.line(f"store i32 {value}, ptr {_at(code, own, code.let(f'shl i64 {bit}, 2'))}")
        unseen = code.let(f"xor i64 {code.word(seen)}, -1")
        for bit in code.set_bits(code.let(f"or i64 {unseen}, {code.word(twice)}")):
            code.line(f"store i32 {_NAN}, ptr {_at(code, own, code.let(f'shl i64 {bit}, 2'))}")


def _choice(code: FunctionBuilder, role: str, bit: str) -> str:
    """Return the number of the action that the caller chose for a role in a lane, as an unsigned number.

    ``%choices`` has three words for each role: the address of its choices, their stride in bytes, and a mask
    for the upper half of a choice. The mask is -1 for choices of 8 bytes, and 0 for choices of 4 bytes.
    """
    lane = code.let(f"add i64 %first, {bit}")
    line = code.offset("%choices", code.let(f"mul i64 {role}, 3"))
    base = code.let(f"inttoptr i64 {code.word(line)} to ptr")
    place = _at(code, base, code.let(f"mul i64 {lane}, {code.word(line, 1)}"))
    wide = code.word(line, 2)
    upper = code.let(f"load i32, ptr {_at(code, place, code.let(f'and i64 {wide}, 4'))}")
    upper = code.let(f"and i64 {code.let(f'zext i32 {upper} to i64')}, {wide}")
    lower = code.let(f"zext i32 {code.let(f'load i32, ptr {place}')} to i64")
    return code.let(f"or i64 {lower}, {code.let(f'shl i64 {upper}, 32')}")


def _check() -> str:
    """Write a function that finds the first active lane with an illegal action, and the role of this action.

    ``%wrong`` becomes the minimum of its value and ``lane * 65536 + role`` of each illegal action.
    """
    code = _function("check")
    for role, first, count in _each_role(code):
        for bit in code.set_bits(_own_word(code, ACTIVE)):
            choice = _choice(code, role, bit)
            is_one = code.let(f"icmp ult i64 {choice}, {count}")
            known = code.let(f"select i1 {is_one}, i64 {choice}, i64 0")
            action = code.let(f"add i64 {first}, {_after(code, known)}")
            word = code.let(f"lshr i64 {_word(code, '%answers', action)}, {bit}")
            is_legal = code.let(f"and i1 {is_one}, {code.let(f'trunc i64 {word} to i1')}")
            with code.when(code.let(f"xor i1 {is_legal}, true")):
                lane = code.let(f"shl i64 {code.let(f'add i64 %first, {bit}')}, 16")
                code.line(f"atomicrmw umin ptr %wrong, i64 {code.let(f'or i64 {lane}, {role}')} monotonic")
    return code.text()


def _move(actions: int) -> str:
    code = _function("move")
    does = code.address(actions)
    for index in code.repeat(_number(code, "%firsts", "%roles")):
        code.set_word(code.row_at(does, index), 0)
    for role, first, _ in _each_role(code):
        for bit in code.set_bits(_own_word(code, ACTIVE)):
            action = code.let(f"add i64 {first}, {_choice(code, role, bit)}")
            place = code.row_at(does, action)
            lane = code.let(f"shl i64 1, {bit}")
            code.set_word(place, code.let(f"or i64 {code.word(place)}, {lane}"))
    code.store(GO, code.load(ACTIVE))
    code.store(RESTART, ZERO)
    code.line("call void @evaluate_moves(ptr %rows, ptr %data)")
    return code.text()


def _choose_moves(actions: int) -> str:
    """Write a function that makes random moves in the lanes that can move.

    The function stores the moves, and -1 for other lanes. A round may fail to sample a move for a lane; then
    the lane moves in a later round.
    """
    code = _function("choose_moves")
    does = code.address(actions)
    pending = code.variable()
    code.write(pending, code.load(ACTIVE))
    for role, _, _ in _each_role(code):
        for bit in code.set_bits("-1"):
            code.line(f"store i32 -1, ptr {_chosen(code, role, bit)}")
    again, round_begins, over = (code.new_label() for _ in range(3))
    code.jump(again)
    code.label(again)
    code.branch(code.any_lane(code.read(pending)), round_begins, over)
    code.label(round_begins)
    code.store(ACTIVE, code.read(pending))
    code.let("call i1 @choose(ptr %rows, ptr %data)")
    going = _own_word(code, GO)
    for role, first, count in _each_role(code):
        for index in code.repeat(count):
            taken = code.word(code.row_at(does, code.let(f"add i64 {first}, {index}")))
            short = code.let(f"trunc i64 {index} to i32")
            for bit in code.set_bits(code.let(f"and i64 {taken}, {going}")):
                code.line(f"store i32 {short}, ptr {_chosen(code, role, bit)}")
    code.store(RESTART, ZERO)
    code.line("call void @evaluate_moves(ptr %rows, ptr %data)")
    code.write(pending, code.and_(code.read(pending), code.not_(code.read(code.address(GO)))))
    code.line("call void @evaluate_state(ptr %rows, ptr %data)")
    code.jump(again)
    code.label(over)
    return code.text()


def _chosen(code: FunctionBuilder, role: str, bit: str) -> str:
    line = code.let(f"mul i64 {role}, %lanes")
    lane = code.let(f"add i64 {code.let(f'add i64 {line}, %first')}, {bit}")
    return code.let(f"getelementptr inbounds i32, ptr %chosen, i64 {lane}")


def _put_back() -> str:
    """Write a function that resets lanes.

    ``%mask`` has a byte for each lane, and ``%start`` has 0 or -1 for each fluent.
    """
    code = _function("put_back")
    lanes = code.word_variable(0)
    for bit in code.set_bits(_own_word(code, IDLE)):
        number = code.let(f"add i64 %first, {bit}")
        lane = _at(code, "%mask", code.let(f"mul i64 {number}, %stride"))
        is_one = code.let(f"icmp ne i8 {code.let(f'load i8, ptr {lane}')}, 0")
        here = code.let(f"shl i64 {code.let(f'zext i1 {is_one} to i64')}, {bit}")
        code.set_word(lanes, code.let(f"or i64 {code.word(lanes)}, {here}"))
    restarting = code.broadcast(code.word(lanes))
    kept = code.xor(restarting, ONES)
    fluents = code.address(FIRST_FLUENT)
    for fluent in code.repeat("%fluents"):
        place = code.row_at(fluents, fluent)
        initial = code.and_(restarting, code.broadcast(code.word("%start", fluent)))
        code.write(place, code.or_(code.and_(kept, code.read(place)), initial))
    return code.text()
