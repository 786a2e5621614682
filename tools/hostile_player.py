"""The player as a target of `hostile_requests.py`: what no manager sends, and a manager that plays on."""

from __future__ import annotations

import re
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

from tools.hostile_target import PATIENCE, Hostile, Target

import anygame
from anygame.errors import TermSyntaxError
from anygame.language.parser import parse_term
from anygame.protocol.messages import Start, format_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.hostile_target import Visit

#: Seconds of the honest manager's clocks: whoever waits longer is late.
_START_CLOCK, _PLAY_CLOCK = 60.0, 20.0
#: The honest match. Nobody else knows its name.
_MATCH: Final = "honest.5d1f0c"
_GAME: Final = anygame.load("tic_tac_toe", machine="reasoner")
_SHEET: Final = (Path(__file__).parents[1] / "gdl" / "tic_tac_toe.kif").read_text(encoding="utf-8")
_RULES: Final = f"({re.sub(';.*', '', _SHEET)})"
#: Hostile matches have short clocks: they are over soon.
_CLOCKS: Final = "1 1"


# -- the honest manager ------------------------------------------------------------------------------


def _say(visit: Visit, what: str, message: str) -> str:
    """Send a message; return the reply, noting how long it took."""
    connection = HTTPConnection(*visit.address, timeout=PATIENCE)
    start = perf_counter()
    try:
        connection.request("POST", "/", message.encode())
        return connection.getresponse().read().decode()
    except (OSError, HTTPException) as error:
        visit.wrong.append(f"{what}: {type(error).__name__}: {error}")
        return ""
    finally:
        taken = perf_counter() - start
        visit.seconds[what].append(taken)
        if what == "PLAY" and taken > _PLAY_CLOCK:
            visit.wrong.append(f"PLAY: an answer after {taken:.1f} s")
        connection.close()


def _visit(visit: Visit) -> None:
    """Ask who is there, and play a match to its end: it begins anew with the next visit."""
    reply = _say(visit, "INFO", "( INFO )")
    if "status" not in reply:
        visit.wrong.append(f"INFO: {reply!r}")
    role = _GAME.roles[0]
    start = Start(_MATCH, role.term, _RULES, _START_CLOCK, _PLAY_CLOCK)
    if (reply := _say(visit, "START", format_message(start))) != "ready":
        visit.wrong.append(f"START: {reply!r}")
        return
    random = Random(len(visit.seconds["PLAY"]))
    state, told = _GAME.initial_state(), "NIL"
    while not state.is_terminal:
        reply = _say(visit, "PLAY", f"( PLAY {_MATCH} {told} )")
        legal = state.legal_moves(role)
        try:
            move = parse_term(reply)
        except TermSyntaxError:
            move = parse_term("nil")
        if move not in legal:
            visit.wrong.append(f"PLAY: {reply!r} is not legal")
            move = legal[0]
        joint = [move if each == role else random.choice(state.legal_moves(each)) for each in _GAME.roles]
        state, told = state.next(joint), f"({' '.join(map(str, joint))})"


# -- hostile requests --------------------------------------------------------------------------------


def _post(text: str | bytes, *lines: str) -> Hostile:
    body = text if isinstance(text, bytes) else text.encode()
    head = "\r\n".join(["POST / HTTP/1.0", f"Content-Length: {len(body)}", *lines])
    return Hostile(f"{head}\r\n\r\n".encode() + body)


def _size(random: Random, most: int = 22) -> int:
    """Return a length up to a power of two, of any order of magnitude."""
    return int(2 ** random.uniform(8, most))


def _id(random: Random) -> str:
    return f"hostile.{random.randrange(3)}"


#: Looks for what is not there among 200 to the power of 8 combinations.
_SEARCHING: Final = (
    " ".join(f"(d {n})" for n in range(200))
    + " (<= found (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i) (sum ?a ?b ?c ?e ?f ?g ?h ?i))"
    " (sum 0 0 0 0 0 0 0 x)"
)
_SHEETS: Final = (
    f"(role me) (legal me 1) (<= terminal found) (goal me 1) {_SEARCHING}",
    f"(role me) (<= (legal me 1) (not found)) (goal me 1) {_SEARCHING}",
    "(role me) (n 0) (<= (n (s ?x)) (n ?x)) (<= (legal me ?x) (n ?x)) (<= terminal (true x))",
    "(role me) (legal me go) (goal me 1) (<= terminal (true x))",
    "(role me)",
    "",
    "(<= ?x",
)


