"""Names of a game in the languages of other programs: one for each term, and no two the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from anygame.language.terms import Compound, Constant, Term

if TYPE_CHECKING:
    from anygame.proving.model import Model

#: Characters of names that stand for themselves beside letters and digits; none of them has a meaning below.
_PLAIN: Final = "+-*/<>=!?&|^@$#:'\"_.~"


def fluents_of(model: Model) -> list[Term]:
    """Return ``(true FACT)`` for each fluent."""
    return [Compound("true", (fact,)) for fact in model.fluents]


def actions_of(model: Model, relation: str) -> list[Term]:
    """Return ``(relation ROLE MOVE)`` for each action, role after role."""
    return [
        Compound(relation, (role, move))
        for role, moves in zip(model.roles, model.actions, strict=True)
        for move in moves
    ]


def outputs_of(model: Model) -> list[tuple[Term, int]]:
    """Return what the rules say of a state, ``legal``, ``terminal`` and ``goal``, each with its literal."""
    return [
        *zip(actions_of(model, "legal"), model.legal, strict=True),
        (Constant("terminal"), model.terminal),
        *(
            (Compound("goal", (role, Constant(str(value)))), literal)
            for role, values in zip(model.roles, model.goals, strict=True)
            for value, literal in values
        ),
    ]


def without_blanks(term: Term) -> str:
    """Return a term as ``true(cell(1,1,b))``; what is not usual in names is percent-coded."""
    if isinstance(term, Compound):
        return f"{quote(term.functor, _PLAIN)}({','.join(map(without_blanks, term.arguments))})"
    return quote(str(term), _PLAIN)


class Identifiers:
    """Names of letters, digits and underscores: ``true_cell_1_1_b``, with a number where it is taken."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def new(self, text: str) -> str:
        """Return a name that was not given before."""
        name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
        while True:
            count = self._taken[name] = self._taken.get(name, 0) + 1
            if count == 1:
                return name
            name = f"{name}_{count}"
