"""What grows too far is stopped, by name, and everything else is still answered."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import pytest
from tests.datalog.ways import WAYS, loads

import anygame
from anygame import Limits
from anygame.datalog.strategy import DEFAULT, Strategy
from anygame.language import terms

COUNTING = "(role r) (num z) (<= (num (s ?x)) (num ?x))"
THIRTY = " ".join(f"(d {number})" for number in range(30))
EIGHT = [f"?{name}" for name in "abcdefgh"]
HUGE = f"(role r) {THIRTY} (<= (p {' '.join(EIGHT)}) {' '.join(f'(d {name})' for name in EIGHT)})"


def limit_of(text: str, limits: Limits, question: str, strategy: Strategy = DEFAULT) -> anygame.LimitError:
    """Ask whether something holds; return the error that stops it."""
    state = loads(text, strategy, limits=limits).initial_state()
    with pytest.raises(anygame.LimitError) as caught:
        list(state.query(question))
    return caught.value


def test_endless_counting_names_the_relation_and_its_rule() -> None:
    error = limit_of(COUNTING, Limits(), "(num ?x)")
    assert (error.limit, error.bound, error.relation) == ("depth", 150, "num/1")
    assert "(<= (num (s ?x)) (num ?x))" in str(error)
    assert "try:" in str(error)


@pytest.mark.parametrize("bottom", ["(num z)", "(<= (num ?z) (true (bottom ?z))) (init (bottom z))"])
def test_part_of_an_infinite_relation_can_be_queried(bottom: str) -> None:
    asked = "(init (at (s (s z)))) (<= (ok ?n) (true (at ?n)) (num ?n))"
    text = f"(role r) {bottom} (<= (num (s ?x)) (num ?x)) {asked}"
    state = loads(text, DEFAULT).initial_state()
    assert [str(answer) for answer in state.query("(ok ?n)")] == ["{?n: (s (s z))}"]


ARITHMETIC = """
(role r) (num z) (<= (num (s ?x)) (num ?x)) (init (heap (s (s (s z)))))
(<= (plus z ?n ?n) (num ?n)) (<= (plus (s ?m) ?n (s ?k)) (plus ?m ?n ?k))
(<= (less z (s ?n)) (num ?n)) (<= (less (s ?m) (s ?n)) (less ?m ?n))
(<= (even z)) (<= (even (s ?n)) (odd ?n)) (<= (odd (s ?n)) (even ?n))
"""


@pytest.mark.parametrize(
    "order", list(permutations(["(plus ?k ?rest ?n)", "(less z ?k)", "(odd ?k)", "(true (heap ?n))"]))
)
def test_numbers_made_of_terms_are_asked_about_in_an_order_that_ends(order: tuple[str, ...]) -> None:
    state = loads(f"{ARITHMETIC} (<= (take ?k) {' '.join(order)})").initial_state()
    assert {str(answer["k"]) for answer in state.query("(take ?k)")} == {"(s z)", "(s (s (s z)))"}


REVERSED = """
(role r) (init (hand (c 1 (c 2 (c 3 nil))))) (card 1) (card 2) (card 3)
(list nil) (<= (list (c ?x ?rest)) (card ?x) (list ?rest))
(<= (onto nil ?list ?list) (list ?list)) (<= (onto (c ?x ?rest) ?list ?end) (onto ?rest (c ?x ?list) ?end))
"""


def test_a_list_is_reversed_into_another_argument() -> None:
    state = loads(f"{REVERSED} (<= (turned ?l) (onto ?hand nil ?l) (true (hand ?hand)))").initial_state()
    assert [str(answer["l"]) for answer in state.query("(turned ?l)")] == ["(c 3 (c 2 (c 1 nil)))"]


def test_growing_recursive_queries_reach_a_limit() -> None:
    error = limit_of(f"{REVERSED} (<= (start ?l) (onto ?l nil ?any))", Limits(facts=5000), "(start ?l)")
    assert error.limit in {"depth", "facts", "terms"}


def test_relations_queried_with_growing_terms_are_computed_completely() -> None:
    rules = "(role r) (p (g b b) 0) (p a 1) (<= (p ?x 0) (p (g ?x ?x) 0))"
    state = loads(rules, WAYS["on_demand"]).initial_state()
    assert not list(state.query("(p a 0)"))
    assert [str(answer["x"]) for answer in state.query("(p ?x 0)")] == ["(g b b)", "b"]


def test_a_long_chain_of_relations_on_demand_is_asked_in_no_time() -> None:
    links = [
        f"(<= (p{n + 1} ?x ?z) (p{n} ?x ?y) (p{n} ?y ?z)) (<= (p{n + 1} ?x ?z) (p{n} ?z ?y) (p{n} ?y ?x))"
        for n in range(40)
    ]
    text = f"(role r) (init a) (<= (p0 ?x ?x) (d ?x)) (d 1) (d 2) {' '.join(links)} (<= (q ?y) (p40 1 ?y))"
    state = loads(text, WAYS["on_demand"], limits=Limits(seconds=20)).initial_state()
    assert [str(answer["y"]) for answer in state.query("(q ?y)")] == ["1"]


def test_endless_counting_in_the_state_names_the_relation() -> None:
    text = "(role r) (init z) (<= (num ?x) (true ?x)) (<= (num (s ?x)) (num ?x))"
    error = limit_of(text, Limits(), "(num ?x)")
    assert (error.limit, error.relation) == ("depth", "num/1")


def test_terms_that_double_reach_the_bound_on_terms_or_facts() -> None:
    text = "(role r) (tree leaf) (<= (tree (node ?x ?y)) (tree ?x) (tree ?y))"
    error = limit_of(text, Limits(facts=2000, terms=10_000), "(tree ?x)")
    assert error.limit in {"facts", "terms", "depth"}
    assert error.relation == "tree/1"


def test_more_terms_than_the_bound() -> None:
    error = limit_of(COUNTING, Limits(terms=100), "(num ?x)")
    assert (error.limit, error.bound, error.relation) == ("terms", 100, "num/1")


def test_a_huge_join_names_the_relation() -> None:
    error = limit_of(HUGE, Limits(facts=1000), f"(p {' '.join(EIGHT)})")
    assert (error.limit, error.bound, error.relation) == ("facts", 1000, "p/8")
    assert "(<= (p ?a" in str(error)


def test_time_is_bounded() -> None:
    never = " ".join(f"(distinct {name} {other})" for name, other in pairwise(EIGHT))
    text = f"{HUGE} (<= (slow {EIGHT[0]}) (p {' '.join(EIGHT)}) {never} (not (d {EIGHT[-1]})))"
    error = limit_of(text, Limits(seconds=0.05), "(slow ?x)")
    assert (error.limit, error.bound) == ("seconds", 0.05)
    assert error.relation in {"slow/1", "p/8"}


def test_each_question_has_its_own_limit_on_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.datalog.linker.monotonic", lambda: 0.0)
    never = " ".join(f"(distinct {name} {other})" for name, other in pairwise(EIGHT))
    text = f"{HUGE} (<= (slow {EIGHT[0]}) (p {' '.join(EIGHT)}) {never} (not (d {EIGHT[-1]})))"
    error = limit_of(text, Limits(steps=20_000), "(slow ?x)")
    assert (error.limit, error.bound) == ("steps", 20_000)
    assert "no answer within 20,000 steps" in str(error)
    assert error.relation in {"slow/1", "p/8"}
    numbers = " ".join(f"(n {number})" for number in range(60))
    pairs = "(<= (pair ?x ?y) (n ?x) (n ?y) (true (on ?x)))"
    state = loads(f"(role r) (init (on 1)) {numbers} {pairs}", limits=Limits(steps=20_000)).initial_state()
    for _ in range(20):
        assert len(list(state.query("(pair ?x ?y)"))) == 60


def test_time_is_bounded_where_terms_are_built_without_end() -> None:
    lists = "(role r) (d 1) (d 2) (d 3) (p nil) (<= (p (c ?x ?rest)) (d ?x) (p ?rest))"
    error = limit_of(lists, Limits(seconds=0.2), "(p ?x)")
    assert (error.limit, error.relation) == ("seconds", "p/1")


def test_unneeded_relations_are_not_computed() -> None:
    game = anygame.loads(
        f"{COUNTING} (init here) (legal r stay) (<= (next ?x) (true ?x)) (<= terminal (num q))"
    )
    state = game.initial_state()
    assert not state.is_terminal
    assert state.next(["stay"]) == state


def test_after_a_limit_other_questions_are_answered() -> None:
    text = f"{HUGE} (init here) (legal r (go 1)) (<= (next ?x) (true ?x)) (<= terminal (p 1 2 3 4 5 6 7 30))"
    game = anygame.loads(text, limits=Limits(facts=1000))
    state = game.initial_state()
    for _ in range(2):
        with pytest.raises(anygame.LimitError):
            list(state.query(f"(p {' '.join(EIGHT)})"))
        assert [str(move) for move in state.legal_moves("r")] == ["(go 1)"]
        assert not state.is_terminal
        assert state.next(["(go 1)"]) == state
        assert len(list(state.query("(p 1 2 3 4 5 6 7 8)"))) == 1
        assert len(list(state.query("(p 1 2 3 4 5 6 7 ?x)"))) == 30
        assert not list(game.initial_state().query("(p 1 2 3 4 5 6 7 30)"))


@pytest.mark.parametrize("way", WAYS)
def test_endless_counting_ends_however_it_is_computed(way: str) -> None:
    game = loads(
        "(role r) (init z) (<= (num ?x) (true ?x)) (<= (num (s ?x)) (num ?x))"
        "(<= (legal r ?x) (num ?x)) (<= terminal (num (s (s z))))"
        "(<= (down ?x) (down (s ?x))) (<= (goal r 100) (down z))",
        WAYS[way],
    )
    state = game.initial_state()
    with pytest.raises(anygame.LimitError) as caught:
        state.legal_moves("r")
    assert caught.value.limit == "depth"
    assert state.goal("r") is None


def test_rules_that_multiply_are_refused_or_laid_out_plainly() -> None:
    shapes = " ".join(f"(init (f{number} a))" for number in range(60))
    body = " ".join(f"(true ?x{number})" for number in range(4))
    text = f"(role r) {shapes} (<= (pick ?x0 ?x1 ?x2 ?x3) {body} (same ?x0 ?x1)) (same (f0 a) (f1 a))"
    state = anygame.loads(text, limits=Limits(facts=10_000)).initial_state()
    assert len(list(state.query("(pick ?a ?b ?c ?d)"))) == 3600


def test_disjunctions_that_multiply_are_refused_with_their_place() -> None:
    either = " ".join(f"(or (p ?x{number}) (q ?x{number}))" for number in range(13))
    with pytest.raises(anygame.RuleSheetError, match="too-many-alternatives") as caught:
        anygame.loads(f"(role r)\n(<= (w {' '.join(f'?x{number}' for number in range(13))}) {either})")
    assert ":2:1:" in str(caught.value)


DOUBLING = "(role r) (p a) (<= (p (f ?x ?x)) (p ?x))"


@pytest.mark.parametrize("strategy", [DEFAULT, *WAYS.values()], ids=["default", *WAYS])
def test_terms_that_double_are_stopped_by_their_size(strategy: Strategy) -> None:
    error = limit_of(DOUBLING, Limits(), "(p ?x)", strategy)
    assert (error.limit, error.bound, error.relation) == ("size", 100_000, "p/1")
    assert "try: let the recursion end: the rule uses a term twice" in str(error)


def test_terms_that_double_in_the_state_are_stopped_by_their_size() -> None:
    text = "(role r) (init a) (legal r go) (<= (next (f ?x ?x)) (true ?x)) (<= terminal (true b))"
    states = [anygame.loads(text).initial_state()]
    with pytest.raises(anygame.LimitError) as caught:
        states.extend(state.next(["go"]) for state in states)
    assert caught.value.limit == "size"
    assert 10_000 < len(str(states[-1])) < 1_000_000


def test_many_rows_with_one_large_term_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "_LONG_TERMS", terms._LongTerms())
    monkeypatch.setattr(terms, "_MOST_LONG_TEXT", 1_000_000)
    doublings = "".join(f" (not (distinct ?n{n + 1} (f ?n{n} ?n{n})))" for n in range(10))
    text = (
        f"(role r) (q a) (num 1) {' '.join(f'(num {n})' for n in range(300))}"
        f"(<= (large ?n10) (q ?n0){doublings})"
        "(<= (p (g (h ?x ?i))) (large ?x) (num ?i))"
        "(<= (legal r (go ?x ?i)) (large ?x) (num ?i))"
    )
    state = anygame.loads(text).initial_state()
    with pytest.raises(anygame.LimitError) as caught:
        list(state.query("(p ?x)"))
    assert (caught.value.limit, caught.value.relation) == ("text", "p/1")
    assert "try: replace the large terms" in str(caught.value)
    with pytest.raises(anygame.LimitError):
        state.legal_moves("r")
    assert len(list(state.query("(num ?x)"))) == 300


def test_arguments_that_multiply_are_laid_out_plainly() -> None:
    wide = " ".join(f"a{number}" for number in range(300))
    same = " ".join(["?x"] * 300)
    rules = " ".join(f"(<= (p{number} {same}) (q ?x))" for number in range(20))
    game = anygame.loads(f"(role r) (q (f {wide})) (q b) {rules}")
    ((first,), (second,)) = (found.values() for found in game.initial_state().query(f"(p7 {same})"))
    assert (str(first), str(second)) == (f"(f {wide})", "b")


def test_wide_rows_count_for_more() -> None:
    same = " ".join(["?x"] * 38)
    text = f"(role r) {THIRTY} (<= (wide ?x ?y {same}) (d ?x) (d ?y)) (<= (narrow ?x ?y) (d ?x) (d ?y))"
    error = limit_of(text, Limits(facts=900), f"(wide ?x ?y {same})", WAYS["counted"])
    state = loads(text, WAYS["counted"], limits=Limits(facts=900)).initial_state()
    assert len(list(state.query("(narrow ?x ?y)"))) == 900
    assert (error.limit, error.bound, error.relation) == ("facts", 450, "wide/40")
    assert "relation wide/40 has more than 450 facts" in str(error)


def test_answers_that_repeat_a_large_term_are_bounded() -> None:
    state = loads(
        f"(role r) {THIRTY} (large {'a' * 1000}) (<= (p ?i ?j ?x ?x) (d ?i) (d ?j) (large ?x))",
        replace(DEFAULT, answer_characters=100_000),
    ).initial_state()
    with pytest.raises(anygame.LimitError, match=r"answers to \(p \?i \?j \?x \?x\) take more than 100,000"):
        list(state.query("(p ?i ?j ?x ?x)"))
    assert len(list(state.query("(p ?i 7 ?x ?x)"))) == 30
