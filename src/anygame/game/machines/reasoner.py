"""The machine that evaluates the rules with the reasoner, and can play every game."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import replace
from difflib import get_close_matches
from random import Random
from threading import RLock
from typing import TYPE_CHECKING, TypeVar

from anygame.datalog.explain import Explainer
from anygame.datalog.reasoner import Reasoner
from anygame.datalog.strategy import DEFAULT
from anygame.errors import DeviceError, QueryError
from anygame.game.outcomes import Outcome, Stuck, count_outcomes
from anygame.game.roles import Role
from anygame.language.diagnostics import did_you_mean
from anygame.language.rules import KEYWORDS
from anygame.language.unification import match_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from anygame.datalog.derivations import Derivation, Failure
    from anygame.datalog.reasoner import Fluents, Move
    from anygame.datalog.schema import Frame
    from anygame.datalog.strategy import Strategy
    from anygame.language.limits import Limits
    from anygame.language.rules import Atom, Program
    from anygame.language.terms import Term, Variable
    from anygame.network.grounding.grounder import GroundingLimits
    from anygame.playouts import PlayoutRequest, Tally

#: The rows of each fluent relation, and the facts that no rule reads.
Position = tuple["Fluents", frozenset["Term"]]

_Value = TypeVar("_Value")
#: Maximum number of cached moves. The term and the text of a move take a few hundred bytes.
_MOST_TERMS = 500_000


class ReasonerMachine:
    """A `Machine` that derives its answers with the reasoner.

    Thread-safe: the machine answers one question at a time, because all questions share compiled code,
    intermediate results and a timeout.
    """

    name = "reasoner"

    def __init__(self, program: Program, limits: Limits | None = None, strategy: Strategy = DEFAULT) -> None:
        self._program, self._limits, self._strategy = program, limits, strategy
        self.reasoner = Reasoner(program, limits, strategy)
        self.roles = self.reasoner.roles
        self._role_values = [self.reasoner.terms.number(role) for role in self.roles]
        self._terms = _Memory(self.reasoner.move_term)
        self._names = _Memory(lambda move: str(self._terms[move]))
        self._asking = RLock()

    def another(self, most: GroundingLimits) -> Reasoner:
        """Return a second reasoner for the compiler, so that this machine can answer during compilation.

        The limits of this machine and ``most`` both bound the facts and steps of the second reasoner. Only
        ``most`` bounds the seconds of the second reasoner.
        """
        limits = self.reasoner.limits
        facts, steps = min(most.facts, limits.facts), min(most.steps, limits.steps)
        bounds = replace(limits, facts=facts, steps=steps, seconds=most.seconds)
        return Reasoner(self._program, bounds, self._strategy)

    def initial(self) -> Position:
        with self._asking:
            return self.reasoner.initial(), frozenset()

    def position(self, facts: Iterable[Term]) -> Position:
        with self._asking:
            return self.reasoner.fluents(facts)

    def facts(self, position: Position) -> frozenset[Term]:
        return frozenset(self.reasoner.facts(position[0])) | position[1]

    def view(self, position: Position) -> Frame:
        return self.reasoner.frame(position[0])

    def derived(self, view: Frame) -> int:
        return sum(len(rows) for rows in view.values() if isinstance(rows, Sized))

    def legal(self, view: Frame) -> tuple[tuple[Term, ...], ...]:
        with self._asking:
            moves, named = self.reasoner.legal(view), self._terms.__getitem__
            return tuple([tuple(sorted(map(named, moves[value]), key=str)) for value in self._role_values])

    def is_terminal(self, view: Frame) -> bool:
        with self._asking:
            return self.reasoner.terminal(view)

    def goals(self, view: Frame, role: Term) -> list[Term]:
        with self._asking:
            return sorted(self.reasoner.goals(view).get(self.reasoner.terms.number(role), []), key=str)

    def _joint(self, joint: Sequence[Term]) -> list[Move]:
        moves = [self.reasoner.move(role, move) for role, move in zip(self.roles, joint, strict=True)]
        return [move for move in moves if move is not None]

    def next(self, view: Frame, joint: Sequence[Term]) -> Position:
        with self._asking:
            fluents = self.reasoner.next(view, self._joint(joint))
        return tuple(
            [rows if isinstance(rows, frozenset) else frozenset(rows) for rows in fluents]
        ), frozenset()

    def percepts(self, view: Frame, joint: Sequence[Term]) -> dict[Term, tuple[Term, ...]]:
        with self._asking:
            seen = self.reasoner.percepts(view, self._joint(joint))
        return {
            role: tuple(sorted(set(seen.get(value, ())), key=str))
            for role, value in zip(self.roles, self._role_values, strict=True)
        }

    def query(
        self, view: Frame, atom: Atom, joint: Sequence[Term] | None
    ) -> Iterator[Mapping[Variable, Term]]:
        with self._asking:
            self.check_known(atom, joint)
            frame = view if joint is None else self.reasoner.action_frame(view, self._joint(joint))
            matches = []
            for arguments in self.reasoner.matching(frame, atom):
                bindings: dict[Variable, Term] = {}
                if match_all(atom.arguments, arguments, bindings):
                    matches.append((" ".join(map(str, arguments)), bindings))
        matches.sort(key=lambda entry: entry[0])
        return iter([bindings for _, bindings in matches])

    def check_known(self, atom: Atom, joint: Sequence[Term] | None) -> None:
        """Raise a QueryError with suggestions if an atom cannot be queried."""
        relations = self.reasoner.known_relations
        if atom.key not in relations and KEYWORDS.get(atom.predicate) != len(atom.arguments):
            raise QueryError(_unknown_relation(atom, relations, self.reasoner))
        if joint is None and self.reasoner.depends_on_moves(atom.key):
            raise QueryError(f"{atom.predicate} depends on the moves: give a joint move")

    def play_out(self, position: Position, random: Random, limit: int) -> Outcome:
        reasoner = self.reasoner
        played: list[list[Move]] = []
        options = [0] * len(self.roles)
        fluents, unseen = position
        while True:
            # The lock is released after each step, for other threads.
            with self._asking:
                frame = reasoner.frame(fluents)
                is_over = reasoner.terminal(frame)
                if is_over or len(played) >= limit:
                    return self._outcome(frame, played, options, is_over)
                by_role = reasoner.legal(frame)
                legal = [by_role[role] for role in self._role_values]
                if not all(legal):
                    facts = frozenset(reasoner.facts(fluents)) | (frozenset() if played else unseen)
                    role = Role(self.roles[legal.index([])])
                    outcome = self._outcome(frame, played, options, False)
                    return replace(outcome, stuck=Stuck(role, facts, outcome.moves))
                for index, moves in enumerate(legal):
                    options[index] += len(moves)
                joint = [self.draw(moves, random) for moves in legal]
                fluents = reasoner.next(frame, joint)
            played.append(joint)

    def _outcome(self, frame: Frame, played: list[list[Move]], options: list[int], is_over: bool) -> Outcome:
        values = self.reasoner.goals(frame)
        return Outcome(
            moves=tuple([tuple(map(self._terms.__getitem__, joint)) for joint in played]),
            goals=tuple([tuple(sorted(values.get(role, ()), key=str)) for role in self._role_values]),
            options=tuple(options),
            is_complete=is_over,
        )

    def blocks(self, playouts: int) -> int:
        """Return 1, because all playouts take their random numbers from one sequence."""
        return 1

    def simulate(self, position: Position, request: PlayoutRequest) -> Tally[Stuck]:
        """Play one match after another in one thread. Raises DeviceError for a graphics card."""
        if request.card is not None:
            raise DeviceError("the reasoner plays this game on a processor: graphics cards only run networks")
        random = Random(request.seed)
        outcomes = (self.play_out(position, random, request.limit) for _ in range(request.playouts))
        return count_outcomes(outcomes, len(self.roles), request)

    def draw(self, options: list[Move], random: Random) -> Move:
        """Return a random move of a role. Sorts ``options`` by text in place."""
        if len(options) == 1:
            return options[0]
        # The result must not depend on the order of sets or on the internal ids of terms.
        options.sort(key=self._names.__getitem__)
        return options[random.randrange(len(options))]

    def explain(self, view: Frame, atom: Atom, joint: Sequence[Term] | None) -> Derivation | Failure:
        with self._asking:
            self.check_known(atom, joint)
            explainer = Explainer(self.reasoner, view, None if joint is None else self._joint(joint))
            return explainer.fail(atom) or explainer.derive(atom)


class _Memory(dict["Move", _Value]):
    """Cache of the results of a function that takes a move."""

    def __init__(self, compute: Callable[[Move], _Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, move: Move) -> _Value:
        if len(self) > _MOST_TERMS:
            self.clear()
        value = self[move] = self._compute(move)
        return value


def _unknown_relation(atom: Atom, known: Iterable[tuple[str, int]], reasoner: Reasoner) -> str:
    name, count = atom.key
    arities = sorted(arity for other, arity in known if other == name)
    if arities:
        wanted = " or ".join(map(str, arities))
        return f"{name} takes {wanted} argument{'s' if wanted != '1' else ''}, but {atom} has {count}"
    fluents = {
        r.shapes[0][0] for r in reasoner.layout.variants(("true", 1)) if isinstance(r.shapes[0], tuple)
    }
    if name in fluents:
        return f"{name} is a fluent, not a relation: ask for (true {atom})"
    near = get_close_matches(name, sorted({other for other, _ in known} | KEYWORDS.keys()), n=3)
    return f"the rules have no relation {name}/{count}{did_you_mean(near)}"
