"""Going on with a match from the middle.

Players who lost their part of a match cannot be told its moves again within the protocol. But a state is
all that matters of the past: the same rules with that state as the initial one are a game that every player
can be sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.game.game import loads
from anygame.language.rules import And, Atom, Literal, Not, Or, Rule

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.rules import Formula

__all__ = ["continued"]

_INIT: Final = ("init", 1)


def continued(state: State) -> Game:
    """Return the game of a state, with that state as the initial one.

    >>> import anygame
    >>> game = anygame.loads('''
    ...   (role me) (init (at 1)) (legal me go)
    ...   (<= (next (at 2)) (does me go)) (<= terminal (true (at 2)))''')
    >>> rest = continued(game.initial_state().next(["go"]))
    >>> print(rest.initial_state())
    ((at 2))
    """
    game = state.game
    former = _unused_name(game)
    rules = [Rule(Atom(_INIT[0], (fact,))) for fact in sorted(state.facts)]
    rules = [*_rules(game, former), *rules]
    return loads(
        "\n".join(map(str, rules)), name=game.name, case_sensitive=game.case_sensitive, limits=game.limits
    )


def _rules(game: Game, former: str) -> list[Rule]:
    """Return the rules without those for the initial state; where others ask for it, it has another name."""
    asked = any(_asks(formula) for rule in game.program.rules for formula in rule.body)
    found = []
    for rule in game.program.rules:
        body = tuple([_renamed(formula, former) for formula in rule.body])
        if rule.head.key != _INIT:
            found.append(replace(rule, body=body))
        elif asked:
            found.append(replace(rule, head=replace(rule.head, predicate=former), body=body))
    return found


def _asks(formula: Formula) -> bool:
    if isinstance(formula, Literal):
        return formula.atom.key == _INIT
    if isinstance(formula, Not):
        return _asks(formula.formula)
    return isinstance(formula, Or | And) and any(map(_asks, formula.formulas))


def _renamed(formula: Formula, former: str) -> Formula:
    if isinstance(formula, Literal):
        atom = formula.atom
        return Literal(replace(atom, predicate=former)) if atom.key == _INIT else formula
    if isinstance(formula, Not):
        return replace(formula, formula=_renamed(formula.formula, former))
    if isinstance(formula, Or | And):
        return replace(formula, formulas=tuple([_renamed(each, former) for each in formula.formulas]))
    return formula


def _unused_name(game: Game) -> str:
    used = {rule.head.predicate for rule in game.program.rules}
    name = "initially"
    while name in used:
        name += "_"
    return name
