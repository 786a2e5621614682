"""Answers about one state: its facts, legal moves and goals, and the instances of a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from anygame.game.joint_moves import (
    bindings_of,
    describe_goal,
    goals_of,
    instances,
    legal_by_role,
    read_joint,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.game import Game, State
    from anygame.game.joint_moves import Binding
    from anygame.language.terms import Term

#: The shapes of `to_json`, for help texts and descriptions of tools; terms are strings in KIF.
FACTS_SHAPE: Final = '{"game", "step", "terminal", "roles": [ROLE], "facts": [FACT]}'
LEGAL_SHAPE: Final = '{"game", "step", "terminal", "legal": {ROLE: [MOVE]}}'
GOALS_SHAPE: Final = """\
{"game", "step", "terminal", "goals": {ROLE: NUMBER or null},
   "conflicts": {ROLE: [VALUE]}}
  conflicts lists the values of each role with several goals at once; the goal of such a
  role is null"""
BINDINGS_SHAPE: Final = '{"game", "step", "terminal", "pattern", "bindings": [{"?VARIABLE": TERM}]}'


@dataclass(frozen=True, slots=True)
class Position:
    """A state of a game, and the number of joint moves that led to the state."""

    game: Game
    state: State
    step: int

    def to_json(self) -> dict[str, Any]:
        """Return the items that the JSON of each answer about a state begins with."""
        return {"game": self.game.name, "step": self.step, "terminal": self.state.is_terminal}

    def facts(self) -> Facts:
        """Return the facts of the state, sorted."""
        return Facts(self, tuple(sorted(map(str, self.state.facts))))

    def legal(self, role: str | None = None) -> Legal:
        """Return the legal moves of all roles, or of one. Raises UnknownRoleError."""
        moves = {str(each): legal for each, legal in legal_by_role(self.state).items()}
        if role is not None:
            only = str(self.game.roles[self.game.role_index(role)])
            moves = {only: moves[only]}
        return Legal(self, moves, is_of_one=role is not None)

    def goals(self) -> Goals:
        """Return the goal of every role."""
        return Goals(self, {str(role): goal for role, goal in goals_of(self.state).items()})

    def bindings(self, pattern: str, joint: str | None, advice: str) -> Bindings:
        """Return the instances of a pattern that hold.

        Args:
            pattern: a sentence with variables.
            joint: the joint move on which the answer depends, as text, or None.
            advice: a phrase for the error about a missing joint move, which says how to give one.

        Raises:
            IllegalMoveError: the joint move is not legal.
            QueryError: the pattern cannot be queried.
        """
        made = read_joint(self.state, joint) if joint is not None else None
        return Bindings(self, pattern, tuple(bindings_of(self.state, pattern, made, advice)))


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a state."""

    at: Position
    facts: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain data of the shape `FACTS_SHAPE`."""
        return self.at.to_json() | {"roles": list(self.at.game.roles), "facts": list(self.facts)}

    def lines(self) -> Iterator[str]:
        """Yield one fact a line."""
        yield from self.facts


@dataclass(frozen=True, slots=True)
class Legal:
    """The legal moves of all roles, or of one role if ``is_of_one``."""

    at: Position
    moves: Mapping[str, Sequence[Term]]
    is_of_one: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain data of the shape `LEGAL_SHAPE`."""
        return self.at.to_json() | {"legal": {role: list(map(str, of)) for role, of in self.moves.items()}}

    def lines(self) -> Iterator[str]:
        """Yield one move a line, after its role unless ``is_of_one``."""
        for role, moves in self.moves.items():
            yield from (str(move) if self.is_of_one else f"{role} {move}" for move in moves)


@dataclass(frozen=True, slots=True)
class Goals:
    """The goal of each role: a number, None without a goal, or the values of a conflict."""

    at: Position
    goals: Mapping[str, int | tuple[str, ...] | None]

    @property
    def numbers(self) -> dict[str, int | None]:
        """The goals as numbers, with None for a missing goal or a conflict."""
        return {role: None if isinstance(goal, tuple) else goal for role, goal in self.goals.items()}

    def to_json(self) -> dict[str, Any]:
        """Return plain data of the shape `GOALS_SHAPE`."""
        conflicts = {role: list(goal) for role, goal in self.goals.items() if isinstance(goal, tuple)}
        return self.at.to_json() | {"goals": self.numbers, "conflicts": conflicts}

    def lines(self) -> Iterator[str]:
        """Yield one role a line."""
        yield from (f"{role} {describe_goal(goal)}" for role, goal in self.goals.items())


@dataclass(frozen=True, slots=True)
class Bindings:
    """The values of the variables of a pattern for which the pattern holds."""

    at: Position
    pattern: str
    bindings: tuple[Binding, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain data of the shape `BINDINGS_SHAPE`."""
        bindings = [{f"?{name}": str(term) for name, term in binding} for binding in self.bindings]
        return self.at.to_json() | {"pattern": self.pattern, "bindings": bindings}

    def lines(self) -> Iterator[str]:
        """Yield one instance of the pattern a line."""
        yield from instances(self.at.game, self.pattern, self.bindings)
