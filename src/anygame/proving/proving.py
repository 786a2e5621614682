"""Proving: what is true of a game in every match."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Final

from anygame.errors import QueryError
from anygame.proving.formula import Patience
from anygame.proving.properties import built_in, ending
from anygame.proving.prover import Prover
from anygame.proving.survey import SURVEYS, survey
from anygame.proving.verdict import Verdict, Verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from anygame.game.game import Game

#: Seconds for a property where none are given.
SECONDS: Final = 60.0


def prove(
    game: Game,
    properties: Iterable[str] = (),
    *,
    seconds: float = SECONDS,
    report: Callable[[str], None] = lambda _: None,
    found: Callable[[Verdict], None] = lambda _: None,
) -> Verdicts:
    """Prove or refute what is true of a game in every match.

    Moves of ``random`` count as moves of any other role do, so that what is proved holds for all of them.
    Ctrl-C ends it, with what is known.

    Args:
        game: the game. It needs a network.
        properties: names of built-in ones (all of a kind, as ``winnable``, or that of one role, as
            ``winnable white``), or formulas; all built-in ones by default.
        seconds: how long each may take. Another such time is spent once, on what holds in every state.
        report: called with what is being done, as a phrase.
        found: called with each verdict.

    Raises:
        LimitError: the game has no network, or one that is too large.
        MissingExtraError: the solver is not installed.
        QueryError: there is no such property, or a formula cannot be read.

    >>> import anygame
    >>> game = anygame.loads('''
    ...     (role robot) (init (at 1)) (after 1 2) (after 2 3)
    ...     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
    ...     (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
    ...     (<= terminal (true (at 3))) (goal robot 100)''')
    >>> found = prove(game, ["playable", "ends"])
    >>> found["playable"].outcome, found["ends"].claim
    ('proved', 'every match ends within 2 moves')
    """
    asked = list(properties)
    began = perf_counter()
    prover = Prover.of(game, Patience(seconds), report)
    built = list(built_in(game, prover.model, prover.sample))
    wanted = _asked(asked, [*[p.name for p in built[:1]], "ends", *[p.name for p in built[1:]], *SURVEYS])
    by_name = {p.name: p for p in [*built, ending(prover.model)]}
    verdicts: list[Verdict] = []
    interrupted = False
    try:
        for name in wanted:
            if name == "ends":
                verdict = prover.ends(seconds)
            elif name in SURVEYS:
                verdict = survey(prover, game.roles, name, seconds)
            else:
                verdict = prover.decide(by_name[name], seconds)
            verdicts.append(verdict)
            found(verdict)
    except KeyboardInterrupt:
        interrupted = True
    return Verdicts(tuple(verdicts), perf_counter() - began, interrupted)


def _asked(asked: list[str], known: list[str]) -> list[str]:
    """Return the names of properties that are asked for."""
    found: dict[str, None] = {}
    for text in asked or known:
        names = [name for name in known if text in (name, name.partition(" ")[0])]
        if not names:
            kinds = dict.fromkeys(name.partition(" ")[0] for name in known)
            raise QueryError(f"no property {text!r}; there are {', '.join(kinds)}")
        found.update(dict.fromkeys(names))
    return list(found)
