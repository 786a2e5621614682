"""Engines that speak UCI as players, on sheets whose states and moves are known to be theirs.

    anygame match breakthrough.kif --players mcts tools/engines.py:FairyStockfish --play-clock 5
    anygame match breakthrough.kif --players mcts tools/engines.py:FairyStockfish:nodes=20000
    python tools/engines.py breakthrough.kif --depth 4

The last line compares how many joint moves lead to each depth by the sheet and by the engine: only where they
agree are the rules the same. A sheet is known by its relations, see ``GAMES``. Fairy-Stockfish is
https://github.com/fairy-stockfish/Fairy-Stockfish, the Debian package ``fairy-stockfish``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_count

import anygame
from anygame.errors import PlayerError
from anygame.game.counting import perft
from anygame.players import Player
from anygame.players.player import check_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame import Game, Role, State, Term
    from anygame.players import Clock

#: Seconds for an engine to get ready, or to end; and of a clock, what is left for the way back.
_PATIENCE: Final = 10.0
_RESERVE: Final = 0.1
#: Where packages put games, which is not always on the path.
_FOLDERS: Final = "/usr/games"


@dataclass(frozen=True, slots=True)
class Board:
    """How the states and moves of a sheet are those of an engine: squares of a board of eight by eight.

    Attributes:
        variant: what the engine calls the game.
        cell: the pattern of a fluent, with groups ``x``, ``y`` and ``piece``.
        pieces: the letter of each piece, as positions are written (FEN).
        turn: the pattern of the fluent that says who moves, with a group ``role``.
        first: the role that begins.
        move: the pattern of a move, with groups ``x1``, ``y1``, ``x2`` and ``y2``.
    """

    variant: str
    cell: re.Pattern[str]
    pieces: Mapping[str, str]
    turn: re.Pattern[str]
    first: str
    move: re.Pattern[str]

    def knows(self, game: Game) -> bool:
        """Return whether the first state and its moves are written in this way."""
        facts = [str(fact) for fact in game.initial_state().facts]
        cells = [found["piece"] for fact in facts if (found := self.cell.fullmatch(fact))]
        roles = [str(role) for role in game.roles]
        turns = [fact for fact in facts if self.turn.fullmatch(fact)]
        return set(cells) == set(self.pieces) and self.first in roles and len(turns) == 1

    def position(self, state: State) -> str:
        """Return a state as engines read it: pieces, rank by rank from the eighth, and who moves."""
        board = [["1"] * 8 for _ in range(8)]
        side = "w"
        for fact in map(str, state.facts):
            if (cell := self.cell.fullmatch(fact)) is not None:
                board[8 - int(cell["y"])][int(cell["x"]) - 1] = self.pieces[cell["piece"]]
            elif (turn := self.turn.fullmatch(fact)) is not None:
                side = "w" if turn["role"] == self.first else "b"
        ranks = "/".join(re.sub("1+", lambda empty: str(len(empty[0])), "".join(rank)) for rank in board)
        return f"{ranks} {side} - - 0 1"

    def moves(self, legal: Sequence[Term]) -> dict[str, Term]:
        """Return moves by what engines call them."""
        found = {}
        for each in legal:
            move = self.move.fullmatch(str(each))
            if move is not None:
                x1, y1, x2, y2 = (int(move[name]) for name in ("x1", "y1", "x2", "y2"))
                found[f"{'abcdefgh'[x1 - 1]}{y1}{'abcdefgh'[x2 - 1]}{y2}"] = each
        return found


#: The sheets that are known.
GAMES: Final = (
    Board(
        variant="breakthrough",
        cell=re.compile(r"\(cellHolds (?P<x>[1-8]) (?P<y>[1-8]) (?P<piece>white|black)\)"),
        pieces={"white": "P", "black": "p"},
        turn=re.compile(r"\(control (?P<role>white|black)\)"),
        first="white",
        move=re.compile(r"\(move (?P<x1>[1-8]) (?P<y1>[1-8]) (?P<x2>[1-8]) (?P<y2>[1-8])\)"),
    ),
)


def mapping_of(game: Game) -> Board:
    """Return how the states of a game are those of an engine.

    Raises:
        PlayerError: it is none of ``GAMES``.
    """
    for each in GAMES:
        if each.knows(game):
            return each
    known = ", ".join(each.variant for each in GAMES)
    raise PlayerError(f"no engine is known to play {game.name}: its facts should be those of {known}")


class Engine:
    """An engine that runs: lines go in, and lines come out.

    Args:
        command: the program, by its name or path.

    Raises:
        PlayerError: there is no such program, or it does not get ready.
    """

    def __init__(self, command: str) -> None:
        path = shutil.which(command) or shutil.which(command, path=_FOLDERS)
        if path is None:
            raise PlayerError(f"there is no program {command}; try: apt-get install {command}")
        self._process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._lines: Queue[str | None] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.tell("uci")
            self.wait_for("uciok", _PATIENCE)
        except PlayerError:
            self.end()
            raise

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def tell(self, line: str) -> None:
        """Send a line.

        Raises:
            PlayerError: the engine has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise PlayerError(f"the engine has ended: {error}") from error

    def wait_for(self, start: str, seconds: float) -> str:
        """Return the next line that begins with a text.

        Raises:
            PlayerError: none comes in time, or the engine ends.
        """
        end = monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=None if end == inf else max(0.0, end - monotonic()))
            except Empty:
                raise PlayerError(f"the engine sent no {start!r} within {seconds:g} s") from None
            if line is None:
                raise PlayerError(f"the engine ended before it sent {start!r}")
            if line.startswith(start):
                return line

    def set_up(self, variant: str) -> None:
        """Have it play a game, with one thread."""
        self.tell("setoption name Threads value 1")
        self.tell(f"setoption name UCI_Variant value {variant}")
        self.tell("isready")
        self.wait_for("readyok", _PATIENCE)

    def perft(self, depth: int) -> int:
        """Return how many lines of moves of a length begin at the first position."""
        self.tell("position startpos")
        self.tell(f"go perft {depth}")
        return int(self.wait_for("Nodes searched:", inf).rpartition(" ")[2])

    def end(self) -> None:
        """End the program."""
        try:
            self.tell("quit")
            self._process.wait(_PATIENCE)
        except (PlayerError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # it may not have read what it was told
                    pipe.close()


class FairyStockfish(Player):
    """Has Fairy-Stockfish choose, with one thread and the evaluation that is written by hand.

    Args:
        seed: it draws nothing; every match has the same moves with ``nodes``.
        nodes: states that it may look at for a move; None for as many as the clock allows.
        command: the program.

    Raises:
        PlayerError: a number is out of range, or there is no such program.
    """

    def __init__(
        self, seed: int | None = None, *, nodes: int | None = None, command: str = "fairy-stockfish"
    ) -> None:
        super().__init__(seed)
        check_option("nodes", nodes, 1)
        self.nodes, self._command = nodes, command
        self._engine: Engine | None = None

    def start(self, clock: Clock) -> None:
        """Start the engine."""
        super().start(clock)
        self.abort()
        self._mapping = mapping_of(self.game)
        self._engine = Engine(self._command)
        self._engine.set_up(self._mapping.variant)

    def move(self, state: State, clock: Clock) -> Term:
        """Return what the engine plays."""
        legal = state.legal_moves(self.role)
        if len(legal) == 1:
            return legal[0]
        engine, moves = self._engine, self._mapping.moves(legal)
        if engine is None:
            raise PlayerError("the match has not begun")
        engine.tell(f"position fen {self._mapping.position(state)}")
        seconds = clock.remaining()
        milliseconds = max(1, int(1000 * (seconds - max(_RESERVE, seconds / 20))))
        limit = f"movetime {milliseconds}" if self.nodes is None else f"nodes {self.nodes}"
        engine.tell(f"go {limit}")
        answer = engine.wait_for("bestmove", seconds).split()[1]
        if answer not in moves:
            raise PlayerError(f"the engine plays {answer}, which is no legal move here")
        return moves[answer]

    def stop(self, goals: Mapping[Role, int | None]) -> None:
        """End the engine."""
        self.abort()

    def abort(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._engine.end()
            self._engine = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the rules of a sheet with those of the engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sheet", help="a sheet that the engine may know")
    parser.add_argument("--depth", type=some_count, default=3, help="of the lines that are counted")
    parser.add_argument("--command", default="fairy-stockfish", help="the engine")
    given = parser.parse_args(arguments)
    game = anygame.load(given.sheet)
    try:
        mapping = mapping_of(game)
        engine = Engine(given.command)
        try:
            engine.set_up(mapping.variant)
            return 0 if _agree(game, engine, given.depth) else 1
        finally:
            engine.end()
    except PlayerError as error:
        print(error, file=sys.stderr)
        return 2


def _agree(game: Game, engine: Engine, deepest: int) -> bool:
    """Print how many lines there are of each length; return whether they are the same."""
    is_same = True
    print(f"{'depth':>5} {'sheet':>15} {'engine':>15}")
    for depth in range(1, deepest + 1):
        ours, theirs = perft(game, depth), engine.perft(depth)
        is_same = is_same and ours == theirs
        print(f"{depth:>5} {ours:>15,} {theirs:>15,}")
    return is_same


if __name__ == "__main__":
    sys.exit(main())