def _start(random: Random) -> Hostile:
    rules = random.choice(_SHEETS)
    return _post(f"(START {_id(random)} me ({rules}) {_CLOCKS})")


def _long_start(random: Random) -> Hostile:
    """Return START with a sheet up to what a message may have, and beyond."""
    size = _size(random, 23)
    piece = random.choice(["(", "(f a) ", ";\n", "a ", " ", "(f (g (h 1 2) (h 3 4))) ", "(<= a ", "ö"])
    return _post(f"(START {_id(random)} me ({piece * (size // len(piece))}) {_CLOCKS})")


def _preview(random: Random) -> Hostile:
    return _post(f"(PREVIEW ({random.choice(_SHEETS)}) 1)")


def _of_match(random: Random) -> Hostile:
    keyword = random.choice(["PLAY", "PLAY", "STOP", "ABORT"])
    moves = random.choice(["NIL", "(1)", "(go)", "(1 2 3)", "nil nil", "1 go (a b)", "(" * 200, "-1 x ()"])
    return _post(f"({keyword} {_id(random)} {moves})")


def _long_play(random: Random) -> Hostile:
    size = _size(random, 17)
    piece = random.choice(["(", ")", "a ", "(f ", "(a) ", ";\n", "((a) " * 20 + ")" * 20, "|", "\x00", "²"])
    return _post(f"(PLAY {_id(random)} ({piece * (size // len(piece))}))")


def _odd_words(random: Random) -> Hostile:
    clock = random.choice(["nan", "1e999", "-1", "²", "9" * 5000, "٣", "0x10", "inf", "1_0"])
    role = random.choice(["me", "(" * 100 + ")" * 100, "?x", "x" * 70_000, "nobody"])
    return _post(f"(START {_id(random)} {role} ((role me)) {clock} {clock})")


def _head(random: Random) -> Hostile:
    head = random.choice(
        [
            b"GET / HTTP/1.0\r\nX:" + b" " * 15_000 + b"\x01",
            b"GET / HTTP/1.0\r\n" + b"a: b\r\n" * 2_500,
            b"GET /" + b"%" * 15_000 + b" HTTP/1.0",
            b"GET /" + b" HTTP/1.0 " * 1_600,
            b"X" * 20_000,
            b"POST / HTTP/1.0\r\nContent-Length: " + b"9" * 5_000,
            b"POST / HTTP/1.0\r\nContent-Length: -1\r\nContent-Length: 7",
            b"TRACE / HTTP/1.1",
            b"\r\n" * 10_000,
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + random.randbytes(500),
        ]
    )
    return Hostile(head + b"\r\n\r\n")


def _chunked(random: Random) -> Hostile:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Hostile(head + b"1\r\n(\r\n" * random.randint(1, 50_000))


def _half_a_head(random: Random) -> Hostile:
    head = b"POST / HTTP/1.0\r\nContent-Type: text/acl\r\nContent-Length: 10\r\n"
    return Hostile(head[: random.randint(0, len(head))], is_held=True)


def _half_a_message(random: Random) -> Hostile:
    whole = _post(f"(PLAY {_id(random)} ({'a ' * random.randint(1, 10_000)}").data
    return Hostile(whole[:-1], is_held=True)


def _wrong_length(random: Random) -> Hostile:
    length = random.choice([0, 1, 10**6, 4 * 2**20 + 1, 2**70])
    return Hostile(b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n(PLAY m NIL)" % length, is_held=True)


def _attacks(_: Visit) -> dict[str, Callable[[Random], Hostile]]:
    return {
        "hostile matches": _start,
        "long sheets": _long_start,
        "previews": _preview,
        "messages of such matches": _of_match,
        "long lists of moves": _long_play,
        "odd clocks and roles": _odd_words,
        "large and odd heads": _head,
        "tiny chunks": _chunked,
        "half a head": _half_a_head,
        "half a message": _half_a_message,
        "wrong lengths": _wrong_length,
        "answers not taken": lambda _: Hostile(_post("( INFO )").data, is_held=True, is_taken=False),
        "random bytes": lambda random: Hostile(random.randbytes(random.randint(1, 10_000))),
    }


#: Two matches beside the honest one, so that the rules of strangers get as far as they can.
PLAYER: Final = Target(
    ("player", "--port", "0", "--strategy", "random", "--parallel", "3", "--json"), _attacks, _visit
)
