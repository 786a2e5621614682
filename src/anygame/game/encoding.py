"""Encodings: the names of numbered actions and fluents, for files that are saved with models."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import EncodingError, LimitError
from anygame.files import file_faults, read_bounded, write_whole
from anygame.language.diagnostics import shown

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from anygame.game.game import Game
    from anygame.language.terms import Term

_FORMAT: Final = "anygame encoding 1"
#: Maximum size of a file in bytes, enough for the names of a million fluents.
_LARGEST: Final = 64 << 20


@dataclass(frozen=True)
class ActionSpace:
    """The moves of a role, in the order of their numbers.

    >>> import anygame
    >>> space = anygame.load("rock_paper_scissors").batch(4).action_space("left")
    >>> space.n, [str(move) for move in space.moves], space.number("rock")
    (3, ['paper', 'rock', 'scissors'], 1)

    Attributes:
        role: the role.
        moves: the moves, sorted by text.
    """

    role: str
    moves: tuple[Term, ...]

    @classmethod
    def of(cls, game: Game, role: str | Term) -> ActionSpace:
        """Return the moves of a role of a game."""
        return cls(game.roles[game.role_index(role)], game.actions(role))

    @property
    def n(self) -> int:
        """The number of moves; the first move has number 0."""
        return len(self.moves)

    def number(self, move: str | Term) -> int:
        """Return the number of a move, given as text or as a term.

        Raises:
            ValueError: the role has no such move.
        """
        texts = list(map(str, self.moves))
        if str(move) not in texts:
            raise ValueError(f"{self.role} has no move {shown(str(move))}")
        return texts.index(str(move))


@dataclass(frozen=True)
class Encoding:
    """The names of all actions and fluents of a compiled game, in the order of their numbers.

    A trained model is valid only for the numbering with which the model was trained. Save the encoding with
    the model, and call ``check`` when you load the model.

    Attributes:
        rules: a digest of the rules; the digest ignores comments and layout.
        roles: the roles, in the order of the sheet.
        actions: the moves of each role, as text: ``game.actions(role)``.
        percepts: the percepts of each role (GDL-II), as text: ``game.percept_terms(role)``.
        fluents: the columns of an observation, as text: ``game.fluent_terms``.
    """

    rules: str
    roles: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    percepts: tuple[tuple[str, ...], ...]
    fluents: tuple[str, ...]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file.

        Raises:
            EncodingError: the file cannot be written.
        """
        content = {
            "format": _FORMAT,
            "rules": self.rules,
            "roles": self.roles,
            "actions": dict(zip(self.roles, self.actions, strict=True)),
            "percepts": dict(zip(self.roles, self.percepts, strict=True)),
            "fluents": self.fluents,
        }
        with file_faults("write", path, EncodingError):
            write_whole(Path(path), json.dumps(content, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Encoding:
        """Read a file that ``save`` wrote.

        Raises:
            EncodingError: the file does not exist or has another format.
        """
        text = read_bounded(path, _LARGEST, "an encoding of a game", EncodingError)
        try:
            return cls._read(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise EncodingError(f"{path} is not an encoding of a game ({_FORMAT!r})") from error

    @classmethod
    def _read(cls, content: Any) -> Encoding:
        if content["format"] != _FORMAT:
            raise ValueError
        roles = _texts(content["roles"])
        actions = tuple([_texts(content["actions"][role]) for role in roles])
        percepts = tuple([_texts(content["percepts"][role]) for role in roles])
        (rules,) = _texts([content["rules"]])
        return cls(rules, roles, actions, percepts, _texts(content["fluents"]))

    def check(self, game: Game) -> None:
        """Check that this is the encoding of a game.

        Raises:
            EncodingError: the rules, the roles or the numbers differ.
            LimitError: the game has no network.
        """
        own = encoding_of(game)
        if self.rules != own.rules:
            roles = f"its roles are {', '.join(self.roles)}" if self.roles != own.roles else "the roles agree"
            raise EncodingError(f"the rules of the encoding differ from those of {game.name}: {roles}")
        if self.roles != own.roles:
            raise EncodingError(
                f"the roles of {game.name} are {', '.join(own.roles)}; found {', '.join(self.roles)}"
            )
        pairs = [("fluents", self.fluents, own.fluents)]
        for place, role in enumerate(own.roles):
            pairs.append((f"actions of {role}", self.actions[place], own.actions[place]))
            pairs.append((f"percepts of {role}", self.percepts[place], own.percepts[place]))
        for kind, stored, current in pairs:
            if stored != current:
                raise EncodingError(f"{game.name}: {_difference(kind, stored, current)}")


def encoding_of(game: Game) -> Encoding:
    """Return the encoding of a game; see ``Game.encoding``."""
    try:
        percepts = [game.percept_terms(role) for role in game.roles]
    except LimitError:
        # The sheet is too large for a network that computes percepts.
        percepts = [()] * len(game.roles)
    return Encoding(
        rules_digest(game),
        tuple(map(str, game.roles)),
        tuple([tuple(map(str, game.actions(role))) for role in game.roles]),
        tuple([tuple(map(str, terms)) for terms in percepts]),
        tuple(map(str, game.fluent_terms)),
    )


def rules_digest(game: object) -> str:
    """Return a digest of the rules of a game; the digest ignores comments and layout."""
    return "sha256:" + sha256(str(game).encode()).hexdigest()


def _texts(values: Any) -> tuple[str, ...]:
    if not (isinstance(values, list) and all(isinstance(value, str) for value in values)):
        raise TypeError
    return tuple(values)


def _difference(kind: str, stored: Sequence[str], current: Sequence[str]) -> str:
    if len(stored) != len(current):
        return f"the encoding has {len(stored)} {kind}, but this version of anygame finds {len(current)}"
    number = next(index for index, pair in enumerate(zip(stored, current, strict=True)) if pair[0] != pair[1])
    return f"number {number} of the {kind} is {current[number]}; the encoding has {stored[number]}"
