"""Sheets that each try one step from rules to gates; the reasoner says what is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.network.agreement import assert_agreement, compiled

import anygame

_GDL = Path(__file__).parents[2] / "gdl"

_BOARD = """
    (role red) (role blue)
    (index 1) (index 2) (index 3)
    (init (piece 1 1 red)) (init (piece 3 3 blue)) (init (control red))
    (<= (legal ?r (go ?x ?y ?u ?v)) (true (control ?r)) (true (piece ?x ?y ?r)) (index ?u) (index ?v)
        (or (distinct ?x ?u) (distinct ?y ?v)))
    (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
    (<= (next (control blue)) (true (control red)))
    (<= (next (control red)) (true (control blue)))
    (<= terminal (not (alive red)))
    (<= terminal (not (alive blue)))
    (<= (alive ?r) (true (piece ?x ?y ?r)))
    (<= (goal ?r 100) (role ?r) (alive ?r))
    (<= (goal ?r 0) (role ?r) (not (alive ?r)))
"""

SHEETS = {
    "frame axioms over equations": _BOARD
    + """
    (<= (next (piece ?u ?v ?r)) (does ?r (go ?x ?y ?u ?v)))
    (<= (next (piece ?a ?b ?s)) (true (piece ?a ?b ?s)) (does ?r (go ?x ?y ?u ?v))
        (or (distinct ?a ?x) (distinct ?b ?y)) (or (distinct ?a ?u) (distinct ?b ?v)))
    """,
    "frame axioms over a static relation": _BOARD
    + """
    (<= (apart ?a ?b ?c ?d) (index ?a) (index ?b) (index ?c) (index ?d) (distinct ?a ?c))
    (<= (apart ?a ?b ?c ?d) (index ?a) (index ?b) (index ?c) (index ?d) (distinct ?b ?d))
    (<= (next (piece ?u ?v ?r)) (does ?r (go ?x ?y ?u ?v)))
    (<= (next (piece ?a ?b ?s)) (true (piece ?a ?b ?s)) (does ?r (go ?x ?y ?u ?v))
        (apart ?a ?b ?x ?y) (apart ?a ?b ?u ?v))
    """,
    "a piece that a move carries": _BOARD
    + """
    (<= (next (piece ?u ?v ?p)) (does ?r (go ?x ?y ?u ?v)) (true (piece ?x ?y ?p)))
    (<= (kept ?a ?b) (index ?a) (index ?b) (not (touched ?a ?b)))
    (<= (touched ?a ?b) (does ?r (go ?a ?b ?u ?v)))
    (<= (touched ?a ?b) (does ?r (go ?x ?y ?a ?b)))
    (<= (next (piece ?a ?b ?s)) (true (piece ?a ?b ?s)) (kept ?a ?b))
    """,
    "moves at once, negated": """
    (role a) (role b) (role c)
    (value 1) (value 2) (value 3)
    (init (round 1))
    (<= (legal ?r (say ?n)) (role ?r) (value ?n))
    (<= (next (round 2)) (true (round 1)))
    (<= (next (said ?r ?n)) (does ?r (say ?n)))
    (<= (next alone) (does a (say ?n)) (not (does b (say ?n))) (not (does c (say ?n))))
    (<= (next same) (does a (say ?n)) (does b (say ?n)) (does c (say ?n)))
    (<= (next (two ?r ?s)) (does ?r (say ?n)) (does ?s (say ?n)) (distinct ?r ?s))
    (<= terminal (true (round 2)))
    (<= (goal a 100) (true alone))
    (<= (goal a 50) (true same))
    (<= (goal a 0) (not (true alone)))
    (<= (goal ?r 30) (true (two ?r ?s)) (distinct ?r a))
    """,
    "whole fluents and moves as variables": """
    (role r)
    (init (a 1)) (init b) (init (c (d 2)))
    (option (keep b)) (option (drop (a 1))) (option stop) (option (keep (c (d 2))))
    (<= (legal r ?m) (option ?m) (fits ?m))
    (<= (fits (keep ?f)) (true ?f))
    (<= (fits (drop ?f)) (true ?f))
    (fits stop)
    (<= (next ?f) (true ?f) (not (does r (drop ?f))))
    (<= (next (last ?m)) (does r ?m) (distinct ?m stop))
    (<= terminal (true (last (drop ?f))))
    (<= (goal r 10) (true (last ?m)))
    """,
    "terms that nest and are counted": """
    (role r)
    (init (count zero))
    (<= (legal r up) (not (true (count (s (s (s zero)))))))
    (legal r stay)
    (small zero) (small (s zero)) (small (s (s zero)))
    (<= (next (count (s ?n))) (does r up) (true (count ?n)) (small ?n))
    (<= (next (count ?n)) (does r stay) (true (count ?n)))
    (<= terminal (true (count (s (s (s ?n))))))
    (<= (goal r 100) (true (count (s (s (s zero))))))
    (<= (goal r 0) (true (count (s zero))))
    """,
    "views that depend on themselves": """
    (role r)
    (edge a b) (edge b c) (edge c a) (edge c d) (edge d e)
    (init (open a)) (init (open c))
    (node a) (node b) (node c) (node d) (node e)
    (<= (linked ?x ?y) (edge ?x ?y))
    (<= (linked ?x ?y) (edge ?y ?x))
    (<= (reached a) (true (open a)))
    (<= (reached ?y) (reached ?x) (linked ?x ?y) (true (open ?y)))
    (<= (legal r (flip ?n)) (node ?n))
    (<= (next (open ?n)) (true (open ?n)) (not (does r (flip ?n))))
    (<= (next (open ?n)) (does r (flip ?n)) (not (true (open ?n))))
    (<= (far ?x ?y) (node ?x) (node ?y) (not (near ?x ?y)))
    (<= (near ?x ?y) (linked ?x ?y) (true (open ?x)) (true (open ?y)))
    (<= (near ?x ?z) (near ?x ?y) (near ?y ?z))
    (<= terminal (reached e))
    (<= (goal r 100) (reached e))
    (<= (goal r 0) (not (reached e)) (far a e))
    """,
    "many alternatives": """
    (role r)
    (value 1) (value 2) (value 3)
    (init (p 1)) (init (q 2)) (init (s 3))
    (<= (legal r (set ?x ?y)) (value ?x) (value ?y)
        (or (true (p ?x)) (true (q ?x)) (not (true (s ?y))))
        (or (true (p ?y)) (distinct ?x ?y) (true (q ?x)))
        (or (true (s ?x)) (and (true (q ?y)) (not (true (p ?x)))) (true (p ?x)) (not (true (q ?x))))
        (or (not (true (p ?y))) (not (true (q ?y))) (true (s ?x))))
    (<= (next (p ?x)) (does r (set ?x ?y)))
    (<= (next (q ?y)) (does r (set ?x ?y)))
    (<= (next (s ?y)) (true (p ?y)))
    (<= (next (s ?y)) (true (s ?y)) (true (q ?x)) (distinct ?x ?y))
    (<= terminal (true (p 3)) (true (q 3)))
    (<= (goal r 1) (true (s ?x)))
    """,
    "few alternatives": """
    (role r) (value 1) (value 2) (init (p 1))
    (<= (legal r (set ?x)) (value ?x) (or (true (p ?x)) (not (true (p 2)))))
    (legal r stay)
    (<= (next (p ?x)) (value ?x) (or (true (p ?x)) (does r (set ?x))) (or (does r stay) (does r (set 2))))
    (<= terminal (not (true (p 1))))
    (<= (goal r 1) (or (true (p 1)) (true (p 2))))
    """,
    "many alternatives over a term that is put together": """
    (role r) (init (p (f 1))) (init (s 1)) (legal r a) (legal r b)
    (<= (next (s ?x)) (true (s ?x)) (does r a))
    (<= (next (p (f ?x))) (true (p (f ?x)))
        (or (true (s ?x)) (does r b)) (or (true (s ?x)) (does r b)) (or (true (s ?x)) (does r b))
        (or (true (s ?x)) (does r b)) (or (true (s ?x)) (does r b)) (or (true (s ?x)) (does r b)))
    (<= terminal (not (true (s 1))))
    (goal r 1)
    """,
    "chains that are put together": """
    (role r)
    (init (at 1 2)) (init (at 3 1)) (init (side a)) (n 1) (n 2) (n 3) (n 4)
    (<= (legal r (put ?x ?y)) (n ?x) (n ?y) (not (true (at ?x ?y))))
    (<= (legal r (cut ?x ?y)) (true (at ?x ?y)))
    (<= (next (at ?x ?y)) (true (at ?x ?y)) (not (does r (cut ?x ?y))))
    (<= (next (at ?x ?y)) (does r (put ?x ?y)))
    (<= (next (side b)) (ways ?x ?x))
    (<= (ways ?x ?y) (true (at ?x ?y)))
    (<= (ways ?x ?z) (ways ?x ?y) (ways ?y ?z))
    (<= (joined ?s ?x ?y) (true (at ?x ?y)) (true (side ?s)))
    (<= (joined ?s ?x ?y) (joined ?s ?y ?x))
    (<= (joined ?s ?x ?z) (joined ?s ?x ?y) (joined ?s ?y ?z) (distinct ?x ?z))
    (<= (next (side ?s)) (joined ?s 1 4))
    (<= terminal (joined ?s 1 4) (ways 4 1))
    (<= (goal r 100) (ways 1 4))
    (<= (goal r 0) (not (ways 1 4)))
    """,
    "a chain of literals": """
    (role r)
    (init (at 1 1)) (init (at 2 1)) (init (at 3 2))
    (n 1) (n 2) (n 3) (n 4)
    (<= (legal r (put ?x ?y)) (n ?x) (n ?y) (not (true (at ?x ?y))))
    (<= (next (at ?x ?y)) (true (at ?x ?y)))
    (<= (next (at ?x ?y)) (does r (put ?x ?y)))
    (<= (joined ?a ?e) (true (at ?a ?b)) (true (at ?b ?c)) (true (at ?c ?d)) (true (at ?d ?e)))
    (<= cross (true (at ?x ?y)) (true (at ?y ?z)) (true (at ?z ?x)) (distinct ?x ?y))
    (<= terminal (joined 1 4) cross)
    (<= (goal r 100) (joined 1 4))
    (<= (goal r 0) (not (joined 1 4)))
    """,
    "relations that are static, empty, or always true": """
    (role r)
    (init on)
    (<= always (not never))
    (<= (legal r push) always)
    (<= (legal r pull) never)
    (<= (next on) always)
    (<= (next off) never)
    (<= (next done) (does r push))
    (<= terminal (true done))
    (<= (goal r 100) always)
    """,
    "static relations that are asked only where they are needed": """
    (role r)
    (init (sum 0)) (init (step 0))
    """
    + "".join(f"(succ {n} {n + 1}) " for n in range(40))
    + """
    (<= (plus ?x 0 ?x) (succ ?x ?y))
    (<= (plus ?x ?y ?z) (succ ?a ?y) (succ ?b ?z) (plus ?x ?a ?b))
    (<= (legal r (add ?n)) (digit ?n))
    (digit 1) (digit 2) (digit 3)
    (<= (next (sum ?z)) (true (sum ?x)) (does r (add ?y)) (plus ?x ?y ?z))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= terminal (true (step 6)))
    (<= (goal r 100) (true (sum ?x)) (succ 9 ?x))
    (<= (goal r 0) (true (sum ?x)) (not (succ 9 ?x)))
    """,
    "a relation computed on demand, asked without a key": """
    (role r) (init on) (legal r go)
    """
    + " ".join(f"(n {n})" for n in range(560))
    + """
    (<= (pair ?x ?y) (n ?x) (n ?y))
    (<= (next (p ?x ?y)) (true on) (pair ?x ?x) (pair ?x ?y) (n ?y) (true (p ?y ?x)))
    (<= terminal (not (true on)))
    (goal r 1)
    """,
    "static relations on both sides of a view": """
    (role r)
    (row 1) (row 2) (row 3)
    (plus 1 1 2) (plus 1 2 3) (plus 2 1 3) (plus 1 3 4) (plus 2 2 4) (plus 3 1 4) (plus 2 3 5) (plus 3 2 5)
    (plus 3 3 6)
    (init (queen 1 1))
    (<= (threat ?x ?y) (true (queen ?u ?v)) (plus ?u ?v ?s) (plus ?x ?y ?s) (distinct ?x ?u))
    (<= (steps ?x ?y) (true (queen ?u ?v)) (plus ?u ?x ?s) (plus ?v ?y ?t) (plus ?s ?t ?sum) (distinct ?s ?t))
    (<= (legal r (put ?x ?y)) (row ?x) (row ?y) (not (threat ?x ?y)) (not (true (queen ?x ?y))))
    (<= (legal r (drop ?x ?y)) (true (queen ?x ?y)) (steps ?x ?y))
    (legal r rest)
    (<= (next (queen ?x ?y)) (does r (put ?x ?y)))
    (<= (next (queen ?x ?y)) (true (queen ?x ?y)) (not (does r (drop ?x ?y))))
    (<= (next (far ?x)) (does r (put ?u ?v)) (plus ?u ?v ?s) (plus ?x ?y ?s) (distinct ?x ?u))
    (<= terminal (true (queen 1 ?y)) (true (queen 2 ?z)) (true (queen 3 ?w)))
    (<= (goal r 100) (true (far ?x)))
    (<= (goal r 0) (not (true (far 1))) (not (true (far 2))) (not (true (far 3))))
    """,
    "a large static relation that is loosely tied": """
    (role r)
    """
    + " ".join(f"(mark {n} {place} {n >> place & 1})" for n in range(16) for place in range(4))
    + """
    (place 0) (place 1) (place 2) (place 3) (bit 0) (bit 1)
    (cell 1) (cell 2) (cell 3) (cell 4)
    (<= (alike ?a ?b ?c ?d) (place ?n) (bit ?v)
        (mark ?a ?n ?v) (mark ?b ?n ?v) (mark ?c ?n ?v) (mark ?d ?n ?v))
    (<= line (true (at 1 ?a)) (true (at 2 ?b)) (true (at 3 ?c)) (true (at 4 ?d)) (alike ?a ?b ?c ?d))
    (<= (taken ?c) (true (at ?c ?n)))
    (<= (legal r (put ?c ?n)) (cell ?c) (not (taken ?c)) (mark ?n 0 ?v))
    (<= (legal r stop) (taken 1) (taken 2) (taken 3) (taken 4))
    (<= (next (at ?c ?n)) (does r (put ?c ?n)))
    (<= (next (at ?c ?n)) (true (at ?c ?n)))
    (<= (next over) (does r stop))
    (<= terminal line)
    (<= terminal (true over))
    (<= (goal r 100) line)
    (<= (goal r 0) (not line))
    """,
    "views that are read with constants alone": """
    (role r) (role s)
    (cell a) (cell b) (cell c) (cell d)
    (<= (full ?x ?y ?z ?p) (true (at ?x ?p)) (true (at ?y ?p)) (true (at ?z ?p)))
    (<= (count ?x ?y ?p both) (true (at ?x ?p)) (true (at ?y ?p)))
    (<= (count ?x ?y ?p none) (role ?p) (cell ?x) (cell ?y) (not (true (at ?x ?p))) (not (true (at ?y ?p))))
    (<= (same ?x ?y ?p) (role ?p) (cell ?x) (cell ?y) (here ?p))
    (<= (here ?p) (true (at a ?p)))
    (<= (legal ?p (take ?c)) (role ?p) (cell ?c) (not (true (at ?c r))) (not (true (at ?c s))))
    (<= (legal ?p wait) (role ?p))
    (<= (next (at ?c ?p)) (does ?p (take ?c)))
    (<= (next (at ?c ?p)) (true (at ?c ?p)))
    (<= terminal (full a b c ?p))
    (<= terminal (same b c ?p) (same c d ?p) (true (at d ?p)))
    (<= (goal ?p 100) (count a b ?p both))
    (<= (goal ?p 50) (count c d ?p none))
    """,
    "another value that does where one fails": """
    (role x) (role y) (n 1) (n 2) (n 3)
    (s 2 2) (s 2 1) (s 3 1)
    (init (p 1 1))
    (<= (legal ?r (m ?a ?b ?c)) (role ?r) (n ?a) (n ?b) (n ?c))
    (<= (next (p ?c 1)) (does ?r (m ?a ?e ?f)) (s ?c ?b) (true (p 1 ?d)) (not (true (p ?b ?a))))
    (<= (next (p ?c ?c)) (does x (m ?e ?e ?c)))
    (<= (next (p 1 ?f)) (does y (m ?e ?e ?f)))
    (<= terminal (true (p 3 3)) (true (p 1 2)))
    (goal x 0) (goal y 0)
    """,
    "a role that is moved by chance": """
    (role random) (role player)
    (side 1) (side 2)
    (<= (legal random (roll ?n)) (side ?n) (not (true over)))
    (legal random rest)
    (<= (legal player (guess ?n)) (side ?n))
    (<= (next (hit ?n)) (does random (roll ?n)) (does player (guess ?n)))
    (<= (next over) (does random rest))
    (<= terminal (true over))
    (<= (goal player 100) (true (hit 1)))
    (<= (goal player 0) (not (true (hit 1))))
    (<= (goal random 0) (true over))
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEETS)
def test_the_network_agrees_with_the_reasoner(name: str) -> None:
    assert_agreement(SHEETS[name])


