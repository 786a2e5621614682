"""Turns that play shows to be broken: who moves though another has the turn, and a turn that nobody has.

Who has the turn is said by a fluent that at the start is true of one role, such as ``(control white)``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from anygame.doctor.play.blame import rule_behind
from anygame.doctor.play.fault import Fault
from anygame.errors import QueryError
from anygame.language.diagnostics import shown
from anygame.language.rules import Atom
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.finding import Line
    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.source import Span
    from anygame.language.terms import Term

#: Moves after which waiting is no end of a round.
_MOST_WAITED: Final = 4


class Turns:
    """Finds moves of those who wait, and states in which all wait for each other.

    There are turns where at the start one fluent is true of one role, no other fluent is so of one, and the
    other roles can only wait, or could if they had not moves as well: a move without arguments is waiting.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._roles = {role.term: role for role in game.roles if not role.is_random}
        self._fluent = _turn_fluent(game) if len(self._roles) > 1 else ""

    def faults(self, state: State, _line: Line) -> Iterator[Fault]:
        """Yield what is wrong with the turn in a state that goes on."""
        if not self._fluent or state.is_terminal or state.stuck_role is not None:
            return
        owners = [owner for fact in state.facts if (owner := self._owner(fact)) is not None]
        if len(owners) == 1:
            yield from self._out_of_turn(state, owners[0])
        elif not owners and _waits_on(state):
            message = (
                f"nobody has the turn here, all can only wait: no {shown(f'({self._fluent} ?)')} is true"
            )
            hint = "a `next` for whose turn it is after each move"
            yield Fault("lost-value", self._fluent, message, self._writer, hint)

    def _owner(self, fact: Term) -> Term | None:
        """Return the role that a fact gives the turn to, if it does."""
        is_turn = isinstance(fact, Compound) and fact.functor == self._fluent and len(fact.arguments) == 1
        return fact.arguments[0] if is_turn and isinstance(fact, Compound) else None

    def _out_of_turn(self, state: State, owner: Term) -> Iterator[Fault]:
        for term, role in self._roles.items():
            if term is owner:
                continue
            moves = state.legal_moves(role)
            waits = [move for move in moves if isinstance(move, Constant)]
            others = [move for move in moves if isinstance(move, Compound)]
            if waits and others:
                turn = f"({self._fluent} {owner})"
                message = (
                    f"{role} can {waits[0]} here, as {turn} is true, and {shown(str(others[0]))} as well"
                )
                hint = f"a condition such as (true ({self._fluent} {term}))"
                span = partial(self._allowing, state, role, others[0])
                yield Fault("out-of-turn", others[0].functor, message, span, hint)

    def _allowing(self, state: State, role: Role, move: Term) -> Span | None:
        """Return the place of the rule that allows a move, or of what it only hands on."""
        try:
            derivation = state.explain(Atom("legal", (role.term, move)))
        except QueryError:
            return None
        found = rule_behind(derivation, self._game.program)
        return found.span if found else None

    def _writer(self) -> Span | None:
        """Return the place of the first `next` that hands on the turn."""
        heads = [rule.head for rule in self._game.program.rules if rule.head.key == ("next", 1)]
        return next((head.span for head in heads if self._is_of_turn(head.arguments[0])), None)

    def _is_of_turn(self, term: Term) -> bool:
        return isinstance(term, Compound) and (term.functor, len(term.arguments)) == (self._fluent, 1)


def _turn_fluent(game: Game) -> str:
    """Return the name of the one fluent that says whose turn it is; nothing where there is none."""
    roles = {role.term for role in game.roles if not role.is_random}
    found = [
        fact.functor
        for fact in game.initial_state().facts
        if isinstance(fact, Compound) and len(fact.arguments) == 1 and fact.arguments[0] in roles
    ]
    return found[0] if len(found) == 1 else ""


def _waits_on(state: State) -> bool:
    """Return whether all roles wait in a state, and in those that follow: a round may end by waiting once."""
    for _ in range(_MOST_WAITED):
        if state.is_terminal or not all(_only_waits(state, role) for role in state.game.roles):
            return False
        state = state.next([state.legal_moves(role)[0] for role in state.game.roles])
    return not state.is_terminal


def _only_waits(state: State, role: Role) -> bool:
    moves = state.legal_moves(role)
    return len(moves) == 1 and isinstance(moves[0], Constant)
