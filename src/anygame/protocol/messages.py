"""The messages of the GGP protocol and what players answer, as values: `parse_message` and `format_message`.

Any case and any spacing are read; what is written has the form of the reference manager. A message that
cannot be read is a value too, `Unreadable`: the answer to it depends on what it seems to be.

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


#: A match was aborted, as asked.
ABORTED: Final = "aborted"
#: The player waits for a match.
AVAILABLE: Final = "available"
#: The player has another match, or none of that name.
BUSY: Final = "busy"
#: The match is over.
DONE: Final = "done"
#: There is nothing to say: no move, or a message that nobody knows.
NIL: Final = "nil"
#: The match can begin.
READY: Final = "ready"

#: Characters of a message that holds no rules: thousands of moves or percepts.
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
    """Who are you, and are you free? An empty message means the same."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Are you there? Some managers send a token of their own along."""

    token: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """A match begins.

    Attributes:
        match_id: its name.
        role: the role of the player.
        rules: the rule sheet as text: one list of rules and facts.
        start_clock: seconds to get ready.
        play_clock: seconds for each move.
    """

    match_id: str
    role: Term
    rules: str
    start_clock: float
    play_clock: float


@dataclass(frozen=True, slots=True)
class _Moves:
    match_id: str
    moves: tuple[Term, ...] | None


class Play(_Moves):
    """Make a move.

    Attributes:
        match_id: as in START.
        moves: those made last, in the order of the roles; None at the first turn. Of old GDL-II managers,
            which send messages of this form, the percepts.
    """

    __slots__ = ()


class Stop(_Moves):
    """The match is over; ``moves`` are the last ones."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Turn:
    match_id: str
    turn: int
    move: Term | None
    percepts: tuple[Term, ...]


class PlayII(_Turn):
    """Make a move, in GDL-II.

    Attributes:
        match_id: as in START.
        turn: 0 at first, then one more with every message.
        move: what was done for the player in the turn before; None at the first turn.
        percepts: what the player sees of that turn.
    """

    __slots__ = ()


class StopII(_Turn):
    """The match is over, in GDL-II; see `PlayII`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Abort:
    """The match ends here, without a result."""

    match_id: str


