"""A session: a player and the game it plays, asked by commands, reporting events; plain data both ways.

The rules are computed in one thread and the player thinks in another, so that a player that hangs keeps
nobody from knowing a legal move. Nothing here knows clocks of messages or sockets; whoever leads the session
(see `anygame.protocol.player.match`) waits no longer than it likes. It may lead it in the same process, or
from another one (see `anygame.protocol.player.hosts`).

Commands are lists, the first item says what is to be done; times are of `time.time`:

- ``start``, role, rules, start clock, play clock, think by
- ``play``, turn, message, answered, think by, clock: the message as text; ``answered`` is what was answered
  to the turn before
- ``replay``, turns: for each that another session was asked for, message and ``answered`` as in ``play``
- ``best``, turn: report the best move so far
- ``stop``, message, answered
- ``abort``
- ``preview``, rules, clock, think by

Events likewise:

- ``begun``: there is a session, in another process
- ``loaded``: the rules can be played; ``ready``: the player can, too; ``failed``, reason: one of them cannot
- ``legal``, turn, move, again: some legal move, and whether the moves sent could be made once more
- ``best``, turn, move: the best move so far, None for none
- ``move``, turn, move, fault: what the player chose, or another move where it failed; None for none
- ``left``: the match is over, and the session free for another
- ``previewed``, fault
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final

from anygame.language.terms import Term
from anygame.match.judging import match_ignoring_case
from anygame.match.local import CallThread
from anygame.match.state_tracking import share_of_guessing
from anygame.players.clock import Clock
from anygame.players.failures import Failures, own_traceback
from anygame.players.loading import make_player, player_class, split_options
from anygame.processes.inside import encode_message, listen, set_up
from anygame.protocol.messages import parse_message
from anygame.protocol.player.played_game import PlayedGame, load_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.game.roles import Role
    from anygame.players.player import Player
    from anygame.protocol.player.played_game import PlayerSettings, Position

#: The first event of a session in another process.
BEGUN: Final = ["begun"]
#: The names of its threads.
THREADS: Final = ("rules", "thinking")

#: Seconds for finding a state that fits the last percepts, when only the goals are still to be passed on.
_LAST_GUESS: Final = 5.0
_LONGEST_FAULT: Final = 1000


class _MatchClock(Clock):
    """A clock that is also up when its match has ended."""

    __slots__ = ("_ended",)
    _ended: threading.Event

    def __init__(self, seconds: float, deadline: float, ended: threading.Event) -> None:
        super().__init__(seconds, deadline)
        object.__setattr__(self, "_ended", ended)

    @property
    def is_up(self) -> bool:
        """Whether the answer is due, or nobody waits for it any more."""
        return self._ended.is_set() or monotonic() >= self.deadline

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0."""
        return 0.0 if self._ended.is_set() else max(0.0, self.deadline - monotonic())


