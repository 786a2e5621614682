"""Rules with very many instances: the passes that ask for rows, and games that stay the same by them."""

from __future__ import annotations

import pytest
from tests.examples import examples
from tests.network.agreement import assert_agreement_of
from tests.network.pinned import PINNED
from tests.network.random_rules import Writer
from tests.network.random_views import write_views
from tests.network.test_compiled_sheets import SHEETS

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.errors import LimitError
from anygame.language.parser import parse_program
from anygame.network.compiled import CompiledGame, compile_game
from anygame.network.grounding.grounder import GroundingLimits, ground
from anygame.network.grounding.pipeline import (
    BOUNDING_GROWTH,
    JOINING_NEGATIONS,
    OPTIONAL_IF_LARGE,
    SPLITTING_AT_KEYS,
)

#: Whatever the rules are, they count as large.
_LARGE = GroundingLimits(few=0)


def _agrees(text: str, playouts: int = 3, seed: int = 1, without: tuple[str, ...] = ()) -> CompiledGame:
    compiled = compile_game(Reasoner(parse_program(text)), _LARGE, without=without)
    assert_agreement_of(anygame.loads(text), compiled, playouts, seed)
    return compiled


@pytest.mark.parametrize("block", range(examples(2)))
def test_random_sheets_with_views_agree_with_the_reasoner(block: int) -> None:
    for seed in range(6 * block, 6 * block + 6):
        _agrees(write_views(seed), seed=seed)


@pytest.mark.parametrize("block", range(examples(2)))
def test_random_sheets_with_moves_agree_with_the_reasoner(block: int) -> None:
    for seed in range(6 * block, 6 * block + 6):
        _agrees(Writer(seed).sheet(), seed=seed)


def test_rows_are_asked_for_by_terms_that_are_put_together() -> None:
    _agrees("""
        (role r) (init (count z)) (init (p 1)) (n 1) (n 2) (n 3)
        (<= (legal r wait) (true (count ?n)))
        (<= (legal r (put ?x)) (true (count ?n)) (n ?x) (not (barred (t (s ?n)) ?x)))
        (<= (legal r (odd ?x)) (true (p ?y)) (n ?x) (n ?z) (not (distinct ?z ?y)) (not (bad ?z ?x)))
        (<= (barred (t (s ?n)) ?x) (true (count ?n)) (true (p ?x)))
        (<= (bad ?x ?y) (true (p ?x)) (n ?y) (not (true (p ?y))))
        (<= (next (p ?x)) (does r (put ?x)))
        (<= (next (p ?x)) (true (p ?x)))
        (<= (next (count (s z))) (true (count z)))
        (<= (next (count (s z))) (true (count (s z))))
        (<= terminal (true (p 1)) (true (p 2)) (true (p 3)))
        (<= (goal r 100) terminal)
    """)


def test_guards_that_help_a_part_do_not_split_it_for_ever() -> None:
    _agrees("""
        (role a) (role b) (cell 1) (cell 2) (cell 3) (init (at 1 m)) (init (at 3 n)) (init (at 2 o))
        (<= (far ?x ?k) (distinct ?z ?k) (cell ?x) (true (at ?z ?w)) (not (true (gone ?x))) (cell ?k))
        (<= (legal ?r (go ?x)) (role ?r) (cell ?x) (true (at ?k m)) (not (far ?x ?k)))
        (<= (legal ?r wait) (role ?r))
        (<= (next (at ?y ?n)) (true (at ?y ?n)))
        (<= (next (gone ?x)) (does ?r (go ?x)))
        (<= terminal (true (at 1 o)))
        (<= (goal ?r 100) (role ?r) (true (at ?k m)) (not (far ?k ?k)))
    """)


def test_views_in_views_become_so_many_rules_at_most() -> None:
    views = [f"(<= (v{d} ?x ?k) (v{d + 1} ?x ?k) (b{d} ?x ?k e{n}))" for d in range(4) for n in range(8)]
    bodies = [f"(<= (b{d} ?x ?k ?e) (true (q ?k)) (true (q ?x)) (true (z ?e)))" for d in range(4)]
    rest = " ".join(f"(init (z e{n}))" for n in range(8))
    compiled = _agrees(f"""
        (role a) (init (at 1)) (init (q 1)) {rest} (c 1) (c 2) (c 3) {" ".join(views)} {" ".join(bodies)}
        (<= (legal a (go ?x ?y)) (true (at ?k)) (c ?x) (c ?y) (not (v0 ?x ?k)))
        (<= (v4 ?x ?k) (true (at ?x)) (true (q ?k)) (c ?k))
        (<= (next (at ?y)) (does a (go ?y ?x))) (<= (next (q ?x)) (does a (go ?y ?x)))
        (<= (next (z ?e)) (true (z ?e))) (<= terminal (true (q 3))) (goal a 1)
    """)
    assert 0 < dict(compiled.passes)[JOINING_NEGATIONS]["made"] < 2000


