"""Exports of games for other programs: model checkers, answer set solvers, Graphviz.

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

#: Maximum depth of an answer set program.
_MOST_STEPS: Final = 10_000
_BEST: Final = 100

#: The output formats, each with its options.
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
    """Return a game in the input language of another program.

    Args:
        game: the game.
        form: the output format, a key of ``FORMS``, which lists the options of each format.
        depth: for ``asp`` (required), maximum number of joint moves of a match, 0 or more.
        role: for ``asp``, the role that must reach ``goal`` (default: the first role).
        goal: for ``asp``, the lowest final goal of the role, from 0 to 100. By default, answers include
            matches with any goal, and matches that do not end.

    Raises:
        LimitError: the game has no network, or the result is too large.
        UnknownRoleError: the game has no such role.
        ValueError: the format is unknown, or an argument is missing, out of range or not for this format.
    """
    if form not in FORMS:
        raise ValueError(f"expected one of the formats {', '.join(FORMS)}, found {form!r}")
    for name, value in {"depth": depth, "role": role, "goal": goal}.items():
        if value is not None and name not in FORMS[form]:
            raise ValueError(f"the format {form} has no option {name}")
    if form == "dot":
        return game.backends.needed_network().picture()
    if form == "aiger":
        return aiger_text(_model(game))
    if depth is None:
        raise ValueError(f"the format {form} needs a depth: the maximum number of joint moves")
    if depth < 0 or (goal is not None and not 0 <= goal <= _BEST):
        raise ValueError("expected a depth of at least 0, and a goal from 0 to 100")
    if role is not None and goal is None:
        raise ValueError("the option role needs the option goal")
    if depth > _MOST_STEPS:
        raise LimitError(f"the depth is {depth:,}, above the limit of {_MOST_STEPS:,}", "depth", _MOST_STEPS)
    index = 0 if role is None else game.role_index(role)
    return asp_text(game.program, depth, game.backends.reasoner.roles[index], goal)


def binary_aiger(game: Game) -> bytes:
    """Return a game in the binary format of AIGER.

    Raises:
        LimitError: the game has no network, or the network is too large.
    """
    return aiger_bytes(_model(game))


def _model(game: Game) -> Model:
    return Model(game.backends.needed_network().compiled)
