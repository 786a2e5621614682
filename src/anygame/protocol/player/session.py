"""A session: a player and the game it plays, asked by commands, telling events; plain data both ways.

The rules are computed in one thread and the player thinks in another, so that a player that hangs keeps
nobody from knowing a legal move. Nothing here knows clocks of messages or sockets; whoever leads the session
(see `anygame.protocol.player.match`) waits no longer than it likes. It may lead it in the same process, or
from another one (see `anygame.protocol.player.hosts`).

Commands are lists, the first item says what is to be done; times are of `time.time`:

- ``start``, role, rules, start clock, play clock, think by
- ``play``, turn, message, answered, think by, guess by, clock: the message as text; ``answered`` is what was
  answered to the turn before
- ``best``, turn: tell the best move so far
- ``stop``, message, answered
- ``abort``
- ``preview``, rules, clock, think by

Events likewise:

- ``loaded``: the rules can be played; ``ready``: the player can, too; ``failed``, reason: one of them cannot
- ``legal``, turn, move, again: some legal move, and whether the moves told could be made once more
- ``best``, turn, move: the best move so far, None for none
- ``move``, turn, move, fault: what the player chose, or another move where it failed; None for none
- ``left``: the match is over, and the session free for another
- ``previewed``, fault
"""

from __future__ import annotations

from dataclasses import replace
from queue import SimpleQueue
from random import Random
from threading import Event, Thread
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final

from anygame.game.game import Game
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_program, parse_term
from anygame.language.source import Source
from anygame.language.terms import Term
from anygame.match.judging import spaced
from anygame.players.clock import Clock
from anygame.players.player import goals_of
from anygame.protocol.letter_case import OriginalNames, match_ignoring_case
from anygame.protocol.messages import PlayII, StopII, parse_message
from anygame.protocol.player.settings import SHORTEST_CLOCK
from anygame.protocol.player.state_tracking import LostTrackError, StateTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.players.player import Player
    from anygame.protocol.messages import Message
    from anygame.protocol.player.settings import PlayerSettings

__all__ = ["Session"]

#: Sheets of the field have at most half a megabyte.
READING: Final = ReadingLimits(bytes=4 * 2**20, tokens=1_000_000)
#: Seconds for finding a state that fits the last percepts, when only the goals are still to be told.
_LAST_GUESS: Final = 5.0
_LONGEST_FAULT: Final = 1000


class _MatchClock(Clock):
    """A clock that is also up when its match has ended."""

    __slots__ = ("_ended",)
    _ended: Event

    def __init__(self, seconds: float, deadline: float, ended: Event) -> None:
        super().__init__(seconds, deadline)
        object.__setattr__(self, "_ended", ended)

    @property
    def is_up(self) -> bool:
        """Whether the answer is due, or nobody waits for it any more."""
        return self._ended.is_set() or monotonic() >= self.deadline

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0."""
        return 0.0 if self._ended.is_set() else max(0.0, self.deadline - monotonic())


class _CallThread:
    """A thread that makes calls, one after the other; one that hangs does not keep the process alive."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, call: Callable[[], None] | None) -> None:
        """Have a call made after those before it; None ends the thread."""
        self._calls.put(call)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            del call