def test_lists_are_asked_about_with_what_makes_them_known() -> None:
    _agrees("""
        (role r) (init (hand (c a (c b (c a nil))))) (init (marked a)) (card a) (card b)
        (list nil) (<= (list (c ?x ?rest)) (card ?x) (list ?rest))
        (<= (member ?x (c ?x ?rest)) (card ?x) (list ?rest))
        (<= (member ?x (c ?y ?rest)) (card ?y) (member ?x ?rest))
        (<= (legal r (play ?x)) (true (hand ?h)) (member ?x ?h) (not (blocked ?x)))
        (legal r pass)
        (<= (blocked ?x) (true (marked ?x)) (not (true (free ?x))))
        (<= (next (hand ?rest)) (true (hand (c ?x ?rest))))
        (<= (next (marked ?x)) (does r (play ?x)))
        (<= (next (free ?x)) (true (marked ?x)))
        (<= terminal (true (hand nil)))
        (goal r 50)
    """)


#: Stones of a row, which one recursive view counts or looks at; the rest of each sheet says how.
_ROW = """
    (role r) (init (at a free)) (init (at b free)) (init (at c free)) (init (at d mine)) (init (turn 0))
    (<= (legal r (put ?x)) (true (at ?x free))) (legal r wait)
    (<= (next (at ?x mine)) (does r (put ?x)))
    (<= (next (at ?x ?m)) (true (at ?x ?m)) (not (put ?x)))
    (<= (put ?x) (does r (put ?x)))
    (<= (next (turn ?n)) (true (turn ?m)) (succ ?m ?n))
    (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
    (order a b) (order b c) (order c d) (order d end) (begin 0 a)
    (row (list a (list b (list c (list d nil))))) (row (list d (list c nil)))
    (is_list nil) (<= (is_list (list ?x ?rest)) (order ?x ?y) (is_list ?rest))
    (<= terminal (true (turn 5)))
"""
_WALKS = {
    "from what a view says": """
        (<= (start ?n ?x) (true (turn ?t)) (begin ?n ?x))
        (<= (goal r ?g) (start ?n ?x) (sum ?x ?n ?g))
        (<= (sum end ?n ?n) (succ ?n ?m))
        (<= (sum ?x ?n ?g) (true (at ?x mine)) (order ?x ?y) (succ ?n ?m) (sum ?y ?m ?g))
        (<= (sum ?x ?n ?g) (true (at ?x free)) (order ?x ?y) (sum ?y ?n ?g))
    """,
    "with numbers as terms": """
        (<= (goal r 100) (sum a (s (s (s 0)))))
        (<= (goal r 0) (sum a ?n) (distinct ?n (s (s (s 0)))))
        (<= (sum end 0) (true (turn ?n)))
        (<= (sum ?x (s ?n)) (true (at ?x mine)) (order ?x ?y) (sum ?y ?n))
        (<= (sum ?x ?n) (order ?x ?y) (not (true (at ?x mine))) (sum ?y ?n))
    """,
    "along lists": """
        (<= (has ?m (list ?x ?rest)) (true (at ?x ?m)) (is_list ?rest))
        (<= (has ?m (list ?x ?rest)) (order ?x ?y) (has ?m ?rest))
        (<= (long ?l) (row ?l) (true (turn ?n)) (not (short ?l)))
        (<= (short (list ?x (list ?y nil))) (row (list ?x (list ?y nil))) (true (at ?x mine)))
        (<= (goal r 100) (long ?l) (not (has free ?l)))
        (<= (goal r 0) (long ?l) (has free ?l))
    """,
    "along lists that another walk makes": """
        (<= (mine nil nil) (true (turn ?n)))
        (<= (mine (list ?x ?rest) (list ?x ?of)) (true (at ?x mine)) (mine ?rest ?of))
        (<= (mine (list ?x ?rest) ?of) (true (at ?x free)) (mine ?rest ?of))
        (<= (length nil 0) (true (turn ?n)))
        (<= (length (list ?x ?rest) ?n) (is_list ?rest) (true (at ?x ?m)) (length ?rest ?k) (succ ?k ?n))
        (<= (goal r ?n) (row ?l) (mine ?l ?of) (length ?of ?n))
    """,
}


