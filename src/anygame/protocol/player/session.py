"""A session, which is a player and its game. A session executes commands and reports events.

The rules run in one thread and the player thinks in another, so that a legal move is known even if the player
hangs. `anygame.protocol.player.match` controls the session and all timeouts, from the same process or from
another process (see `anygame.protocol.player.hosts`).

A command is a list of its name and its arguments. All times are values of `time.time`. ``answered`` is the
answer in the turn before:

- ``start``, role, rules, start clock, play clock, time limit
- ``play``, turn, message, answered, time limit, clock
- ``replay``, turns: a list of the message and ``answered`` of each turn that another session played
- ``best``, turn: request for the best move so far
- ``stop``, message, answered
- ``abort``
- ``preview``, rules, clock, time limit

An event is a list of its name and its arguments:

- ``loaded``: the rules are loaded
- ``ready``: the player is ready
- ``failed``, reason: the rules or the player failed
- ``legal``, turn, move, again: any legal move, and whether the last joint move is still legal
- ``best``, turn, move: the best move so far, or None
- ``move``, turn, move, fault: the choice of the player, another move if the player failed, or None
- ``left``: the match is over, and the session is free
- ``previewed``, fault: the player has studied the rules, or has failed
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
from anygame.players.loading import make_player, player_class, split_options
from anygame.players.player import Clock, Failures, own_traceback
from anygame.processes.inside import encode_message, listen, set_up
from anygame.protocol.messages import parse_message
from anygame.protocol.player.played_game import PlayedGame, load_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.game.roles import Role
    from anygame.players.player import Player
    from anygame.protocol.player.played_game import PlayerSettings, Position

#: Names of the threads of a session.
THREADS: Final = ("rules", "thinking")

#: Maximum number of seconds to find the goals, in a final state that agrees with the percepts.
_LAST_GUESS: Final = 5.0
#: Maximum number of characters of a fault.
_LONGEST_FAULT: Final = 1000


class Session:
    """A player that plays one match after the other.

    ``make`` creates the player when it is first needed. ``write`` is called with each event, in any thread.
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
        """Whether a thread of the session still runs."""
        return self._rules.is_alive or self._thinking.is_alive

    def close(self) -> None:
        """End the threads after their current task."""
        self._end()
        self._rules.close()
        self._thinking.close()

    def handle(self, command: Sequence[Any]) -> None:
        """Start executing a command, and return at once."""
        kind, *given = command
        match kind:
            case "start":
                role, rules, start_clock, play_clock, think_by = given
                match = self._match = PlayedGame(self._settings)
                clock = self._clock(match, start_clock, think_by)
                longest = max(start_clock, play_clock)
                self._rules.put(lambda: self._load(match, role, rules, longest, clock))
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

    def prepare(self, kind: Callable[[], type[Player]]) -> None:
        """Start to prepare a class of players. A match can begin before the preparation ends."""

        def get_ready() -> None:
            # Errors are reported when the player is created for a match.
            with suppress(BaseException):
                player_kind = kind()
                if player_kind.plays_unprepared:
                    threading.Thread(
                        target=_quietly, args=(player_kind.prepare,), name="preparing", daemon=True
                    ).start()
                else:
                    player_kind.prepare()

        self._thinking.put(get_ready)

    def _get_player(self) -> Player:
        if self._player is None:
            self._player = self._make()
        return self._player

    def _clock(self, match: PlayedGame, seconds: float, think_by: float) -> Clock:
        return Clock(seconds, _monotonic(think_by), match.ended)

    def _report(self, error: BaseException) -> None:
        """Print the traceback of an error of the player; the manager gets only the message."""
        with suppress(BaseException):  # the property `name` of the player can raise an error, too
            if self._player is not None:
                self._failures.report(self._player.name, own_traceback(error))

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
            self._get_player().begin(match.game, match.role, clock)
        except BaseException as error:  # a player can raise any error
            self._report(error)
            self._write(["failed", _described(error)])
        else:
            self._write(["ready"])

    def _play(self, turn: int, text: str, answered: str | None, think_by: float, seconds: float) -> None:
        match = self._match
        if match is None:
            return
        clock = self._clock(match, seconds, think_by)

        def advance() -> None:
            if match.ended.is_set():
                return
            guess_by = monotonic() + share_of_guessing(self._player) * clock.remaining()
            try:
                position = match.advance(parse_message(text), answered, guess_by)
                legal = match.legal = position.legal
                match.turn, match.thinking_of = turn, None
                fallback = match.spelled(match.random.choice(legal)) if legal else None
            except BaseException as error:
                self._write(["move", turn, None, _described(error)])
                return
            if fallback is None:
                self._write(["move", turn, None, ""])
                return
            self._write(["legal", turn, fallback, position.is_repeatable])
            self._thinking.put(lambda: self._think(match, turn, position, clock))

        self._rules.put(advance)

    def _replay(self, turns: Sequence[tuple[str, str | None]]) -> None:
        match = self._match

        def advance() -> None:
            for text, answered in turns:
                # A message that failed before fails again. The time limit for finding states is zero here,
                # since a state that agrees with the percepts is needed only for the next PLAY.
                with suppress(BaseException):
                    if match is not None and not match.ended.is_set():
                        match.advance(parse_message(text), answered, 0.0)

        self._rules.put(advance)

    def _think(self, match: PlayedGame, turn: int, position: Position, clock: Clock) -> None:
        if match.ended.is_set() or match.turn != turn:
            return
        try:
            move, fault = self._chosen(match, turn, position, clock)
            spelled = match.spelled(move)
        except BaseException as error:
            spelled, fault = match.spelled(match.random.choice(position.legal)), _described(error)
        self._write(["move", turn, spelled, fault])

    def _chosen(self, match: PlayedGame, turn: int, position: Position, clock: Clock) -> tuple[Term, str]:
        """Return the move of the player or a legal replacement, and the error or an empty string."""
        legal = position.legal
        move: object = None
        fault = ""
        try:
            player = self._get_player()
            player.best, player.view = None, position.view
            match.thinking_of = turn
            move = player.move(position.state, clock)
        except BaseException as error:  # a player can raise any error
            self._report(error)
            fault = f"the player failed: {_described(error)}"
        chosen = _legal(move, legal)
        if match.is_lost:
            if self._player is None or self._player.needs_state:
                fault = fault or "no state was found that agrees with all messages"
            # The legal moves are a guess, so any move of the player is accepted.
            chosen = chosen or (move if isinstance(move, Term) else None)
        if move is not None and chosen is None:
            fault = f"the player chose an illegal move: {_text(move)}"[:_LONGEST_FAULT]
        if chosen is None:
            chosen = self._best(legal)
        return chosen or match.random.choice(legal), fault

    def _best(self, legal: tuple[Term, ...], *, is_lost: bool = False) -> Term | None:
        """Return the player's best move so far, or None; with ``is_lost``, the move can be illegal."""
        best: object = None
        with suppress(BaseException):  # the code of a player can raise any error
            best = self._player.best if self._player is not None else None
        return _legal(best, legal) or (best if is_lost and isinstance(best, Term) else None)

    def _report_best(self, turn: int) -> None:
        match = self._match
        best = None
        if match is not None and match.thinking_of == turn:
            move = self._best(match.legal, is_lost=match.is_lost)
            best = None if move is None else match.spelled(move)
        self._write(["best", turn, best])

    def _end(self) -> PlayedGame | None:
        """End and return the match. The player then stops thinking."""
        match, self._match = self._match, None
        if match is not None:
            match.ended.set()
        return match

    def _stop(self, text: str, answered: str | None) -> None:
        match = self._end()

        def leave_with_goals() -> None:
            try:
                assert match is not None
                position = match.advance(parse_message(text), answered, monotonic() + _LAST_GUESS)
                goals = position.state.goals()
            except BaseException:
                self._thinking.put(lambda: self._leave(match))
            else:
                self._thinking.put(lambda: self._leave(match, goals))

        self._rules.put(leave_with_goals)

    def _leave(self, match: PlayedGame | None, goals: dict[Role, int | None] | None = None) -> None:
        """Report the end of a match to the player; without goals, report an abort."""
        try:
            if match is not None and self._player is not None:
                self._player.abort() if goals is None else self._player.stop(goals)
        except BaseException as error:  # after an error, the player is not used again
            self._report(error)
            self._player = None
        self._write(["left"])

    def _preview(self, rules: str, clock: Clock) -> None:
        fault = ""
        try:
            self._get_player().preview(load_rules(rules, self._settings, clock.seconds), clock)
        except BaseException as error:
            fault = _described(error)
        self._write(["previewed", fault])


