"""What decides a property: play, bounded search, an invariant; and what makes sure of it."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import AnygameError
from anygame.proving.bounded import depends_on_moves, shortest
from anygame.proving.certificate import check_invariant
from anygame.proving.formula import OutOfTimeError, Patience
from anygame.proving.induction import candidates, inductive, trimmed
from anygame.proving.model import Model
from anygame.proving.reachability import reach
from anygame.proving.replay import Replay
from anygame.proving.sampling import Sample
from anygame.proving.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.game.game import Game
    from anygame.proving.bounded import Match
    from anygame.proving.induction import Clause
    from anygame.proving.properties import Property

#: Of the time for a property: what a search for a match may take before and after that for an invariant, and what
#: is left to make an invariant small and to check it.
_BEFORE, _FOR_INVARIANT, _FOR_CHECK = 0.15, 0.6, 0.8
#: Moves of the first search for a match.
_SHALLOW: Final = 8


class Prover:
    """Decides properties of one game.

    Args:
        game: the game.
        patience: how long it may take to learn what holds in every state.
        report: called with what is being done, as a phrase.

    Attributes:
        model: the game as gates.
        sample: states of random play.
        invariant: clauses that hold in every state.

    Raises:
        LimitError: the game has no network, or one that is too large.
        MissingExtraError: the solver is not installed.
    """

    def __init__(
        self, game: Game, patience: Patience, report: Callable[[str], None] = lambda _: None
    ) -> None:
        self.game, self.report = game, report
        machine = game.backends.needed_network()
        self.model = Model(machine.compiled)
        report("playing at random")
        self.sample = Sample(machine.kernel)
        report("looking for what holds in every state")
        self.invariant: list[Clause] = inductive(self.model, candidates(self.model, self.sample), patience)
        self.replay = Replay(game)

    def decide(self, wanted: Property, seconds: float) -> Verdict:
        """Return what can be found out about a property in some seconds."""
        began = perf_counter()
        found = self._decided(wanted, Patience(seconds))
        return replace(found, seconds=perf_counter() - began)

    def _decided(self, wanted: Property, patience: Patience) -> Verdict:
        bad = wanted.literal
        self._depth = -1
        played = self._played(bad)
        try:
            if played is not None:
                return self._with_match(wanted, played, patience)
            self.report(f"{wanted.name}: looking for a short match")
            found = self._bounded(bad, patience.part(_BEFORE), _SHALLOW)
            if found is not None:
                return self._shown(wanted, found, shortest=True)
        except OutOfTimeError:
            pass
        try:
            self.report(f"{wanted.name}: looking for an invariant")
            outcome = reach(
                self.model,
                bad,
                patience.part(_FOR_INVARIANT),
                invariant=self.invariant,
                report=lambda frame, clauses: self._at_frame(wanted, frame, clauses),
            )
            if outcome.match is not None:
                return self._with_match(wanted, outcome.match, patience)
            assert outcome.invariant is not None
            return self._certified(wanted, outcome.invariant, patience)
        except OutOfTimeError:
            pass
        try:
            self.report(f"{wanted.name}: looking for longer matches")
            found = self._bounded(bad, patience, None)
            if found is not None:
                return self._shown(wanted, found, shortest=True)
        except OutOfTimeError:
            pass
        return self._open(wanted)

    def _open(self, wanted: Property, note: str = "") -> Verdict:
        return Verdict(wanted.name, wanted.claim, "open", depth=max(0, self._depth), note=note)

    def _at_frame(self, wanted: Property, frame: int, clauses: int) -> None:
        self._depth = max(self._depth, frame)
        self.report(f"{wanted.name}: {clauses:,} clauses in {frame} frames")

    # Matches.

    def _played(self, bad: int) -> Match | None:
        """Return a match of random play to a bad state, the shortest that was seen; None where there was none."""
        model, sample = self.model, self.sample
        moves, may = None, slice(None)
        if depends_on_moves(model, bad):
            firsts = [nodes.start - model.first_action for nodes in model.moves_of]
            moves = sample.moves(firsts, len(model.legal))
        hits = np.flatnonzero(model.values([bad], sample.states, moves)[may, 0])
        if moves is not None:
            hits = hits[moves[hits].any(axis=1)]
        if not len(hits):
            return None
        first = int(hits[np.argmin([sample.ends_at(int(hit)) for hit in hits[:1000]])])
        match = sample.match(first)
        if moves is None:
            return match
        chosen = np.flatnonzero(moves[first]) + model.first_action
        return (*match, tuple(int(node) - nodes.start for node, nodes in zip(chosen, model.moves_of, strict=True)))

    def _bounded(self, bad: int, patience: Patience, most: int | None) -> Match | None:
        def passed(depth: int) -> None:
            self._depth = max(self._depth, depth)

        first = self._depth + 1
        return shortest(
            self.model, bad, patience, first=first, most=most, invariant=self.invariant, report=passed
        )

    def _with_match(self, wanted: Property, match: Match, patience: Patience) -> Verdict:
        """Look for a shorter match, and return the verdict."""
        self.report(f"{wanted.name}: looking for a shorter match")
        of_moves = depends_on_moves(self.model, wanted.literal)
        last = len(match) - 1 - of_moves
        try:
            shorter = self._bounded(wanted.literal, patience.part(_BEFORE), last) if last >= 0 else None
            return self._shown(wanted, shorter or match, shortest=True)
        except OutOfTimeError:
            return self._shown(wanted, match, shortest=False)

    def _shown(self, wanted: Property, match: Match, *, shortest: bool) -> Verdict:
        joints = tuple(map(self.model.joint_of, match))
        of_moves = depends_on_moves(self.model, wanted.literal)
        if not self.replay.shows(joints, wanted.seen_by, of_moves=of_moves):
            raise AnygameError(
                f"a fault of ours: the compiled game and the rules do not agree on {wanted.name} after "
                f"{' | '.join(' '.join(map(str, joint)) for joint in joints)}"
            )
        outcome = "proved" if wanted.to_be_reached else "refuted"
        return Verdict(wanted.name, wanted.claim, outcome, match=joints, is_shortest=shortest)

    # Invariants.

    def _certified(self, wanted: Property, clauses: list[Clause], patience: Patience) -> Verdict:
        self.report(f"{wanted.name}: checking an invariant")
        whole = list(dict.fromkeys([*self.invariant, *clauses]))
        try:
            needed = trimmed(self.model, wanted.literal, whole, patience.part(_FOR_CHECK))
        except OutOfTimeError:
            needed = whole
        try:
            steps = check_invariant(self.model, wanted.literal, needed, patience)
        except OutOfTimeError:
            return self._open(wanted, "an invariant was found, and there was no time left to check it")
        outcome = "refuted" if wanted.to_be_reached else "proved"
        return Verdict(wanted.name, wanted.claim, outcome, invariant=self._written(needed), steps=steps)

    def _written(self, clauses: list[Clause]) -> tuple[str, ...]:
        names = [[self.model.name_of(literal) for literal in clause] for clause in clauses]
        return tuple(clause[0] if len(clause) == 1 else f"(or {' '.join(clause)})" for clause in names)
