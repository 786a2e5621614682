"""What every role (or every pile) has at the start, and one has no more: a value that no rule kept."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import shown
from anygame.language.rules import Atom, Literal
from anygame.language.terms import Compound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.source import Span
    from anygame.language.terms import Term

__all__ = ["LostValues", "functor_of"]

#: So many things that lose their values at one move did not do so by being moved themselves.
_MANY: Final = 3

Functor = tuple[str, int]


class LostValues:
    """Finds values that go although the game goes on.

    A fluent gives values where, at the start, one fact has each of its first arguments: ``(score x 0)`` and
    ``(score o 0)``. Where these are the roles, each has its value until the end; where they are others, most
    of them keep theirs at the first move.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._values: dict[Functor, dict[Term, Term]] = {}
        self._of_roles: set[Functor] = set()
        found: dict[Functor, list[Compound]] = defaultdict(list)
        for fact in sorted(game.initial_state().facts):
            if isinstance(fact, Compound) and len(fact.arguments) > 1:
                found[fact.functor, len(fact.arguments)].append(fact)
        roles = {role.term for role in game.roles if not role.is_random}
        for functor, facts in found.items():
            values = {fact.arguments[0]: fact for fact in facts}
            is_of_roles = values.keys() == roles and len(roles) > 1
            if len(values) == len(facts) and (is_of_roles or len(facts) >= _MANY):
                self._values[functor] = dict(values)
                if is_of_roles:
                    self._of_roles.add(functor)

    def faults(self, state: State, moves: int) -> Iterator[tuple[str, str, str, Span | None]]:
        """Yield code, key, message and span of what has no value in a state after some joint moves."""
        if state.is_terminal or not moves or not self._values:
            return
        held = {
            ((fact.functor, len(fact.arguments)), fact.arguments[0])
            for fact in state.facts
            if isinstance(fact, Compound) and len(fact.arguments) > 1
        }
        for functor, values in self._values.items():
            lost = [key for key in values if (functor, key) not in held]
            most = 1 if functor in self._of_roles else max(_MANY, len(values) // 2 + 1)
            if len(lost) >= most and (moves == 1 or functor in self._of_roles):
                pattern = f"({functor[0]} {lost[0]}{' ?' * (functor[1] - 1)})"
                first = shown(str(values[lost[0]]))
                message = (
                    f"nothing says any more what {shown(pattern)} is: {first} was true, and no rule kept it"
                )
                yield "lost-value", functor[0], message, self._span(functor)

    def _span(self, functor: Functor) -> Span | None:
        """Return the place of the `next` that should have kept a fluent, or of another one."""
        rules = [rule for rule in self._game.program.rules if rule.head.predicate == "next"]
        same = [rule for rule in rules if functor_of(rule.head.arguments[0]) == functor]
        keeping = [rule for rule in same if Literal(Atom("true", rule.head.arguments)) in rule.body]
        return next((rule.head.span for rule in [*keeping, *same]), None)


def functor_of(term: Term) -> Functor | None:
    """Return name and number of arguments of a compound term."""
    return (term.functor, len(term.arguments)) if isinstance(term, Compound) else None
