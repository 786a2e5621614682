"""A session at a prompt: a game with its past moves and undone moves, which can be saved to a file."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError, PositionError
from anygame.files import file_faults, read_bounded, write_whole
from anygame.game.encoding import rules_digest
from anygame.game.joint_moves import legal_by_role, play_text
from anygame.language.parser import parse_term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term

_FORMAT: Final = "anygame position"
_VERSION: Final = 1
_FILE_LIMIT: Final = 16 * 2**20
_MOVES_LIMIT: Final = 100_000

Joint = tuple["Term", ...]


class Session:
    """A game at a prompt: its states so far, the joint moves between them, and a random generator."""

    def __init__(self, game: Game, seed: int | None = None) -> None:
        self.game = game
        self.seed = random.SystemRandom().randrange(2**32) if seed is None else seed
        self.states: list[State] = [game.initial_state()]
        self.moves: list[Joint] = []
        self._undone: list[tuple[Joint, State]] = []
        self._random = random.Random(self.seed)

    @property
    def state(self) -> State:
        return self.states[-1]

    @property
    def step(self) -> int:
        return len(self.moves)

    def play(self, text: str, *, is_spoken: bool = False) -> Joint:
        """Play a typed joint move (see `anygame.game.joint_moves.read_joint`).

        A missing move of ``random`` is sampled. After IllegalMoveError or TermSyntaxError, the
        session is unchanged.
        """
        state, joint = play_text(self.state, text, self._random.choice, is_spoken=is_spoken)
        self._advance(joint, state)
        return joint

    def play_joint(self, joint: Joint) -> None:
        """Play a joint move. After IllegalMoveError, the session is unchanged."""
        self._advance(joint, self.state.next(joint))

    def draw(self, moves: Sequence[Term]) -> Term:
        return self._random.choice(moves)

    def play_random(self) -> Joint:
        legal = legal_by_role(self.state)
        sampled = " ".join(str(self._random.choice(moves)) for moves in legal.values() if moves)
        return self.play(sampled)

    def undo(self, count: int = 1) -> int:
        """Take back up to ``count`` joint moves, and return the number taken back."""
        taken = min(count, len(self.moves))
        for _ in range(taken):
            self._undone.append((self.moves.pop(), self.states.pop()))
        return taken

    def redo(self, count: int = 1) -> int:
        played = min(count, len(self._undone))
        for _ in range(played):
            joint, state = self._undone.pop()
            self.moves.append(joint)
            self.states.append(state)
        return played

    def _advance(self, joint: Joint, state: State) -> None:
        self.moves.append(joint)
        self.states.append(state)
        self._undone.clear()

    def save(self, path: str) -> None:
        """Write the moves so far to a file. Raises PositionError for an existing file of another kind."""
        if Path(path).exists():
            try:
                _record(path)
            except PositionError as error:
                raise PositionError(
                    f"{path} exists and is not a saved position; choose another name"
                ) from error
        record = {
            "format": _FORMAT,
            "version": _VERSION,
            "game": self.game.name,
            "rules": rules_digest(self.game),
            "moves": [[str(move) for move in joint] for joint in self.moves],
            "facts": sorted(map(str, self.state.facts)),
        }
        with file_faults("write", path, PositionError):
            write_whole(Path(path), json.dumps(record, indent=1) + "\n")

    def load(self, path: str) -> None:
        """Continue from a saved file. After PositionError, the session is unchanged."""
        record = _record(path)
        if record["rules"] != rules_digest(self.game):
            raise PositionError(
                f"{path} is a position of {_quoted(record.get('game'))}, "
                f"whose rules differ from the rules of {self.game.name}"
            )
        states, moves = self._replayed(path, record["moves"])
        if sorted(map(str, states[-1].facts)) != record["facts"]:
            raise PositionError(f"{path} is damaged: its moves do not lead to its state")
        self.states, self.moves, self._undone = states, moves, []

    def _replayed(self, path: str, saved: Sequence[Sequence[str]]) -> tuple[list[State], list[Joint]]:
        states, moves = [self.game.initial_state()], list[Joint]()
        for number, joint in enumerate(saved, start=1):
            if states[-1].is_terminal:
                raise PositionError(f"{path} is damaged: the game is over before move {number}")
            try:
                states.append(states[-1].next(joint))
                moves.append(
                    tuple(parse_term(move, case_sensitive=self.game.case_sensitive) for move in joint)
                )
            except AnygameError as error:
                raise PositionError(f"{path} is damaged: move {number} cannot be played: {error}") from error
        return states, moves


def _record(path: str) -> dict[str, Any]:
    data = read_bounded(path, _FILE_LIMIT, "a saved position", PositionError)
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PositionError(f"{path} is not a saved position: invalid JSON ({error})") from error
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        raise PositionError(f'{path} is not a saved position: expected "format": "{_FORMAT}"')
    if record.get("version") != _VERSION:
        raise PositionError(
            f"{path} has version {_quoted(record.get('version'))} of the format, expected version {_VERSION}"
        )
    moves, facts = record.get("moves"), record.get("facts")
    if not (isinstance(moves, list) and all(_is_strings(joint) for joint in moves) and _is_strings(facts)):
        raise PositionError(
            f'{path} is damaged: expected "moves", lists of strings, and "facts", a list of strings'
        )
    if len(moves) > _MOVES_LIMIT:
        raise PositionError(f"{path} has {len(moves):,} moves; the limit is {_MOVES_LIMIT:,}")
    return record | {"rules": record.get("rules")}


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _quoted(value: object) -> str:
    return repr(value)[:60]
