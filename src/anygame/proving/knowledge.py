"""The invariant of a game: learning in rounds, caching after each round, and its text."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.proving.induction import learned
from anygame.proving.patience import OutOfTimeError
from anygame.proving.verdict import Certificate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.proving.counting import Sum
    from anygame.proving.matches import Sample
    from anygame.proving.model import Clause, Model
    from anygame.proving.patience import Patience
    from anygame.proving.store import ProofStore

#: The name of the invariant in the cache of proofs.
_EVERYWHERE: Final = "in every state"


class Knowledge:
    """Clauses that hold in every state of a game, learned on demand.

    The time limit starts with the first round. ``guesses`` returns candidate clauses that are tried first.
    ``is_everything`` says whether all candidates were tried.
    """

    def __init__(
        self,
        model: Model,
        sample: Sample,
        patience: Patience,
        report: Callable[[str], None],
        guesses: Callable[[Sample], list[Clause]],
        store: ProofStore,
    ) -> None:
        self._model, self._sample, self._patience = model, sample, patience
        self._report, self._guesses, self._store = report, guesses, store
        self.clauses: list[Clause] = []
        self.is_everything, self._is_learning = False, True
        self._learning = self._learned()

    def complete(self) -> list[Clause]:
        """Learn until all candidates are tried or the time limit is reached; return the clauses."""
        self._report("learning an invariant")
        for _ in self._learning:
            pass
        return self.clauses

    def rounds(self, patience: Patience) -> Iterator[bool]:
        """Yield, before each round of learning, whether learning is over.

        Callers can try cheap proofs between rounds. The clock of ``patience`` stops during learning.
        """
        tried = -1
        while self._is_learning:
            if len(self.clauses) > tried:
                yield False
            tried = len(self.clauses)
            self._report("learning an invariant")
            with patience.paused():
                next(self._learning, None)
        yield True

    def _learned(self) -> Iterator[None]:
        kept = self._store.certificates.get(_EVERYWHERE)
        patience = self._patience.again()
        first = clauses_of(self._model, kept) if kept else self._guesses(self._sample)
        try:
            with suppress(OutOfTimeError):
                for clauses in learned(self._model, self._sample, patience, first):
                    self.clauses = list(clauses)
                    # Stop if the cached invariant is complete and all of its clauses are proved again.
                    if kept and kept.is_everything and len(clauses) == len(first):
                        break
                    if not kept or len(clauses) >= len(first):
                        self._keep()
                    with patience.paused():
                        yield
                self.is_everything = True
                self._keep()
        finally:
            self._is_learning = False

    def _keep(self) -> None:
        certificate = certificate_of(self._model, self.clauses)
        self._store.keep(_EVERYWHERE, replace(certificate, is_everything=self.is_everything))


def certificate_of(model: Model, clauses: Iterable[Clause], depth: int | None = None) -> Certificate:
    """Return a certificate with the given clauses.

    A clause "at most one fluent of this group" uses a new gate, so the certificate has the group instead.
    """
    exclusive = model.exclusive
    groups = {c: exclusive[c[0]] for c in clauses if len(c) == 1 and c[0] in exclusive}
    return Certificate(tuple(c for c in clauses if c not in groups), depth, groups=tuple(groups.values()))


def clauses_of(model: Model, certificate: Certificate) -> list[Clause]:
    """Return the clauses of a certificate."""
    return [*certificate.clauses, *map(model.exclusion, certificate.groups)]


def written(model: Model, certificate: Certificate) -> tuple[str, ...]:
    """Return the invariant of a certificate as text."""
    groups = [f"at most one of {', '.join(map(model.name_of, group))}" for group in certificate.groups]
    sums = [_added(model, counted) for counted in certificate.sums]
    return (*(_disjunction(model, clause) for clause in certificate.clauses), *groups, *sums)


def _disjunction(model: Model, clause: Sequence[int]) -> str:
    names = list(map(model.name_of, clause))
    return names[0] if len(names) == 1 else f"(or {' '.join(names)})"


def _added(model: Model, counted: Sum) -> str:
    """Return a sum as an equation or inequality, with negative weights on the right."""
    sides = [
        [
            f"{abs(weight)} * {_disjunction(model, fact)}".removeprefix("1 * ")
            for weight, *fact in counted.parts
            if weight * sign > 0
        ]
        for sign in (1, -1)
    ]
    sides[counted.total > 0] += [str(abs(counted.total))] if counted.total else []
    return (" = " if counted.is_exact else " >= ").join(" + ".join(side) or "0" for side in sides)