@dataclass(frozen=True, slots=True)
class Preview:
    """Rules that will be played later, and seconds to study them."""

    rules: str
    clock: float


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What is no message.

    Attributes:
        keyword: the first word in upper case, if it is one of a message, else empty.
        reason: what is wrong, for people.
    """

    keyword: str
    reason: str


Message = Info | Ping | Start | Play | Stop | PlayII | StopII | Abort | Preview | Unreadable


def parse_message(text: str) -> Message:
    """Read a message; never raises."""
    keyword, _ = peek_message(text)
    if len(text) > LONGEST_USUAL and keyword not in ("START", "PREVIEW"):
        reason = f"a message of {len(text):,} characters; only those with rules may have as many"
        return Unreadable(keyword, reason)
    try:
        parts = split(text)
    except TermSyntaxError as error:
        return Unreadable(keyword, f"the message cannot be read: {error}")
    if not parts:
        # An empty message is how some managers ask who is there; an empty list says nothing.
        return Info() if not text.strip() else Unreadable("", "the message is an empty list")
    keyword, fields = parts[0].upper(), parts[1:]
    parse = _PARSERS.get(keyword)
    if parse is None:
        return Unreadable("", f"no message starts with {shown(parts[0])}")
    try:
        return parse(fields)
    except (TermSyntaxError, _FieldError) as error:
        return Unreadable(keyword, str(error))


class _FieldError(Exception):
    """A field is missing or is not what it should be."""


def peek_message(begin: str) -> tuple[str, str]:
    """Return what the first two words of a text say: the keyword of a message, and what may be its match.

    >>> peek_message("(start m.1 white ((role white) "), peek_message("(who are you)")
    (('START', 'm.1'), ('', 'are'))
    """
    found = _BEGIN.match(begin[:_LONGEST_BEGIN])
    keyword, match_id = (found[1].upper(), found[2] or "") if found else ("", "")
    return keyword if keyword in _PARSERS else "", match_id


def keyword_of(message: Message) -> str:
    """Return the keyword of a message, ``?`` where it has none."""
    if isinstance(message, Unreadable):
        return message.keyword or "?"
    return type(message).__name__.removesuffix("II").upper()


def _start(fields: list[str]) -> Start:
    if len(fields) < 5:
        raise _FieldError(
            f"START takes 5 fields (match, role, rules, start clock, play clock), found {len(fields)}"
        )
    match_id, role, rules, start_clock, play_clock = fields[:5]
    return Start(_id(match_id), read_term(role), _rules(rules), _clock(start_clock), _clock(play_clock))


def _preview(fields: list[str]) -> Preview:
    if not fields:
        raise _FieldError("PREVIEW takes 2 fields (rules, clock), found 0")
    return Preview(_rules(fields[0]), _clock(fields[1]) if len(fields) > 1 else 0.0)


def _abort(fields: list[str]) -> Abort:
    if not fields:
        raise _FieldError("ABORT takes 1 field (match), found 0")
    return Abort(_id(fields[0]))


def _moves(keyword: str, fields: list[str]) -> tuple[str, tuple[Term, ...] | None]:
    if len(fields) != 2:
        raise _FieldError(f"{keyword} takes 2 fields, or 4 in GDL-II, found {len(fields)}")
    match_id, moves = fields
    return _id(match_id), read_list(moves) if is_list(moves) else None


def _turn(fields: list[str]) -> tuple[str, int, Term | None, tuple[Term, ...]]:
    match_id, turn, move, percepts = fields[:4]
    if not (turn.isascii() and turn.isdigit() and len(turn) < 10):
        raise _FieldError(f"expected the number of the turn, found {shown(turn)}")
    return (
        _id(match_id),
        int(turn),
        None if move.upper() == "NIL" else read_term(move),
        read_list(percepts) if is_list(percepts) else (),
    )


def _id(text: str) -> str:
    if is_list(text):
        raise _FieldError(f"the name of a match should be an atom, found {shown(text)}")
    if len(text) > _LONGEST_ID:
        raise _FieldError(f"the name of a match has more than {_LONGEST_ID} characters")
    return text


def _rules(text: str) -> str:
    if not is_list(text):
        raise _FieldError(f"expected the rules in a list, found {shown(text)}")
    return text


def _clock(text: str) -> float:
    if not _NUMBER.fullmatch(text) or float(text) > _LONGEST_CLOCK:
        raise _FieldError(f"a clock should be a number of seconds, found {shown(text)}")
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
    """Return a message as text, with the blanks of the reference manager; parsing it gives it again.

    Raises:
        ValueError: for what is no message.
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
        case PlayII() | StopII():
            return f"( {keyword_of(message)} {_format_turn(message)} )"
        case Unreadable():
            raise ValueError(f"no message: {message.reason}")


def format_rules(rules: str) -> str:
    """Return a list of rules on one line, its own parentheses as the reference manager sets them."""
    return f"({spaced(rules.strip()[1:])}"


def _format_list(terms: Iterable[Term]) -> str:
    return f"({''.join(f'{spaced(term)} ' for term in terms)})"


def _format_turn(message: PlayII | StopII) -> str:
    move = "NIL" if message.move is None else spaced(message.move)
    percepts = "NIL" if message.move is None and not message.percepts else _format_list(message.percepts)
    return f"{message.match_id} {message.turn} {move} {percepts}"


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """What a player says of itself; None for what it does not say.

    Attributes:
        name: one word.
        status: ``available`` or ``busy``, as a rule.
        species: what it is, ``human`` or ``alien``.
    """

    name: str | None
    status: str | None
    species: str | None = None


def parse_info(text: str) -> PlayerInfo:
    """Read the reply to INFO, as far as it can be read: pairs in any order, a single word, junk.

    Players describe themselves in many ways; a manager reads them all.

    >>> parse_info("( ( name Alice ) ( status available ) )")
    PlayerInfo(name='Alice', status='available', species=None)
    >>> parse_info("( ( status busy ) junk (").status, parse_info("available").status
    ('busy', 'available')
    """
    text = text[:_LONGEST_INFO]
    words = _LEXEME.findall(text)
    if words and words[0] not in "()":
        return PlayerInfo(None, _WORDS.get(words[0].lower()))
    found: dict[str, str] = {}
    for key, value in _PAIR.findall(text):
        found.setdefault(key.lower(), value)
    status = found.get("status")
    return PlayerInfo(found.get("name"), status.lower() if status else None, found.get("species"))


def format_info(info: PlayerInfo) -> str:
    """Return the reply to INFO.

    >>> format_info(PlayerInfo("Alice", "busy", None))
    '( ( name Alice ) ( status busy ) )'
    """
    pairs = [("name", info.name), ("status", info.status), ("species", info.species)]
    return f"( {' '.join(f'( {key} {value} )' for key, value in pairs if value is not None)} )"


