"""A player that gets its moves from a program, line by line, through standard input and output.

    python tools/line_player.py gdl/tic_tac_toe.kif python tools/line_random.py

plays a match between the program and a random player. The program receives one JSON object per line:

    {"type": "start", "role": "x", "roles": ["x", "o"], "rules": "(role x) ...", "seconds": 30}
    {"type": "move", "facts": ["(control x)", ...], "legal": ["(mark 1 1)", ...], "seconds": 10}
    {"type": "stop", "goals": {"x": 100, "o": 0}}

The program answers a start with any line, a move with a line that contains a legal move, and ends at a stop.
If the program is late, ends, or sends no legal move, a random move is made. A late program is restarted. For
`anygame match`, write a class that names the program:

    class Mine(LinePlayer):
        command = ("python", "mine.py")
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from threading import Timer
from typing import TYPE_CHECKING, Any

import anygame
from anygame.language.parser import parse_term
from anygame.match import run
from anygame.players import Player

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame import Role, State, Term
    from anygame.players import Clock

_LONGEST_LINE = 100_000


class LinePlayer(Player):
    """Asks a program for its moves."""

    command: Sequence[str] = ()

    def __init__(self, command: Sequence[str] = ()) -> None:
        super().__init__()
        self.command = command or self.command
        self._process: subprocess.Popen[str] | None = None
        self._greeting: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The last word of the command."""
        return self.command[-1].rpartition("/")[2]

    def start(self, clock: Clock) -> None:
        """Start the program, unless it is running, and send the rules."""
        super().start(clock)
        self._greeting = {
            "type": "start",
            "role": self.role,
            "roles": self.game.roles,
            "rules": str(self.game),
        }
        self._ask(self._greeting | {"seconds": clock.remaining()}, clock)

    def move(self, state: State, clock: Clock) -> Term:
        """Ask the program for a move."""
        if self._process is None or self._process.poll() is not None:
            self._ask(self._greeting | {"seconds": clock.remaining()}, clock)
        facts = sorted(map(str, state.facts))
        legal = list(map(str, state.legal_moves(self.role)))
        question = {"type": "move", "facts": facts, "legal": legal, "seconds": clock.remaining()}
        return parse_term(self._ask(question, clock))

    def stop(self, goals: Mapping[Role, int | None]) -> None:
        """Send the goals to the program, and let the program end."""
        if self._process is not None:
            try:
                self._send({"type": "stop", "goals": dict(goals)})
            finally:
                self._close()

    def abort(self) -> None:
        """Let the program end."""
        self._close()

    def _ask(self, question: Mapping[str, Any], clock: Clock) -> str:
        if self._process is None or self._process.poll() is not None:
            self._close()
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(list(self.command), stdin=pipe, stdout=pipe, text=True)
        process = self._process
        timer = Timer(clock.remaining(), process.kill)
        timer.start()
        try:
            self._send(question)
            assert process.stdout is not None
            answer = process.stdout.readline(_LONGEST_LINE)
        finally:
            timer.cancel()
        if not answer:
            raise RuntimeError(f"{self.name} ended, or was too late")
        return answer

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _close(self) -> None:
        """Close the input of the program, and kill the program if it does not end."""
        process, self._process = self._process, None
        if process is None:
            return
        with process:
            try:
                process.communicate(timeout=1)
            except (OSError, subprocess.TimeoutExpired):
                process.kill()


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one match; return the exit status."""
    parser = argparse.ArgumentParser(description="Play a program against a random player.")
    parser.add_argument("sheet", metavar="SHEET", help="a rule sheet")
    parser.add_argument("program", metavar="COMMAND", nargs=argparse.REMAINDER, help="the program")
    options = parser.parse_args(arguments)
    game = anygame.load(options.sheet, lenient=True)
    others = sum(not role.is_random for role in game.roles) - 1
    record = run(game, [LinePlayer(options.program), *["random"] * others], play_clock=5, seed=1)
    for joint, errors in zip(record.moves, record.errors[1:], strict=True):
        print("  ".join(joint), *filter(None, errors))
    for name, goal in zip(record.names, record.goals or (), strict=False):
        print(f"{name}: {goal}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