class Session:
    """A player that plays one match after the other.

    Args:
        make: makes the player when it is first needed.
        settings: see `PlayerSettings`.
        tell: is called with events, from any thread.
    """

    def __init__(
        self, make: Callable[[], Player], settings: PlayerSettings, tell: Callable[[list[Any]], None]
    ) -> None:
        self._make = make
        self._settings = settings
        self._tell = tell
        self._player: Player | None = None
        self._rules = _CallThread("rules")
        self._thinking = _CallThread("thinking")
        self._match: _Match | None = None

    @property
    def is_alive(self) -> bool:
        """Whether a thread of it is still at work."""
        return self._rules.is_alive or self._thinking.is_alive

    def close(self) -> None:
        """End the threads, as soon as they do."""
        self._end()
        self._rules.put(None)
        self._thinking.put(None)

    def handle(self, command: Sequence[Any]) -> None:
        """Begin to do what is asked; returns at once."""
        kind, *given = command
        match kind:
            case "start":
                role, rules, start_clock, play_clock, think_by = given
                found = self._match = _Match(self._settings)
                clock = self._clock(found, start_clock, think_by)
                longest = max(start_clock, play_clock)
                self._rules.put(lambda: self._load(found, role, rules, longest, clock))
            case "play":
                self._play(*given)
            case "best":
                self._tell_best(*given)
            case "stop":
                self._stop(*given)
            case "abort":
                ended = self._end()
                self._rules.put(lambda: self._thinking.put(lambda: self._leave(ended)))
            case "preview":
                rules, seconds, think_by = given
                clock = Clock(seconds, _monotonic(think_by))
                self._thinking.put(lambda: self._preview(rules, clock))

    # -- the player ----------------------------------------------------------------------------------

    def _made(self) -> Player:
        if self._player is None:
            self._player = self._make()
        return self._player

    def _clock(self, match: _Match, seconds: float, think_by: float) -> Clock:
        return _MatchClock(seconds, _monotonic(think_by), match.ended)

    # -- START ---------------------------------------------------------------------------------------

    def _load(self, match: _Match, role: str, rules: str, longest: float, clock: Clock) -> None:
        if match.ended.is_set():
            return
        try:
            match.load(role, rules, longest)
        except BaseException as error:
            self._tell(["failed", _told(error)])
            return
        self._tell(["loaded"])
        self._thinking.put(lambda: self._get_ready(match, clock))

    def _get_ready(self, match: _Match, clock: Clock) -> None:
        if match.ended.is_set():
            return
        try:
            self._made().start(match.game, match.role, clock)
        except BaseException as error:  # whatever a player raises is its own business
            self._tell(["failed", _told(error)])
        else:
            self._tell(["ready"])

    # -- PLAY ----------------------------------------------------------------------------------------

    def _play(
        self, turn: int, text: str, answered: str | None, think_by: float, guess_by: float, seconds: float
    ) -> None:
        match = self._match
        if match is None:
            return
        clock = self._clock(match, seconds, think_by)

        def go_on() -> None:
            if match.ended.is_set():
                return
            try:
                state, legal, again = match.go_on(parse_message(text), answered, _monotonic(guess_by))
            except BaseException as error:
                self._tell(["move", turn, None, _told(error)])
                return
            match.turn, match.thinking_of, match.legal = turn, None, legal
            if not legal:
                self._tell(["move", turn, None, ""])
                return
            self._tell(["legal", turn, match.told(match.random.choice(legal)), again])
            self._thinking.put(lambda: self._think(match, turn, state, legal, clock))

        self._rules.put(go_on)

    def _think(self, match: _Match, turn: int, state: State, legal: tuple[Term, ...], clock: Clock) -> None:
        if match.ended.is_set() or match.turn != turn:
            return
        move: object = None
        fault = ""
        try:
            player = self._made()
            player.best = None
            match.thinking_of = turn
            move = player.move(state, clock)
        except BaseException as error:  # whatever a player raises is its own business
            fault = f"the player failed: {_told(error)}"
        found = _legal(move, legal)
        if move is not None and found is None:
            fault = f"the player chose what is not legal: {move}"[:_LONGEST_FAULT]
        if found is None:
            found = _legal(self._player.best if self._player else None, legal)
        if found is None:
            found = match.random.choice(legal)
        self._tell(["move", turn, match.told(found), fault])

    def _tell_best(self, turn: int) -> None:
        match, player = self._match, self._player
        best = None
        if match is not None and player is not None and match.thinking_of == turn:
            found = _legal(player.best, match.legal)
            best = None if found is None else match.told(found)
        self._tell(["best", turn, best])

    # -- STOP and ABORT ------------------------------------------------------------------------------

    def _end(self) -> _Match | None:
        """Let whoever thinks stop thinking; return the match that has ended."""
        match, self._match = self._match, None
        if match is not None:
            match.ended.set()
        return match

    def _stop(self, text: str, answered: str | None) -> None:
        match = self._end()

        def tell_goals() -> None:
            try:
                assert match is not None
                state, _, _ = match.go_on(parse_message(text), answered, monotonic() + _LAST_GUESS)
                goals = goals_of(state)
            except BaseException:
                self._thinking.put(lambda: self._leave(match))
            else:
                self._thinking.put(lambda: self._leave(match, goals))

        self._rules.put(tell_goals)

    def _leave(self, match: _Match | None, goals: dict[Role, int | None] | None = None) -> None:
        """Tell the player the end, in its thread; without goals, that there was no result."""
        try:
            if match is not None and self._player is not None:
                self._player.abort() if goals is None else self._player.stop(goals)
        except BaseException:  # it is not asked again
            self._player = None
        self._tell(["left"])

    # -- PREVIEW -------------------------------------------------------------------------------------

    def _preview(self, rules: str, clock: Clock) -> None:
        fault = ""
        try:
            self._made().preview(_game(rules, self._settings, clock.seconds), clock)
        except BaseException as error:
            fault = _told(error)
        self._tell(["previewed", fault])


