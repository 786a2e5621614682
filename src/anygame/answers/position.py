"""Answers about one state: its facts, legal moves and goals, and the instances of a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import GoalError, QueryError
from anygame.game.joint_moves import advised, legal_by_role, read_joint
from anygame.language.parser import parse_atom
from anygame.language.rules import Atom
from anygame.language.terms import Variable, substitute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game import Game, State

#: The shapes of answers as plain data, for help texts and descriptions of tools; terms are strings in KIF.
FACTS_SHAPE: Final = '{"game", "step", "terminal", "roles": [ROLE], "facts": [FACT]}'
LEGAL_SHAPE: Final = '{"game", "step", "terminal", "legal": {ROLE: [MOVE]}}'
GOALS_SHAPE: Final = """\
{"game", "step", "terminal", "goals": {ROLE: NUMBER or null},
   "conflicts": {ROLE: [VALUE]}}
  conflicts lists the values of each role with several goals at once; the goal of such a
  role is null"""
BINDINGS_SHAPE: Final = '{"game", "step", "terminal", "pattern", "bindings": [{"?VARIABLE": TERM}]}'


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer about a state, as plain data and as lines for people."""

    data: dict[str, Any]
    texts: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Return the plain data."""
        return self.data

    def lines(self) -> Iterator[str]:
        """Yield the lines for people."""
        yield from self.texts


@dataclass(frozen=True, slots=True)
class Position:
    """A state of a game, and the number of joint moves that led to the state."""

    game: Game
    state: State
    step: int

    def to_json(self) -> dict[str, Any]:
        """Return the items with which the JSON of each answer about a state begins."""
        return {"game": self.game.name, "step": self.step, "terminal": self.state.is_terminal}

    def facts(self) -> Answer:
        """Return the facts of the state, sorted, with one fact per line."""
        facts = sorted(map(str, self.state.facts))
        return Answer(self.to_json() | {"roles": list(self.game.roles), "facts": facts}, facts)

    def legal(self, role: str | None = None) -> Answer:
        """Return the legal moves of one role or all roles, one per line. Raises UnknownRoleError."""
        moves = {str(each): list(map(str, legal)) for each, legal in legal_by_role(self.state).items()}
        texts = [f"{name} {move}" for name, legal in moves.items() for move in legal]
        if role is not None:
            only = str(self.game.roles[self.game.role_index(role)])
            moves, texts = {only: moves[only]}, moves[only]
        return Answer(self.to_json() | {"legal": moves}, texts)

    def goals(self) -> Answer:
        """Return the goal of every role, with one role per line."""
        numbers: dict[str, int | None] = {}
        conflicts: dict[str, list[str]] = {}
        texts = []
        for role in map(str, self.game.roles):
            try:
                numbers[role] = goal = self.state.goal(role)
                texts.append(f"{role} {'none' if goal is None else goal}")
            except GoalError as error:
                numbers[role], conflicts[role] = None, list(error.values)
                texts.append(f"{role} {' and '.join(error.values)} (the rules contradict each other)")
        return Answer(self.to_json() | {"goals": numbers, "conflicts": conflicts}, texts)

    def bindings(self, pattern: str, joint: str | None, advice: str) -> Answer:
        """Return the instances of a pattern that hold, with one instance per line.

        Args:
            pattern: a sentence with variables.
            joint: the joint move on which the answer depends, as text, or None.
            advice: a phrase that says how to give a joint move, for the error about a missing joint move.

        Raises:
            IllegalMoveError: the joint move is not legal.
            QueryError: the pattern cannot be queried.
        """
        made = read_joint(self.state, joint) if joint is not None else None
        try:
            bindings = sorted({tuple(sorted(found.items())) for found in self.state.query(pattern, made)})
        except QueryError as error:
            raise advised(error, advice) from error
        atom = parse_atom(pattern, case_sensitive=self.game.case_sensitive)
        texts = []
        for binding in bindings:
            values = {Variable(name.removeprefix("?")): term for name, term in binding}
            arguments = tuple(substitute(argument, values) for argument in atom.arguments)
            texts.append(str(Atom(atom.predicate, arguments)))
        rows = [{name: str(term) for name, term in binding} for binding in bindings]
        return Answer(self.to_json() | {"pattern": pattern, "bindings": rows}, texts)
