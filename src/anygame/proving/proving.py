"""Entry points of the provers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache, partial
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import LimitError, MissingExtraError, QueryError
from anygame.game.machine import reason_of
from anygame.language.diagnostics import shown
from anygame.markup import html
from anygame.progress import reporting
from anygame.proving.verdict import SURVEYS, Verdict, Verdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anygame.game.game import Game
    from anygame.proving.formulas import FormulaGame, TemporalFormula
    from anygame.proving.model import Model
    from anygame.proving.properties import Property
    from anygame.proving.prover import Prover


#: Default time limit of a property in seconds.
SECONDS: Final = 60.0
#: Maximum number of games whose facts are cached.
_KEPT: Final = 16
#: Maximum number of gates of a game whose facts are proved. Proofs of larger games can take seconds.
_MOST_GATES: Final = 1_000
#: Maximum number of solver conflicts for all facts about a game.
_CONFLICTS: Final = 10_000


def prove(
    game: Game,
    properties: Iterable[str] = (),
    *,
    seconds: float = SECONDS,
    report: Callable[[str], None] | None = None,
) -> Verdicts:
    """Prove or refute properties of all matches of a game.

    Proofs cover all moves of all roles, including ``random``. Ctrl-C ends the search; the verdicts so far are
    returned.

    Args:
        game: the game. Without a network, all properties stay open.
        properties: names of built-in properties, for all roles (``winnable``) or one role
            (``winnable white``), and formulas, such as ``(never (and (line x) (line o)))``. By default, all
            built-in properties.
        seconds: time limit for each property. Once per game, learning the invariant takes up to the same time
            again.
        report: called with each activity, as a phrase. By default, a notebook shows the phrase.

    Raises:
        LimitError: the rules of a formula exceed a limit on their size.
        MissingExtraError: the solver is not installed.
        QueryError: a property is unknown, or a formula does not fit this game.
        TermSyntaxError: a formula cannot be parsed.

    >>> import anygame
    >>> game = anygame.loads('''
    ...     (role robot) (init (at 1)) (after 1 2) (after 2 3)
    ...     (<= (legal robot go) (true (at ?x)) (after ?x ?y))
    ...     (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
    ...     (<= terminal (true (at 3))) (goal robot 100)''')
    >>> found = prove(game, ["playable", "ends", "(never (true (at 3)))"])
    >>> found["playable"].outcome, found["ends"].claim
    ('proved', 'every match ends within 2 moves')
    >>> [str(move) for joint in found["(never (true (at 3)))"].match for move in joint]
    ['go', 'go']
    """
    began = perf_counter()
    verdicts: list[Verdict] = []
    interrupted = False
    try:
        with reporting(report, html) as doing:
            asked = each_verdict(game, properties, seconds=seconds, report=doing or (lambda _: None))
            verdicts.extend(asked)
    except KeyboardInterrupt:
        interrupted = True
    return Verdicts(tuple(verdicts), perf_counter() - began, interrupted)


def equal(
    first: Game,
    second: Game,
    *,
    moves: str = "",
    up_to: int | None = None,
    seconds: float = SECONDS,
    report: Callable[[str], None] | None = None,
) -> Verdict:
    """Return whether two games are the same, or a match in which they differ.

    Args:
        first: the first game.
        second: the second game.
        moves: maps moves of the first game to moves of the second game. Each pair of terms can have common
            variables: ``(mark ?x ?y) (place ?y ?x)``. Moves that match no pair keep their names.
        up_to: maximum number of joint moves of the compared matches. By default, all matches are compared.
        seconds: time limit.
        report: called with each activity, as a phrase. By default, a notebook shows the phrase.

    Raises:
        MissingExtraError: the solver is not installed.
        QueryError: the games have different roles, or the map is invalid.
        ValueError: ``up_to`` is negative.

    >>> import anygame
    >>> rules = "(role robot) (legal robot go) (<= terminal (true done)) (goal robot {}) (<= (next done) {})"
    >>> one = anygame.loads(rules.format(100, "(does robot go)"))
    >>> other = anygame.loads(rules.format(100, "(role robot)"))
    >>> equal(one, other).outcome
    'proved'
    >>> found = equal(one, anygame.loads(rules.format(50, "(role robot)")))
    >>> found.outcome, found.note
    ('refuted', 'robot has goal 100 in the first sheet, and goal 50 in the second')
    """
    from anygame.proving.equality import compared

    if up_to is not None and up_to < 0:
        raise ValueError(f"expected a number of moves, 0 or more, found {up_to}")
    began = perf_counter()
    with reporting(report, html) as doing:
        verdict = compared(first, second, moves, up_to, seconds, doing or (lambda _: None))
    return replace(verdict, seconds=perf_counter() - began)


def each_verdict(
    game: Game,
    properties: Iterable[str] = (),
    *,
    seconds: float = SECONDS,
    report: Callable[[str], None] = lambda _: None,
) -> Iterator[Verdict]:
    """Yield the verdict about each property as soon as the verdict is reached; see ``prove``."""
    from anygame.proving.formulas import read_formulas

    asked = list(properties)
    formulas = [text for text in asked if text.lstrip().startswith("(")]
    # Malformed formulas are rejected before anything is proved.
    read = read_formulas(game, formulas) if formulas else None
    names = _asked([text for text in asked if text not in formulas], game) if asked else _known(game)
    if names:
        yield from _built_in(game, names, seconds, report)
    if read is not None:
        # If a game has no network, adding rules for formulas cannot give the game a network.
        prover = _prover(read.game if game.fallback is None else game, seconds, report)
        yield from _of_formulas(read, prover, seconds)


def _prover(game: Game, seconds: float, report: Callable[[str], None]) -> Prover | str:
    """Return the prover of a game, or the reason why no prover exists."""
    from anygame.proving.patience import Patience
    from anygame.proving.prover import Prover

    if game.fallback is not None:
        return f"the game cannot be compiled: {reason_of(game.fallback)}"
    report("compiling")
    try:
        return Prover.of(game, Patience(seconds), report)
    except LimitError as error:
        return error.message
    except MemoryError:
        return "there is not enough memory for the network"


def _claim(name: str) -> str:
    from anygame.proving.properties import CLAIMS

    return {**CLAIMS, **SURVEYS}.get(name, name)


def _not_searched(name: str, why: str) -> Verdict:
    return Verdict(name, _claim(name), "open", note=f"no proof was attempted: {why}")


def _built_in(
    game: Game, names: list[str], seconds: float, report: Callable[[str], None]
) -> Iterator[Verdict]:
    from anygame.proving.properties import built_in
    from anygame.proving.survey import survey

    prover = _prover(game, seconds, report)
    if isinstance(prover, str):
        yield from (_not_searched(name, prover) for name in names)
        return
    by_name = {each.name: each for each in built_in(game, prover.model, prover.sample)}

    def verdict(name: str) -> Verdict:
        if name == "ends":
            return prover.ends(seconds)
        if name in by_name:
            return prover.decide(by_name[name], seconds)
        listed = survey(prover, game.roles, name, seconds)
        return _with_rules(listed, game, seconds, report) if name == "dead" else listed

    for name in names:
        claim = by_name[name].claim if name in by_name else _claim(name)
        yield _or_open(name, claim, partial(verdict, name))


def _of_formulas(read: FormulaGame, prover: Prover | str, seconds: float) -> Iterator[Verdict]:
    for formula in read.formulas:
        if isinstance(prover, str):
            verdict = _not_searched(formula.text, prover)
        else:
            wanted = _property(formula, prover.model)
            verdict = _or_open(wanted.name, wanted.claim, partial(prover.decide, wanted, seconds))
        yield replace(verdict, note="\n".join(filter(None, [verdict.note, *formula.doubts])))


def _or_open(name: str, claim: str, verdict: Callable[[], Verdict]) -> Verdict:
    try:
        return verdict()
    except MemoryError:
        note = "there is not enough memory"
    except LimitError as error:
        note = error.message
    return Verdict(name, claim, "open", note=note)


def _with_rules(verdict: Verdict, game: Game, seconds: float, report: Callable[[str], None]) -> Verdict:
    from anygame.proving.survey import firings

    began, lines, undecided = perf_counter(), [], 0
    for rule, outcome in firings(game, seconds, report):
        undecided += outcome == "open"
        if outcome == "proved":
            place = f"the rule at {rule.span.place}" if rule.span else "this rule"
            lines.append(f"{place} never fires: {rule}")
    more = f"undecided for {undecided} rule{'s' * (undecided > 1)}" if undecided else ""
    return replace(
        verdict,
        outcome="open" if undecided else verdict.outcome,
        found=(*lines, *verdict.found),
        note="; ".join(filter(None, [verdict.note, more])),
        seconds=verdict.seconds + perf_counter() - began,
    )


def _property(formula: TemporalFormula, model: Model) -> Property:
    from anygame.proving.properties import Property

    def note_of(*last: Any) -> str:
        values = [f"{name} = {term}" for name, term in formula.instances(*last)[0].items()]
        return f"for {', '.join(values)}" if values else ""

    return Property(
        formula.text,
        formula.text,
        formula.bad(model),
        lambda *last: bool(formula.instances(*last)),
        to_be_reached=formula.is_to_be_reached,
        note_of=note_of,
    )


def _known(game: Game) -> list[str]:
    winnable = [f"winnable {role}" for role in game.roles if not role.is_random]
    return ["playable", "ends", "goals", "turn-taking", "zero-sum", *winnable, *SURVEYS]


def _asked(asked: list[str], game: Game) -> list[str]:
    possible = _known(game)
    kinds = list(dict.fromkeys(name.partition(" ")[0] for name in possible))
    chosen: dict[str, None] = {}
    for text in asked:
        names = [name for name in possible if text in (name, name.partition(" ")[0])]
        if not names:
            alike = [name for name in possible if name.partition(" ")[0] == text.partition(" ")[0]]
            near = alike or get_close_matches(text, [*possible, *kinds], 1)
            meant = f"; did you mean {' or '.join(near)}?" if near else "."
            problem = f"there is no property {shown(text) or 'without a name'}{meant}"
            raise QueryError(f"{problem} Properties are {', '.join(kinds)}, and formulas in parentheses")
        chosen.update(dict.fromkeys(names))
    return list(chosen)


@dataclass(frozen=True)
class Facts:
    """Proved facts about a game.

    Attributes:
        takes_turns: whether, in every state, at most one role besides ``random`` has a choice; None if
            unknown.
        most_moves: maximum number of joint moves of a match; None if no bound is known.
        goal_sum: sum of the final goals of all roles besides ``random``; None if it is unknown or varies.
    """

    takes_turns: bool | None = None
    most_moves: int | None = None
    goal_sum: int | None = None


@lru_cache(_KEPT)
def facts_of(game: Game) -> Facts:
    """Return the proved facts about a game. For a large game, or without a solver, all facts are None.

    The limits are on the numbers of gates and solver conflicts, not on time, so all machines prove the same
    facts. Proofs are cached (``store``). A cached proof is checked again.

    >>> import anygame
    >>> facts_of(anygame.load("connect_four"))
    Facts(takes_turns=True, most_moves=43, goal_sum=100)
    """
    from anygame.proving.patience import Conflicts, Patience
    from anygame.proving.prover import Prover

    try:
        if game.backends.needed_network().compiled.network.gates > _MOST_GATES:
            return Facts()
        return _facts(game, Prover.of(game, Patience(inf, conflicts=Conflicts(_CONFLICTS)), is_brief=True))
    except (LimitError, MissingExtraError):
        return Facts()


def _facts(game: Game, prover: Prover) -> Facts:
    from anygame.proving.properties import built_in, choosers

    properties = {each.name: each for each in built_in(game, prover.model, prover.sample)}
    asked = (choosers(game, prover.model), properties["playable"], properties["zero-sum"])
    most = prover.ends(inf).most_moves
    outcomes = [prover.decide(wanted, inf).outcome for wanted in asked]
    takes_turns = None if outcomes[0] == "open" else outcomes[0] == "proved"
    goal_sum = properties["zero-sum"].value if outcomes[1:] == ["proved", "proved"] else None
    return Facts(takes_turns, most, goal_sum)