def player_name(text: str) -> str:
    """Return a name as it can stand in a reply: one word of ASCII letters, digits and ``_ . + -``.

    >>> player_name("My player (v 2)")
    'My_player_v_2'
    """
    return _NOT_IN_NAMES.sub("_", text).strip("_")[:60] or "anygame"


_PARENTHESIS: Final = re.compile(r"[()]")
_COMMENT: Final = re.compile(r";[^\r\n]*")
#: Lists in a message: looked at within some tenths of a second. Sheets of a million tokens have fewer.
_MOST_LISTS: Final = 400_000
_MOST_COMMENTS: Final = 100_000
#: Parts of one list: no game has as many roles, nor makes as much to see at once.
_MOST_PARTS: Final = 10_000
#: Deeper terms are derived by no game, and cannot be copied.
_TERM: Final = ReadingLimits(depth=150, tokens=40_000, arity=_MOST_PARTS)


def split(text: str) -> list[str]:
    """Return the parts of a list as texts; of anything else, its atoms and lists one after the other.

    Only what a message says of itself is read here; the rules in it stay text, for `anygame.language.parser`.
    What is no message costs little, however long it is.

    >>> split("( PLAY m.1 (( mark 1 ) noop ) )")
    ['PLAY', 'm.1', '(( mark 1 ) noop )']
    >>> str(read_term("( mark  ( at 1 01 ) )"))
    '(mark (at 1 01))'

    Raises:
        TermSyntaxError: parentheses do not match, or there are too many parts.
    """
    if max(text.count("("), text.count(")")) > _MOST_LISTS or text.count(";") > _MOST_COMMENTS:
        raise TermSyntaxError(f"more than {_MOST_LISTS:,} lists or {_MOST_COMMENTS:,} comments", text[:200])
    outer, inner = _parts(text)
    parts = inner if len(outer) == 1 and is_list(outer[0]) else outer
    if len(parts) > _MOST_PARTS:
        raise TermSyntaxError(f"more than {_MOST_PARTS:,} parts", text[:200])
    return parts


def _parts(text: str) -> tuple[list[str], list[str]]:
    """Return the atoms and lists of a text in order, and those of the lists in it."""
    blank = _COMMENT.sub(lambda comment: " " * len(comment[0]), text) if ";" in text else text
    found: tuple[list[str], list[str]] = ([], [])
    #: Per depth where what has not been looked at begins, and where the list that is open does.
    rests, starts, depth = [0, 0], [0, 0], 0

    def add_atoms(level: int, end: int) -> None:
        if len(found[level]) <= _MOST_PARTS:
            found[level].extend(blank[rests[level] : end].split(None, _MOST_PARTS + 1))

    for match in _PARENTHESIS.finditer(blank):
        if match[0] == "(":
            if depth < 2:
                add_atoms(depth, match.start())
                starts[depth] = match.start()
            depth += 1
            if depth == 1:
                rests[1] = match.end()
            continue
        depth -= 1
        if depth < 0:
            raise TermSyntaxError("a closing parenthesis has no opening one", text[:200], match.start())
        if depth < 2:
            if depth == 0:
                add_atoms(1, match.start())
            found[depth].append(text[starts[depth] : match.end()])
            rests[depth] = match.end()
    if depth:
        raise TermSyntaxError("an opening parenthesis is never closed", text[:200], starts[0])
    add_atoms(0, len(text))
    return found


def is_list(text: str) -> bool:
    """Whether a part is a list, not an atom."""
    return text.startswith("(")


def read_term(text: str) -> Term:
    """Read one term, however it is spaced.

    Raises:
        TermSyntaxError: it is not one term, or a very large one.
    """
    try:
        return parse_term(text, limits=_TERM)
    except TermSyntaxError as error:
        # What is shown of a stranger's text is one line.
        raise TermSyntaxError(str(error).partition("\n")[0], text[:200], error.position) from None


def read_list(text: str) -> tuple[Term, ...]:
    """Read the terms of a list.

    Raises:
        TermSyntaxError: it is no list, or holds what is no term.
    """
    if not is_list(text):
        raise TermSyntaxError(f"expected a list, found {shown(text)}", text[:200])
    # All of them are read at once, as the arguments of one term.
    found = read_term(f"(list {text[1:]}")
    return found.arguments if isinstance(found, Compound) else ()
