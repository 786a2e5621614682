"""Search for rules that never fire: in no match do all conditions of their body hold.

The body of each rule defines a new relation and a new fluent, which no rule of the game uses::

    (<= (legal ?r (mark ?x)) (true (control ?r)) (true (cell ?x b)))
    (<= anygame_fires_7 (true (control ?r)) (true (cell ?x b)))
    (<= (next anygame_fires_7) anygame_fires_7)

The fluent's next value is the literal for "this rule fires". Most rules fire in random play.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.game.game import Game
from anygame.language.diagnostics import shown
from anygame.language.rules import Atom, Literal, Program, Rule, atoms_in
from anygame.language.terms import Constant
from anygame.network.network import FALSE
from anygame.proving.formula_rules import free_prefix, sparing
from anygame.proving.matches import Sample, random_play
from anygame.proving.model import Model
from anygame.proving.patience import Patience
from anygame.proving.properties import Property
from anygame.proving.prover import Prover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.game.roles import JointMove
    from anygame.game.state import State
    from anygame.proving.verdict import Outcome

#: Relations whose rules matter only in states in which roles move.
_IN_PLAY: Final = frozenset((("legal", 2), ("next", 1), ("sees", 2)))
#: The share of the time for learning an invariant.
_FOR_INVARIANT: Final = 0.5
#: The share of the remaining time for one rule.
_SHARE: Final = 0.2
#: Maximum number of characters of a rule in reports.
_SHOWN: Final = 60
#: A prover decides whether a rule fires in any match; a `Firing` says whether the rule never fires.
_OPPOSITE: Final[dict[Outcome, Outcome]] = {"proved": "refuted", "refuted": "proved", "open": "open"}


class Firing(NamedTuple):
    """A rule of the sheet: ``proved`` means that it never fires, ``refuted`` that it fires in a match."""

    rule: Rule
    outcome: Outcome


def firings(game: Game, seconds: float, report: Callable[[str], None] = lambda _: None) -> Iterator[Firing]:
    """Yield the verdict about each rule with a body. Raises MissingExtraError without a solver."""
    rules = [rule for rule in game.program.rules if rule.body]
    if not rules:
        return
    patience = Patience(seconds)
    report("dead: playing at random")
    seen = _seen(game, rules)
    unseen = [rule for rule, fires in zip(rules, seen, strict=True) if not fires]
    yield from (Firing(rule, "refuted") for rule, fires in zip(rules, seen, strict=True) if fires)
    if not unseen:
        return
    watched, names = _watched(game, unseen)
    prover = Prover.of(watched, patience.part(_FOR_INVARIANT), report)
    candidates = list(zip(unseen, names, _literals(prover.model, unseen, names), strict=True))
    for is_last in (False, True):
        # Undecided rules get another try after all others.
        tried, candidates = candidates, []
        for number, (rule, name, literal) in enumerate(tried):
            claim = f"{shown(str(rule), _SHOWN)} fires"
            wanted = Property("dead", claim, literal, partial(_is_seen, Atom(name.name)), to_be_reached=True)
            share = 1 / (len(tried) - number) if is_last else _SHARE
            outcome = _OPPOSITE[prover.decide(wanted, patience.left * share).outcome]
            if outcome == "open" and not is_last:
                candidates.append((rule, name, literal))
            else:
                yield Firing(rule, outcome)


def _watched(game: Game, rules: Sequence[Rule]) -> tuple[Game, list[Constant]]:
    """Return the game with a new fluent for each given rule, which holds after the rule fires."""
    prefix = f"{free_prefix(game.program)}_fires"
    names = [Constant(f"{prefix}_{number}") for number in range(len(rules))]
    own = []
    for name, rule in zip(names, rules, strict=True):
        fires = Atom(name.name)
        own.append(Rule(fires, rule.body, rule.node))
        own.append(Rule(Atom("next", (name,)), (Literal(fires),), rule.node))
    every = sparing([*game.program.rules, *own], names, f"{prefix}_own")
    program = Program(every, game.program.source)
    watched = Game(program, case_sensitive=game.case_sensitive, limits=game.limits, machine="network")
    return watched, names


def _literals(model: Model, rules: Sequence[Rule], names: Sequence[Constant]) -> list[int]:
    """Return, for each rule, a literal for "this rule fires", over a state and perhaps a joint move."""
    gates = model.gates
    places = {fluent: number for number, fluent in enumerate(model.fluents)}
    playing = [model.terminal ^ 1, *model.able()]
    literals = []
    for rule, name in zip(rules, names, strict=True):
        literal = model.next[places[name]] if name in places else FALSE
        asks_moves = any(atom.key == ("does", 2) for atom, _ in atoms_in(rule.body))
        if rule.head.key in _IN_PLAY or asks_moves or model.depends_on_moves(literal):
            literal = gates.conjunction([literal, *playing])
        literals.append(literal)
    return literals


def _is_seen(fires: Atom, state: State, moves: JointMove | None = None) -> bool:
    return bool(state.query(fires, moves))


def _seen(game: Game, rules: Sequence[Rule]) -> list[bool]:
    watched, names = _watched(game, rules)
    machine = watched.backends.needed_network()
    model = Model(machine.compiled)
    return Sample(model, random_play(machine.kernel)).seen(_literals(model, rules, names), of_moves=True)
