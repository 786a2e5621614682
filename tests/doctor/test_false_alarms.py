"""What is right is not called wrong: hints that say what is there, and sheets of kinds that puzzled."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.doctor.test_hints import form_of_program

from anygame.doctor import check_program
from anygame.doctor.comparison import STEPS_IN_ALL, VariantSet, is_variant, parts_of, subsumes
from anygame.doctor.work import Budget
from anygame.language import parse_program, read_source

if TYPE_CHECKING:
    from anygame.language import Diagnostic
    from anygame.language.rules import Rule

#: Sheets with a fluent that is lost, and sheets that are near to one.
LOST = sorted((Path(__file__).parent / "cases").glob("lost-fluent*/in.kif"))
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
#: Each player of a connection game joins two sides of its own.
CONNECTION = """
(role red) (role black) (column a) (column b) (column c) (row 1) (row 2) (row 3)
(right a b) (right b c) (above 1 2) (above 2 3) (init (control red))
(<= (legal red (place ?i ?j)) (true (control red)) (column ?i) (row ?j) (not (owned ?i ?j)))
(<= (legal black (place ?i ?j)) (true (control black)) (column ?i) (row ?j) (not (owned ?i ?j)))
(<= (legal red noop) (true (control black))) (<= (legal black noop) (true (control red)))
(<= (owned ?i ?j) (true (stone ?p ?i ?j)))
(<= (next (stone ?p ?i ?j)) (does ?p (place ?i ?j))) (<= (next (stone ?p ?i ?j)) (true (stone ?p ?i ?j)))
(<= (next (control red)) (true (control black))) (<= (next (control black)) (true (control red)))
(<= (near ?i ?j ?i ?l) (column ?i) (above ?j ?l)) (<= (near ?i ?j ?i ?l) (column ?i) (above ?l ?j))
(<= (near ?i ?j ?k ?j) (row ?j) (right ?i ?k)) (<= (near ?i ?j ?k ?j) (row ?j) (right ?k ?i))
(<= (path ?p ?i ?j ?k ?l) (true (stone ?p ?i ?j)) (true (stone ?p ?k ?l)) (near ?i ?j ?k ?l))
(<= (path ?p ?i ?j ?k ?l) (path ?p ?i ?j ?m ?n) (path ?p ?m ?n ?k ?l))
(<= redwin (path red a ?i c ?j))
(<= blackwin (path black ?i 1 ?j 3))
(<= terminal redwin) (<= terminal blackwin)
(<= (goal red 100) redwin) (<= (goal red 0) blackwin) (<= (goal black 100) blackwin)
(<= (goal black 0) redwin)
"""
#: A move says where it came from and where it goes.
FROM_TO = """
(role white) (role black) (succ 1 2) (succ 2 3)
(init (cell 1 1 white)) (init (cell 3 3 black)) (init (control white))
(<= (near ?a ?b) (succ ?a ?b)) (<= (near ?a ?b) (succ ?b ?a))
(<= (legal ?r (move ?j ?n ?m ?n)) (true (control ?r)) (true (cell ?j ?n ?r)) (near ?j ?m))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (cell ?m ?n ?r)) (does ?r (move ?j ?k ?m ?n)))
(<= (next (cell ?m ?n ?q)) (true (cell ?m ?n ?q)) (not (left ?q ?m ?n)) (not (hit ?m ?n)))
(<= (hit ?m ?n) (does ?r (move ?j ?k ?m ?n)))
(<= (moved ?m ?n) (does ?r (move ?j ?k ?m ?n)) (distinct ?j ?m))
(<= (next (last ?m ?n)) (does ?r (move ?j ?k ?m ?n)))
(<= (left ?r ?m ?n) (does ?r (move ?m ?n ?j ?k)))
(<= (next (control white)) (true (control black))) (<= (next (control black)) (true (control white)))
(<= (there ?p) (true (cell ?x ?y ?p))) (<= terminal (not (there white))) (<= terminal (not (there black)))
(<= (goal white 100) (not (there black))) (<= (goal black 100) (not (there white)))
(<= (goal white 0) (there black)) (<= (goal black 0) (there white))
"""
#: The score of each role is in a fluent of its own, and what adds to it in a relation of its own.
SCORES = """
(role white) (role black) (init (whiteScore 0)) (init (blackScore 0)) (sum 0 1 1) (sum 1 1 2)
(legal white (bid 1)) (legal black (bid 1))
(<= (w1 ?n) (does white (bid ?n))) (<= (b1 ?n) (does black (bid ?n)))
(<= (next (whiteScore ?z)) (true (whiteScore ?x)) (w1 ?y) (sum ?x ?y ?z))
(<= (next (blackScore ?z)) (true (blackScore ?x)) (b1 ?y) (sum ?x ?y ?z))
(<= terminal (true (whiteScore 2))) (<= terminal (true (blackScore 2)))
(<= (goal white ?x) (true (whiteScore ?x))) (<= (goal black ?x) (true (blackScore ?x)))
"""
#: How the steps of a knight may be written: definitions, and a rule of two steps.
STEPS_OF_KNIGHTS = {
    "relations": (
        "(<= (upone ?x ?y) (succ ?x ?y)) (<= (downone ?y ?x) (succ ?x ?y))"
        "(<= (uptwo ?x ?z) (succ ?x ?y) (succ ?y ?z)) (<= (downtwo ?z ?x) (succ ?x ?y) (succ ?y ?z))",
        "(<= (knight ?x ?y ?u ?v) ({0}{1} ?x ?u) ({2}{3} ?y ?v))",
    ),
    "opposites": (
        "(<= (up ?x ?y one) (succ ?x ?y)) (<= (up ?x ?z two) (succ ?x ?y) (succ ?y ?z))"
        "(<= (down ?x ?y ?n) (up ?y ?x ?n))",
        "(<= (knight ?x ?y ?u ?v) ({0} ?x ?u {1}) ({2} ?y ?v {3}))",
    ),
    "names": (
        "(<= (step up one ?x ?y) (succ ?x ?y)) (<= (step down one ?y ?x) (succ ?x ?y))"
        "(<= (step up two ?x ?z) (succ ?x ?y) (succ ?y ?z))"
        "(<= (step down two ?z ?x) (succ ?x ?y) (succ ?y ?z))",
        "(<= (knight ?x ?y ?u ?v) (step {0} {1} ?x ?u) (step {2} {3} ?y ?v))",
    ),
}
KNIGHT = """
(role white) (init (at 1 1)) (succ 1 2) (succ 2 3) (succ 3 4)
{}
(<= (legal white (go ?u ?v)) (true (at ?x ?y)) (knight ?x ?y ?u ?v))
(<= (next (at ?u ?v)) (does white (go ?u ?v)))
(<= terminal (true (at 4 4))) (<= (goal white 100) (true (at 4 4))) (<= (goal white 0) (not (true (at 4 4))))
"""
#: A fluent of the last move alone: who is in check, by what, and from where, which another piece may be.
IN_CHECK = """
(role white) (role black) (other white black) (other black white) (file a) (file b) (rank 1) (rank 2)
(init (control white)) (init (cell a 1 rook)) (init (cell b 2 king)) (aims a 1 b 2) (aims b 1 b 2)
(<= (legal ?r (move ?x ?y ?u ?v)) (true (control ?r)) (true (cell ?x ?y ?p)) (file ?u) (rank ?v))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= (next (control ?q)) (true (control ?r)) (other ?r ?q))
(<= (next (cell ?u ?v ?p)) (does ?r (move ?x ?y ?u ?v)) (true (cell ?x ?y ?p)))
(<= (next (cell ?a ?b ?p)) (true (cell ?a ?b ?p)) (does ?r (move ?x ?y ?u ?v)) (distinct ?a ?x))
(<= (next (check ?q rook ?u ?v)) (does ?r (move ?x ?y ?u ?v)) (other ?r ?q) (aims ?u ?v ?k ?l))
(<= (next (check ?q king ?a ?b)) (does ?r (move ?x ?y ?u ?v)) (other ?r ?q) (true (cell ?a ?b king)))
(<= terminal (true (check ?r ?p ?x ?y)))
(<= (goal ?r 0) (true (check ?r ?p ?x ?y))) (<= (goal ?r 100) (role ?r) (not (true (check ?r rook a 1))))
"""
#: Where the last stone was put, and of which colour: that is no board, though it looks like one.
LAST = """
(role x) (role o) (colour x white) (colour o black) (other x o) (other o x) (index 1) (index 2)
(init (turn x)) (init (left 2)) (succ 0 1) (succ 1 2)
(<= (legal ?r (put ?a ?b)) (true (turn ?r)) (index ?a) (index ?b)) (<= (legal ?r wait) (role ?r))
(<= (next (turn ?q)) (true (turn ?p)) (other ?p ?q)) (<= (next (left ?m)) (true (left ?n)) (succ ?m ?n))
(<= (next (last ?a ?b ?c)) (does ?r (put ?a ?b)) (colour ?r ?c))
(<= terminal (true (left 0))) (<= terminal (true (last 2 2 black))) (goal x 100) (goal o 0)
"""
#: The lines through a point, by where the point stands in a mill: two of six orders are never written.
MILLS = """
(role x) (mill 1 2 3) (mill 1 4 5) (init (at 1))
{}
(<= (legal x (go ?b ?c)) (true (at ?a)) (line ?a ?b ?c)) (<= (next (at ?b)) (does x (go ?b ?c)))
(<= terminal (true (at 5))) (<= (goal x 100) (true (at 5))) (<= (goal x 0) (not (true (at 5))))
"""
#: Codes that compare a rule with others like it.
OF_LIKES = {"missing-counterpart", "odd-counterpart", "swapped-arguments"}


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
    assert not _codes(LINES.format(end=end)) & {"missing-counterpart", "odd-counterpart"}


def test_an_or_for_only_one_role_is_still_reported() -> None:
    end = "(xline ?c)"
    assert _codes(LINES.format(end=end)) & {"missing-counterpart"}


@pytest.mark.parametrize("text", [SNAKE, STEPS], ids=["snake", "steps"])
def test_steps_along_two_axes_are_right(text: str) -> None:
    assert not _codes(text) & OF_LIKES


@pytest.mark.parametrize("text", [CONNECTION, FROM_TO, SCORES], ids=["connection", "from and to", "scores"])
def test_differences_between_two_sides_are_not_reported(text: str) -> None:
    assert not _codes(text) & OF_LIKES


@pytest.mark.parametrize(
    ("text", "right", "slip", "code"),
    [
        (SCORES, "(true (blackScore ?x)) (b1 ?y)", "(true (whiteScore ?x)) (b1 ?y)", "odd-counterpart"),
        (FROM_TO, "(true (cell ?m ?n ?q)) (not", "(true (cell ?n ?m ?q)) (not", "swapped-arguments"),
    ],
)  # fmt: skip
def test_an_error_in_a_rule_of_two_sides_is_reported(text: str, right: str, slip: str, code: str) -> None:
    assert text.count(right) == 1
    assert code in _codes(text.replace(right, slip))


@pytest.mark.parametrize("style", STEPS_OF_KNIGHTS)
@pytest.mark.parametrize("seed", range(6))
def test_the_moves_of_a_knight_are_right_in_any_order(style: str, seed: int) -> None:
    random = Random(seed)
    steps, rule = STEPS_OF_KNIGHTS[style]
    rules = [
        rule.format(one, first, other, second)
        for one, other in product(("up", "down"), repeat=2)
        for first, second in permutations(("one", "two"))
    ]
    random.shuffle(rules)
    assert not _codes(KNIGHT.format("\n".join([steps, *rules]))) & OF_LIKES


@pytest.mark.parametrize("seed", range(6))
def test_a_line_through_each_point_of_a_mill_is_right(seed: int) -> None:
    points = ["?a", "?b", "?c"]
    orders = [" ".join([*points[1 : n + 1], points[0], *points[n + 1 :]]) for n in range(3)]
    lines = [f"(<= (line ?a ?b ?c) (mill {order}))" for order in orders]
    Random(seed).shuffle(lines)
    assert not _codes(MILLS.format("\n".join(lines))) & OF_LIKES


def test_an_error_in_the_steps_of_a_snake_is_reported() -> None:
    right = "(<= (step down ?x ?y ?x ?y1) (plus ?y ?y1) (true (head ?x ?y)))"
    assert right in SNAKE
    slip = "(<= (step down ?x ?y ?x ?y1) (plus ?x ?y1) (true (head ?x ?y)))"
    assert _codes(SNAKE.replace(right, slip)) & {"swapped-arguments", "single-variable"}


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


def _lost(text: str) -> int:
    return sum(found.code == "lost-fluent" for found in check_program(parse_program(text)))


@pytest.mark.parametrize("seed", range(1, 24, 2))
@pytest.mark.parametrize("case", LOST, ids=lambda case: case.parent.name)
def test_a_lost_fluent_is_reported_for_any_order_of_arguments(case: Path, seed: int) -> None:
    text = read_source(case).text
    assert _lost(form_of_program(parse_program(text), seed)) == _lost(text)


@pytest.mark.parametrize("text", [IN_CHECK, LAST], ids=["in check", "last"])
@pytest.mark.parametrize("seed", range(1, 48, 2))
def test_a_fluent_about_the_last_move_is_not_a_lost_fluent(seed: int, text: str) -> None:
    assert not _lost(text)
    assert not _lost(form_of_program(parse_program(text), seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 12, 2))
@pytest.mark.parametrize("name", ["chess", "slaughter"])
def test_no_fluent_of_chess_is_lost_in_another_form(corpus: Path, name: str, seed: int) -> None:
    program = parse_program(read_source(corpus / "rules" / f"{name}.kif"))
    assert not _lost(form_of_program(program, seed))


@pytest.mark.parametrize(
    ("name", "given", "hint"),
    [
        ("verticalTerrorist", "horizontalTerrorist", ""),
        ("losItem", "aoeItem", ""),
        ("Kingside", "kingside", "kingside"),
        ("kingsde", "kingside", "kingside"),
        ("of", "off", "off"),
        ("king", "(king 1)", ""),
    ],
)
def test_a_hint_names_what_a_slip_makes_of_a_name(name: str, given: str, hint: str) -> None:
    text = f"""
        (role x) (type {given}) (type ready) (legal x go) (init (step {given})) (goal x 100)
        (<= (next (step ?t)) (true (step ?t))) (<= terminal (type ready)) (<= terminal (type {name}))
    """
    (found,) = [each for each in check_program(parse_program(text)) if each.code == "never-fires"]
    assert found.hint == hint


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
    assert not _codes(text) & {"missing-counterpart"}


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
