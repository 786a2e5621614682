"""Engines as players, for sheets whose states and moves can be translated for an engine.

    anygame match breakthrough.kif --players mcts tools/engines.py:FairyStockfish --play-clock 5
    anygame match breakthrough.kif --players mcts tools/engines.py:FairyStockfish:nodes=20000
    anygame match reversi.kif --players mcts tools/engines.py:Rhino:level=3 --play-clock 5
    python tools/engines.py breakthrough.kif --depth 4
    python tools/engines.py reversi.kif --protocol gtp --matches 5

The last two lines compare the rules of a sheet with the rules of an engine. They count the move sequences up
to a depth, and compare the legal moves of every state of random matches. The tool recognises a sheet by its
relations; see ``GAMES``.

Engines speak UCI or GTP. Fairy-Stockfish (https://github.com/fairy-stockfish/Fairy-Stockfish) is the Debian
package ``fairy-stockfish``. After ``npm install fairy-stockfish-nnue.wasm``, the option ``--command 'node
--no-experimental-fetch node_modules/fairy-stockfish-nnue.wasm/uci.js'`` starts the engine. Rhino plays
Othello: the Debian packages ``grhino`` and ``grhino-data``.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from queue import Empty, Queue
from random import Random
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

#: Timeout in seconds for the start and the end of an engine; minimum reserve in seconds of each play clock.
_PATIENCE: Final = 10.0
_RESERVE: Final = 0.1
#: Folder of games in Debian, which is not always on the path.
_FOLDERS: Final = "/usr/games"
_SQUARE: Final = re.compile(r"[a-j]\d+")


@dataclass(frozen=True, slots=True)
class Board:
    """Translation of the states and moves of a sheet for an engine.

    Attributes:
        variant: the name of the game in the engine.
        cell: the pattern of a fluent, with groups ``x``, ``y`` and ``piece``.
        pieces: the letter of each piece in FEN.
        turn: the pattern of the fluent that names the role to move, with a group ``role``.
        first: the role that moves first.
        move: the pattern of a move, with groups ``x2`` and ``y2``, and ``x1`` and ``y1`` if a piece moves.
        size: number of rows, and of columns.
        drop: prefix of the square of a new piece in moves of the engine.
        has_hand: whether positions list the pieces that are not on the board yet.
        steps: number of moves of the sheet for a move of the engine.
    """

    variant: str
    cell: re.Pattern[str]
    pieces: Mapping[str, str]
    turn: re.Pattern[str]
    first: str
    move: re.Pattern[str]
    size: int = 8
    drop: str = ""
    has_hand: bool = False
    steps: int = 1

    def knows(self, game: Game) -> bool:
        """Return whether the roles and the initial state of a game match the patterns."""
        facts = [str(fact) for fact in game.initial_state().facts]
        cells = {found["piece"] for fact in facts if (found := self.cell.fullmatch(fact))}
        roles = [str(role) for role in game.roles]
        turns = [fact for fact in facts if self.turn.fullmatch(fact)]
        return bool(cells) and cells <= set(self.pieces) and self.first in roles and len(turns) == 1

    def mover(self, state: State) -> str:
        """Return the role to move."""
        (role,) = (found["role"] for fact in state.facts if (found := self.turn.fullmatch(str(fact))))
        return role

    def rows(self, state: State) -> list[list[str]]:
        """Return the letters on the board, row by row from the first row; ``.`` is an empty square."""
        rows = [["."] * self.size for _ in range(self.size)]
        for fact in map(str, state.facts):
            if (cell := self.cell.fullmatch(fact)) is not None:
                rows[int(cell["y"]) - 1][int(cell["x"]) - 1] = self.pieces[cell["piece"]]
        return rows

    def position(self, state: State) -> str:
        """Return a state in FEN: the pieces, rank by rank from the last rank, and the role to move."""
        rows = self.rows(state)
        empty = sum(row.count(".") for row in rows)
        ranks = [re.sub(r"\.+", lambda dots: str(len(dots[0])), "".join(row)) for row in reversed(rows)]
        hand = f"[{'P' * empty}{'p' * empty}]" if self.has_hand else ""
        return f"{'/'.join(ranks)}{hand} {'w' if self.mover(state) == self.first else 'b'} - - 0 1"

    def moves(self, legal: Sequence[Term]) -> dict[str, Term]:
        """Return legal moves by their names in the engine."""
        found = {}
        for each in legal:
            move = self.move.fullmatch(str(each))
            if move is not None:
                begin = self.drop if move["x1"] is None else _square(move["x1"], move["y1"])
                found[begin + _square(move["x2"], move["y2"])] = each
        return found


def _square(x: str, y: str) -> str:
    return f"{'abcdefghij'[int(x) - 1]}{y}"


#: The supported games. In Amazons, a move and its shot are two moves of the sheet.
GAMES: Final = (
    Board(
        variant="breakthrough",
        cell=re.compile(r"\(cellHolds (?P<x>[1-8]) (?P<y>[1-8]) (?P<piece>white|black)\)"),
        pieces={"white": "P", "black": "p"},
        turn=re.compile(r"\(control (?P<role>white|black)\)"),
        first="white",
        move=re.compile(r"\(move (?P<x1>[1-8]) (?P<y1>[1-8]) (?P<x2>[1-8]) (?P<y2>[1-8])\)"),
    ),
    Board(
        variant="flipello",
        cell=re.compile(r"\(cell (?P<x>[1-8]) (?P<y>[1-8]) (?P<piece>black|red)\)"),
        pieces={"black": "P", "red": "p"},
        turn=re.compile(r"\(control (?P<role>black|red)\)"),
        first="black",
        move=re.compile(r"\(move (?:(?P<x1>\d) (?P<y1>\d) )?(?P<x2>\d) (?P<y2>\d)\)"),
        drop="P@",
        has_hand=True,
    ),
    Board(
        variant="amazons",
        cell=re.compile(r"\(cell (?P<x>\d+) (?P<y>\d+) (?P<piece>white|black|arrow)\)"),
        pieces={"white": "Q", "black": "q", "arrow": "*"},
        turn=re.compile(r"\(turn (?P<role>white|black) (?:move|fire)\)"),
        first="white",
        move=re.compile(r"\((?:move (?P<x1>\d+) (?P<y1>\d+)|fire) (?P<x2>\d+) (?P<y2>\d+)\)"),
        size=10,
        steps=2,
    ),
)


def mapping_of(game: Game) -> Board:
    """Return the translation of a game for an engine.

    Raises:
        PlayerError: the game is none of ``GAMES``.
    """
    for each in GAMES:
        if each.knows(game):
            return each
    known = ", ".join(each.variant for each in GAMES)
    raise PlayerError(f"no engine is known to play {game.name}: its facts should be those of {known}")


class Engine(ABC):
    """A running engine that exchanges lines of text with this program.

    Args:
        command: the name or path of the program, and its arguments.
        board: translates states and moves of the sheet for the engine.

    Raises:
        PlayerError: the program does not exist, or is not ready in time.
    """

    def __init__(self, command: str, board: Board) -> None:
        self.board = board
        name, *options = shlex.split(command)
        path = shutil.which(name) or shutil.which(name, path=_FOLDERS)
        if path is None:
            raise PlayerError(f"there is no program {name}; try: apt-get install {name}")
        self._process = subprocess.Popen(
            [path, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._lines: Queue[str | None] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.set_up()
        except PlayerError:
            self.end()
            raise

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())
        self._lines.put(None)

    def tell(self, line: str) -> None:
        """Send a line. If the engine has ended, the next call of ``wait_for`` raises the error."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()

    def wait_for(self, start: str | tuple[str, ...], seconds: float) -> str:
        """Return the next line that begins with a text, or with one of several texts.

        Raises:
            PlayerError: no such line arrives in time, or the engine ends.
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

    @abstractmethod
    def set_up(self) -> None:
        """Wait until the engine is ready, and select the game of the board."""

    @abstractmethod
    def legal(self, state: State) -> set[str]:
        """Return the legal moves of a state by the rules of the engine."""

    @abstractmethod
    def choose(self, state: State, seconds: float) -> str:
        """Return the move of the engine in a state; the engine has ``seconds`` to answer."""

    def end(self, patience: float = _PATIENCE) -> None:
        """End the program; kill it if it has not ended after ``patience`` seconds."""
        try:
            self.tell("quit")
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # the engine may not have read all input
                    pipe.close()


class UciEngine(Engine):
    """An engine that speaks UCI, with one thread.

    Attributes:
        nodes: maximum number of states searched per move; None if only the clock limits the search.
    """

    nodes: int | None = None

    def set_up(self) -> None:
        """Wait until the engine is ready, and select the game of the board."""
        self.tell("uci")
        self.wait_for("uciok", _PATIENCE)
        self.tell("setoption name Threads value 1")
        self.tell(f"setoption name UCI_Variant value {self.board.variant}")
        self.tell("isready")
        self.wait_for("readyok", _PATIENCE)

    def perft(self, depth: int) -> int:
        """Return the number of sequences of ``depth`` moves from the first position."""
        self.tell("position startpos")
        self.tell(f"go perft {depth}")
        return int(self.wait_for("Nodes searched:", inf).rpartition(" ")[2])

    def legal(self, state: State) -> set[str]:
        """Return the legal moves of a state by the rules of the engine, without passes."""
        self.tell(f"position fen {self.board.position(state)}")
        self.tell("go perft 1")
        moves = set()
        while not (line := self.wait_for("", _PATIENCE)).startswith("Nodes searched:"):
            name, is_move, _ = line.partition(":")
            if is_move and name[: len(name) // 2] != name[len(name) // 2 :]:
                moves.add(name)
        return moves

    def choose(self, state: State, seconds: float) -> str:
        """Return the move of the engine in a state."""
        self.tell(f"position fen {self.board.position(state)}")
        milliseconds = max(1, int(1000 * (seconds - max(_RESERVE, seconds / 20))))
        self.tell(f"go movetime {milliseconds}" if self.nodes is None else f"go nodes {self.nodes}")
        return self.wait_for("bestmove", seconds).split()[1]


class GtpEngine(Engine):
    """An engine that speaks GTP, with the command of ``gtp-rhino`` for positions; the first role is black."""

    def set_up(self) -> None:
        """Wait until the engine is ready."""
        self._ask("protocol_version")

    def _ask(self, command: str, seconds: float = _PATIENCE) -> str:
        self.tell(command)
        answer = self.wait_for(("=", "?"), seconds)
        if answer.startswith("?"):
            raise PlayerError(f"the engine answers {answer!r} to {command!r}")
        return answer[1:].strip()

    def _place(self, state: State) -> str:
        """Send a state to the engine; return the color that moves."""
        letters = {"P": "X", "p": "O"}
        squares = "".join(letters.get(letter, "-") for row in self.board.rows(state) for letter in row)
        mover = "black" if self.board.mover(state) == self.board.first else "white"
        self._ask(f"grhino-setup_board {squares} {mover}")
        return mover

    def legal(self, state: State) -> set[str]:
        """Return the legal moves of a state by the rules of the engine, without passes."""
        mover, moves = self._place(state), set()
        for y, row in enumerate(self.board.rows(state), start=1):
            for x, letter in enumerate(row, start=1):
                square = _square(str(x), str(y))
                if letter == ".":
                    with suppress(PlayerError):
                        self._ask(f"play {mover} {square}")
                        moves.add(self.board.drop + square)
                        self._place(state)
        return moves

    def choose(self, state: State, seconds: float) -> str:
        """Return the move of the engine in a state."""
        mover = self._place(state)
        return self.board.drop + self._ask(f"genmove {mover}", seconds).lower()


class EnginePlayer(Player):
    """A player whose moves an engine chooses."""

    _engine: Engine | None = None
    #: The second half of an engine's move that is two moves of the sheet.
    _rest = ""

    def make_engine(self, board: Board) -> Engine:
        """Return the engine that plays."""
        raise NotImplementedError

    def start(self, clock: Clock) -> None:
        """Start the engine."""
        super().start(clock)
        self.abort()
        self._engine = self.make_engine(mapping_of(self.game))

    def move(self, state: State, clock: Clock) -> Term:
        """Return the move of the engine. After an error, restart it: its answer may come later."""
        legal = state.legal_moves(self.role)
        if len(legal) == 1:
            self._rest = ""
            return legal[0]
        if self._engine is None:
            self._engine = self.make_engine(mapping_of(self.game))
        moves = self._engine.board.moves(legal)
        try:
            answer = self._rest or self._engine.choose(state, clock.remaining())
        except PlayerError:
            # The next clock must not pay for the start, which can take longer than the clock.
            self._end(patience=0)
            self._engine = self.make_engine(mapping_of(self.game))
            raise
        answer, _, self._rest = answer.partition(",")
        if self._rest:
            self._rest = _SQUARE.findall(self._rest)[-1]
        if answer not in moves:
            raise PlayerError(f"the engine plays {answer}, which is no legal move here")
        return moves[answer]

    def stop(self, goals: Mapping[Role, int | None]) -> None:
        """End the engine."""
        self.abort()

    def abort(self) -> None:
        """End the engine."""
        self._end()

    def _end(self, patience: float = _PATIENCE) -> None:
        if self._engine is not None:
            self._engine.end(patience)
        self._engine, self._rest = None, ""


class FairyStockfish(EnginePlayer):
    """A player that asks Fairy-Stockfish, with one thread and its classical evaluation.

    Args:
        seed: unused; with ``nodes``, every match has the same moves.
        nodes: maximum number of states searched per move; None if only the clock limits the search.
        command: the program, and its arguments.

    Raises:
        PlayerError: a number is out of range, or the program does not exist.
    """

    def __init__(
        self, seed: int | None = None, *, nodes: int | None = None, command: str = "fairy-stockfish"
    ) -> None:
        super().__init__(seed)
        check_option("nodes", nodes, 1)
        self.nodes, self._command = nodes, command

    def make_engine(self, board: Board) -> Engine:
        """Return the engine that plays."""
        engine = UciEngine(self._command, board)
        engine.nodes = self.nodes
        return engine


class Rhino(EnginePlayer):
    """A player that asks Rhino, an engine for Othello. ``level``, not the clock, limits the search.

    Args:
        seed: unused.
        level: determines the depth of the search; from 1 to 5.
        command: the program, and its arguments.

    Raises:
        PlayerError: the level is out of range, or the program does not exist.
    """

    def __init__(self, seed: int | None = None, *, level: int = 3, command: str = "gtp-rhino") -> None:
        super().__init__(seed)
        check_option("level", level, 1, 5)
        self._command = f"{command} --level={level}"

    def make_engine(self, board: Board) -> Engine:
        """Return the engine that plays."""
        return GtpEngine(self._command, board)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the rules of a sheet with the rules of the engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sheet", help="the sheet to compare")
    parser.add_argument("--protocol", choices=_ENGINES, default="uci", help="protocol of the engine (uci)")
    parser.add_argument("--command", help="engine, with arguments (fairy-stockfish, gtp-rhino)")
    parser.add_argument("--depth", type=some_count, default=3, help="maximum length of counted sequences (3)")
    parser.add_argument("--matches", type=some_count, default=1, help="number of random matches (1)")
    given = parser.parse_args(arguments)
    game = anygame.load(given.sheet)
    make, command = _ENGINES[given.protocol]
    try:
        engine = make(given.command or command, mapping_of(game))
        try:
            if isinstance(engine, UciEngine) and not _agree(game, engine, given.depth):
                return 1
            return 0 if _follow(game, engine, given.matches) else 1
        finally:
            engine.end()
    except PlayerError as error:
        print(error, file=sys.stderr)
        return 2


#: The class of engines of each protocol, and the default program.
_ENGINES: Final[Mapping[str, tuple[type[Engine], str]]] = {
    "uci": (UciEngine, "fairy-stockfish"),
    "gtp": (GtpEngine, "gtp-rhino"),
}


def _agree(game: Game, engine: UciEngine, deepest: int) -> bool:
    """Print the number of move sequences by length, in moves of the engine; return whether they agree."""
    is_same = True
    print(f"{'depth':>5} {'sheet':>15} {'engine':>15}")
    for depth in range(1, deepest + 1):
        ours, theirs = perft(game, depth * engine.board.steps), engine.perft(depth)
        is_same = is_same and ours == theirs
        print(f"{depth:>5} {ours:>15,} {theirs:>15,}")
    return is_same


def _follow(game: Game, engine: Engine, matches: int) -> bool:
    """Compare the legal moves of all states of random matches; print their number or the first difference."""
    random, states = Random(1), 0
    for _ in range(matches):
        state, lines, name = game.initial_state(), set[str](), ""
        while not state.is_terminal and state.stuck_role is None:
            mover = engine.board.mover(state)
            joint = {str(role): random.choice(state.legal_moves(role)) for role in game.roles}
            ours = engine.board.moves(state.legal_moves(mover))
            # The engine listed the second half of its move together with the first half.
            theirs = {_SQUARE.findall(line)[-1] for line in lines if line.startswith(f"{name},")}
            if not theirs:
                lines = engine.legal(state)
                theirs = {line.partition(",")[0] for line in lines}
            if set(ours) != theirs:
                print(f"{state}\nsheet alone: {set(ours) - theirs}, engine alone: {theirs - set(ours)}")
                return False
            states += 1
            name = next((name for name, move in ours.items() if move == joint[mover]), "")
            state = state.next(list(joint.values()))
    print(f"the same moves in {states:,} states of random matches")
    return True


if __name__ == "__main__":
    sys.exit(main())
