"""The prover, which decides properties by play, bounded search and invariants, and checks each proof."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from anygame.errors import AnygameError
from anygame.native.marking import native_code
from anygame.network.network import FALSE
from anygame.proving.bounded import any_match, induction_depth, shortest
from anygame.proving.certificate import (
    CertificateError,
    check_bounded,
    check_ending,
    check_induction,
    check_invariant,
)
from anygame.proving.counting import lemma_of, sums
from anygame.proving.ending import Measures, follow, kept, measured, needed_programs, slip
from anygame.proving.formula import needed_solver
from anygame.proving.induction import Knowledge, certificate_of, clauses_of, trimmed, written
from anygame.proving.matches import Replay, Sample, random_play
from anygame.proving.model import Model
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.properties import CLAIMS, Property
from anygame.proving.reachability import reach
from anygame.proving.store import ProofStore
from anygame.proving.verdict import Certificate, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.proving.bounded import Bounded
    from anygame.proving.counting import Sum
    from anygame.proving.ending import Measure
    from anygame.proving.model import Clause, Lemma, Match

#: Fraction of a property's remaining time for cheap proofs after each round of learning.
_FOR_CHEAP: Final = 0.05
#: Fraction of a property's remaining time for the search for a short match.
_FOR_SHORT: Final = 0.15
_FOR_INVARIANT, _FOR_INDUCTION, _FOR_COUNTING = 0.6, 0.15, 0.4
#: Fraction of the remaining time in which unneeded clauses of an invariant are dropped before the check.
_FOR_CHECK: Final = 0.5
#: Fraction of the remaining time for the single query that searches for a long match.
_FOR_LONG: Final = 0.5
#: Minimum number of moves in the query for a long match.
_FEWEST: Final = 8
#: Maximum number of nodes in the query for a long match, summed over all copies of the model.
_MOST_NODES: Final = 3_000_000
#: Maximum number of moves of a match in the first search.
_SHALLOW: Final = 8
#: Maximum depth of k-induction.
_MOST_INDUCTION: Final = 12
#: Maximum depth of k-induction in cheap proofs.
_FEW: Final = 2
#: Note on a proof that enumerates all matches.
_ALL_MATCHES: Final = "all matches were examined, and no match has more than {}"
#: Note on ``ends`` if a match can get stuck.
_STOPS: Final = "a match also stops where a role has no legal move"
_ENDS: Final = Property("ends", CLAIMS["ends"], FALSE, lambda *_: False)
#: States and joint moves, as ``random_play`` yields them.
Play: TypeAlias = "Iterable[tuple[NDArray[np.bool_], NDArray[np.int32]]]"
#: A method, its share of the time limit, and its description.
_Way: TypeAlias = "tuple[Callable[[Property, Patience, Patience], Verdict | None], float, str]"


def _moves(number: int) -> str:
    return "one move" if number == 1 else f"{number:,} moves"


def _growth(measure: Measure) -> str:
    parts = measure.parts
    if not parts:
        return ""
    of = "one fact" if len(parts) == 1 else f"{len(parts):,} facts"
    kind = "sum" if all(weight == 1 for _, weight in parts) else "weighted sum"
    return f"each move except the last increases a {kind} of {of}"


class Prover:
    """Decides properties of one game; ``report`` is called with each activity, as a phrase.

    ``patience`` limits the time for learning an invariant. ``guesses`` returns candidate clauses that are
    tried first. With ``is_brief``, only cheap methods are tried: no search for matches, and no invariant for
    a single property. Raises CompilationError without native code, and MissingExtraError without a solver.
    """

    def __init__(
        self,
        model: Model,
        play: Play,
        replay: Replay,
        patience: Patience,
        report: Callable[[str], None] = lambda _: None,
        guesses: Callable[[Sample], list[Clause]] = lambda _: [],
        store: ProofStore | None = None,
        is_brief: bool = False,
    ) -> None:
        needed_solver()
        report("making native code")
        native_code("proving")
        self.model, self.replay, self.report = model, replay, report
        self._store = store or ProofStore()
        self._is_brief = is_brief
        report("playing at random")
        self.sample = Sample(model, play)
        self.patience = patience
        self.knowledge = Knowledge(model, self.sample, patience, report, guesses, self._store)
        #: The conserved sums; None before the search for sums.
        self._sums: list[Sum] | None = None
        #: States reached in the matches that solvers found.
        self._reached: list[NDArray[np.bool_]] = []
        #: No match of up to this number of moves decides the current property; -1 before the first search.
        self._depth = -1

    @property
    def invariant(self) -> list[Clause]:
        """The invariant, learned on first use, as far as the time limit allows."""
        return self.knowledge.complete()

    @property
    def _known(self) -> list[Clause]:
        return self.knowledge.clauses

    def after_learning(self, seconds: float) -> Patience:
        """Learn the invariant, and return a time limit that starts afterwards."""
        _ = self.invariant
        return self.patience.renewed(seconds)

    @classmethod
    def of(
        cls,
        game: Game,
        patience: Patience,
        report: Callable[[str], None] = lambda _: None,
        *,
        is_brief: bool = False,
    ) -> Prover:
        """Return a prover for a game. Raises LimitError if the game's network is missing or too large."""
        machine = game.backends.needed_network()
        compiled = machine.compiled
        play, store = random_play(machine.kernel), ProofStore(compiled)
        replay = Replay(game)
        return cls(Model(compiled), play, replay, patience, report, store=store, is_brief=is_brief)

    def decide(self, wanted: Property, seconds: float, up_to: int | None = None) -> Verdict:
        """Return the verdict after at most ``seconds``; ``up_to`` limits the length of matches."""
        began, patience = perf_counter(), self.patience.renewed(seconds)
        way = self._decided if up_to is None else partial(self._decided_up_to, most=up_to)
        verdict = way(wanted, patience)
        # A brief search has few queries, and may therefore miss matches that end.
        may_be_vacuous = bool(verdict) and wanted.of_ends and not self._is_brief
        endless = may_be_vacuous and not self._can_end(patience)
        return self._finished(verdict, began, "the search found no match that ends" if endless else "")

    def _finished(self, verdict: Verdict, began: float, note: str) -> Verdict:
        """Add a note and the time taken to a verdict, and cache its proof."""
        self._store.keep(verdict.name, verdict.certificate)
        notes = "; ".join(filter(None, [verdict.note, note]))
        return replace(verdict, note=notes, seconds=perf_counter() - began)

    def _can_end(self, patience: Patience) -> bool:
        with suppress(OutOfTimeError):
            terminal = self.model.terminal
            if self.sample.match_to(terminal) is not None:
                return True
            return reach(self.model, terminal, patience, invariant=self._known).match is not None
        return False

    def _decided_up_to(self, wanted: Property, patience: Patience, most: int) -> Verdict:
        self._depth = -1
        patience = self.after_learning(patience.left)
        self.report(f"{wanted.name}: searching matches of up to {_moves(most)}")
        with suppress(OutOfTimeError):
            searched = self._bounded(wanted.literal, patience, most)
            if searched.match is not None:
                return self._shown(wanted, searched.match, shortest=True)
            steps = check_bounded(self.model, wanted.literal, most, patience)
            return replace(self._settled(wanted, steps, f"in matches of up to {_moves(most)}"), depth=most)
        return wanted.open(self._depth)

    def excludes(self, literal: int, patience: Patience) -> bool | None:
        """Return whether a literal over the state holds in no reachable state; None if undecided."""
        if self._reached and self.model.values([literal], np.array(self._reached)).any():
            return False
        match: Match | None = None
        with suppress(OutOfTimeError):
            reached = reach(self.model, literal, patience.part(_FOR_LONG), invariant=self.invariant)
            if reached.invariant is not None:
                needed = trimmed(self.model, literal, [*self.invariant, *reached.invariant], patience)
                check_invariant(self.model, literal, needed, patience)
                return True
            match = reached.match
        with suppress(OutOfTimeError):
            match = match or self._long_match(literal, patience)
        if match is None:
            return None
        state = self.model.initial
        for joint in match:
            state = self.model.after(state, joint)
            self._reached.append(state)
        return False

    def ends(self, seconds: float) -> Verdict:
        """Return the verdict about ``ends``, with the maximum number of moves of a match."""
        began = perf_counter()
        verdict = self._ending(self.patience.renewed(seconds))
        gets_stuck = bool(verdict) and self.sample.match_to(self.model.blocked) is not None
        return self._finished(verdict, began, _STOPS if gets_stuck else "")

    def _ending(self, patience: Patience) -> Verdict:
        self._depth = -1
        stored = self._store.certificates.get("ends")
        if stored is not None:
            self.report("ends: checking a cached proof")
            with suppress(OutOfTimeError, CertificateError):
                if stored.measure is None:
                    return self._followed(stored, patience.part(_FOR_INVARIANT))
                measure = measured(self.model, stored.measure, stored.most_lost)
                return self._measured(measure, stored, patience.part(_FOR_INVARIANT))
        self.report("ends: searching for a repeated state")
        again = self.sample.first_repeat()
        if again is not None:
            first, second = map(self.sample.match, again)
            verdict = self._repeated(second, len(first))
            if verdict is not None:
                return verdict
        # Loading scipy may take longer than the search.
        with patience.paused():
            needed_programs()
        measures: Measures | None = None
        for is_last in self.knowledge.rounds(patience):
            self.report("ends: searching for a measure")
            part = patience.part(_FOR_INVARIANT if is_last else _FOR_CHEAP)
            with suppress(OutOfTimeError):
                measures = measures or Measures(self.model, self.sample, patience.part(_FOR_INVARIANT))
                is_brief = self._is_brief or not is_last
                for tried in measures.search(self._known, part, is_brief=is_brief):
                    verdict = self._by_measure(tried, measures, part, patience)
                    if verdict is not None:
                        return verdict
        if self._is_brief:
            return _ENDS.open(self._depth)
        self.report("ends: enumerating all matches")
        with suppress(OutOfTimeError):
            followed = self._bounded(FALSE, patience.part(_FOR_INVARIANT), None)
            if followed.is_everything:
                return self._followed(Certificate(depth=followed.depth, is_everything=True), patience)
        return _ENDS.open(self._depth)

    def _repeated(self, match: Match, first: int | None) -> Verdict | None:
        """Return the verdict if the rules confirm that the state after ``first`` moves recurs at the end."""
        if first is None:
            return None
        joints = tuple(map(self.model.joint_of, match))
        states = self.replay.states(joints)
        if states[first] != states[-1]:
            return None
        earlier = f"the state after {_moves(first)}" if first else "the initial state"
        note = f"after {_moves(len(match))}, {earlier} recurs, so the match can continue forever"
        return Verdict(_ENDS.name, _ENDS.claim, "refuted", match=joints, note=note)

    def _by_measure(
        self, measure: Measure, measures: Measures, part: Patience, whole: Patience
    ) -> Verdict | None:
        """Return the verdict from a measure; None if a step does not increase the measure, or time is up."""
        model = self.model
        with suppress(OutOfTimeError):
            slipping = slip(model, measure, part)
            reached = reach(model, slipping, part.part(_FOR_INVARIANT), invariant=self._known)
            if reached.invariant is not None:
                clauses = self._trimmed(slipping, reached.invariant, whole)
                return self._measured(measure, certificate_of(self.model, clauses), whole)
            assert reached.match is not None
            before = state = model.initial
            for joint in reached.match:
                before, state = state, model.after(state, joint)
            measures.add(before, state)
            return self._repeated(*follow(model, reached.match, state))
        return None

    def _measured(self, measure: Measure, invariant: Certificate, patience: Patience) -> Verdict:
        """Check that a measure proves that every match ends. Raises CertificateError for a wrong measure."""
        clauses = clauses_of(self.model, invariant)
        most, steps = check_ending(self.model, measure.parts, measure.most_lost, clauses, patience)
        wanted = replace(_ENDS, claim=f"every match ends within {_moves(most)}")
        proof = self._settled(wanted, steps, _growth(measure), replace(invariant, measure=None))
        rows = kept(self.model, measure)
        certificate = replace(invariant, measure=rows, most_lost=measure.most_lost) if rows else None
        return replace(proof, most_moves=most, certificate=certificate)

    def _followed(self, certificate: Certificate, patience: Patience) -> Verdict:
        """Check the proof that enumerates all matches. Raises CertificateError if the check fails."""
        most = certificate.depth
        if most is None or not certificate.is_everything:
            raise CertificateError("the certificate has neither a measure nor a maximum length of matches")
        steps = check_bounded(self.model, FALSE, most, patience, is_everything=True)
        claim = f"every match ends within {_moves(most)}"
        return Verdict("ends", claim, "proved", steps=steps, most_moves=most, certificate=certificate)

    def _checked(self, wanted: Property, certificate: Certificate, patience: Patience) -> Verdict:
        """Check a proof and return its verdict. Raises CertificateError if the check fails."""
        model, bad, depth = self.model, wanted.literal, certificate.depth
        if depth is None:
            steps = check_invariant(
                model, bad, clauses_of(self.model, certificate), patience, certificate.sums
            )
            return self._settled(wanted, steps, "", certificate)
        if certificate.is_everything:
            steps = check_bounded(model, bad, depth, patience, is_everything=True)
            return self._settled(wanted, steps, _ALL_MATCHES.format(_moves(depth)), certificate)
        steps = check_induction(model, bad, clauses_of(self.model, certificate), depth, patience)
        return self._settled(wanted, steps, f"by induction over {_moves(depth)}", certificate)

    def _decided(self, wanted: Property, patience: Patience) -> Verdict:
        self._depth = -1
        stored = self._store.certificates.get(wanted.name)
        if stored is not None:
            self.report(f"{wanted.name}: checking a cached proof")
            with suppress(OutOfTimeError, CertificateError):
                return self._checked(wanted, stored, patience.part(_FOR_INVARIANT))
        played = self.sample.match_to(wanted.literal)
        if played is not None and self._is_brief:
            return self._shown(wanted, played, shortest=False)
        for is_last in self.knowledge.rounds(patience):
            self.report(f"{wanted.name}: trying cheap proofs")
            share = (1.0 if self._is_brief else _FOR_INDUCTION) if is_last else _FOR_CHEAP
            part = patience.part(share)
            with suppress(OutOfTimeError):
                if played is not None:
                    return self._with_shortest(wanted, played, part)
                verdict = self._by_induction(wanted, part, patience, most=_FEW)
                if verdict is not None:
                    return verdict
        if played is not None:
            return self._with_match(wanted, played, patience)
        long: _Way = (self._by_long_match, _FOR_LONG, "searching for a long match")
        ways: tuple[_Way, ...] = (
            (self._by_bounded_search, _FOR_SHORT, "searching for a short match"),
            *([long] if wanted.to_be_reached else []),
            (self._by_induction, _FOR_INDUCTION, "trying induction over several moves"),
            (self._by_counting, _FOR_COUNTING, "searching for conserved sums"),
            (self._by_invariant, _FOR_INVARIANT, "searching for an invariant"),
            *([] if wanted.to_be_reached else [long]),
            (partial(self._by_bounded_search, most=None), 1.0, "searching for longer matches"),
        )
        for way, share, name in () if self._is_brief else ways:
            self.report(f"{wanted.name}: {name}")
            with suppress(OutOfTimeError):
                verdict = way(wanted, patience.part(share), patience)
                if verdict is not None:
                    return verdict
        return wanted.open(self._depth)

    def _by_bounded_search(
        self, wanted: Property, part: Patience, whole: Patience, most: int | None = _SHALLOW
    ) -> Verdict | None:
        searched = self._bounded(wanted.literal, part, most)
        if searched.match is not None:
            return self._shown(wanted, searched.match, shortest=True)
        if not searched.is_everything or self.model.depends_on_moves(wanted.literal):
            return None
        followed = Certificate(depth=searched.depth, is_everything=True)
        return self._checked(wanted, followed, whole.part(_FOR_CHECK))

    def _by_long_match(self, wanted: Property, part: Patience, whole: Patience) -> Verdict | None:
        match = self._long_match(wanted.literal, part)
        return None if match is None else self._with_match(wanted, match, whole)

    def _by_invariant(self, wanted: Property, part: Patience, whole: Patience) -> Verdict:
        reached = reach(
            self.model, wanted.literal, part, invariant=self._known, report=partial(self._at_frame, wanted)
        )
        if reached.match is not None:
            return self._with_match(wanted, reached.match, whole)
        assert reached.invariant is not None
        self.report(f"{wanted.name}: checking an invariant")
        clauses = self._trimmed(wanted.literal, reached.invariant, whole)
        return self._checked(wanted, certificate_of(self.model, clauses), whole)

    def _trimmed(
        self, bad: int, clauses: Sequence[Clause], whole: Patience, lemmas: Sequence[Lemma] = ()
    ) -> tuple[Clause, ...]:
        """Return the clauses of the invariant that the proof needs, or all clauses if time runs out."""
        needed = list(dict.fromkeys([*((lemma.holds,) for lemma in lemmas), *self._known, *clauses]))
        with suppress(OutOfTimeError):
            needed = trimmed(self.model, bad, needed[len(lemmas) :], whole.part(_FOR_CHECK), lemmas=lemmas)
        return tuple(needed)

    def _by_counting(self, wanted: Property, part: Patience, whole: Patience) -> Verdict | None:
        model, bad = self.model, wanted.literal
        if self._sums is None:
            self._sums = sums(model, self.sample, self._known, part.part(_FOR_CHECK))
        if not self._sums:
            return None
        lemmas = [lemma_of(model, counted, part) for counted in self._sums]
        assumed = [*self._known, *((lemma.holds,) for lemma in lemmas)]
        refuting = model.gates.conjunction([bad, *(lemma.holds for lemma in lemmas)])
        reached = reach(model, refuting, part, invariant=assumed)
        if reached.match is not None:
            return self._with_match(wanted, reached.match, whole)
        assert reached.invariant is not None
        clauses = self._trimmed(bad, reached.invariant, whole, lemmas)
        needed = [x for x, lemma in zip(self._sums, lemmas, strict=True) if (lemma.holds,) in clauses]
        counted = {(lemma.holds,) for lemma in lemmas}
        unsummed = [clause for clause in clauses if clause not in counted]
        return self._checked(wanted, replace(certificate_of(self.model, unsummed), sums=tuple(needed)), whole)

    def _by_induction(
        self, wanted: Property, part: Patience, whole: Patience, most: int = _MOST_INDUCTION
    ) -> Verdict | None:
        model, bad = self.model, wanted.literal
        if model.depends_on_moves(bad):
            return None
        proof = induction_depth(model, bad, part, self._known, most)
        if proof is None:
            return None
        depth, invariant = proof
        invariant = trimmed(model, FALSE, self._known, whole.part(_FOR_CHECK), invariant)
        if not depth:
            return self._checked(wanted, certificate_of(self.model, invariant), whole)
        if self._depth < depth - 1:
            match = self._bounded(bad, whole, depth - 1).match
            if match is not None:
                return self._shown(wanted, match, shortest=True)
        self.report(f"{wanted.name}: checking a proof by induction")
        return self._checked(wanted, certificate_of(self.model, invariant, depth), whole)

    def _settled(
        self, wanted: Property, steps: int, note: str, certificate: Certificate | None = None
    ) -> Verdict:
        shown = certificate is not None and not certificate.is_everything
        invariant = written(self.model, certificate) if certificate is not None and shown else None
        return wanted.settled(invariant=invariant, steps=steps, note=note, certificate=certificate)

    def _at_frame(self, wanted: Property, frame: int, clauses: int) -> None:
        self._depth = max(self._depth, frame)
        self.report(f"{wanted.name}: {clauses:,} clauses in {frame} frames")

    def _long_match(self, bad: int, patience: Patience) -> Match | None:
        """Return a match to a bad state, up to twice as long as matches of random play, or None."""
        longest = max(_FEWEST, self.sample.longest)
        for most in (longest, 2 * longest):
            if most * self.model.nodes > _MOST_NODES:
                break
            match = any_match(self.model, bad, patience, most, self._known)
            if match is not None:
                return match
        return None

    def _bounded(self, bad: int, patience: Patience, most: int | None) -> Bounded:
        def passed(depth: int) -> None:
            self._depth = max(self._depth, depth)

        first = self._depth + 1
        return shortest(
            self.model, bad, patience, first=first, most=most, invariant=self._known, report=passed
        )

    def _with_match(self, wanted: Property, match: Match, patience: Patience) -> Verdict:
        with suppress(OutOfTimeError):
            return self._with_shortest(wanted, match, patience.part(_FOR_SHORT))
        return self._shown(wanted, match, shortest=False)

    def _with_shortest(self, wanted: Property, match: Match, patience: Patience) -> Verdict:
        self.report(f"{wanted.name}: searching for a shorter match")
        last = len(match) - 1 - self.model.depends_on_moves(wanted.literal)
        if last >= 0:
            match = self._bounded(wanted.literal, patience, last).match or match
        return self._shown(wanted, match, shortest=True)

    def _shown(self, wanted: Property, match: Match, *, shortest: bool) -> Verdict:
        joints = tuple(map(self.model.joint_of, match))
        of_moves = self.model.depends_on_moves(wanted.literal)
        last = self.replay.last(joints, of_moves=of_moves)
        if not wanted.seen_by(*last):
            raise AnygameError(
                f"internal error: the compiled game and the rules disagree about {wanted.name} after "
                f"{' | '.join(' '.join(map(str, joint)) for joint in joints)}"
            )
        return wanted.shown(joints, last, shortest=shortest)
