"""The messages of the GGP protocol and the replies of players, as values.

`parse_message` accepts any case and any spacing; `format_message` writes messages like the reference manager.
For an invalid message, `parse_message` returns `Unreadable`, which keeps the keyword of the message.

>>> parse_message("(play m.1 nil)")
Play(match_id='m.1', moves=None)
>>> print(format_message(parse_message("(stop m.1 ((mark 1) noop))")))
( STOP m.1 (( mark 1 ) noop ) )
>>> parse_message("(PLAY m.1)").reason
'PLAY takes 2 fields, or 4 in GDL-II, found 1'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.errors import TermSyntaxError
from anygame.language.diagnostics import shown
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_term
from anygame.language.terms import Compound
from anygame.match.judging import spaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anygame.language.terms import Term


#: Reply to ABORT.
ABORTED: Final = "aborted"
#: Status of a player that can start a match.
AVAILABLE: Final = "available"
#: Status of a player in a match, and reply to messages of other matches.
BUSY: Final = "busy"
#: Reply to STOP.
DONE: Final = "done"
#: Reply to PLAY if the player has no move, and reply to an unknown message.
NIL: Final = "nil"
#: Reply to START when the match can begin.
READY: Final = "ready"

#: Keywords of messages that contain rules, and can therefore be long.
WITH_RULES: Final = ("START", "PREVIEW")
#: Maximum number of characters of a message without rules, enough for thousands of moves or percepts.
LONGEST_USUAL: Final = 65_536

_LEXEME: Final = re.compile(r"[()]|[^\s()]+")
_PAIR: Final = re.compile(r"\(\s*(name|status|species)\s+([^\s()]+)\s*\)", re.IGNORECASE)
_WORDS: Final = {AVAILABLE: AVAILABLE, READY: AVAILABLE, BUSY: BUSY, NIL: BUSY}
_LONGEST_INFO: Final = 4096
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.+-]+")
_LONGEST_ID: Final = 256
_LONGEST_CLOCK: Final = 10**7
_BEGIN: Final = re.compile(r"(?:[\s(]|;[^\r\n]*[\r\n])*([A-Za-z]{1,10})(?![^\s();])\s*([^\s();]{1,256})?")
_LONGEST_BEGIN: Final = 4096
_NUMBER: Final = re.compile(r"\d{1,9}(\.\d{1,6})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Info:
    """Ask for the name and status of the player. An empty message has the same meaning."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Ask whether the player answers. Managers can add a token."""

    token: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """Start a match. Both clocks are in seconds."""

    match_id: str
    role: Term
    #: Rule sheet, as one list of rules and facts.
    rules: str
    start_clock: float
    play_clock: float


@dataclass(frozen=True, slots=True)
class _Moves:
    match_id: str
    moves: tuple[Term, ...] | None


class Play(_Moves):
    """Make a move. ``moves`` is the last joint move, in the order of the roles; None in the first turn.

    Old GDL-II managers send percepts instead of moves.
    """

    __slots__ = ()


class Stop(_Moves):
    """End a match. ``moves`` is the last joint move."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Turn:
    match_id: str
    turn: int
    move: Term | None
    percepts: tuple[Term, ...]


class PlayII(_Turn):
    """Make a move, in GDL-II.

    ``turn`` is the number of the turn, from 0. ``move`` and ``percepts`` are the player's move and percepts
    in the last turn; in the first turn, ``move`` is None.
    """

    __slots__ = ()


class StopII(_Turn):
    """End a match, in GDL-II; see `PlayII`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Abort:
    """End a match without a result."""

    match_id: str


