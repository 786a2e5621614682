"""Verdicts of a prover as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import counted
from anygame.proving import SURVEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.proving import Verdict

#: The shape of a verdict in JSON; terms are strings in KIF.
SHAPE: Final = """\
{"property", "claim", "verdict": "proved" | "refuted" | "open", "match": [[MOVE]], "shortest",
   "depth", "invariant": [CLAUSE], "lemmas", "note", "found": [TEXT], "seconds"}
  match lists the joint moves to a state that refutes the claim. If one state proves the claim,
  match lists the joint moves to this state. Otherwise, match is null. If the claim is open, no
  match of up to depth joint moves decides it. invariant lists clauses in GDL that hold in every
  state. lemmas counts the checked steps of the solver's proof."""
#: Maximum number of facts that are shown without ``everything``.
_SHOWN: Final = 6


def verdict_lines(verdict: Verdict, *, everything: bool = False) -> Iterator[str]:
    """Yield a verdict as lines for people; ``everything`` shows all facts and clauses."""
    claim = verdict.name if verdict.name == verdict.claim else f"{verdict.name}: {verdict.claim}"
    took = f" ({verdict.seconds:.0f} s)" if verdict.seconds >= 1 else ""
    yield f"{verdict.outcome:<8} {claim}{took}"
    for line in _details(verdict, everything=everything):
        yield f"         {line}"


def _details(verdict: Verdict, *, everything: bool) -> Iterator[str]:
    lemmas = counted(verdict.steps, "lemma")
    if verdict.outcome == "open" and verdict.depth is not None:
        yield f"undecided: no match of up to {counted(verdict.depth, 'move')} refutes the claim"
    if verdict.note:
        yield from verdict.note.splitlines()
    if verdict.match is not None:
        shortest = "a shortest match" if verdict.is_shortest else "a match"
        moves = len(verdict.match)
        yield f"shown by {shortest} of {counted(moves, 'joint move')}{':' if moves else ''}"
        for number, joint in enumerate(verdict.match, start=1):
            yield f"{number:>3}  {'  '.join(map(str, joint))}"
    elif verdict.invariant:
        yield f"an invariant of {counted(len(verdict.invariant), 'clause')}, checked with {lemmas}"
        if everything:
            yield from verdict.invariant
    elif verdict.steps:
        yield f"checked with {lemmas}"
    elif verdict.invariant is not None:
        kept = "all joint moves preserve the property" if verdict else "no joint move makes the property true"
        yield f"{kept}: the proof needs no further invariant"
    if verdict.name in SURVEYS and verdict and not verdict.found:
        yield "none"
    shown = verdict.found if everything else verdict.found[:_SHOWN]
    yield from shown
    if len(shown) < len(verdict.found):
        yield f"... {len(verdict.found) - len(shown):,} more (--all shows them)"