class Session:
    """A player that plays one match after the other.

    Args:
        make: makes the player when it is first needed.
        write: is called with events, from any thread.
    """

    def __init__(
        self, make: Callable[[], Player], settings: PlayerSettings, write: Callable[[list[Any]], None]
    ) -> None:
        self._make = make
        self._settings = settings
        self._write = write
        self._player: Player | None = None
        self._failures = Failures()
        self._rules, self._thinking = map(CallThread, THREADS)
        self._match: PlayedGame | None = None

    @property
    def is_alive(self) -> bool:
        """Whether a thread of it is still at work."""
        return self._rules.is_alive or self._thinking.is_alive

    def close(self) -> None:
        """End the threads, as soon as they do."""
        self._end()
        self._rules.close()
        self._thinking.close()

    def handle(self, command: Sequence[Any]) -> None:
        """Begin to do what is asked; returns at once."""
        kind, *given = command
        match kind:
            case "start":
                role, rules, start_clock, play_clock, think_by = given
                found = self._match = PlayedGame(self._settings)
                clock = self._clock(found, start_clock, think_by)
                longest = max(start_clock, play_clock)
                self._rules.put(lambda: self._load(found, role, rules, longest, clock))
            case "play":
                self._play(*given)
            case "replay":
                self._replay(*given)
            case "best":
                self._report_best(*given)
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

    def prepare(self, kind: Callable[[], type[Player]]) -> None:
        """Let players of a class get ready for any game at all; matches may begin meanwhile."""

        def get_ready() -> None:
            # What is wrong with the player shows when it is made for a match.
            with suppress(BaseException):
                found = kind()
                if found.plays_unprepared:
                    threading.Thread(
                        target=_quietly, args=(found.prepare,), name="preparing", daemon=True
                    ).start()
                else:
                    found.prepare()

        self._thinking.put(get_ready)

    def _made(self) -> Player:
        if self._player is None:
            self._player = self._make()
        return self._player

    def _clock(self, match: PlayedGame, seconds: float, think_by: float) -> Clock:
        return _MatchClock(seconds, _monotonic(think_by), match.ended)

    def _report(self, error: BaseException) -> None:
        """Print what the player raised for whoever writes it; managers are sent the message alone."""
        with suppress(BaseException):  # its name may be what fails, too
            if self._player is not None:
                self._failures.report(self._player.name, own_traceback(error))

    # -- START ---------------------------------------------------------------------------------------

    def _load(self, match: PlayedGame, role: str, rules: str, longest: float, clock: Clock) -> None:
        if match.ended.is_set():
            return
        try:
            match.load(role, rules, longest)
        except BaseException as error:
            self._write(["failed", _described(error)])
            return
        self._write(["loaded"])
        self._thinking.put(lambda: self._get_ready(match, clock))

    def _get_ready(self, match: PlayedGame, clock: Clock) -> None:
        if match.ended.is_set():
            return
        try:
            self._made().start(match.game, match.role, clock)
        except BaseException as error:  # whatever a player raises is its own business
            self._report(error)
            self._write(["failed", _described(error)])
        else:
            self._write(["ready"])

    # -- PLAY ----------------------------------------------------------------------------------------

    def _play(self, turn: int, text: str, answered: str | None, think_by: float, seconds: float) -> None:
        match = self._match
        if match is None:
            return
        clock = self._clock(match, seconds, think_by)

        def go_on() -> None:
            if match.ended.is_set():
                return
            guess_by = monotonic() + share_of_guessing(self._player) * clock.remaining()
            try:
                position = match.go_on(parse_message(text), answered, guess_by)
                legal = match.legal = position.legal
                match.turn, match.thinking_of = turn, None
                some = match.spelled(match.random.choice(legal)) if legal else None
            except BaseException as error:
                self._write(["move", turn, None, _described(error)])
                return
            if some is None:
                self._write(["move", turn, None, ""])
                return
            self._write(["legal", turn, some, position.is_repeatable])
            self._thinking.put(lambda: self._think(match, turn, position, clock))

        self._rules.put(go_on)

    def _replay(self, turns: Sequence[tuple[str, str | None]]) -> None:
        """Bring the state up to turns that are over: nothing is asked."""
        match = self._match

        def go_on() -> None:
            for text, answered in turns:
                # What could not be done then cannot be done now. Guesses wait until somebody asks.
                with suppress(BaseException):
                    if match is not None and not match.ended.is_set():
                        match.go_on(parse_message(text), answered, 0.0)

        self._rules.put(go_on)

    def _think(self, match: PlayedGame, turn: int, position: Position, clock: Clock) -> None:
        if match.ended.is_set() or match.turn != turn:
            return
        try:
            found, fault = self._chosen(match, turn, position, clock)
            spelled = match.spelled(found)
        except BaseException as error:
            spelled, fault = match.spelled(match.random.choice(position.legal)), _described(error)
        self._write(["move", turn, spelled, fault])

    def _chosen(self, match: PlayedGame, turn: int, position: Position, clock: Clock) -> tuple[Term, str]:
        """Return the player's move if it is legal, else another one; and what is wrong with it."""
        legal = position.legal
        move: object = None
        fault = ""
        try:
            player = self._made()
            player.best, player.view = None, position.view
            match.thinking_of = turn
            move = player.move(position.state, clock)
        except BaseException as error:  # whatever a player raises is its own business
            self._report(error)
            fault = f"the player failed: {_described(error)}"
        found = _legal(move, legal)
        if match.is_lost:
            if self._player is None or self._player.needs_state:
                fault = fault or "no state was found that agrees with all that was sent"
            # The player may know better what is legal.
            found = found or (move if isinstance(move, Term) else None)
        if move is not None and found is None:
            fault = f"the player chose what is not legal: {_text(move)}"[:_LONGEST_FAULT]
        if found is None:
            found = self._best(legal)
        return found or match.random.choice(legal), fault

    def _best(self, legal: tuple[Term, ...], *, is_lost: bool = False) -> Term | None:
        """Return the player's best move so far; where the match is lost, whether it is legal or not."""
        best: object = None
        with suppress(BaseException):  # whatever a player makes of it
            best = self._player.best if self._player is not None else None
        return _legal(best, legal) or (best if is_lost and isinstance(best, Term) else None)

    def _report_best(self, turn: int) -> None:
        match = self._match
        best = None
        if match is not None and match.thinking_of == turn:
            found = self._best(match.legal, is_lost=match.is_lost)
            best = None if found is None else match.spelled(found)
        self._write(["best", turn, best])

    # -- STOP and ABORT ------------------------------------------------------------------------------

    def _end(self) -> PlayedGame | None:
        """Let whoever thinks stop thinking; return the match that has ended."""
        match, self._match = self._match, None
        if match is not None:
            match.ended.set()
        return match

    def _stop(self, text: str, answered: str | None) -> None:
        match = self._end()

        def leave_with_goals() -> None:
            try:
                assert match is not None
                position = match.go_on(parse_message(text), answered, monotonic() + _LAST_GUESS)
                goals = position.state.goals()
            except BaseException:
                self._thinking.put(lambda: self._leave(match))
            else:
                self._thinking.put(lambda: self._leave(match, goals))

        self._rules.put(leave_with_goals)

    def _leave(self, match: PlayedGame | None, goals: dict[Role, int | None] | None = None) -> None:
        """Report the player the end, in its thread; without goals, that there was no result."""
        try:
            if match is not None and self._player is not None:
                self._player.abort() if goals is None else self._player.stop(goals)
        except BaseException as error:  # it is not asked again
            self._report(error)
            self._player = None
        self._write(["left"])

    # -- PREVIEW -------------------------------------------------------------------------------------

    def _preview(self, rules: str, clock: Clock) -> None:
        fault = ""
        try:
            self._made().preview(load_rules(rules, self._settings, clock.seconds), clock)
        except BaseException as error:
            fault = _described(error)
        self._write(["previewed", fault])