@pytest.mark.parametrize("way", _WALKS)
def test_recursive_views_are_grounded_for_what_is_asked_of_them(way: str) -> None:
    _agrees(_ROW + _WALKS[way], playouts=8)


#: Stacks of marks as lists, three high; the rest of each sheet says when there is room.
_STACKS = """
    (role red) (role blue) (other red blue) (other blue red) (column 1) (column 2) (column 3)
    (init (stack 1 nil)) (init (stack 2 nil)) (init (stack 3 (list red nil))) (init (control red))
    (is_list nil) (<= (is_list (list ?x ?rest)) (role ?x) (is_list ?rest))
    (length nil 0) (<= (length (list ?x ?rest) ?m) (role ?x) (is_list ?rest) (length ?rest ?n) (succ ?n ?m))
    (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
    (<= (next (control ?q)) (true (control ?r)) (other ?r ?q))
    (<= (next (stack ?c ?l)) (true (stack ?c ?l)) (not (dropped ?c)))
    (<= (dropped ?c) (does ?r (drop ?c)))
    (<= terminal (true (stack 1 (list ?x ?l))) (true (stack 2 (list ?x ?m))) (true (stack 3 (list ?x ?n))))
    (<= (goal ?r 100) (role ?r) (true (stack 1 (list ?r ?l))))
    (<= (goal ?r 0) (role ?r) (not (true (stack 1 nil))))
"""
_ADDED = "(<= (next (stack ?c (list ?r ?l))) (does ?r (drop ?c)) (true (stack ?c ?l)))"
_ROOM = {
    "a length that a number follows": f"""{_ADDED}
        (<= (legal ?r (drop ?c)) (true (control ?r)) (true (stack ?c ?l)) (length ?l ?n) (succ ?n ?m))
    """,
    "a length that is not reached": f"""{_ADDED}
        (<= (full ?c) (true (stack ?c ?l)) (length ?l 3))
        (<= (legal ?r (drop ?c)) (true (control ?r)) (column ?c) (not (full ?c)))
    """,
    "a view, of moves by a view": """
        (<= (has_room ?c) (true (stack ?c ?l)) (length ?l ?n) (succ ?n ?m))
        (<= (legal ?r (drop ?c)) (true (control ?r)) (has_room ?c))
        (<= (next (stack ?c (list ?r ?l))) (drops ?r ?c) (true (stack ?c ?l)))
        (<= (drops ?r ?c) (does ?r (drop ?c)))
    """,
    "no mark of the role's own": f"""{_ADDED}
        (<= (member ?x (list ?x ?rest)) (role ?x) (is_list ?rest))
        (<= (member ?x (list ?y ?rest)) (role ?y) (member ?x ?rest))
        (<= (in ?r ?c) (true (stack ?c ?l)) (member ?r ?l))
        (<= (legal ?r (drop ?c)) (true (control ?r)) (column ?c) (not (in ?r ?c)))
        (<= (legal ?r pass) (true (control ?r)))
    """,
    "nothing but the empty list": f"""{_ADDED}
        (<= (used ?c) (true (stack ?c ?l)) (distinct ?l nil))
        (<= (legal ?r (drop ?c)) (true (control ?r)) (column ?c) (not (used ?c)))
        (<= (legal ?r pass) (true (control ?r)))
    """,
}


@pytest.mark.parametrize("way", _ROOM)
def test_lists_grow_where_moves_are_legal_alone(way: str) -> None:
    compiled = _agrees(_STACKS + _ROOM[way], playouts=8)
    assert len(compiled.fluents) <= 2 + 3 * 15


def test_lists_that_nothing_bounds_are_left_to_the_reasoner() -> None:
    text = _STACKS + _ADDED + "(<= (legal ?r (drop ?c)) (true (control ?r)) (column ?c))"
    with pytest.raises(LimitError) as raised:
        compile_game(Reasoner(parse_program(text)))
    assert raised.value.limit in {"fluents", "depth"}


def test_counts_that_cannot_come_about_are_not_grounded() -> None:
    text = _ROW + _WALKS["from what a view says"]
    numbers = " ".join(f"(succ {n} {n + 1})" for n in range(5, 400))
    compiled = _agrees(text + numbers, playouts=2)
    assert dict(compiled.stages)["grounding"]["instances"] < 1_000


