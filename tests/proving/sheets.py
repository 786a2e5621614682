"""Small sheets, sound and faulty, for what is written for other programs."""

from __future__ import annotations

from typing import Final

#: Two heaps; who takes the last match wins.
NIM: Final = """
(role first) (role second) (init (control first)) (init (heap a 1)) (init (heap b 2))
(succ 0 1) (succ 1 2) (less 0 1) (less 0 2) (less 1 2)
(<= (legal ?r (take ?h ?n)) (true (control ?r)) (true (heap ?h ?m)) (less ?n ?m))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= (next (heap ?h ?n)) (does ?r (take ?h ?n)))
(<= (next (heap ?h ?n)) (true (heap ?h ?n)) (not (taken ?h)))
(<= (taken ?h) (does ?r (take ?h ?n)))
(<= (next (control first)) (true (control second))) (<= (next (control second)) (true (control first)))
(<= terminal (true (heap a 0)) (true (heap b 0)))
(<= (goal ?r 0) (true (control ?r))) (<= (goal ?r 100) (role ?r) (not (true (control ?r))))
"""
#: Who does not rest is left without a move.
TRAP: Final = """
(role lone) (init (at 1)) (<= (legal lone go) (true (at 1))) (<= (legal lone rest) (true (at 1)))
(<= (next (at 2)) (does lone go)) (<= (next (at 3)) (does lone rest))
(<= terminal (true (at 3))) (goal lone 100)
"""
#: Two goals at one of the ends, and none at the other.
GOALS: Final = """
(role lone) (<= (legal lone ?m) (move ?m)) (move both) (move none) (<= (next (chose ?m)) (does lone ?m))
(<= terminal (true (chose ?m))) (<= (goal lone 0) (true (chose both))) (<= (goal lone 7) (true (chose both)))
"""
#: Two rows of three; who takes the piece in the corner loses.
CHOMP: Final = """
(role one) (role two) (init (turn one)) (line 1) (line 2) (column 1) (column 2) (column 3)
(<= (init (piece ?x ?y)) (column ?x) (line ?y))
(upto 1 1) (upto 1 2) (upto 1 3) (upto 2 2) (upto 2 3) (upto 3 3)
(<= (legal ?r (bite ?x ?y)) (true (turn ?r)) (true (piece ?x ?y)))
(<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
(<= (bitten ?a ?b) (does ?r (bite ?x ?y)) (upto ?x ?a) (upto ?y ?b))
(<= (next (piece ?x ?y)) (true (piece ?x ?y)) (not (bitten ?x ?y)))
(<= (next (turn one)) (true (turn two))) (<= (next (turn two)) (true (turn one)))
(<= terminal (not (true (piece 1 1))))
(<= (goal ?r 100) (true (turn ?r))) (<= (goal ?r 0) (role ?r) (not (true (turn ?r))))
"""
#: Names that other languages would take for something else.
NAMES: Final = """
(role King) (role next) (init (not.x 01)) (init (|a"b| -1)) (init (a,b c%d)) (init (TRUE esac))
(<= (legal King (m,1 ;
   terminal)) (true (not.x 01)))
(<= (legal next 1+1) (true (TRUE esac))) (<= (legal King \u00e4_) (not (true (not.x 02))))
(<= (legal King _x) (true (not.x 01))) (<= (legal next 'q) (true (TRUE esac)))
(<= (next (a_b c-d)) (does King (m,1 terminal))) (<= (next (a.b c_d)) (does King \u00e4_))
(<= (next (was ?m)) (does next ?m)) (<= terminal (true (was ?x)))
(<= (goal ?r 100) (role ?r) (true (a_b c-d))) (<= (goal ?r 50) (role ?r) (not (true (a_b c-d))))
"""
#: Rules that depend on each other, disjunctions, and what is not written as one rule a line.
ROADS: Final = """
(role walker) (init (at a)) (road a b) (road b c) (road c a) (road c d) (init (open a b))
(<= (reach ?x ?y) (road ?x ?y) (or (true (open ?x ?y)) (true (open ?y ?x)) (distinct ?x a)))
(<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))
(<= (legal walker (go ?y)) (true (at ?x)) (reach ?x ?y) (not (or (distinct ?y ?x) (road d ?y))))
(<= (legal walker (go ?y)) (true (at ?x)) (road ?x ?y))
(<= (legal walker (dig ?x ?y)) (road ?x ?y) (not (true (open ?x ?y))) (not (not (distinct ?y d))))
(<= (next (at ?y)) (does walker (go ?y))) (<= (next (at ?x)) (true (at ?x)) (does walker (dig ?a ?b)))
(<= (next (open ?x ?y)) (or (true (open ?x ?y)) (does walker (dig ?x ?y))) (road ?x ?y))
(<= (next (steps ?x)) (true (at ?x)) (or (does walker (go d)) (not (does walker (go a)))))
(<= terminal (true (at d))) (<= (goal walker 30) (not (reach a d)))
(<= (goal walker 100) (true (at d)) (reach a d))
(<= (goal walker 30) (reach a d) (not (true (at d))))
"""
