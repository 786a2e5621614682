"""Equivalence of two rule sheets, proved for the product of their games.

In the product, both games make the same moves, and a state consists of one state of each game. Roles, moves
and percepts are matched by name or by a map. The games are equal if they agree on ends, legal moves, goals
and percepts in every reachable state. Two fluents, one of each game, are merged if they have the same name
and gates. For other fluents, the prover finds pairs that agree in every state (van Eijk 2000, "Sequential
equivalence checking based on structural similarities").
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from anygame.errors import LimitError, QueryError
from anygame.language.diagnostics import shown
from anygame.language.parser import parse_nodes, parse_term
from anygame.language.terms import Compound, variables_of
from anygame.language.unification import apply, match
from anygame.network.lanes import IllegalChoiceError, Lanes
from anygame.network.logic.gates import Gates
from anygame.network.network import FALSE
from anygame.proving.matches import Replay, lanes_for
from anygame.proving.model import Model
from anygame.proving.patience import Patience
from anygame.proving.properties import Property
from anygame.proving.prover import Prover
from anygame.proving.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term, Variable
    from anygame.network.compiled import CompiledGame
    from anygame.network.kernels.kernel import Kernel
    from anygame.proving.matches import Sample
    from anygame.proving.model import Clause

    #: The percepts of each role.
    _Seen: TypeAlias = Mapping[str, Sequence[Term]]

_CLAIM: Final = "both sheets describe the same game"
_ONLY: Final = ("in the second sheet, but not in the first", "in the first sheet, but not in the second")
#: Fraction of the time limit for learning an invariant.
_FOR_INVARIANT: Final = 0.5
#: Maximum number of rounds of the search for fluents to merge; an unfinished search returns no fluents.
_MOST_ROUNDS: Final = 20


def compared(
    first: Game, second: Game, moves: str, up_to: int | None, seconds: float, report: Callable[[str], None]
) -> Verdict:
    """Return whether two games are the same; see ``anygame.proving.equal``."""
    pairing = _Pairing(first, second, _read_map(moves, first, second))
    same_rules = set(first.program.rules) == set(second.program.rules)
    if not moves and same_rules and first.case_sensitive == second.case_sensitive:
        return Verdict("equal", _CLAIM, "proved", note="both sheets have the same rules")
    report("compiling")
    try:
        machines = [game.backends.needed_network() for game in (first, second)]
        for machine, game in zip(machines, (first, second), strict=True):
            machine.check_percepts(game.name)
        models = [SeeingModel(machine.compiled) for machine in machines]
    except LimitError as error:
        return Verdict("equal", _CLAIM, "open", note=f"no proof was attempted: {error.message}")
    product = Product(models[0], models[1], pairing)
    if product.difference == FALSE:
        return Verdict("equal", _CLAIM, "proved", note="both sheets compile to the same network")
    kernels = [machine.percept_kernel or machine.kernel for machine in machines]
    both = _Both(first, second, pairing)
    whole = Patience(seconds)
    prover = Prover(
        product,
        _play(kernels[0], kernels[1], product, pairing),
        both,
        whole.part(_FOR_INVARIANT),
        report,
        product.agreeing,
    )
    wanted = Property(
        "equal",
        _CLAIM,
        product.difference,
        lambda *last: bool(pairing.difference(*last)),
        note_of=pairing.difference,
    )
    _ = prover.invariant
    return prover.decide(wanted, whole.left, up_to)


class _Pairing:
    """Maps roles, moves and percepts of the first game to roles, moves and percepts of the second.

    ``roles`` has, for each role of the first game, an index in the second. Raises QueryError if roles differ.
    """

    def __init__(self, first: Game, second: Game, renamed: Sequence[tuple[Term, Term]]) -> None:
        self._first, self._second = first, second
        self._renamed = renamed
        named = {str(one): str(other) for one, other in renamed}
        names = [named.get(role, str(role)) for role in first.roles]
        if set(names) != set(second.roles):
            raise QueryError(
                f"the sheets have different roles: {', '.join(first.roles)}; {', '.join(second.roles)}"
            )
        self.roles = [second.roles.index(name) for name in names]

    def second_of(self, move: Term) -> Term:
        for pattern, other in self._renamed:
            bindings: dict[Variable, Term] = {}
            if match(pattern, move, bindings):
                return apply(other, bindings)
        return move

    def joint_of_second(self, joint: Sequence[Term]) -> list[Term]:
        return [self.second_of(joint[self.roles.index(place)]) for place in range(len(self.roles))]

    def difference(self, one: State, other: State, seen: _Seen, seen_there: _Seen) -> str:
        """Describe a difference between two states, or between the percepts after their last moves."""
        if one.is_terminal != other.is_terminal:
            return f"the match is over {_ONLY[one.is_terminal]}"
        for role, place in zip(self._first.roles, self.roles, strict=True):
            there_it_is = self._second.roles[place]
            goals = [sorted(map(str, terms)) for terms in (_goals(one, role), _goals(other, there_it_is))]
            if goals[0] != goals[1]:
                had = ["no goal" if not values else f"goal {' and '.join(values)}" for values in goals]
                return f"{role} has {had[0]} in the first sheet, and {had[1]} in the second"
            if one.is_terminal:
                continue
            move, is_here = self._unmatched(one.legal_moves(role), other.legal_moves(there_it_is))
            if move:
                return f"{move} is legal for {role} {_ONLY[is_here]}"
        for role, place in zip(self._first.roles, self.roles, strict=True):
            there = seen_there.get(self._second.roles[place], ())
            percept, is_here = self._unmatched(seen.get(role, ()), there)
            if percept:
                return f"{role} sees {percept} {_ONLY[is_here]}"
        return ""

    def _unmatched(self, ours: Iterable[Term], theirs: Iterable[Term]) -> tuple[str, bool]:
        """Return a term that only one game has, and whether this is the first game; "" if no term differs."""
        here, there = {self.second_of(term): term for term in ours}, set(theirs)
        for second, term in here.items():
            if second not in there:
                return shown(str(term)), True
        return shown(min(map(str, there - set(here)), default="")), False


def _goals(state: State, role: str) -> list[Term]:
    return [binding["value"] for binding in state.query(f"(goal {role} ?value)")]


def _read_map(text: str, first: Game, second: Game) -> list[tuple[Term, Term]]:
    nodes = parse_nodes(text)
    terms = [
        parse_term(
            text[node.start : node.end], case_sensitive=(second if number % 2 else first).case_sensitive
        )
        for number, node in enumerate(nodes)
    ]
    if len(terms) % 2:
        raise QueryError(
            f"a map lists pairs of terms, but its last term, {shown(str(terms[-1]))}, has no partner"
        )
    pairs = list(zip(terms[::2], terms[1::2], strict=True))
    for one, other in pairs:
        unbound = sorted(set(map(str, variables_of(other))) - set(map(str, variables_of(one))))
        if unbound:
            raise QueryError(
                f"in a map, {unbound[0]} of {shown(str(other))} must also occur in {shown(str(one))}"
            )
    return pairs


class SeeingModel(Model):
    """A game with additional fluents for the percepts of the last joint move.

    For each role, ``percepts`` maps each percept to the number of its fluent.
    """

    def __init__(self, compiled: CompiledGame) -> None:
        seen = [(role, term) for role, terms in enumerate(compiled.percepts) for term in terms]
        named = [Compound("sees", (compiled.roles[role], term)) for role, term in seen]
        network = compiled.percept_network or compiled.network
        super().__init__(replace(compiled, network=network, fluents=(*compiled.fluents, *named)))
        self.percepts: list[dict[Term, int]] = [{} for _ in compiled.roles]
        for number, (role, term) in enumerate(seen, start=len(compiled.fluents)):
            self.percepts[role][term] = number


class Product(Model):
    """The product of two games.

    Attributes:
        difference: a literal over the state that holds if the games differ.
        partner: per role and move of the first game, the number of the action in the second game, or None.
        unmerged: the numbers of the second game's fluents that are not merged.
    """

    def __init__(self, first: SeeingModel, second: SeeingModel, pairing: _Pairing) -> None:
        self.roles = first.roles
        self._split = len(first.fluents)
        moves_there = [second.actions[place] for place in pairing.roles]
        #: For each role of the first game: the action numbers of the second game, by move.
        numbers = [{move: number for number, move in enumerate(moves)} for moves in moves_there]
        self.partner = partner = [
            [numbers[role].get(pairing.second_of(move)) for move in moves]
            for role, moves in enumerate(first.actions)
        ]
        alone = [
            sorted(set(range(len(moves))) - set(paired))
            for moves, paired in zip(moves_there, partner, strict=True)
        ]
        self.actions = tuple(
            (*moves, *(theirs[number] for number in unpaired))
            for moves, theirs, unpaired in zip(first.actions, moves_there, alone, strict=True)
        )
        inputs_for = partial(_inputs, first, second, pairing.roles, partner, alone)
        shared = _shared(first, second, *inputs_for({}))
        self.unmerged = [number for number in range(len(second.fluents)) if number not in shared]
        ours, theirs_, inputs = inputs_for(shared)
        self.fluents = (*first.fluents, *(Compound("other", (second.fluents[n],)) for n in self.unmerged))
        self.gates = Gates(inputs)
        self.exclusive = {}
        self.initial = np.concatenate([first.initial, second.initial[self.unmerged]])
        one, other = first.copied(self.gates, ours), second.copied(self.gates, theirs_)
        self.next = [*map(one, first.next), *(other(second.next[n]) for n in self.unmerged)]
        self.terminal = one(first.terminal)
        self.goals = [[(value, one(holds)) for value, holds in goals] for goals in first.goals]
        self.legal = []
        differing = [self._either(self.terminal, other(second.terminal))]
        for role in range(len(self.roles)):
            here, there_ = first.legal_of(role), second.legal_of(pairing.roles[role])
            legal = [one(literal) for literal in here]
            also = [FALSE if n is None else other(there_[n]) for n in partner[role]]
            unpaired = [other(there_[n]) for n in alone[role]]
            self.legal += [*legal, *unpaired]
            unlike = [self._either(a, b) for a, b in zip(legal, also, strict=True)] + unpaired
            differing.append(self.gates.conjunction([self.terminal ^ 1, self.gates.disjunction(unlike)]))
            theirs = [(value, other(holds)) for value, holds in second.goals[pairing.roles[role]]]
            differing += self._unlike_goals(self.goals[role], theirs)
            differing += self._unlike_percepts(first, second, role, pairing, theirs_)
        self.difference = self.gates.disjunction(differing)

    def _unlike_goals(
        self, ours: Sequence[tuple[int, int]], theirs: Sequence[tuple[int, int]]
    ) -> Iterator[int]:
        """Yield literals. Their disjunction holds if the games give a role different goals.

        The terms 100 and 0100 have the same value, but a role with both terms as goals has no usable goal.
        """
        for value in dict.fromkeys(value for value, _ in (*ours, *theirs)):
            holders = [[holds for other, holds in goals if other == value] for goals in (ours, theirs)]
            yield self._either(*map(self.gates.disjunction, holders))
            if max(map(len, holders)) > 1:
                yield self._either(*map(self.at_most_one, holders))

    def _unlike_percepts(
        self, first: SeeingModel, second: SeeingModel, role: int, pairing: _Pairing, theirs: dict[int, int]
    ) -> Iterator[int]:
        there = dict(second.percepts[pairing.roles[role]])
        for percept, fluent in first.percepts[role].items():
            number = there.pop(pairing.second_of(percept), None)
            seen = FALSE if number is None else theirs[number + 1]
            yield self._either(2 * fluent + 2, seen)
        yield from (theirs[number + 1] for number in there.values())

    def agreeing(self, sample: Sample) -> list[Clause]:
        """Return clauses for "these two fluents agree", for each pair that agrees in a sample."""
        columns = np.packbits(sample.states, axis=0)
        by_column: dict[bytes, list[int]] = {}
        for fluent in range(self._split):
            by_column.setdefault(columns[:, fluent].tobytes(), []).append(fluent)
        clauses: list[Clause] = []
        for number, other in enumerate(self.fluents[self._split :], start=self._split):
            alike = by_column.get(columns[:, number].tobytes(), [])
            named = [one for one in alike if Compound("other", (self.fluents[one],)) == other]
            for one in named or alike[:1]:
                clauses += [(2 * one + 3, 2 * number + 2), (2 * one + 2, 2 * number + 3)]
        return clauses

    def _either(self, one: int, other: int) -> int:
        gates = self.gates
        return gates.disjunction([gates.conjunction([one, other ^ 1]), gates.conjunction([one ^ 1, other])])


def _inputs(
    first: Model,
    second: Model,
    roles: Sequence[int],
    partner: Sequence[Sequence[int | None]],
    alone: Sequence[Sequence[int]],
    shared: Mapping[int, int],
) -> tuple[dict[int, int], dict[int, int], int]:
    """Map input nodes of both games to literals of the product; also return the product's number of inputs.

    ``shared`` maps the numbers of merged fluents of the second game to numbers of fluents of the first game.
    """
    own = 1 + len(first.fluents)
    unmerged = [number for number in range(len(second.fluents)) if number not in shared]
    ours = {node: 2 * node for node in range(1, own)}
    theirs = {number + 1: 2 * (fluent + 1) for number, fluent in shared.items()}
    theirs.update((number + 1, 2 * node) for node, number in enumerate(unmerged, start=own))
    before = own + len(unmerged)
    for moves, role, paired, unpaired in zip(first.moves_of, roles, partner, alone, strict=True):
        moves_there = second.moves_of[role]
        ours.update(zip(moves, range(2 * before, 2 * (before + len(paired)), 2), strict=True))
        theirs.update((moves_there[n], 2 * (before + k)) for k, n in enumerate(paired) if n is not None)
        before += len(paired)
        theirs.update((moves_there[n], 2 * (before + k)) for k, n in enumerate(unpaired))
        before += len(unpaired)
    return ours, theirs, before


def _shared(
    first: Model, second: Model, ours: dict[int, int], theirs: dict[int, int], inputs: int
) -> dict[int, int]:
    """Map each fluent of the second game to the fluent of the first with the same name and gates, by number.

    The two fluents of a pair have the same initial value and, if all pairs are merged, the same literal for
    the next value. Therefore merged fluents agree in every state. ``ours`` and ``theirs`` map the inputs of
    each game to literals of the same gates.
    """
    gates = Gates(inputs)
    here = list(map(first.copied(gates, ours), first.next))
    named = {fluent: number for number, fluent in enumerate(first.fluents)}
    pairs = {
        number: named[fluent]
        for number, fluent in enumerate(second.fluents)
        if fluent in named and first.initial[named[fluent]] == second.initial[number]
    }
    for _ in range(_MOST_ROUNDS):
        nodes = theirs | {number + 1: ours[fluent + 1] for number, fluent in pairs.items()}
        there = second.copied(gates, nodes)
        kept = {
            number: fluent for number, fluent in pairs.items() if there(second.next[number]) == here[fluent]
        }
        if kept == pairs:
            return pairs
        pairs = kept
    return {}


def _play(
    first: Kernel, second: Kernel, product: Product, pairing: _Pairing
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int32]]]:
    """Yield states and joint moves of random play in both games, until a move exists in only one game."""
    count = lanes_for(len(product.fluents))
    here, there = Lanes(first, count, 1), Lanes(second, count, 1)
    partner = [np.array([-1 if n is None else n for n in paired], np.int64) for paired in product.partner]
    while True:
        states = np.concatenate([_facts(here), _facts(there)[:, product.unmerged]], axis=1)
        chosen = here.step_random()
        yield states, np.stack(chosen, axis=1)
        moved = chosen[0] >= 0
        other = [np.where(moved, partner[role][of_role], 0) for role, of_role in enumerate(chosen)]
        if (np.stack(other) < 0).any():
            return
        ordered = [other[pairing.roles.index(place)] for place in range(len(other))]
        try:
            there.step(ordered, moved & ~there.terminal)
        except IllegalChoiceError:
            return


def _facts(lanes: Lanes) -> NDArray[np.bool_]:
    return np.concatenate([lanes.observation(), *lanes.percepts()], axis=1)


class _Both(Replay):
    def __init__(self, first: Game, second: Game, pairing: _Pairing) -> None:
        super().__init__(first)
        self._second, self._pairing = Replay(second), pairing

    def last(self, match: Sequence[Sequence[Term]], *, of_moves: bool) -> tuple[Any, ...]:
        """Return the last state of a match in each game, and the percepts of the last move in each game."""
        other = list(map(self._pairing.joint_of_second, match))
        here, there = self.states(match), self._second.states(other)
        if not match:
            return here[-1], there[-1], {}, {}
        percepts = here[-2].percepts(list(match[-1])), there[-2].percepts(other[-1])
        return here[-1], there[-1], *percepts
