"""What can stand where: what is told apart, and that places which multiply are not."""

from __future__ import annotations

import pytest

from anygame.analysis.domains import Domains
from anygame.analysis.safety import normal_rules
from anygame.language import Constant, parse_program


def domains(text: str) -> Domains:
    return Domains(normal_rules(parse_program(f"(role r) {text}")))


def test_a_variable_has_the_values_that_all_its_literals_allow() -> None:
    found = domains("(p a) (p b) (q b) (q c) (<= (s ?x) (p ?x) (q ?x)) (<= (t ?x) (p ?x) (u ?x))")
    assert found.tops("s", 1, 0) == {Constant("b")}
    assert found.tops("t", 1, 0) == frozenset()


def test_arguments_of_functors_have_places_of_their_own() -> None:
    found = domains("(p (f a b)) (p c) (<= (q ?x) (p (f ?x ?y))) (<= (s (g ?x)) (p ?x))")
    assert found.tops("p", 1, 0) == {("f", 2), Constant("c")}
    assert found.below(("p", 1, 0), ("f", 2), 1) == {Constant("b")}
    assert found.tops("q", 1, 0) == {Constant("a")}
    assert found.below(("s", 1, 0), ("g", 1), 0) == {("f", 2), Constant("c")}


def test_a_recursion_that_nests_terms_terminates() -> None:
    found = domains("(n z) (<= (n (s ?x)) (n ?x))")
    assert found.tops("n", 1, 0) == {Constant("z"), ("s", 1)}
    assert found.below(("n", 1, 0), ("s", 1), 0) == {Constant("z"), ("s", 1)}


@pytest.mark.slow
def test_nested_wide_terms_have_coarser_domains() -> None:
    wide, same = " ".join(f"a{number}" for number in range(300)), " ".join(["?x"] * 300)
    found = domains(f"(p (f {wide})) (<= (p (f {same})) (p ?x)) (q b) (<= (s ?x) (q ?x)) (<= (t ?x) (p ?x))")
    assert found.tops("t", 1, 0) == {("f", 300)}
    assert found.tops("s", 1, 0) == {Constant("b")}
    assert Constant("a7") in found.below(("t", 1, 0), ("f", 300), 7)
    assert ("f", 300) in found.below(("t", 1, 0), ("f", 300), 7)