def _monotonic(moment: float) -> float:
    """Convert a time of `time.time`, which all processes share, to `time.monotonic`."""
    return monotonic() + moment - time()


def _quietly(call: Callable[[], None]) -> None:
    with suppress(BaseException):
        call()


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {_text(error)}"[:_LONGEST_FAULT]


def _text(value: object) -> str:
    """Return an object of a player as a string; another string if ``__str__`` raises an error."""
    try:
        return str(value)
    except BaseException as error:
        return f"a value that cannot be shown ({type(error).__name__})"


def _legal(move: object, legal: tuple[Term, ...]) -> Term | None:
    if isinstance(move, Term):
        return match_ignoring_case(move, legal)
    return next((term for term in legal if str(term) == move), None) if isinstance(move, str) else None


def main(strategy: str, seed: int | None, settings: PlayerSettings) -> None:
    """Execute commands until the input ends, then end the process with all its threads."""
    write = set_up()

    def make() -> Player:
        # No other player runs in this process, so pondering slows down nobody.
        return make_player(strategy, seed=seed, pondering=True)

    threading.excepthook = _end_with
    session = Session(make, settings, lambda event: write(encode_message(event)))
    session.prepare(lambda: player_class(split_options(strategy)[0]))
    listen(session.handle)


def _end_with(thread: threading.ExceptHookArgs) -> None:
    """End this process after a thread of its session has failed, so that another process replaces it."""
    threading.__excepthook__(thread)
    if thread.thread is not None and thread.thread.name in THREADS:
        os._exit(1)
