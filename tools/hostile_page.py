"""The page of ``anygame web`` as `hostile_requests.py` attacks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from tools.hostile_target import Hostile, Target, Visit

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_END: Final = b"--b--\r\n"
#: Who has the first column wins.
_MOVES: Final = ("(mark 1 1)", "(mark 2 2)", "(mark 1 2)", "(mark 3 3)", "(mark 1 3)")
_HONEST_SHEET: Final = (
    "(role me) (legal me 1) (<= terminal (true over)) (<= (next over) (does me 1)) (goal me 100)"
)


def _visit_page(visit: Visit) -> None:
    """Look at everything, play a match to its end, and write a sheet."""
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


def _size(random: Random) -> int:
    """Return a number of bytes up to what a form may have, of any order of magnitude."""
    return int(2 ** random.uniform(10, 21))


def _filled(piece: bytes, random: Random) -> bytes:
    return piece * (_size(random) // len(piece))


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


#: Looks for what is not there among 200 to the power of 8 combinations.
_ENDLESS: Final = (
    "(role me) (legal me 1) terminal (goal me 1) "
    + " ".join(f"(d {n})" for n in range(200))
    + " (<= found (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i) (sum ?a ?b ?c ?e ?f ?g ?h ?i))"
    " (sum 0 0 0 0 0 0 0 x) (<= (goal me 2) found)"
)
#: Has more and more facts.
_GROWING: Final = "(role me) (n 0) (<= (n (s ?x)) (n ?x)) (<= (legal me ?x) (n ?x)) (<= terminal (true x))"
#: Has as many moves as may be shown, each as long as may be shown.
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


def _chunked(random: Random) -> Hostile:
    head = b"POST /check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Hostile(head + b"1\r\nx\r\n" * random.randint(1, 50_000))


def _large_head(random: Random) -> Hostile:
    lines = random.choice(
        ["a: b\r\n" * 2_500, f"a: {'b' * 15_000}\r\n", f"a: {'b' * 10**6}\r\n", "a:" * 8_000]
    )
    return Hostile(f"GET / HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n".encode())


def _half_a_head(random: Random) -> Hostile:
    head = b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
    return Hostile(head[: random.randint(0, len(head))], is_held=True)


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


def _attacks(visit: Visit) -> dict[str, Callable[[Random], Hostile]]:
    """Return what makes the hostile requests, of somebody who has a match too."""
    match = visit.ask("a new match", "GET", "/play/tic_tac_toe", "/match/")
    return {
        "parts without names": lambda random: _multipart(_filled(b"--b\r\n\r\n\r\n", random)),
        "very many parts": lambda random: _multipart(_filled(_part("a", b""), random)),
        "almost boundaries": lambda random: _multipart(_part("text", _filled(b"\r\n--bX", random)) + _END),
        "nested parts": _nested,
        "very many fields": lambda random: _form("/check", _filled(b"a=b&", random)),
        "percent signs": lambda random: _form("/sheets", b"text=" + _filled(b"%", random) + b"%ff"),
        "forms beyond the bound": _too_long,
        "tiny chunks": _chunked,
        "half a head": _half_a_head,
        "half a form": _half_a_form,
        "answers not taken": lambda _: Hostile(_request("GET", "/write").data * 300, True, is_taken=False),
        "large heads": _large_head,
        "bad numbers": lambda random: _bad_number(random, match),
        "bad moves and steps": lambda random: _bad_move(random, match, visit.cookie),
        "bad cookies": _bad_cookie,
        "hostile sheets": _hostile_sheet,
        "hostile records": _hostile_record,
        "wrong methods": _wrong_method,
        "other hosts": lambda _: Hostile(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        "random bytes": lambda random: Hostile(random.randbytes(random.randint(1, 10_000))),
    }


PAGE: Final = Target(("web", "--port", "0", "--folder", "{folder}", "--json"), _attacks, _visit_page)
