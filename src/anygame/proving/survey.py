"""Lists of proved facts, such as groups of fluents that exclude each other, and rules that never fire.

The list of an open verdict can be incomplete.

For the search for rules that never fire, the body of each rule defines a new relation and a new fluent, which
no rule of the game uses::

    (<= (legal ?r (mark ?x)) (true (control ?r)) (true (cell ?x b)))
    (<= anygame_fires_7 (true (control ?r)) (true (cell ?x b)))
    (<= (next anygame_fires_7) anygame_fires_7)

The fluent's next value is the literal for "this rule fires". Most rules fire in random play.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import networkx as nx
import numpy as np

from anygame.game.game import Game
from anygame.language.diagnostics import shown
from anygame.language.rules import Atom, Literal, Program, Rule, atoms_in
from anygame.language.terms import Constant
from anygame.network.network import FALSE
from anygame.proving.certificate import check_invariant
from anygame.proving.formula import Formula, any_step
from anygame.proving.formula_rules import free_prefix, sparing
from anygame.proving.induction import exclusions
from anygame.proving.matches import Sample, random_play
from anygame.proving.model import Model
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.properties import Property, chooses
from anygame.proving.prover import Prover
from anygame.proving.verdict import SURVEYS, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.game.roles import JointMove, Role
    from anygame.game.state import State
    from anygame.proving.verdict import Outcome

#: Fraction of the time limit for the search; the remaining time is for the check.
_FOR_SEARCH: Final = 0.5
#: Fraction of the remaining time for one fluent, move or rule.
_SHARE: Final = 0.2
#: Lists that are derived from the invariant, and are incomplete if the invariant is incomplete.
_OF_INVARIANT: Final = frozenset(("mutex", "latched", "monotone"))
#: Relations whose rules have no effect in states in which no role moves.
_IN_PLAY: Final = frozenset((("legal", 2), ("next", 1), ("sees", 2)))
#: Fraction of the time limit for learning an invariant.
_FOR_INVARIANT: Final = 0.5
#: Maximum number of characters of a rule in reports.
_SHOWN: Final = 60
#: A prover's claim is "the rule fires in some match". The claim of a `Firing` is the opposite.
_OPPOSITE: Final[dict[Outcome, Outcome]] = {"proved": "refuted", "refuted": "proved", "open": "open"}


class _Statement(NamedTuple):
    """A proved fact as text, and a literal for "a joint move violates the fact"."""

    text: str
    against: int = FALSE


def survey(prover: Prover, roles: Sequence[Role], name: str, seconds: float) -> Verdict:
    """Return the verdict with the list ``name`` of ``SURVEYS``: proved if all candidates are decided."""
    began = perf_counter()
    patience = prover.after_learning(seconds)
    prover.report(f"{name}: examining fluents")
    statements: list[_Statement | None] = []
    steps, note = 0, ""
    try:
        statements += _WAYS[name](prover, roles, patience.part(_FOR_SEARCH))
        against = prover.model.gates.disjunction([item.against for item in statements if item is not None])
        steps = check_invariant(prover.model, against, prover.invariant, patience)
        if None in statements:
            note = f"{statements.count(None)} undecided"
        elif name in _OF_INVARIANT and not prover.knowledge.is_everything:
            note = "the list may be incomplete: the time limit was reached before all candidates were tried"
    except OutOfTimeError:
        statements, note = [], "the time limit was reached before all candidates were examined"
    return Verdict(
        name,
        SURVEYS[name],
        "open" if note else "proved",
        found=tuple(item.text for item in statements if item is not None),
        steps=steps,
        note=note,
        seconds=perf_counter() - began,
    )


def _constant_players(
    prover: Prover, roles: Sequence[Role], patience: Patience
) -> Iterator[_Statement | None]:
    model = prover.model
    going = model.terminal ^ 1
    asked = {str(r): model.gates.conjunction([going, chooses(model, n)]) for n, r in enumerate(roles)}
    return _excluded(prover, asked, patience)


def _excluded(prover: Prover, asked: dict[str, int], patience: Patience) -> Iterator[_Statement | None]:
    """Yield the statements whose literals hold in no reachable state, and None for each undecided candidate.

    Undecided candidates get another try after all other candidates.
    """
    seen = prover.sample.seen(list(asked.values()), patience)
    undecided = [text for text, is_seen in zip(asked, seen, strict=True) if not is_seen]
    for is_last in (False, True):
        tried, undecided = undecided, []
        for number, text in enumerate(tried):
            part = patience.part(1 / (len(tried) - number) if is_last else _SHARE)
            excluded = prover.excludes(asked[text], part)
            if excluded:
                yield _Statement(text)
            elif excluded is None:
                undecided.append(text)
    yield from [None] * len(undecided)


def _mutex(prover: Prover, _: Sequence[Role], patience: Patience) -> Iterator[_Statement | None]:
    """Yield groups of exclusive fluents: first "exactly one" groups, then disjoint "at most one" groups."""
    model = prover.model
    covers = {
        frozenset(x >> 1 for x in c) for c in prover.invariant if len(c) > 1 and not any(x & 1 for x in c)
    }
    graph: nx.Graph[int] = nx.Graph()
    for node, bits in enumerate(exclusions(model, prover.invariant), start=1):
        graph.add_edges_from((node, other + 1) for other in range(bits.bit_length()) if bits >> other & 1)
    exact = [set(cover) for cover in covers if _is_clique(graph, cover)]
    # If one exact group contains another, the surplus fluents never hold: keep only the smaller group.
    exact = [group for group in exact if not any(other < group for other in exact)]
    for group in exact:
        yield _Statement(f"exactly one of {_named(model, group)}")
    remaining = graph.subgraph(set(graph) - set().union(*exact, set())).copy()
    while remaining.number_of_edges():
        clique = _greedy_clique(remaining, patience)
        yield _Statement(f"at most one of {_named(model, clique)}")
        remaining.remove_nodes_from(clique)


def _is_clique(graph: nx.Graph[int], nodes: frozenset[int]) -> bool:
    return all(node in graph and nodes - {node} <= set(graph[node]) for node in nodes)


def _greedy_clique(graph: nx.Graph[int], patience: Patience) -> set[int]:
    first = max(graph, key=lambda node: (graph.degree(node), -node))
    clique, candidates = {first}, set(graph[first])
    while candidates:
        patience.check()
        node = max(candidates, key=lambda n: (len(candidates & set(graph[n])), -n))
        clique.add(node)
        candidates &= set(graph[node])
    return clique


def _named(model: Model, nodes: set[int]) -> str:
    terms = [model.fluents[node - 1] for node in sorted(nodes)]
    return ", ".join(map(str, terms))


def _latched(prover: Prover, _: Sequence[Role], patience: Patience) -> Iterator[_Statement | None]:
    model = prover.model
    before, after = prover.sample.steps()
    rises, falls = (np.asarray(row.any(axis=0)).tolist() for row in (after & ~before, before & ~after))
    with Formula(patience) as formula:
        copy = any_step(formula, model, prover.invariant)
        for fluent, (rising, falling) in enumerate(zip(rises, falls, strict=True)):
            literal = 2 * fluent + (2 if rising else 3)
            if rising != falling:
                lost = model.gates.conjunction([model.moving, literal, model.later(literal) ^ 1])
                words = "stays true once it holds" if rising else "stays false once it is false"
                if not formula.solve([copy(lost)]):
                    yield _Statement(f"{model.fluents[fluent]} {words}", lost)


def _monotone(prover: Prover, roles: Sequence[Role], patience: Patience) -> Iterator[_Statement | None]:
    model = prover.model
    gates = model.gates
    with Formula(patience) as formula:
        copy = any_step(formula, model, prover.invariant)
        for role, goals in zip(roles, model.goals, strict=True):
            falls = gates.disjunction(
                gates.conjunction([model.moving, holds, model.later(less)])
                for value, holds in goals
                for other, less in goals
                if other < value
            )
            if goals and not formula.solve([copy(falls)]):
                yield _Statement(str(role), falls)


def _dead(prover: Prover, roles: Sequence[Role], patience: Patience) -> Iterator[_Statement | None]:
    model = prover.model
    asked = {f"{fluent} never holds": 2 * node for node, fluent in enumerate(model.fluents, start=1)}
    for place, (role, moves) in enumerate(zip(roles, model.actions, strict=True)):
        for move, legal in zip(moves, model.legal_of(place), strict=True):
            literal = model.gates.conjunction([legal, model.terminal ^ 1])
            asked[f"{role} never makes {move}"] = literal
    return _excluded(prover, asked, patience)


_WAYS: Final[dict[str, Callable[[Prover, Sequence[Role], Patience], Iterator[_Statement | None]]]] = {
    "constant-players": _constant_players,
    "mutex": _mutex,
    "latched": _latched,
    "monotone": _monotone,
    "dead": _dead,
}


class Firing(NamedTuple):
    """A rule: ``proved`` if the rule never fires, ``refuted`` if the rule fires in a match."""

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
        # Undecided rules get another try after all other rules.
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
    """Return the game with a new fluent for each given rule. The fluent holds after the rule fires."""
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
