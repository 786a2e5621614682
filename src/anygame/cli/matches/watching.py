"""Display of a running match: boards and clocks on a terminal, plain lines, or JSON."""

from __future__ import annotations

from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from anygame.boards import picture
from anygame.cli.output import print_event
from anygame.match.judging import describe_fault
from anygame.match.referee import Watcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.cli.output import Screen
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.match.judging import Verdict
    from anygame.match.record import Record
    from anygame.match.referee import Turn

_TICK: Final = 0.25


class LineWatcher(Watcher):
    """Prints a line for each turn."""

    def __init__(self, game: Game, screen: Screen) -> None:
        self.game = game
        self.screen = screen

    def started(self, record: Record, state: State) -> None:
        pairs = zip(self.game.roles, record.names, strict=True)
        self.screen.say(", ".join(f"{role}: {name}" for role, name in pairs), "bold")
        if record.step:
            self.screen.say(f"resuming after move {record.step}")

    def ready(self, verdicts: Sequence[Verdict], seconds: Sequence[float]) -> None:
        for role, verdict in zip(self.game.roles, verdicts, strict=True):
            show_said(self.screen, f"{role} says", verdict)
            if verdict.error or verdict.detail:
                self.screen.say(f"START  {role}: {describe_fault(verdict.error, verdict.detail)}", "red")

    def moved(self, turn: Turn) -> None:
        moves = "  ".join(map(str, turn.joint))
        self.screen.say(f"{turn.step:>3}  {moves}")
        for role, verdict, move in zip(self.game.roles, turn.verdicts, turn.joint, strict=True):
            show_said(self.screen, f"{role} says", verdict)
            show_fault(self.screen, role, verdict, move)

    def ended(self, record: Record, fault: str) -> None:
        if fault:
            self.screen.say(f"the match was aborted: {fault}", "red")
        elif record.goals is not None:
            pairs = zip(self.game.roles, record.names, record.goals, strict=True)
            goals = ", ".join(f"{role} ({name}) {goal}" for role, name, goal in pairs)
            self.screen.say(f"goals: {goals}", "bold")


class HiddenWatcher(LineWatcher):
    """Prints only the players and the result, since a person at the terminal must not see all moves."""

    def moved(self, turn: Turn) -> None:
        """Print nothing."""


class TerminalWatcher(LineWatcher):
    """Draws the board after each turn, and shows a running clock while players think."""

    def __init__(self, game: Game, screen: Screen) -> None:
        super().__init__(game, screen)
        self._ticker: Ticker | None = None

    def started(self, record: Record, state: State) -> None:
        super().started(record, state)
        self._draw(state, None)

    def asked(self, step: int, seconds: float) -> None:
        self.close()
        self._ticker = Ticker(self.screen, f"move {step}" if step else "getting ready", seconds)

    def ready(self, verdicts: Sequence[Verdict], seconds: Sequence[float]) -> None:
        self.close()
        super().ready(verdicts, seconds)

    def moved(self, turn: Turn) -> None:
        self.close()
        super().moved(turn)
        times = [
            f"{role} {taken:.1f} s"
            for role, taken in zip(self.game.roles, turn.seconds, strict=True)
            if not role.is_random
        ]
        self.screen.say(f"     {', '.join(times)}", "dim")
        self._draw(turn.state, turn.joint)

    def ended(self, record: Record, fault: str) -> None:
        self.close()
        super().ended(record, fault)

    def close(self) -> None:
        if self._ticker is not None:
            self._ticker.stop()
            self._ticker = None

    def _draw(self, state: State, last: Sequence[Term] | None) -> None:
        self.screen.draw(picture(state, last=last))
        self.screen.say()


class JsonWatcher(Watcher):
    """Prints a JSON object for each event."""

    def __init__(self, game: Game, path: str | None) -> None:
        self.game = game
        self.path = path

    def started(self, record: Record, state: State) -> None:
        self._print(
            "start",
            match=record.match_id,
            game=self.game.name,
            players=self._by_role(record.names),
            seed=record.own.get("seed"),
            step=record.step,
            record=self.path,
        )

    def ready(self, verdicts: Sequence[Verdict], seconds: Sequence[float]) -> None:
        self._print("ready", **self._replies(verdicts, seconds))

    def moved(self, turn: Turn) -> None:
        moves = self._by_role(list(map(str, turn.joint)))
        self._print("turn", step=turn.step, moves=moves, **self._replies(turn.verdicts, turn.seconds))

    def ended(self, record: Record, fault: str) -> None:
        goals = None if record.goals is None else self._by_role(record.goals)
        self._print(
            "end", match=record.match_id, completed=record.is_completed, goals=goals, fault=fault or None
        )

    def _replies(self, verdicts: Sequence[Verdict], seconds: Sequence[float]) -> dict[str, Any]:
        facts = {
            "errors": self._by_role([verdict.error for verdict in verdicts]),
            "reasons": self._by_role([verdict.detail for verdict in verdicts]),
            "seconds": self._by_role([round(taken, 3) for taken in seconds]),
            "said": self._by_role([list(verdict.said) for verdict in verdicts]),
        }
        return {name: {role: value for role, value in of.items() if value} for name, of in facts.items()}

    def _by_role(self, values: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.game.roles, values, strict=True))

    def _print(self, event: str, **facts: Any) -> None:
        print_event({"event": event} | facts)


class Ticker:
    """Line on the screen that counts seconds until `stop` is called."""

    def __init__(self, screen: Screen, what: str, seconds: float) -> None:
        self._stream = screen.stream
        self._what = what
        self._seconds = seconds
        self._done = Event()
        self._begin = monotonic()
        self._thread = Thread(target=self._tick, name="clock", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _tick(self) -> None:
        shown = 0
        while not self._done.wait(_TICK):
            line = f"{self._what}: {monotonic() - self._begin:.1f} of {self._seconds:g} s"
            shown = max(shown, len(line))
            self._stream.write(f"\r{line}")
            self._stream.flush()
        if shown:
            self._stream.write(f"\r{' ' * shown}\r")
            self._stream.flush()


def show_fault(screen: Screen, role: str, verdict: Verdict, move: object) -> None:
    """Show the fault of a player's reply, and the move that was played instead."""
    if verdict.error or verdict.detail:
        instead = f"; {move} was played instead" if verdict.error else ""
        screen.say(f"     {role}: {describe_fault(verdict.error, verdict.detail)}{instead}", "red")


def show_said(screen: Screen, who: str, verdict: Verdict) -> None:
    """Show the comments of a player, each with ``who`` in front."""
    for line in verdict.said:
        screen.say(f"     {who}: {line}", "italic")