@pytest.mark.parametrize("path", sorted(_GDL.glob("*.kif")), ids=lambda path: path.stem)
def test_rule_files_agree_with_the_reasoner(path: Path) -> None:
    assert_agreement(path.read_text(), playouts=3)


def test_frame_axioms_are_compiled_through_their_exceptions() -> None:
    stages = dict(compiled(SHEETS["frame axioms over equations"]).stages)
    # Nine cells, seventy-two moves per role, one instance per cell and move otherwise.
    assert stages["grounding"]["instances"] < 9 * 72 * 2


def test_large_static_relations_do_not_multiply_instances() -> None:
    stages = dict(compiled(SHEETS["a large static relation that is loosely tied"]).stages)
    # Four pieces of sixteen kinds: 27,120 rows in the relation, but only eight ways to be alike.
    assert stages["grounding"]["instances"] < 2_000


def test_the_piece_and_the_target_of_a_move_do_not_multiply_gates() -> None:
    stages = dict(compiled(SHEETS["a piece that a move carries"]).stages)
    assert stages["gates"]["inputs"] < 2_000


def test_each_rewrite_reports_its_size() -> None:
    stages = compiled((_GDL / "tic_tac_toe.kif").read_text()).stages
    sizes = [figures["inputs"] for _, figures in stages if "inputs" in figures]
    assert len(sizes) >= 3
    assert sizes == sorted(sizes, reverse=True)


def test_an_internal_error_is_reported_as_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("anygame.network.compiled.ground", fail)
    with pytest.raises(anygame.CompilationError, match="bug in anygame, not because of the sheet: KeyError"):
        compiled((_GDL / "tic_tac_toe.kif").read_text())
    game = anygame.load(_GDL / "tic_tac_toe.kif")
    with pytest.warns(anygame.FallbackWarning, match="bug in anygame"):
        assert not game.compile()
    assert len(game.initial_state().legal_moves("x")) == 9
