"""A game of small advantages, which estimates help, and estimates by other means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.search.evaluation.patterns import Patterns
    from anygame.search.tree.searcher import TreeSearcher

#: Pawns that walk up a board of five by six and take each other; who comes to the other side first has won.
RACE = """
(role white) (role black) (init (turn white))
(<= (init (at ?x 1 white)) (column ?x)) (<= (init (at ?x 6 black)) (column ?x))
(column 1) (column 2) (column 3) (column 4) (column 5)
(ahead white 1 2) (ahead white 2 3) (ahead white 3 4) (ahead white 4 5) (ahead white 5 6)
(<= (beside ?x ?y) (ahead white ?x ?y) (column ?y)) (<= (beside ?x ?y) (beside ?y ?x))
(<= (ahead black ?y ?z) (ahead white ?z ?y)) (goes white black) (goes black white)
(<= (taken ?x ?y) (true (at ?x ?y ?r)))
(<= (legal ?r (move ?x ?y ?x ?z)) (true (turn ?r)) (true (at ?x ?y ?r)) (ahead ?r ?y ?z) (not (taken ?x ?z)))
(<= (legal ?r (move ?x ?y ?v ?z)) (true (turn ?r)) (true (at ?x ?y ?r)) (ahead ?r ?y ?z) (beside ?x ?v)
    (not (true (at ?v ?z ?r))))
(<= (legal ?r noop) (goes ?r ?s) (true (turn ?s)))
(<= (next (turn ?s)) (true (turn ?r)) (goes ?r ?s))
(<= (next (at ?v ?z ?r)) (does ?r (move ?x ?y ?v ?z)))
(<= (touched ?x ?y) (does ?r (move ?x ?y ?v ?z))) (<= (touched ?v ?z) (does ?r (move ?x ?y ?v ?z)))
(<= (next (at ?x ?y ?r)) (true (at ?x ?y ?r)) (not (touched ?x ?y)))
(<= (won white) (true (at ?x 6 white))) (<= (won black) (true (at ?x 1 black)))
(<= (can ?r) (legal ?r (move ?x ?y ?v ?z)))
(<= (won ?s) (goes ?r ?s) (true (turn ?r)) (not (can ?r)))
(<= terminal (won ?r))
(<= (goal white 100) (won white)) (<= (goal white 0) (not (won white)))
(<= (goal black 0) (won white)) (<= (goal black 100) (not (won white)))
"""


#: Seven pieces are taken in turn by three roles, one or two at a time; who takes the last one has won.
TAKING = """
(role a) (role b) (role c) (init (turn a)) (init (left 7)) (after a b) (after b c) (after c a)
(minus 7 1 6) (minus 6 1 5) (minus 5 1 4) (minus 4 1 3) (minus 3 1 2) (minus 2 1 1) (minus 1 1 0)
(minus 7 2 5) (minus 6 2 4) (minus 5 2 3) (minus 4 2 2) (minus 3 2 1) (minus 2 2 0)
(<= (legal ?r (take ?k)) (true (turn ?r)) (true (left ?n)) (minus ?n ?k ?m))
(<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
(<= (next (left ?m)) (does ?r (take ?k)) (true (left ?n)) (minus ?n ?k ?m))
(<= (next (turn ?s)) (true (turn ?r)) (after ?r ?s))
(<= terminal (true (left 0)))
(<= (goal ?r 100) (true (left 0)) (true (turn ?s)) (after ?r ?s))
(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))
"""


def estimates(
    searcher: TreeSearcher, weights: NDArray[np.float32], states: NDArray[np.uint64], number: int = 0
) -> NDArray[np.float64]:
    """Return an output, the first by default, of the estimates of states, by matrices."""
    bits = np.unpackbits(states.view(np.uint8), axis=1, bitorder="little").astype(np.float64)
    shape = searcher.shape
    bent, first = weights.shape[1] - shape.outputs, shape.inputs + 1 + shape.patterns
    hidden = bits @ weights[: shape.inputs] + weights[shape.inputs]
    hidden += amounts(searcher.patterns, bits) @ weights[shape.inputs + 1 : first]
    own, *gated = weights[first:].reshape(shape.outputs, 1 + shape.gating, -1)[number]
    last = own + bits[:, searcher.gating] @ np.array(gated) if gated else own
    total = (np.maximum(hidden, 0) * last)[:, :bent].sum(axis=1)
    return np.asarray(1 / (1 + np.exp(-total - hidden[:, -1 - number])))


def amounts(patterns: Patterns, bits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how often each row of weights of patterns counts in states: float [states, rows]."""
    found = np.zeros((len(bits), patterns.rows))
    if not patterns.rows:
        return found
    fluents = np.repeat(np.arange(bits.shape[1]), np.diff(patterns.pattern_starts))
    for state, held in enumerate(bits):
        tallies = patterns.first_tallies.copy()
        np.add.at(tallies, patterns.pattern_numbers, (held[fluents] * patterns.pattern_steps).astype(int))
        rows = patterns.tally_rows[tallies]
        np.add.at(found[state], rows[rows >= 0], 1)
    return found
