"""Verdicts: what was found out about a property."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from anygame.language.terms import Term
    from anygame.proving.counting import Sum

#: What is looked for, and what is said of it.
SURVEYS: Final = {
    "constant-players": "these roles never have a choice",
    "mutex": "of these fluents at most one, or exactly one, holds in every state",
    "latched": "these fluents never change back: they stay once they hold, or stay away once they do not",
    "monotone": "the goals of these roles never fall",
    "dead": "these fluents never hold, these moves are never legal, and these rules never fire",
}

#: What is said of ends where a match can stop before it comes to one.
STOPS: Final = "a match stops, too, where a role has no legal move"

Outcome: TypeAlias = Literal["proved", "refuted", "open"]


def moves(number: int) -> str:
    """Return a number of joint moves as people read it."""
    return "one move" if number == 1 else f"{number:,} moves"


@dataclass(frozen=True)
class Certificate:
    """What a checker follows to be sure of a proof; see ``anygame.proving.certificate``.

    Attributes:
        clauses: over fluents, as literals of the model: an invariant.
        depth: of induction over several moves; with ``is_everything``, moves of the longest matches.
        is_everything: whether all matches are followed to their ends; of what holds in every state, whether
            all that may hold was tried.
        measure: where every match ends: what grows with every move but the last, as rows with a weight,
            whether the fact is inverted, and the fact, a disjunction of literals over fluents.
        most_lost: what a move takes away of the measure at most, before it adds more.
        sums: what is counted in every state, see ``counting.Sum``; more of the invariant.
        groups: literals of fluents of which at most one holds; more of the invariant.
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
    """What was found out about a property.

    Attributes:
        name: of the property.
        claim: what is true of the game where it is proved.
        outcome: ``proved``, ``refuted`` or ``open``.
        match: joint moves, a term for each role, to the state that refutes the claim, or shows it where one
            state is enough; the reasoner has played them. None where there is none.
        is_shortest: whether no shorter match shows it.
        depth: so many moves were looked at without a match; None where that does not matter.
        invariant: what a proof stands on, as clauses in GDL: in every state each has a literal that holds.
            With the claim itself, where that is of states, every step keeps them.
        steps: the lemmas by which a solver's proof was followed.
        note: what else there is to know, as a sentence.
        found: what is true of every state, for properties that are looked for.
        seconds: how long it took.
        most_moves: joint moves that a match has at most, where ``ends`` is proved.
        certificate: of the proof; None where a match is what shows it, and for what is looked for.
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
        """Return it as plain data."""
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
    """What was found out about a game: a verdict for each property, in the order in which they were asked.

    Attributes:
        verdicts: as many as there was time for.
        seconds: how long it took, compiling aside.
        interrupted: whether it was ended early.

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
        """Whether every verdict is this one."""
        return all(verdict.outcome == outcome for verdict in self.verdicts)
