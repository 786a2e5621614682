"""A game of small advantages, which estimates help, and estimates by other means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def estimates(weights: NDArray[np.float32], states: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the estimates of states by matrices."""
    bits = np.unpackbits(states.view(np.uint8), axis=1, bitorder="little").astype(np.float64)
    hidden = bits @ weights[:-2] + weights[-2]
    total = np.maximum(hidden[:, :-1], 0) @ weights[-1, :-1] + hidden[:, -1]
    return np.asarray(1 / (1 + np.exp(-total)))