@dataclass(frozen=True, slots=True)
class Preview:
    """Study the rules of a later match for the given number of seconds."""

    rules: str
    clock: float


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An invalid message. ``keyword`` is in upper case, or empty if unknown; ``reason`` names the error."""

    keyword: str
    reason: str


Message = Info | Ping | Start | Play | Stop | PlayII | StopII | Abort | Preview | Unreadable


def parse_message(text: str) -> Message:
    """Parse a message. Never raises."""
    keyword, _ = peek_message(text)
    if len(text) > LONGEST_USUAL and keyword not in WITH_RULES:
        reason = f"a message without rules has at most {LONGEST_USUAL:,} characters, found {len(text):,}"
        return Unreadable(keyword, reason)
    try:
        parts = split(text)
    except TermSyntaxError as error:
        return Unreadable(keyword, f"the message cannot be read: {error}")
    if not parts:
        # An empty message means INFO. An empty list is invalid.
        return Info() if not text.strip() else Unreadable("", "the message is an empty list")
    keyword, fields = parts[0].upper(), parts[1:]
    parse = _PARSERS.get(keyword)
    if parse is None:
        return Unreadable("", f"no message starts with {shown(parts[0])}")
    try:
        return parse(fields)
    except ValueError as error:
        return Unreadable(keyword, str(error))


def peek_message(begin: str) -> tuple[str, str]:
    """Return the keyword and the match id at the start of a message; a missing part is an empty string.

    >>> peek_message("(start m.1 white ((role white) "), peek_message("(who are you)")
    (('START', 'm.1'), ('', 'are'))
    """
    words = _BEGIN.match(begin[:_LONGEST_BEGIN])
    keyword, match_id = (words[1].upper(), words[2] or "") if words else ("", "")
    return keyword if keyword in _PARSERS else "", match_id


def keyword_of(message: Message) -> str:
    """Return the keyword of a message; ``?`` without a keyword."""
    if isinstance(message, Unreadable):
        return message.keyword or "?"
    return type(message).__name__.removesuffix("II").upper()


def _start(fields: list[str]) -> Start:
    if len(fields) < 5:
        raise ValueError(
            f"START takes 5 fields (match, role, rules, start clock, play clock), found {len(fields)}"
        )
    match_id, role, rules, start_clock, play_clock = fields[:5]
    return Start(_id(match_id), read_term(role), _rules(rules), _clock(start_clock), _clock(play_clock))


def _preview(fields: list[str]) -> Preview:
    if not fields:
        raise ValueError("PREVIEW takes 2 fields (rules, clock), found 0")
    return Preview(_rules(fields[0]), _clock(fields[1]) if len(fields) > 1 else 0.0)


def _abort(fields: list[str]) -> Abort:
    if not fields:
        raise ValueError("ABORT takes 1 field (match), found 0")
    return Abort(_id(fields[0]))


def _moves(keyword: str, fields: list[str]) -> tuple[str, tuple[Term, ...] | None]:
    if len(fields) != 2:
        raise ValueError(f"{keyword} takes 2 fields, or 4 in GDL-II, found {len(fields)}")
    match_id, moves = fields
    return _id(match_id), read_list(moves) if is_list(moves) else None


def _turn(fields: list[str]) -> tuple[str, int, Term | None, tuple[Term, ...]]:
    match_id, turn, move, percepts = fields[:4]
    if not (turn.isascii() and turn.isdigit() and len(turn) < 10):
        raise ValueError(f"expected the number of the turn, found {shown(turn)}")
    return (
        _id(match_id),
        int(turn),
        None if move.upper() == "NIL" else read_term(move),
        read_list(percepts) if is_list(percepts) else (),
    )


def _id(text: str) -> str:
    if is_list(text):
        raise ValueError(f"expected a single word as the name of the match, found {shown(text)}")
    if len(text) > _LONGEST_ID:
        raise ValueError(f"the name of the match has more than {_LONGEST_ID} characters")
    return text


def _rules(text: str) -> str:
    if not is_list(text):
        raise ValueError(f"expected the rules in a list, found {shown(text)}")
    return text


def _clock(text: str) -> float:
    if not _NUMBER.fullmatch(text) or float(text) > _LONGEST_CLOCK:
        raise ValueError(f"expected a clock as a number of seconds, found {shown(text)}")
    return float(text)


_PARSERS: Final[dict[str, Callable[[list[str]], Message]]] = {
    "INFO": lambda _: Info(),
    "PING": lambda fields: Ping(fields[0] if fields else None),
    "START": _start,
    "PLAY": lambda fields: Play(*_moves("PLAY", fields)) if len(fields) < 4 else PlayII(*_turn(fields)),
    "STOP": lambda fields: Stop(*_moves("STOP", fields)) if len(fields) < 4 else StopII(*_turn(fields)),
    "ABORT": _abort,
    "PREVIEW": _preview,
}


def format_message(message: Message) -> str:
    """Return a message as a string with the spacing of the reference manager. Inverse of `parse_message`.

    Raises ValueError if the message is `Unreadable`.
    """
    match message:
        case Info():
            return "( INFO )"
        case Ping(token):
            return f"( PING {token} )" if token else "( PING )"
        case Start(match_id, role, rules, start_clock, play_clock):
            clocks = f"{start_clock:g} {play_clock:g}"
            return f"( START {match_id} {spaced(role)} {format_rules(rules)} {clocks})"
        case Preview(rules, clock):
            return f"( PREVIEW {format_rules(rules)} {clock:g} )"
        case Abort(match_id):
            return f"( ABORT {match_id} )"
        case Play() | Stop():
            moves = "NIL" if message.moves is None else _format_list(message.moves)
            return f"( {keyword_of(message)} {message.match_id} {moves} )"
        case PlayII(match_id, turn, move, percepts) | StopII(match_id, turn, move, percepts):
            spelled = "NIL" if move is None else spaced(move)
            seen = "NIL" if move is None and not percepts else _format_list(percepts)
            return f"( {keyword_of(message)} {match_id} {turn} {spelled} {seen} )"
        case Unreadable():
            raise ValueError(f"the message is invalid: {message.reason}")


def format_rules(rules: str) -> str:
    """Return a list of rules on one line, with the spacing of the reference manager."""
    return f"({spaced(rules.strip()[1:])}"


def _format_list(terms: Iterable[Term]) -> str:
    return f"({''.join(f'{spaced(term)} ' for term in terms)})"


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """Information about a player; a missing value is None.

    Attributes:
        name: name of the player, one word.
        status: usually ``available`` or ``busy``.
        species: ``human`` or ``alien``.
    """

    name: str | None
    status: str | None
    species: str | None = None


def parse_info(text: str) -> PlayerInfo:
    """Parse the reply to INFO: pairs in any order, or a single word; other parts are ignored.

    >>> parse_info("( ( name Alice ) ( status available ) )")
    PlayerInfo(name='Alice', status='available', species=None)
    >>> parse_info("( ( status busy ) junk (").status, parse_info("available").status
    ('busy', 'available')
    """
    text = text[:_LONGEST_INFO]
    words = _LEXEME.findall(text)
    if words and words[0] not in "()":
        return PlayerInfo(None, _WORDS.get(words[0].lower()))
    values: dict[str, str] = {}
    for key, value in _PAIR.findall(text):
        values.setdefault(key.lower(), value)
    status = values.get("status")
    return PlayerInfo(values.get("name"), status.lower() if status else None, values.get("species"))


def format_info(info: PlayerInfo) -> str:
    """Return the reply to INFO.

    >>> format_info(PlayerInfo("Alice", "busy", None))
    '( ( name Alice ) ( status busy ) )'
    """
    pairs = [("name", info.name), ("status", info.status), ("species", info.species)]
    return f"( {' '.join(f'( {key} {value} )' for key, value in pairs if value is not None)} )"


def player_name(text: str) -> str:
    """Return a name as one word of ASCII letters, digits and ``_ . + -``, for the reply to INFO.

    >>> player_name("My player (v 2)")
    'My_player_v_2'
    """
    return _NOT_IN_NAMES.sub("_", text).strip("_")[:60] or "anygame"


_PARENTHESIS: Final = re.compile(r"[()]")
_COMMENT: Final = re.compile(r";[^\r\n]*")
#: Maximum number of lists in a message, enough for a sheet of a million tokens. Parsing takes half a second.
_MOST_LISTS: Final = 400_000
#: Maximum number of comments in a message.
_MOST_COMMENTS: Final = 100_000
#: Maximum number of parts of a list; no game has as many roles or percepts.
_MOST_PARTS: Final = 10_000
#: Limits of a term. No game derives deeper terms, and deeper terms could not be copied.
_TERM: Final = ReadingLimits(depth=150, tokens=40_000, arity=_MOST_PARTS)


def split(text: str) -> list[str]:
    """Return the parts of a list. If the string is not one list, return its atoms and lists.

    Raises TermSyntaxError if parentheses do not match, or if there are too many parts. Parts are not parsed,
    so that an invalid message of any length takes little time.

    >>> split("( PLAY m.1 (( mark 1 ) noop ) )")
    ['PLAY', 'm.1', '(( mark 1 ) noop )']
    >>> str(read_term("( mark  ( at 1 01 ) )"))
    '(mark (at 1 01))'
    """
    if max(text.count("("), text.count(")")) > _MOST_LISTS or text.count(";") > _MOST_COMMENTS:
        raise TermSyntaxError(f"more than {_MOST_LISTS:,} lists or {_MOST_COMMENTS:,} comments", text[:200])
    parts = _parts(text)
    return _parts(parts[0][1:-1]) if len(parts) == 1 and is_list(parts[0]) else parts


def _parts(text: str) -> list[str]:
    """Return the atoms and lists of a string. Raises the errors of `split`."""
    blank = _COMMENT.sub(lambda comment: " " * len(comment[0]), text) if ";" in text else text
    parts: list[str] = []
    end = start = depth = 0
    for match in _PARENTHESIS.finditer(blank):
        if match[0] == "(":
            if not depth:
                parts += blank[end : match.start()].split(None, _MOST_PARTS + 1)
                start = match.start()
            depth += 1
            continue
        depth -= 1
        if depth < 0:
            raise TermSyntaxError("a closing parenthesis has no opening one", text[:200], match.start())
        if not depth:
            parts.append(text[start : match.end()])
            end = match.end()
        if len(parts) > _MOST_PARTS:
            break
    else:
        if depth:
            raise TermSyntaxError("an opening parenthesis is never closed", text[:200], start)
        parts += blank[end:].split(None, _MOST_PARTS + 1)
    if len(parts) > _MOST_PARTS:
        raise TermSyntaxError(f"more than {_MOST_PARTS:,} parts", text[:200])
    return parts


def is_list(text: str) -> bool:
    """Return whether a part is a list. Other parts are atoms."""
    return text.startswith("(")


def read_term(text: str) -> Term:
    """Parse one term with any spacing. Raises TermSyntaxError for invalid and for too large terms."""
    try:
        return parse_term(text, limits=_TERM)
    except TermSyntaxError as error:
        # The log shows only one line of an error message.
        raise TermSyntaxError(str(error).partition("\n")[0], text[:200], error.position) from None


def read_list(text: str) -> tuple[Term, ...]:
    """Parse the terms of a list. Raises TermSyntaxError."""
    if not is_list(text):
        raise TermSyntaxError(f"expected a list, found {shown(text)}", text[:200])
    # All terms are parsed at once, as the arguments of a compound term.
    term = read_term(f"(list {text[1:]}")
    return term.arguments if isinstance(term, Compound) else ()