class _Match:
    """The rules of one match, and what is known of its state.

    Attributes:
        ended: set when nobody waits for answers any more.
        turn: the last one whose state is known.
        thinking_of: the turn for which the player's best move is meant.
        legal: what the player may do in it.
    """

    game: Game
    role: Role
    _names: OriginalNames

    def __init__(self, settings: PlayerSettings) -> None:
        self.ended = Event()
        self.random = Random()
        self.turn = 0
        self.thinking_of: int | None = None
        self.legal: tuple[Term, ...] = ()
        self._settings = settings
        self._tracker: StateTracker | None = None
        self._percepts_told = 0

    def load(self, role: str, rules: str, longest: float) -> None:
        """Load the rules; ``longest`` is the longer clock, after which nobody waits for an answer."""
        self._names = OriginalNames(rules)
        self.game = game = _game(rules, self._settings, longest)
        term = parse_term(role)
        found = match_ignoring_case(term, [each.term for each in game.roles])
        self.role = game.roles[game.role_index(found or term)]
        self._tracker = StateTracker(game, self.role, self.random)

    def told(self, move: Term) -> str:
        """Return a move as text, with the names that START had."""
        return self._names.restore(spaced(move))

    def go_on(
        self, message: Message, answered: str | None, guess_by: float
    ) -> tuple[State, tuple[Term, ...], bool]:
        """Bring the state up to what a PLAY or STOP tells.

        Returns:
            the state; what the player may do; whether the moves told could be made once more.
        """
        tracker = self._tracker
        if tracker is None:
            raise LostTrackError("the rules could not be used")
        again = False
        if isinstance(message, PlayII | StopII):
            if message.turn == 0:
                tracker.restart()
            elif message.turn == self._percepts_told + 1:
                tracker.perceive(message.move, message.percepts, guess_by)
            else:
                raise LostTrackError(f"turn {message.turn} was told after turn {self._percepts_told}")
            self._percepts_told = message.turn
        else:
            moves: tuple[Term, ...] | None = getattr(message, "moves", None)
            if moves is None or not (moves or tracker.game.is_gdl2):
                tracker.restart()
            else:
                self._advance(tracker, moves, answered, guess_by)
                again = tracker.joint_of(moves) is not None
        return tracker.state, tracker.state.legal_moves(tracker.role), again

    def _advance(
        self, tracker: StateTracker, moves: tuple[Term, ...], answered: str | None, guess_by: float
    ) -> None:
        """Go on by the list of a short message: moves, or in old GDL-II the percepts."""
        is_blind = self._settings.gdl2 and tracker.game.is_gdl2
        joint = None if is_blind else tracker.joint_of(moves)
        if joint is not None:
            tracker.advance(joint)
        elif tracker.game.is_gdl2:
            # Its own move the player is not told: it must take it that what it answered was done.
            tracker.perceive(None if answered is None else parse_term(answered), moves, guess_by)
        else:
            raise LostTrackError(f"these moves are not legal here: {' '.join(map(str, moves))}"[:500])


def _game(rules: str, settings: PlayerSettings, seconds: float) -> Game:
    """Load the rules of a START or PREVIEW message.

    Args:
        rules: the sheet.
        settings: with the limits of the reasoner.
        seconds: after which nobody waits for the answer to a question any more.

    Raises:
        AnygameError: they cannot be used.
    """
    limits = settings.limits
    if limits is not None:
        limits = replace(limits, seconds=min(limits.seconds, max(seconds, SHORTEST_CLOCK)))
    program = parse_program(Source("<START>", rules), case_sensitive=settings.case_sensitive, limits=READING)
    return Game(program, case_sensitive=settings.case_sensitive, limits=limits)


def _monotonic(moment: float) -> float:
    """Return a moment of `time.time` as `time.monotonic` counts: processes share only the former."""
    return monotonic() + moment - time()


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_FAULT]


def _legal(move: object, legal: tuple[Term, ...]) -> Term | None:
    if isinstance(move, Term):
        return match_ignoring_case(move, legal)
    return next((each for each in legal if str(each) == move), None)
