"""The page and the player as targets of `hostile_requests.py`: hostile requests, and an honest visitor."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

import anygame
from anygame.errors import TermSyntaxError
from anygame.language.parser import parse_term
from anygame.protocol.messages import Start, format_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Address = tuple[str, int]

#: Maximum wait in seconds of an honest visitor.
PATIENCE: Final = 300.0


@dataclass(frozen=True)
class Hostile:
    """A hostile request.

    Attributes:
        data: the bytes to send.
        is_held: whether the client then stays silent as long as the server allows.
        is_taken: whether the client reads the answer.
    """

    data: bytes
    is_held: bool = False
    is_taken: bool = True


@dataclass
class Visit:
    """The requests of an honest visitor, with the waiting times for answers.

    Attributes:
        address: the address of the server.
        seconds: the waiting times in seconds, by request.
        later: by request, the number of times that the server asked to retry later.
        wrong: descriptions of wrong answers.
    """

    address: Address
    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    later: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    cookie: str = ""

    def send(
        self, what: str, method: str, path: str, body: str | bytes | None = None, **headers: str
    ) -> tuple[HTTPResponse | None, str]:
        """Send a request and note how long the answer took; return the answer and its text."""
        connection = HTTPConnection(*self.address, timeout=PATIENCE)
        start = perf_counter()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer, answer.read().decode()
        except (OSError, HTTPException) as error:
            self.wrong.append(f"{what}: {type(error).__name__}: {error}")
            return None, ""
        finally:
            self.seconds[what].append(perf_counter() - start)
            connection.close()

    def ask(
        self, what: str, method: str, path: str, wanted: str, form: Mapping[str, str] | None = None
    ) -> str:
        """Ask a page for something; return the location to which the answer redirects.

        Args:
            what: the row of the table.
            method: of the request.
            path: its address.
            wanted: a part of the right answer, or the beginning of the right location.
            form: the form to send.
        """
        headers = {"Cookie": self.cookie} if self.cookie else {}
        headers |= {} if form is None else {"Content-Type": "application/x-www-form-urlencoded"}
        answer, text = self.send(what, method, path, None if form is None else urlencode(form), **headers)
        if answer is None:
            return ""
        self.cookie = self.cookie or (answer.headers["Set-Cookie"] or "").partition(";")[0]
        if answer.status == 503 and answer.headers["Retry-After"]:
            self.later[what] += 1
            return ""
        led = answer.headers["Location"] or ""
        if answer.status not in (200, 303) or not (led.startswith(wanted) if led else wanted in text):
            self.wrong.append(f"{what}: status {answer.status} without {wanted!r}: {text[-200:]!r}")
        return led


@dataclass(frozen=True)
class Target:
    """A server under attack.

    Attributes:
        command: arguments of ``anygame`` that start the server, which prints a JSON object with ``port``.
            ``{folder}`` stands for a temporary folder.
        attacks: returns, after a first visit, a function for each kind of hostile request.
        visit: one round of an honest visitor.
    """

    command: tuple[str, ...]
    attacks: Callable[[Visit], Mapping[str, Callable[[Random], Hostile]]]
    visit: Callable[[Visit], None]


# -- of both targets -------------------------------------------------------------------------------

#: Rules that search for a missing fact among 200 to the power of 8 combinations.
_SEARCHING: Final = (
    " ".join(f"(d {n})" for n in range(200))
    + " (<= found (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i) (sum ?a ?b ?c ?e ?f ?g ?h ?i))"
    " (sum 0 0 0 0 0 0 0 x)"
)
#: A sheet with infinitely many facts.
_GROWING: Final = "(role me) (n 0) (<= (n (s ?x)) (n ?x)) (<= (legal me ?x) (n ?x)) (<= terminal (true x))"


def _size(random: Random, least: int, most: int) -> int:
    """Return a random number of bytes between two powers of 2; its logarithm is uniformly distributed."""
    return int(2 ** random.uniform(least, most))


def _tiny_chunks(path: str, piece: bytes, random: Random) -> Hostile:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return Hostile(head + b"1\r\n%s\r\n" % piece * random.randint(1, 50_000))


def _half_a_head(head: bytes, random: Random) -> Hostile:
    return Hostile(head[: random.randint(0, len(head))], is_held=True)


def _random_bytes(random: Random) -> Hostile:
    return Hostile(random.randbytes(random.randint(1, 10_000)))


# -- the page ---------------------------------------------------------------------------------------

_END: Final = b"--b--\r\n"
#: Moves of a match; x wins with the first column.
_MOVES: Final = ("(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)", "(mark 1 3)")
_HONEST_SHEET: Final = (
    "(role me) (legal me 1) (<= terminal (true over)) (<= (next over) (does me 1)) (goal me 100)"
)


def _visit_page(visit: Visit) -> None:
    """Visit the main pages, play a match to its end, and upload a sheet."""
    visit.ask("the list of games", "GET", "/", "tic_tac_toe")
    visit.ask("the page of a sheet", "GET", "/sheet/tic_tac_toe", "Who plays")
    visit.ask("the editor", "GET", "/write", "Write rules")
    match = visit.ask("a new match", "GET", "/play/tic_tac_toe", "/match/")
    if match:
        for step, move in enumerate(_MOVES):
            form = {"role": "xo"[step % 2], "move": move, "step": str(step)}
            visit.ask("a move", "POST", f"{match}/move", match, form)
            wanted = "Over. x wins: x 100, o 0." if step == 4 else f"{'ox'[step % 2]} to move."
            visit.ask("the match", "GET", match, wanted)
        visit.ask("an earlier state", "GET", f"{match}/2", "State 2 of 5.")
        visit.ask(
            "why a move was legal", "GET", f"{match}/0/why?role=x&move={quote(_MOVES[0])}&part=1", "holds"
        )
    sheet = visit.ask("an upload", "POST", "/sheets", "/sheet/u-", {"text": _HONEST_SHEET})
    if sheet:
        visit.ask("the page of an upload", "GET", sheet, "Who plays")
    visit.ask(
        "what is wrong in a sheet",
        "POST",
        "/check?part=1",
        "1 legal move at the start",
        {"text": _HONEST_SHEET},
    )


def _request(
    method: str, path: str, body: bytes = b"", kind: str = "application/x-www-form-urlencoded", **headers: str
) -> Hostile:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if method == "POST":
        lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return Hostile("\r\n".join([*lines, "", ""]).encode() + body)


def _form(path: str, body: bytes, **headers: str) -> Hostile:
    return _request("POST", path, body, **headers)


def _multipart(body: bytes, path: str = "/check") -> Hostile:
    return _request("POST", path, body, "multipart/form-data; boundary=b")


def _filled(piece: bytes, random: Random) -> bytes:
    """Repeat a piece up to a random size; the maximum is the maximum size of a form."""
    return piece * (_size(random, 10, 21) // len(piece))


def _part(name: str, value: bytes) -> bytes:
    return f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value + b"\r\n"


def _nested(random: Random) -> Hostile:
    depth = random.randint(2, 3_000)
    levels = [f"--b{n}\r\nContent-Type: multipart/mixed; boundary=b{n + 1}\r\n\r\n" for n in range(depth)]
    return _request("POST", "/check", "".join(levels).encode(), "multipart/form-data; boundary=b0")


def _bad_number(random: Random, match: str) -> Hostile:
    number = random.choice(["²", "nan", "1e999", "-1", "1" * 5_000, "٣", "0x10", "1_0", "NaN", "inf"])
    path = random.choice(
        ["/play/tic_tac_toe?clock={}", match + "/{}", match + "/{}/why", match + "/{}/values?seconds={}",
         match + "/0/values?seconds={}", match + "/events?known={}"]
    )  # fmt: skip
    return _request("GET", path.replace("{}", quote(number)))


def _bad_move(random: Random, match: str, cookie: str) -> Hostile:
    step = random.choice(["²", "", "-1", "9" * 5_000, "nan", "1.5", "0", "7"])
    move = random.choice(["", "(mark 9 9)", "(mark " * 700, ")", "ö" * 3_000])
    form = {"role": random.choice(["x", "x", "nobody"]), "move": move, "step": step}
    return _form(f"{match}/move", urlencode(form).encode(), Cookie=cookie)


def _bad_cookie(random: Random) -> Hostile:
    cookie = random.choice(
        ['a="' + "\\" * 14_000, "anygame=" * 1_800, "a=b;" * 3_500, "anygame=" + "A" * 44, "=;=" * 99]
    )
    return _request("GET", random.choice(["/", "/sheet/nim"]), Cookie=cookie)


_ENDLESS: Final = f"(role me) (legal me 1) terminal (goal me 1) {_SEARCHING} (<= (goal me 2) found)"
#: A sheet with the maximum number of shown moves, each of the maximum length.
_WIDE: Final = (
    "(role me) "
    + " ".join(f"(d {'x' * 300}{n})" for n in range(100))
    + " (<= (legal me (go ?a ?b)) (d ?a) (d ?b)) (<= terminal (true x))"
)


def _hostile_sheet(random: Random) -> Hostile:
    text = random.choice(
        [_ENDLESS, _GROWING, _WIDE, "(" * 100_000, "; a\n" * 200_000, "(role " + "x" * 10**6 + ")"]
    )
    return _form("/check?part=1", urlencode({"text": text}).encode())


def _hostile_record(random: Random) -> Hostile:
    deep = '{"a":' * 100_000
    clocks = '{"matchId": "m", "startClock": NaN, "playClock": 1e999, '
    empty = f'{clocks}"states": [""], "moves": [], "stateTimes": [0]}}'
    moves = f'{clocks}"states": [], "moves": [{",".join(["[]"] * 100_000)}], "stateTimes": []}}'
    text = random.choice([deep, empty, moves, '{"a": ' + "1" * 100_000 + "}", "{" * 500_000])
    return _form("/sheets", urlencode({"text": text}).encode())


def _large_head(random: Random) -> Hostile:
    lines = random.choice(
        ["a: b\r\n" * 2_500, f"a: {'b' * 15_000}\r\n", f"a: {'b' * 10**6}\r\n", "a:" * 8_000 + "\r\n"]
    )
    return Hostile(f"GET / HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())


def _half_a_form(random: Random) -> Hostile:
    whole = _form("/check", b"text=" + b"x" * random.randint(10, 10_000)).data
    return Hostile(whole[:-5], is_held=True)


def _too_long(random: Random) -> Hostile:
    length = random.choice([2 * 2**20 + 1, 2**40, 2**70])
    return Hostile(b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % length)


def _wrong_method(random: Random) -> Hostile:
    method = random.choice(
        ["PUT", "DELETE", "TRACE", "OPTIONS", "PATCH", "CONNECT", "HEAD", "X" * 5_000, "GET/"]
    )
    return _request(method, random.choice(["/", "/check", "/sheets", "/static/match.js", "*", "//"]))


def _attacks_on_page(visit: Visit) -> dict[str, Callable[[Random], Hostile]]:
    """Return the functions that make hostile requests, after starting a match for the hostile client."""
    match = visit.ask("a new match", "GET", "/play/tic_tac_toe", "/match/")
    return {
        "parts without names": lambda random: _multipart(_filled(b"--b\r\n\r\n\r\n", random)),
        "very many parts": lambda random: _multipart(_filled(_part("a", b""), random)),
        "almost boundaries": lambda random: _multipart(_part("text", _filled(b"\r\n--bX", random)) + _END),
        "nested parts": _nested,
        "very many fields": lambda random: _form("/check", _filled(b"a=b&", random)),
        "percent signs": lambda random: _form("/sheets", b"text=" + _filled(b"%", random) + b"%ff"),
        "forms beyond the bound": _too_long,
        "tiny chunks": lambda random: _tiny_chunks("/check", b"x", random),
        "half a form": _half_a_form,
        "large heads": _large_head,
        "bad numbers": lambda random: _bad_number(random, match),
        "bad moves and steps": lambda random: _bad_move(random, match, visit.cookie),
        "bad cookies": _bad_cookie,
        "hostile sheets": _hostile_sheet,
        "hostile records": _hostile_record,
        "wrong methods": _wrong_method,
        "other hosts": lambda _: Hostile(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        # The client stays silent, since the server waits for the end of a line.
        "random bytes": lambda random: replace(_random_bytes(random), is_held=True),
    }


PAGE: Final = Target(("web", "--port", "0", "--folder", "{folder}", "--json"), _attacks_on_page, _visit_page)


# -- the player -------------------------------------------------------------------------------------

#: Start clock and play clock in seconds of the honest manager.
_START_CLOCK, _PLAY_CLOCK = 60.0, 20.0
#: The id of the honest match, which hostile clients do not know.
_MATCH: Final = "honest.5d1f0c"
_GAME: Final = anygame.load("tic_tac_toe", machine="reasoner")
_SHEET: Final = (Path(__file__).parents[1] / "gdl" / "tic_tac_toe.kif").read_text(encoding="utf-8")
_RULES: Final = f"({re.sub(';.*', '', _SHEET)})"
#: Clocks of hostile matches, short so that the matches end soon.
_CLOCKS: Final = "1 1"
_HEAD_TO_PLAYER: Final = b"POST / HTTP/1.0\r\nContent-Type: text/acl\r\nContent-Length: 10\r\n"


def _say(visit: Visit, what: str, message: str) -> str:
    """Send a message to the player; return the reply."""
    _, reply = visit.send(what, "POST", "/", message)
    if what == "PLAY" and (taken := visit.seconds[what][-1]) > _PLAY_CLOCK:
        visit.wrong.append(f"PLAY: an answer after {taken:.1f} s")
    return reply


def _visit_player(visit: Visit) -> None:
    """Ask for the status, and play a match to its end."""
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


def _post(text: str | bytes, *lines: str) -> Hostile:
    body = text if isinstance(text, bytes) else text.encode()
    head = "\r\n".join(["POST / HTTP/1.0", f"Content-Length: {len(body)}", *lines])
    return Hostile(f"{head}\r\n\r\n".encode() + body)


def _id(random: Random) -> str:
    return f"hostile.{random.randrange(3)}"


_SHEETS: Final = (
    f"(role me) (legal me 1) (<= terminal found) (goal me 1) {_SEARCHING}",
    f"(role me) (<= (legal me 1) (not found)) (goal me 1) {_SEARCHING}",
    _GROWING,
    "(role me) (legal me go) (goal me 1) (<= terminal (true x))",
    "(role me)",
    "",
    "(<= ?x",
)


def _start(random: Random) -> Hostile:
    rules = random.choice(_SHEETS)
    return _post(f"(START {_id(random)} me ({rules}) {_CLOCKS})")


def _long_start(random: Random) -> Hostile:
    """Return START with a sheet of any size up to twice the maximum size of a message."""
    size = _size(random, 8, 23)
    piece = random.choice(["(", "(f a) ", ";\n", "a ", " ", "(f (g (h 1 2) (h 3 4))) ", "(<= a ", "ö"])
    return _post(f"(START {_id(random)} me ({piece * (size // len(piece))}) {_CLOCKS})")


def _preview(random: Random) -> Hostile:
    return _post(f"(PREVIEW ({random.choice(_SHEETS)}) 1)")


def _of_match(random: Random) -> Hostile:
    keyword = random.choice(["PLAY", "PLAY", "STOP", "ABORT"])
    moves = random.choice(["NIL", "(1)", "(go)", "(1 2 3)", "nil nil", "1 go (a b)", "(" * 200, "-1 x ()"])
    return _post(f"({keyword} {_id(random)} {moves})")


def _long_play(random: Random) -> Hostile:
    size = _size(random, 8, 17)
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


def _half_a_message(random: Random) -> Hostile:
    whole = _post(f"(PLAY {_id(random)} ({'a ' * random.randint(1, 10_000)}").data
    return Hostile(whole[:-1], is_held=True)


def _wrong_length(random: Random) -> Hostile:
    length = random.choice([0, 1, 10**6, 4 * 2**20 + 1, 2**70])
    return Hostile(b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n(PLAY m NIL)" % length, is_held=True)


def _attacks_on_player(_: Visit) -> dict[str, Callable[[Random], Hostile]]:
    return {
        "hostile matches": _start,
        "long sheets": _long_start,
        "previews": _preview,
        "messages of such matches": _of_match,
        "long lists of moves": _long_play,
        "odd clocks and roles": _odd_words,
        "large and odd heads": _head,
        "tiny chunks": lambda random: _tiny_chunks("/", b"(", random),
        "half a head": lambda random: _half_a_head(_HEAD_TO_PLAYER, random),
        "half a message": _half_a_message,
        "wrong lengths": _wrong_length,
        "answers not taken": lambda _: Hostile(_post("( INFO )").data, is_held=True, is_taken=False),
        "random bytes": _random_bytes,
    }


#: Three parallel matches, so that two matches with hostile rules can start beside the honest match.
PLAYER: Final = Target(
    ("player", "--port", "0", "--strategy", "random", "--parallel", "3", "--json"),
    _attacks_on_player,
    _visit_player,
)
