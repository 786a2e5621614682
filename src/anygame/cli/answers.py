"""Answers as people read them: goals, and the instances of a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.errors import GoalError
from anygame.language.parser import parse_atom
from anygame.language.rules import Atom
from anygame.language.terms import Term, Variable, substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State

#: The goal of every role: a number, None where the rules give none, or several that contradict each other.
Goals = dict["Role", "int | tuple[str, ...] | None"]
#: Names of variables without question marks, and their values.
Binding = tuple[tuple[str, Term], ...]


def goals_of(state: State) -> Goals:
    """Return the goals of a state; in states that are not final, rules often give none or several."""
    goals: Goals = {}
    for role in state.game.roles:
        try:
            goals[role] = state.goal(role)
        except GoalError as error:
            goals[role] = error.values
    return goals


def describe_goal(value: int | tuple[str, ...] | None) -> str:
    """Return a goal as people read it."""
    if isinstance(value, tuple):
        return f"{' and '.join(value)} (the rules contradict each other)"
    return "none" if value is None else str(value)


def bare(binding: Mapping[str, Term]) -> Binding:
    """Return the bindings of variables, by names without question marks, in order of the names."""
    return tuple(sorted((name.removeprefix("?"), term) for name, term in binding.items()))


def instances(game: Game, pattern: str, bindings: Iterable[Binding]) -> Iterator[str]:
    """Yield a pattern with its variables replaced, for every binding."""
    atom = parse_atom(pattern, case_sensitive=game.case_sensitive)
    for binding in bindings:
        values = {Variable(name): term for name, term in binding}
        yield str(Atom(atom.predicate, tuple(substitute(argument, values) for argument in atom.arguments)))