@pytest.mark.parametrize("name", SHEETS)
def test_games_that_are_taken_for_large(name: str) -> None:
    _agrees(SHEETS[name])


def test_a_game_of_pins_has_a_fifth_of_the_instances() -> None:
    reasoner = Reasoner(parse_program(PINNED))
    plain = ground(reasoner, GroundingLimits(few=8_000_000)).instances
    compiled = _agrees(PINNED, playouts=6)
    asked = dict(compiled.stages)["grounding"]["instances"]
    assert 5 * asked < plain
    passes = {name for name, figures in compiled.passes if figures["rewrote"]}
    assert passes | {SPLITTING_AT_KEYS, *_BEFORE_OTHERS} >= set(OPTIONAL_IF_LARGE)


#: On a line, whoever moves must not be seen from the left, past the place that is left.
_SEEN_FROM_THE_LEFT = """
    (role r) (n 1) (n 2) (n 3) (n 4) (n 5) (after 1 2) (after 2 3) (after 3 4) (after 4 5)
    (init (me 1)) (init (me 4)) (init (foe 2)) (init (empty 3)) (init (empty 5)) (init (time 1))
    (<= (clear ?x ?z ?u) (after ?x ?z) (n ?u))
    (<= (clear ?x ?z ?u) (after ?x ?u) (clear ?u ?z ?u))
    (<= (clear ?x ?z ?u) (after ?x ?y) (true (empty ?y)) (clear ?y ?z ?u))
    (<= (seen ?z ?u) (true (foe ?x)) (clear ?x ?z ?u))
    (<= (step ?x ?y) (true (me ?x)) (after ?x ?y) (true (empty ?y)))
    (<= (step ?x ?y) (true (me ?x)) (after ?y ?x) (true (empty ?y)))
    (<= (legal r (go ?x ?y)) (true (me ?x)) (step ?x ?y) (not (seen ?y ?x)))
    (<= (legal r (put ?x)) (true (empty ?x)) (seen ?x ?x))
    (legal r wait)
    (<= (next (me ?y)) (does r (go ?x ?y)))
    (<= (next (me ?x)) (true (me ?x)) (not (left ?x)))
    (<= (next (foe ?x)) (true (foe ?x)))
    (<= (next (foe ?x)) (does r (put ?x)))
    (<= (next (empty ?x)) (does r (go ?x ?y)))
    (<= (next (empty ?x)) (true (empty ?x)) (not (taken ?x)))
    (<= (left ?x) (does r (go ?x ?y)))
    (<= (taken ?y) (does r (go ?x ?y)))
    (<= (taken ?x) (does r (put ?x)))
    (<= (next (time ?y)) (true (time ?x)) (after ?x ?y))
    (<= terminal (true (time 5)))
    (<= (goal r 100) (true (me 5)))
    (<= (goal r 0) (not (true (me 5))))
"""
_BEFORE_OTHERS = (BOUNDING_GROWTH, "parting views")


def test_what_does_not_depend_on_a_column_is_said_without_it() -> None:
    whole = _agrees(_SEEN_FROM_THE_LEFT, playouts=8, without=_BEFORE_OTHERS)
    parted = _agrees(_SEEN_FROM_THE_LEFT, playouts=8)
    instances = [dict(compiled.stages)["grounding"]["instances"] for compiled in (parted, whole)]
    assert instances[0] < instances[1]
    passes = {name for name, figures in parted.passes if figures["rewrote"]}
    assert passes | {BOUNDING_GROWTH} >= set(_BEFORE_OTHERS)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONAL_IF_LARGE)
def test_any_pass_for_large_sheets_can_be_left_out(name: str) -> None:
    for text in (PINNED, _SEEN_FROM_THE_LEFT):
        _agrees(text, playouts=2, without=(name,))
    for seed in range(4):
        _agrees(write_views(seed), without=(name,))


@pytest.mark.slow
def test_conjunctions_are_merged_level_by_level_too(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _agrees(PINNED).network.gates
    monkeypatch.setattr("anygame.network.logic.atoms._MANY", 0)
    assert _agrees(PINNED).network.gates == pytest.approx(whole, rel=0.05)
    for seed in range(examples(6)):
        _agrees(write_views(seed), seed=seed)
        _agrees(Writer(seed).sheet(), seed=seed)
