"""Games for other programs: model checkers, answer set solvers, Graphviz.

>>> import anygame
>>> from anygame.proving.exports import export_text
>>> export_text(anygame.load("tic_tac_toe"), "aiger").splitlines()[0]
'aag 346 20 30 0 296 3'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError
from anygame.proving.exports.aiger import aiger_bytes, aiger_text
from anygame.proving.exports.asp import asp_text
from anygame.proving.model import Model

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.language.terms import Term

__all__ = ["FORMS", "binary_aiger", "export_text"]

#: Maximum number of steps that are written.
_MOST_STEPS: Final = 10_000
_BEST: Final = 100

#: The forms, each with the options that its writer takes.
FORMS: Final[dict[str, frozenset[str]]] = {
    "aiger": frozenset(),
    "dot": frozenset(),
    "asp": frozenset(("depth", "role", "goal")),
}


def export_text(
    game: Game,
    form: str,
    *,
    depth: int | None = None,
    role: str | Term | None = None,
    goal: int | None = None,
) -> str:
    """Return a game in the language of other programs.

    Args:
        game: the game.
        form: one of ``FORMS``, which lists the options of each form.
        depth: maximum number of joint moves, from 0; required by the forms that have this option.
        role: the role that is to reach the goal; by default the first role.
        goal: the lowest goal that counts, from 0 to 100; by default, plays may have any goal or no end.

    Raises:
        LimitError: the game has no network, or there is too much to write.
        UnknownRoleError: the game has no such role.
        ValueError: there is no such form; an argument is missing, out of range or not for this form.
    """
    if form not in FORMS:
        raise ValueError(f"a form is one of {', '.join(FORMS)}, not {form!r}")
    for name, value in {"depth": depth, "role": role, "goal": goal}.items():
        if value is not None and name not in FORMS[form]:
            raise ValueError(f"{form} takes no {name}")
    if form == "dot":
        return game.backends.needed_network().picture()
    if form == "aiger":
        return aiger_text(_model(game))
    if depth is None:
        raise ValueError(f"{form} needs a depth: how many joint moves there are at most")
    if depth < 0 or (goal is not None and not 0 <= goal <= _BEST):
        raise ValueError("a depth is a number from 0, and a goal one from 0 to 100")
    if role is not None and goal is None:
        raise ValueError("asp takes a role together with a goal")
    if depth > _MOST_STEPS:
        raise LimitError(
            f"the depth is {depth:,}, and {_MOST_STEPS:,} steps are written at most", "depth", _MOST_STEPS
        )
    index = 0 if role is None else game.role_index(role)
    return asp_text(game.program, depth, game.backends.reasoner.roles[index], goal)


def binary_aiger(game: Game) -> bytes:
    """Return a game in the binary form of AIGER.

    Raises:
        LimitError: the game has no network, or it is too large.
    """
    return aiger_bytes(_model(game))


def _model(game: Game) -> Model:
    return Model(game.backends.needed_network().compiled)
