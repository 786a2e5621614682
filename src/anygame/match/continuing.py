"""Going on with a match from the middle.

Players who lost their part of a match cannot be sent its moves again within the protocol. But a state is
all that matters of the past: the same rules with that state as the initial one are a game that every player
can be sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.game.loading import loads
from anygame.language.rules import Atom, Rule, atoms_in, map_atoms

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.rules import Program

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
    former = _unused_name(game.program)
    rules = [Rule(Atom(_INIT[0], (fact,))) for fact in sorted(state.facts)]
    rules = [*_rules(game.program, former), *rules]
    return loads(
        "\n".join(map(str, rules)), name=game.name, case_sensitive=game.case_sensitive, limits=game.limits
    )


def _rules(program: Program, former: str) -> list[Rule]:
    """Return the rules without those for the initial state; where others ask for it, it has another name."""
    asked = any(atom.key == _INIT for rule in program.rules for atom, _ in atoms_in(rule.body))

    def renamed(atom: Atom) -> Atom:
        return replace(atom, predicate=former) if atom.key == _INIT else atom

    found = []
    for rule in program.rules:
        body = tuple([map_atoms(formula, renamed) for formula in rule.body])
        if rule.head.key != _INIT:
            found.append(replace(rule, body=body))
        elif asked:
            found.append(replace(rule, head=replace(rule.head, predicate=former), body=body))
    return found


def _unused_name(program: Program) -> str:
    used = {rule.head.predicate for rule in program.rules}
    name = "initially"
    while name in used:
        name += "_"
    return name
