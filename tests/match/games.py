"""Small games that tests play, and players that misbehave."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from anygame.language.parser import parse_term
from anygame.language.terms import Constant
from anygame.players import Player

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players import Clock

#: Two players count down from three; both move at once.
COUNTDOWN: Final = """
(role a) (role b) (init (left 3)) (down 3 2) (down 2 1) (down 1 0)
(word yes) (word no)
(<= (legal ?r (say ?w)) (role ?r) (word ?w))
(<= (next (left ?n)) (true (left ?m)) (down ?m ?n))
(<= (next (said ?r ?w)) (does ?r (say ?w)))
(<= terminal (true (left 0)))
(<= (goal ?r 100) (true (said ?r yes))) (<= (goal ?r 0) (true (said ?r no)))
"""
#: One player guesses what the dice show.
DICE: Final = """
(role random) (role me) (init (step 1)) (eye 1) (eye 2) (eye 3)
(<= (legal random (roll ?n)) (eye ?n)) (<= (legal me (guess ?n)) (eye ?n))
(<= (next (step 2)) (true (step 1))) (<= (next (step 3)) (true (step 2)))
(<= (next hit) (does random (roll ?n)) (does me (guess ?n)))
(<= terminal (true (step 3)))
(<= (goal me 100) (true hit)) (<= (goal me 10) (not (true hit)))
"""
#: After two moves nobody can move, though the game is not over.
STUCK: Final = """
(role a) (role b) (init (s 1)) (<= (legal ?r go) (role ?r) (true (s 1)))
(<= (legal a go) (true (s 2))) (<= (next (s 2)) (true (s 1)))
(<= terminal (true (s 9))) (goal a 0) (goal b 0)
"""
#: The end is reached, and the rules give no goal.
NO_GOAL: Final = """
(role a) (init (s 1)) (legal a go) (<= (next (s 2)) (true (s 1))) (<= terminal (true (s 2)))
"""


class Witness(Player):
    """Plays its first move and keeps what it was told."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(seed)
        self.told: list[object] = []

    def start(self, clock: Clock) -> None:
        super().start(clock)
        self.told.append(("start", str(self.role), round(clock.seconds)))

    def move(self, state: State, clock: Clock) -> Term:
        self.told.append(("move", str(state)))
        return state.legal_moves(self.role)[0]

    def stop(self, goals: Mapping[Role, int | None]) -> None:
        self.told.append(("stop", dict(goals)))

    def abort(self) -> None:
        self.told.append("abort")


class Hanging(Player):
    """Does not come back in time, and does not hang for ever either, so that tests end."""

    def move(self, state: State, clock: Clock) -> Term:
        time.sleep(20)
        raise AssertionError("somebody waited")


class Late(Player):
    """Knows a good move, and thinks on."""

    def move(self, state: State, clock: Clock) -> Term:
        self.best = state.legal_moves(self.role)[-1]
        time.sleep(20)
        raise AssertionError("somebody waited")


class Raising(Player):
    """Fails at everything."""

    def start(self, clock: Clock) -> None:
        raise SystemExit("no start")

    def move(self, state: State, clock: Clock) -> Term:
        raise KeyboardInterrupt('with "quotes"')

    def stop(self, goals: Mapping[Role, int | None]) -> None:
        raise ValueError("no stop")


class Torn(Player):
    """Finds a move, and fails then."""

    def __init__(self, best: str) -> None:
        super().__init__()
        self._found = best

    def move(self, state: State, clock: Clock) -> Term:
        self.best = parse_term(self._found)
        raise ValueError("no more")


class Garbage(Player):
    """Says what is no move, in a different way each time."""

    replies = ('( ( say "yes" ) )', 'say "yes"', "\x00\ud800 (", "")

    def move(self, state: State, clock: Clock) -> Term:
        return self.replies[len(state.facts) % len(self.replies)]  # type: ignore[return-value]


class Illegal(Player):
    """Says what no rule allows."""

    def move(self, state: State, clock: Clock) -> Term:
        return Constant("fly")


class Nothing(Player):
    """Says nothing."""

    def move(self, state: State, clock: Clock) -> Term:
        return None  # type: ignore[return-value]


class Huge(Player):
    """Says very much."""

    def move(self, state: State, clock: Clock) -> Term:
        return "x" * 10_000_000  # type: ignore[return-value]