def _monotonic(moment: float) -> float:
    """Return a moment of `time.time` as `time.monotonic` counts: processes share only the former."""
    return monotonic() + moment - time()


def _quietly(call: Callable[[], None]) -> None:
    with suppress(BaseException):
        call()


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {_text(error)}"[:_LONGEST_FAULT]


def _text(value: object) -> str:
    """Return an object of a player as text; that, too, is the player's own code."""
    try:
        return str(value)
    except BaseException as error:
        return f"what cannot be shown ({type(error).__name__})"


def _legal(move: object, legal: tuple[Term, ...]) -> Term | None:
    if isinstance(move, Term):
        return match_ignoring_case(move, legal)
    return next((each for each in legal if str(each) == move), None) if isinstance(move, str) else None


def main(strategy: str, seed: int | None, settings: PlayerSettings) -> None:
    """Do what commands ask for until there are no more, then end, whatever threads are at work."""
    write = set_up()

    def send(event: list[Any]) -> None:
        write(encode_message(event))

    def make() -> Player:
        # Nobody else plays in this process: others' time is free to think in.
        return make_player(strategy, seed=seed, pondering=True)

    threading.excepthook = _end_with
    session = Session(make, settings, send)
    send(BEGUN)
    session.prepare(lambda: player_class(split_options(strategy)[0]))
    listen(session.handle)


def _end_with(thread: threading.ExceptHookArgs) -> None:
    """End the process with a thread of its session: one that hears and does nothing could not be replaced."""
    threading.__excepthook__(thread)
    if thread.thread is not None and thread.thread.name in THREADS:
        os._exit(1)
