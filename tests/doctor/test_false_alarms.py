"""What is right is not called wrong: hints that say what is there, and sheets of kinds that puzzled."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import TYPE_CHECKING

import pytest

from anygame.doctor import check_program
from anygame.doctor.comparison import STEPS_IN_ALL, VariantSet, is_variant, parts_of, subsumes
from anygame.doctor.work import Budget
from anygame.language import parse_program

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.language import Diagnostic
    from anygame.language.rules import Rule

#: Two roles whose names stand in those of lines; the end asks for either in one `or`.
LINES = """
(role xplayer) (role oplayer) (number 1) (number 2) (number 3)
(init (cell 1 b)) (init (cell 2 b)) (init (cell 3 b)) (init (control xplayer))
(<= (legal ?r (mark ?n)) (true (control ?r)) (true (cell ?n b)))
(<= (legal xplayer noop) (true (control oplayer))) (<= (legal oplayer noop) (true (control xplayer)))
(<= (next (control xplayer)) (true (control oplayer))) (<= (next (control oplayer)) (true (control xplayer)))
(<= (next (cell ?n x)) (does xplayer (mark ?n))) (<= (next (cell ?n o)) (does oplayer (mark ?n)))
(<= (next (cell ?n ?m)) (true (cell ?n ?m)) (distinct ?m b))
(<= (next (cell ?n b)) (true (cell ?n b)) (does ?r (mark ?k)) (distinct ?k ?n))
(<= (xline ?c) (true (cell ?c x)) (true (cell 2 x))) (<= (oline ?c) (true (cell ?c o)) (true (cell 2 o)))
(<= open (true (cell ?n b)))
(<= over {end}) (<= terminal over) (<= terminal (not open))
(<= (goal xplayer 100) (xline ?c)) (<= (goal oplayer 100) (oline ?c))
(<= (goal xplayer 0) (oline ?c)) (<= (goal oplayer 0) (xline ?c))
(<= (goal xplayer 50) (not over)) (<= (goal oplayer 50) (not over))
"""
#: A snake's steps: what goes along the one axis and along the other.
SNAKE = """
(role snake) (init (head 2 2)) (init (facing right)) (plus 1 2) (plus 2 3) (minus 3 2) (minus 2 1)
(direction left) (direction right) (direction up) (direction down)
(<= (step left ?x ?y ?x1 ?y) (minus ?x ?x1) (true (head ?x ?y)))
(<= (step right ?x ?y ?x1 ?y) (plus ?x ?x1) (true (head ?x ?y)))
(<= (step up ?x ?y ?x ?y1) (minus ?y ?y1) (true (head ?x ?y)))
(<= (step down ?x ?y ?x ?y1) (plus ?y ?y1) (true (head ?x ?y)))
(<= (legal snake left) (not (true (facing right)))) (<= (legal snake right) (not (true (facing left))))
(<= (legal snake up) (not (true (facing down)))) (<= (legal snake down) (not (true (facing up))))
(<= (turns left) (does snake left)) (<= (turns right) (does snake right))
(<= (turns up) (does snake up)) (<= (turns down) (does snake down))
(<= (next (facing left)) (turns left)) (<= (next (facing right)) (turns right))
(<= (next (facing up)) (turns up)) (<= (next (facing down)) (turns down))
(<= (next (head ?x1 ?y1)) (turns ?d) (step ?d ?x ?y ?x1 ?y1))
(<= stuck (true (head 1 ?y))) (<= stuck (true (head 3 ?y)))
(<= terminal stuck) (<= (goal snake 100) (true (head 3 3))) (<= (goal snake 0) (not (true (head 3 3))))
"""
#: Steps of which one pair goes by one relation, and the other by that and its opposite.
STEPS = """
(role snake) (init (at 1 1)) (after 1 2) (after 2 3) (before 2 1) (before 3 2)
(<= (near ?x ?y ?x1 ?y) (after ?x ?x1)) (<= (near ?x ?y ?x1 ?y) (after ?x1 ?x))
(<= (near ?x ?y ?x ?y1) (after ?y ?y1)) (<= (near ?x ?y ?x ?y1) (before ?y ?y1))
(<= (legal snake (go ?x1 ?y1)) (true (at ?x ?y)) (near ?x ?y ?x1 ?y1))
(<= (next (at ?x ?y)) (does snake (go ?x ?y))) (<= terminal (true (at 3 3))) (goal snake 100)
"""


def _rule(text: str) -> Rule:
    return parse_program(f"(role me) {text}").rules[-1]


def _codes(text: str) -> set[str]:
    return {found.code for found in check_program(parse_program(text)) if found.severity > 0}


@pytest.mark.parametrize(
    "end",
    [
        "(or (xline ?c) (oline ?c))",
        "(or (oline ?c) (xline ?c))",
        "(or (and (xline 1) open) (oline 1) (xline 1) (and open (oline 1)))",
        "(or (xline ?c) (oline ?d))",
        "(not (or (xline 1) (oline 1))) (or (xline 2) (xline 3) (oline 3) (oline 2))",
    ],
)
def test_an_or_for_both_roles_has_its_like(end: str) -> None:
    assert not _codes(LINES.format(end=end)) & {
        "missing-counterpart", "odd-counterpart", "missing-sibling", "odd-sibling"
    }  # fmt: skip


def test_an_or_for_one_role_alone_is_told_still() -> None:
    end = "(xline ?c)"
    assert _codes(LINES.format(end=end)) & {"missing-counterpart", "missing-sibling"}


@pytest.mark.parametrize("text", [SNAKE, STEPS], ids=["snake", "steps"])
def test_steps_along_two_axes_are_right(text: str) -> None:
    assert not _codes(text) & {"missing-sibling", "odd-sibling", "swapped-arguments"}


def test_a_slip_in_the_steps_of_a_snake_is_told() -> None:
    right = "(<= (step down ?x ?y ?x ?y1) (plus ?y ?y1) (true (head ?x ?y)))"
    assert right in SNAKE
    slip = "(<= (step down ?x ?y ?x ?y1) (plus ?x ?y1) (true (head ?x ?y)))"
    assert _codes(SNAKE.replace(right, slip)) & {"odd-sibling", "swapped-arguments", "single-variable"}


@pytest.mark.parametrize("seed", range(40))
def test_clues_of_a_puzzle_are_no_slips(seed: int) -> None:
    """Whatever digits are given where: rows, columns and digits are the same numbers."""
    random = Random(seed)
    size = random.choice((4, 6, 9))
    cells = random.sample([(r, c) for r in range(1, size + 1) for c in range(1, size + 1)], size + seed % 9)
    clues = " ".join(f"(init (cell {r} {c} {random.randint(1, size)}))" for r, c in cells)
    given = " ".join(f"(given {r} {c} {random.randint(1, size)})" for r, c in cells[: size - 1])
    numbers = " ".join(f"(number {n})" for n in range(1, size + 1))
    text = f"""
        (role solver) {numbers} {clues} {given}
        (<= (legal solver (fill ?r ?c ?n)) (number ?r) (number ?c) (number ?n) (not (filled ?r ?c)))
        (<= (filled ?r ?c) (true (cell ?r ?c ?n)))
        (<= (next (cell ?r ?c ?n)) (true (cell ?r ?c ?n)))
        (<= (next (cell ?r ?c ?n)) (does solver (fill ?r ?c ?n)))
        (<= open (number ?r) (number ?c) (not (filled ?r ?c))) (<= terminal (not open))
        (<= wrong (given ?r ?c ?n) (not (true (cell ?r ?c ?n))))
        (<= (goal solver 100) (not wrong)) (<= (goal solver 0) wrong)
    """
    assert "swapped-arguments" not in _codes(text)


# -- laws ------------------------------------------------------------------------------------------------


def _hints_that_are_there(text: str) -> list[Diagnostic]:
    program = parse_program(text)
    said = VariantSet(map(parts_of, program.rules))
    found = []
    for each in check_program(program):
        if each.hint.startswith("(<= ") and not each.hint.endswith("..."):
            try:
                hinted = parse_program(each.hint).rules
            except Exception:
                continue
            found += [each for rule in hinted if parts_of(rule) in said]
    return found


@pytest.mark.slow
def test_no_hint_of_a_public_sheet_is_a_rule_that_is_there(corpus: Path) -> None:
    for path in sorted((corpus / "rules").glob("*.kif")):
        assert not _hints_that_are_there(path.read_text("utf-8")), path.stem


@pytest.mark.parametrize("seed", range(25))
def test_the_order_of_conditions_and_alternatives_changes_nothing(seed: int) -> None:
    """No hint is the rule itself, in whatever order that is written."""
    random = Random(seed)
    ends = ["(xline ?c)", "(oline ?c)", "(and (xline 1) (xline 3))", "(and (oline 3) (oline 1))"]
    random.shuffle(ends)
    text = LINES.format(end=f"(or {' '.join(ends)})")
    assert not _hints_that_are_there(text)
    assert not _codes(text) & {"missing-counterpart", "missing-sibling"}


def test_rules_are_the_same_in_any_order_and_by_any_names_of_variables() -> None:
    conditions = ["(p ?a ?b)", "(p ?b ?c)", "(or (q ?a) (q ?c))", "(distinct ?a ?c)"]
    renamed = ["(p ?x ?y)", "(p ?y ?z)", "(or (q ?z) (q ?x))", "(distinct ?z ?x)"]
    rule = _rule(f"(<= (h ?a ?c) {' '.join(conditions)})")
    for order in permutations(renamed):
        other = _rule(f"(<= (h ?x ?z) {' '.join(order)})")
        assert parts_of(other) in VariantSet([parts_of(rule)])
    other = _rule(f"(<= (h ?z ?x) {' '.join(renamed)})")
    assert parts_of(other) not in VariantSet([parts_of(rule)])
    one, other = (_rule(f"(<= h (or {a} {b}))") for a, b in permutations(("(q ?a)", "(r ?b)")))
    assert is_variant(parts_of(one), parts_of(other))


def test_long_rules_are_compared_within_bounds() -> None:
    links = [f"(q ?v{number} ?v{number + 1})" for number in range(900)]
    one, other = (_rule(f"(<= (h ?v0) {' '.join(order)})") for order in (links, links[::-1]))
    assert is_variant(parts_of(one), parts_of(other))
    assert is_variant(parts_of(one), parts_of(_rule(f"(<= (h ?v1) {' '.join(links)})")))  # in doubt they are
    nested = _rule(f"(<= (h {'(s ' * 150}?a{')' * 150}) (p ?a) (p ?b))")
    assert is_variant(parts_of(nested), parts_of(nested))
    budget = Budget(STEPS_IN_ALL)
    assert subsumes(parts_of(_rule("(<= (h ?a) (p ?a ?b))")), parts_of(one), budget) is False
    assert subsumes(parts_of(_rule("(<= (h ?a) (q ?a ?b))")), parts_of(one), budget)
    assert budget.left > 0


@pytest.mark.parametrize(
    ("rule", "other", "is_part"),
    [
        ("(<= (h ?x) (p ?x))", "(<= (h (f ?y)) (p (f ?y)) (q ?y))", True),
        ("(<= (h ?x) (p ?x ?y) (p ?y ?x))", "(<= (h a) (p a a))", True),
        ("(<= (h ?x) (p ?x ?y) (p ?y ?x))", "(<= (h a) (p a b))", False),
        ("(<= (h ?x) (distinct ?x a))", "(<= (h b) (distinct a b) (p b))", True),
        ("(<= h (or (p ?x) (q ?x)))", "(<= h (r 1) (or (q 1) (p 1)))", True),
        ("(<= h (or (p ?x) (q ?x)))", "(<= h (or (p 1) (q 1) (r 1)))", False),
        ("(<= h (not (p a)))", "(<= h (p a))", False),
    ],
)
def test_a_rule_that_makes_another_needless(rule: str, other: str, is_part: bool) -> None:
    assert subsumes(parts_of(_rule(rule)), parts_of(_rule(other)), Budget(STEPS_IN_ALL)) is is_part
