"""The game of one match, seen by the player: the rules, and a state that agrees with the messages."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from threading import Event
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.game.loading import game_of
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_program, parse_term
from anygame.language.source import Source
from anygame.match.judging import match_ignoring_case, spaced
from anygame.match.state_tracking import LostTrackError, StateTracker
from anygame.protocol.messages import PlayII, Stop, StopII

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import RoleView, State
    from anygame.language.limits import Limits
    from anygame.language.terms import Term
    from anygame.protocol.messages import Message, Start

#: Maximum default margin in seconds. A network delays answers by milliseconds, a busy machine by a second.
_LONGEST_MARGIN: Final = 1.0
#: Maximum default margin, as a share of the clock.
_MARGIN_SHARE: Final = 0.2
#: An answer is due when this share of the margin remains before the end of the clock.
_ANSWER_AT: Final = 0.75
#: When this share of the margin remains, the server stops waiting for the best move so far.
_GIVE_UP_AT: Final = 0.5
#: Minimum number of seconds for an answer, for any clock, because finding a legal move takes time.
_SHORTEST_CLOCK: Final = 0.3
_TOKEN: Final = re.compile(r"[^\s();]+")
#: Limits of a rule sheet. Real sheets have at most 0.5 MB.
_READING: Final = ReadingLimits(bytes=4 * 2**20, tokens=1_000_000)


@dataclass(frozen=True, slots=True)
class PlayerSettings:
    """Settings of the player server.

    Attributes:
        gdl2: whether two-field messages in GDL-II games contain percepts rather than moves.
        case_sensitive: whether names that differ only by case are different names.
        limits: limits of the reasoner.
        margin: safety margin in seconds, subtracted from the player's clock; None for a fifth of the clock,
            at most a second. With three quarters of the margin left, the server stops waiting for a choice.
        patience: number of seconds without a message after which a match is abandoned; None for the sum of
            the start clock, 10 play clocks and 10 s.
    """

    gdl2: bool = False
    case_sensitive: bool = True
    limits: Limits | None = None
    margin: float | None = None
    patience: float | None = None

    def margin_of(self, clock: float) -> float:
        """Return the safety margin of a clock, in seconds."""
        default = min(_LONGEST_MARGIN, _MARGIN_SHARE * clock)
        return default if self.margin is None else min(self.margin, clock)

    def think_by(self, arrived: float, clock: float) -> float:
        """Return the time by which the player must choose, as a value of `time.monotonic`."""
        return arrived + clock - self.margin_of(clock)

    def answer_by(self, arrived: float, clock: float) -> float:
        """Return the time at which an answer is due, as a value of `time.monotonic`."""
        return arrived + max(_SHORTEST_CLOCK, clock - _ANSWER_AT * self.margin_of(clock))

    def grace_of(self, clock: float) -> float:
        """Return the number of seconds after `answer_by` to wait for the best move so far."""
        return max(0.05, (_ANSWER_AT - _GIVE_UP_AT) * self.margin_of(clock))

    def patience_with(self, start: Start) -> float:
        """Return the number of seconds without a message after which a match is abandoned."""
        return start.start_clock + 10 * start.play_clock + 10 if self.patience is None else self.patience


class OriginalNames:
    """The spelling of names in START. Games from case-insensitive sheets have only lower-case names.

    >>> OriginalNames("(ROLE X) (LEGAL X (Mark 1))").restore("(mark 1)")
    '(Mark 1)'
    """

    def __init__(self, rules: str) -> None:
        tokens = dict.fromkeys(_TOKEN.findall(rules))
        self._exact = frozenset(tokens)
        self._names: dict[str, str] = {}
        for token in tokens:
            self._names.setdefault(token.lower(), token)

    def restore(self, text: str) -> str:
        """Return the string of a term, with each name spelled as at its first occurrence in the sheet."""

        def restored(token: re.Match[str]) -> str:
            name = token[0]
            return name if name in self._exact else self._names.get(name.lower(), name)

        return _TOKEN.sub(restored, text)


class Position(NamedTuple):
    """The position in which a player is to move."""

    #: State of the match, or any state that agrees with the messages.
    state: State
    #: Legal moves of the player.
    legal: tuple[Term, ...]
    #: Observations of the player in a game with hidden information; None in other games.
    view: RoleView | None
    #: Whether the last joint move is still legal.
    is_repeatable: bool


class PlayedGame:
    """The rules of one match, and a state that agrees with the messages."""

    game: Game
    role: Role
    _names: OriginalNames

    def __init__(self, settings: PlayerSettings) -> None:
        #: Set when answers are no longer needed.
        self.ended = Event()
        self.random = Random()
        #: Last turn with a known state.
        self.turn = 0
        #: Turn to which the best move of the player belongs; None before the player starts thinking.
        self.thinking_of: int | None = None
        #: Legal moves of the player in the last turn.
        self.legal: tuple[Term, ...] = ()
        self._settings = settings
        self._tracker: StateTracker | None = None
        self._percept_turn = 0

    def load(self, role_text: str, rules: str, longest: float) -> None:
        """Load the rules. ``longest`` is the longer clock in seconds, which limits the reasoner."""
        self._names = OriginalNames(rules)
        self.game = game = load_rules(rules, self._settings, longest)
        term = parse_term(role_text)
        matching = match_ignoring_case(term, [role.term for role in game.roles])
        self.role = game.roles[game.role_index(matching or term)]
        self._tracker = StateTracker(game, self.role, self.random)

    @property
    def is_lost(self) -> bool:
        """Whether the legal moves are a guess, because no state was found that agrees with the messages."""
        return self._tracker is not None and self._tracker.is_lost

    def spelled(self, move: Term) -> str:
        """Return a move as a string, with the spelling of names in START."""
        return self._names.restore(spaced(move))

    def advance(self, message: Message, answered: str | None, guess_by: float) -> Position:
        """Advance the state by a PLAY or STOP message."""
        tracker = self._tracker
        if tracker is None:
            raise LostTrackError("the rules could not be used")
        again = False
        if isinstance(message, PlayII | StopII):
            if message.turn == 0:
                tracker.restart()
            elif message.turn == self._percept_turn + 1:
                self._perceive(message, message.move, message.percepts, guess_by)
            else:
                raise LostTrackError(f"expected turn {self._percept_turn + 1}, found turn {message.turn}")
            self._percept_turn = message.turn
        else:
            moves: tuple[Term, ...] | None = getattr(message, "moves", None)
            if moves is None or not (moves or tracker.game.is_gdl2):
                tracker.restart()
            else:
                self._advance_by_list(message, moves, answered, guess_by)
                again = tracker.joint_of(moves) is not None
        view = tracker.view if self.game.is_gdl2 else None
        return Position(tracker.state, tracker.state.legal_moves(tracker.role), view, again)

    def _advance_by_list(
        self, message: Message, moves: tuple[Term, ...], answered: str | None, guess_by: float
    ) -> None:
        """Advance by the list of a two-field message: moves, or percepts from an old GDL-II manager."""
        tracker = self._tracker
        assert tracker is not None
        is_blind = self._settings.gdl2 and tracker.game.is_gdl2
        joint = None if is_blind else tracker.joint_of(moves)
        if joint is not None:
            tracker.advance(joint)
        elif tracker.game.is_gdl2:
            # The message does not contain the player's own move, which was probably its last answer.
            self._perceive(message, None if answered is None else parse_term(answered), moves, guess_by)
        else:
            raise LostTrackError(f"these moves are not legal here: {' '.join(map(str, moves))}"[:500])

    def _perceive(
        self, message: Message, move: Term | None, percepts: tuple[Term, ...], guess_by: float
    ) -> None:
        """Advance by percepts; if no state agrees with them, keep the former states."""
        assert self._tracker is not None
        with suppress(LostTrackError):
            self._tracker.perceive(move, percepts, guess_by, is_over=isinstance(message, Stop | StopII))


def load_rules(rules: str, settings: PlayerSettings, seconds: float) -> Game:
    """Load the rules of START or PREVIEW; each query takes at most ``seconds``. Raises AnygameError."""
    limits = settings.limits
    if limits is not None:
        limits = replace(limits, seconds=min(limits.seconds, max(seconds, _SHORTEST_CLOCK)))
    is_sensitive = settings.case_sensitive
    source = Source("<START>", rules)
    program = parse_program(source, case_sensitive=is_sensitive, limits=_READING, open_facts=True)
    return game_of(program, case_sensitive=is_sensitive, lenient=True, limits=limits)
