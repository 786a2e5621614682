"""Verdicts about properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from anygame.language.terms import Term
    from anygame.proving.counting import Sum

#: Properties whose verdict is a list of proved facts, with their claims.
SURVEYS: Final = {
    "constant-players": "these roles never have a choice",
    "mutex": "in every state, at most one (or exactly one) of these fluents holds",
    "latched": "these fluents never change back: once true they stay true, or once false they stay false",
    "monotone": "the goals of these roles never fall",
    "dead": "these fluents never hold, these moves are never legal, and these rules never fire",
}

Outcome: TypeAlias = Literal["proved", "refuted", "open"]


@dataclass(frozen=True)
class Certificate:
    """A proof that the checker (``anygame.proving.certificate``) can verify.

    Attributes:
        clauses: clauses of an invariant, as literals of fluents.
        depth: depth of k-induction; with ``is_everything``, maximum number of moves of a match.
        is_everything: whether the proof enumerates all matches. For the cached invariant of a game: whether
            all candidates were tried.
        measure: for ``ends``, a sum that every move but the last increases. Each row has a weight, whether
            the fact is negated, and the fact, which is a disjunction of literals of fluents.
        most_lost: in one joint move, the facts of the measure that become false weigh at most this total.
        sums: conserved sums of the invariant.
        groups: groups of the invariant: at most one fluent of a group holds.
    """

    clauses: tuple[tuple[int, ...], ...] = ()
    depth: int | None = None
    is_everything: bool = False
    measure: tuple[tuple[int, ...], ...] | None = None
    most_lost: int = 0
    sums: tuple[Sum, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The verdict about a property.

    Attributes:
        name: the name of the property.
        claim: the statement that a proof shows.
        outcome: ``proved``, ``refuted`` or ``open``.
        match: joint moves, with a term for each role, to a state that decides the claim. The reasoner has
            replayed the match. None if no match decides the claim.
        is_shortest: whether no shorter match decides the claim.
        depth: no match of up to this number of moves decides the claim; None if the depth is irrelevant.
        invariant: the invariant of a proof, as clauses in GDL. For a claim about states, the claim is a
            further clause.
        steps: number of lemmas checked to verify the solver's proof.
        note: further information, as a sentence.
        found: for properties of ``SURVEYS``, the proved facts.
        seconds: time taken, in seconds.
        most_moves: maximum number of joint moves of a match, if ``ends`` is proved.
        certificate: the proof for the checker; None for lists, and if a match decides the claim.
    """

    name: str
    claim: str
    outcome: Outcome
    match: tuple[tuple[Term, ...], ...] | None = None
    is_shortest: bool = False
    depth: int | None = None
    invariant: tuple[str, ...] | None = None
    steps: int = 0
    note: str = ""
    found: tuple[str, ...] = ()
    seconds: float = 0.0
    most_moves: int | None = None
    certificate: Certificate | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        return self.outcome == "proved"

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "property": self.name,
            "claim": self.claim,
            "verdict": self.outcome,
            "match": None if self.match is None else [list(map(str, joint)) for joint in self.match],
            "shortest": self.is_shortest,
            "depth": self.depth,
            "invariant": None if self.invariant is None else list(self.invariant),
            "lemmas": self.steps,
            "note": self.note,
            "found": list(self.found),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Verdicts:
    """The verdicts about a game, in the order of the properties in the call.

    Attributes:
        verdicts: one verdict for each property that was examined.
        seconds: time taken, in seconds.
        interrupted: whether Ctrl-C ended the search.

    >>> from anygame.proving.verdict import Verdict, Verdicts
    >>> found = Verdicts((Verdict("playable", "every role has a legal move", "proved"),))
    >>> bool(found["playable"]), found.all("proved")
    (True, True)
    """

    verdicts: tuple[Verdict, ...]
    seconds: float = 0.0
    interrupted: bool = False

    def __getitem__(self, name: str) -> Verdict:
        for verdict in self.verdicts:
            if verdict.name == name:
                return verdict
        raise KeyError(name)

    def __iter__(self) -> Any:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    def all(self, outcome: Outcome) -> bool:
        """Return whether all verdicts have this outcome."""
        return all(verdict.outcome == outcome for verdict in self.verdicts)
