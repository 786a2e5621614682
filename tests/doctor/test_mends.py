from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples, some
from tests.language.test_laws import programs
from tests.sheets.test_layout import sheets

import anygame
from anygame.analysis.normal import binding_order
from anygame.doctor.examination import ExaminationSettings, examine
from anygame.doctor.mending import MENDS, fixes_of, mend_sheet
from anygame.errors import RuleSheetError
from anygame.language import Literal, Source, parse_program, parse_term, read_source
from anygame.language.forms import comments_of, form_of
from anygame.language.unification import match
from anygame.sheets.edits import Edit, apply_edits
from anygame.sheets.layout import format_sheet

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.language import Program, Term, Variable

ORDERS = [
    ("(distinct ?x a) (p ?x)", [1, 0]),
    ("(p ?x) (distinct ?x a)", [0, 1]),
    ("(not (q ?x ?y)) (p ?x) (p ?z) (p ?y)", [1, 2, 3, 0]),
    ("(not (q ?x)) (distinct ?x a) (p ?y) (p ?x) r", [2, 3, 0, 1, 4]),
    ("(not (q ?nowhere)) (p ?x)", [0, 1]),
    ("(not (q ?x ?nowhere)) (p ?x)", [1, 0]),
    ("(not (q ?x)) (or (p ?x) (r ?x))", [1, 0]),
    ("(not (q ?x)) (or (p ?x) (r ?y)) (s ?x)", [1, 2, 0]),
    ("(or (distinct ?x a) (not (q ?x))) (p ?x)", [1, 0]),
    ("(or (and (p ?y) (distinct ?y ?x)) t) (p ?x)", [1, 0]),
    ("(not t) (p ?x)", [0, 1]),
]


def mended(text: str, *kinds: str, name: str = "sheet.kif") -> str:
    return mend_sheet(Source(name, text), kinds or MENDS).text


@pytest.mark.parametrize(("body", "order"), ORDERS)
def test_tests_follow_the_literals_that_bind_their_variables(body: str, order: list[int]) -> None:
    rule = parse_program(f"(role x) (<= h {body})").rules[1]
    assert binding_order(rule.body) == order


def test_variables_of_the_head_count_as_bound() -> None:
    rule = parse_program("(role x) (<= (h ?x) (not (q ?x)) (p ?x))").rules[1]
    assert binding_order(rule.body, rule.head.variables()) == [0, 1]


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("order", "(<= h (distinct ?x a)\n  (p ?x))", "(<= h (p ?x)\n  (distinct ?x a))"),
        ("order", "(<= h(distinct ?x a)(p ?x))", "(<= h(p ?x)(distinct ?x a))"),
        (
            "order",
            "(<= h ; the head\n  (not (q ?x)) ; not q\n  ; because\n  (p ?x)) ; because",
            "(<= h ; the head\n  ; because\n  (p ?x)\n  (not (q ?x)) ; not q\n) ; because",
        ),
        (
            "order",
            "(<= h\n  (not (q ?x)) ; not q\n  ; because\n  (p ?x) ; p\n)",
            "(<= h\n  ; because\n  (p ?x) ; p\n  (not (q ?x)) ; not q\n)",
        ),
        (
            "order",
            "(<= h (not (q ?x)) ; not q\n  (p ?x))",
            "(<= h\n  (p ?x) (not (q ?x)) ; not q\n)",
        ),
        ("order", "(<= h (distinct (f) ?x) (p ?x))", "(<= h (p ?x) (distinct (f) ?x))"),
        (
            "case",
            "(<= TERMINAL (Not (TRUE on)) (OR (Does x a) t))",
            "(<= terminal (not (true on)) (or (does x a) t))",
        ),
        ("case", "(p Goal King)", "(p Goal King)"),
        ("parentheses", "(p) (<= (q (f) b) ( r ) (not (s)))", "p (<= (q f b) r (not s))"),
        ("parentheses", "(p a(f)b(g))", "(p a f b g)"),
        ("parentheses", "(<= q (or)) (r ( ; why\n f))", "(<= q (or)) (r ( ; why\n f))"),
        ("role", "(<= (goal ?r 0) (not won))", "(<= (goal ?r 0) (role ?r) (not won))"),
        ("role", "(<= (goal ?r 0)\n  (not won))", "(<= (goal ?r 0)\n  (role ?r)\n  (not won))"),
        ("role", "(<= (goal ?r 0) ; c\n  (not won))", "(<= (goal ?r 0) ; c\n  (role ?r)\n  (not won))"),
        ("role", "(<= (goal ?r ?n) (not (won ?n)))", "(<= (goal ?r ?n) (role ?r) (not (won ?n)))"),
        ("role", "(<= (goal ?r 0) (won ?r))", "(<= (goal ?r 0) (won ?r))"),
        ("role", "(<= (p ?r 0) (not won))", "(<= (p ?r 0) (not won))"),
    ],
)
def test_each_kind_of_mend_edits_its_fault(kind: str, before: str, after: str) -> None:
    assert mended(f"(role x) {before}", kind) == f"(role x) {after}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("goal(R,0) :- ~won", "goal(R,0) :- role(R) & ~won"),
        ("goal(R,0) :-\n    (a | b) & ~won", "goal(R,0) :-\n    role(R) &\n    (a | b) & ~won"),
        ("h :- (~q(X)) & % c\n p(X)", "h :- (p(X)) & % c\n ~q(X)"),
        ("'TERMINAL' :- f()", "terminal :- f"),
    ],
)
def test_infix_sheets_are_mended_too(before: str, after: str) -> None:
    kinds = [kind for kind in MENDS if kind not in {"base", "input"}]
    assert mended(f"role(x) {before}", *kinds, name="sheet.hrf") == f"role(x) {after}"


def test_mends_have_places_in_the_old_text() -> None:
    source = Source("s.kif", "(ROLE x)\n(<= (goal ?r 0)\n  (distinct ?x (a))\n  (P ?x))")
    found = mend_sheet(source, ["order", "case", "parentheses", "role"])
    assert [(mend.kind, mend.span and mend.span.place, mend.message) for mend in found.mends] == [
        ("case", "s.kif:1:2", "ROLE becomes role"),
        ("role", "s.kif:2:5", "nothing binds ?r: (role ?r) is added"),
        ("parentheses", "s.kif:3:16", "(a) becomes a"),
        ("order", "s.kif:4:3", "(P ?x) moves before the literals that need its variables"),
    ]
    assert found.text == "(role x)\n(<= (goal ?r 0)\n  (role ?r)\n  (P ?x)\n  (distinct ?x a))"


def test_declarations_are_generated() -> None:
    sheet = """(role x) (role y) (index 1) (index 2) (index 3)
(init (cell 1 1 b)) (init (phase one)) (init on)
(<= (next (cell ?m ?n ?r)) (does ?r (mark ?m ?n)))
(<= (next (phase two)) (true (phase one)))
(<= (legal ?r (mark ?m ?n)) (role ?r) (index ?m) (index ?n))
(legal x noop)"""
    assert (
        mended(sheet, "base", "input").removeprefix(sheet)
        == """

;;; base and input: all possible fluents and moves

(base on)

(<= (base (cell ?x1 ?x2 ?x3))
    (index ?x1)
    (index ?x2)
    (domain1 ?x3))

(base (phase one)) (base (phase two))

(domain1 b) (domain1 x) (domain1 y)

(input x noop)

(<= (input ?x1 (mark ?x2 ?x3))
    (role ?x1)
    (index ?x2)
    (index ?x3))
"""
    )


def test_declarations_stand_inside_parentheses_round_the_sheet() -> None:
    text = mended("((role x) (init a) (legal x b) ; c\n) ; d", "base", "input")
    assert text.endswith(") ; d")
    assert "(base a)" in text
    assert len(parse_program(text).rules) == 5


def test_new_relations_have_names_that_are_free() -> None:
    sheet = (
        "(role x) (p domain2) (<= q (not (DOMAIN1 a))) (init (n 1)) (init (n 2)) (init (n 3)) (init (n 4))"
    )
    text = mended(f"{sheet} (init (n 5))", "base")
    assert "(domain2 ?x1)" in text


def test_declarations_of_endless_terms_are_declined() -> None:
    found = mend_sheet(Source("s", "(role x) (init (s z)) (<= (next (s (s ?n))) (true (s ?n)))"), ["base"])
    assert not found.mends
    assert found.notes == ("no base can be added: the terms nest without limit, or have too many shapes",)


def test_declarations_of_unsafe_rules_are_declined() -> None:
    found = mend_sheet(Source("s", "(role x) (init a) (<= (next ?x) (not (true ?x)))"), ["base", "input"])
    assert found.notes == (
        "no base and no input can be added while variables are unbound; see `anygame check`",
    )


def test_a_sheet_without_faults_stays_as_it_is() -> None:
    text = "(role x) (base a) (input x b) (init a) (legal x b) (<= terminal (not (true a)))"
    found = mend_sheet(Source("s", text))
    assert found.text == text
    assert not found.mends


#: What follows a rule whose variable nothing binds.
CONTROL = """
(role a) (role b) (init (control a)) (base (control a)) (base (control b)) (input a (go 1)) (input b (go 2))
(<= (legal ?r pass) (true (control ?r))) (<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= terminal (true (control b))) (goal a 1) (goal b 0)
"""


@pytest.mark.parametrize(
    ("rule", "added"),
    [
        ("(<= (next (control ?o)) (true (control ?r)))", "(base (control ?o))"),
        ("(<= (next (turn ?o)) (true (turn ?o)) (does ?r pass))", ""),
        ("(<= (legal ?r (go ?n)) (true (control ?r)))", "(input ?r (go ?n))"),
        ("(<= (next (moved ?o)) (does ?r pass)) (<= r (true (moved ?p)) (role ?p))", "(role ?o)"),
    ],
)
def test_mends_that_can_change_the_game_are_made_only_on_request(rule: str, added: str) -> None:
    """A variable that nothing binds in what is next or legal may be meant otherwise."""
    sheet = CONTROL + rule
    assert mended(sheet) == mended(sheet, "binding") == sheet
    text = mended(sheet, "any")
    assert text == sheet if not added else added in text
    found = [fix for each in examine(Source("s.kif", sheet), ExaminationSettings(play=None)).findings
             for fix in fixes_of(each, Source("s.kif", sheet)) if fix.edits]  # fmt: skip
    assert [fix.sure for fix in found if "any" in fix.kinds] == [False] * bool(added)


@pytest.mark.parametrize("rule", ["(<= (legal ?r stop) (not (true on)))", "(legal ?r stop)", "(goal ?r 7)"])
def test_roles_of_moves_and_goals_are_added_since_no_game_asks_for_others(rule: str) -> None:
    assert "(role ?r)" in mended(f"(role x) (init on) {rule}").removeprefix("(role x)")


def test_mending_refuses_an_unreadable_sheet() -> None:
    with pytest.raises(RuleSheetError):
        mended("(role x) (<= (not))")


def test_edits_inside_ranges_that_move() -> None:
    text = "0123456789"
    edits = [Edit(2, 8, ((6, 8), "-", (2, 4))), Edit(7, 8, ("x",)), Edit(2, 2, ("!",)), Edit(9, 10, ())]
    assert apply_edits(text, edits) == "01!6x-238"


def comment_texts(source: Source) -> Counter[str]:
    return Counter(comment.text for comment in comments_of(source, form_of(source)))


def check_laws(source: Source) -> None:
    """Check that mending keeps comments and is done after once."""
    program = parse_program(source)
    kinds = ["order", "case", "parentheses", "role"]
    found = mend_sheet(source, kinds)
    again = Source(source.name, found.text)
    assert comment_texts(again) == comment_texts(source)
    assert not [mend for mend in mend_sheet(again, kinds).mends if mend.kind != "parentheses"]
    assert [rule.head for rule in parse_program(again).rules] == [rule.head for rule in program.rules]
    if not found.mends:
        assert found.text == source.text


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(sheets())
def test_mending_obeys_its_laws_on_any_sheet(text: str) -> None:
    check_laws(Source("sheet.kif", text))


@settings(max_examples=examples(20))
@given(programs, st.booleans())
def test_laws_on_any_infix_sheet(program: Program, swap: bool) -> None:
    text = format_sheet(Source("sheet.kif", str(program)), "infix")
    check_laws(Source("sheet.hrf", text.replace("\n    ", " ") if swap else text))


def extents(program: Program) -> dict[str, set[Term]]:
    found: dict[str, set[Term]] = defaultdict(set)
    for rule in program.rules:
        if len(rule.head.arguments) == 1 and not rule.body:
            found[rule.head.predicate].add(rule.head.arguments[0])
    return found


def is_declared(
    program: Program, known: dict[str, set[Term]], name: str, arguments: tuple[Term, ...]
) -> bool:
    for rule in program.rules:
        bindings: dict[Variable, Term] = {}
        if (
            rule.head.predicate == name
            and all(map(match, rule.head.arguments, arguments, [bindings] * len(arguments)))
            and all(
                isinstance(literal, Literal)
                and bindings[literal.atom.arguments[0]] in known[literal.atom.predicate]  # type: ignore[index]
                for literal in rule.body
            )
        ):
            return True
    return False


@pytest.mark.slow
def test_declarations_hold_whatever_public_games_reach(corpus: Path) -> None:
    checked = 0
    for sheet in some(sorted((corpus / "rules").glob("*.kif")), 40):
        source = read_source(sheet)
        found = mend_sheet(source)
        trace = corpus / "traces" / f"{sheet.stem}.jsonl.gz"
        if not {"base", "input"} <= {mend.kind for mend in found.mends} or not trace.exists():
            continue
        program = parse_program(Source(sheet.name, found.text))
        known = extents(program)
        facts: set[str] = set()
        moves: set[tuple[str, str]] = set()
        with gzip.open(trace, "rt") as lines:
            for line in lines:
                record = json.loads(line)
                facts.update(record.get("facts", ()))
                moves.update(
                    (role, move) for role, legal in record.get("legal", {}).items() for move in legal
                )
        for fact in facts:
            assert is_declared(program, known, "base", (parse_term(fact),)), (sheet.name, fact)
        for role, move in moves:
            terms = parse_term(role), parse_term(move)
            assert is_declared(program, known, "input", terms), (sheet.name, role, move)
        checked += 1
    assert checked > 5


def test_a_mended_game_plays_as_before() -> None:
    sheet = """(ROLE x) (init (at 1)) (step 1 2) (step 2 3)
(<= (legal ?r go) (not (true (at 3)))) (<= (legal ?r stay) (not (true (at 1))))
(<= (next (at ?n)) (distinct ?n 1) (true (at ?m)) (does x go) (step ?m ?n))
(<= (next (at ?n)) (true (at ?n)) (does x stay)) (<= (terminal) (true (at 3))) (<= (goal ?r 100) (not (f)))"""
    game = anygame.loads(mended(sheet))
    state = game.initial_state()
    assert [str(move) for move in state.legal_moves("x")] == ["go"]
    for _ in range(2):
        state = state.next(["go"])
    assert state.is_terminal
    assert state.goal("x") == 100
    assert sorted(str(binding["?f"]) for binding in state.query("(base ?f)")) == [
        "(at 1)",
        "(at 2)",
        "(at 3)",
    ]


@pytest.mark.slow
def test_wide_terms_inside_each_other_have_no_declarations() -> None:
    wide, same = " ".join(["a"] * 300), " ".join(["?x"] * 300)
    sheet = f"(role x) (init (f {wide})) (legal x go) (<= (next (f {same})) (true ?x))"
    found = mend_sheet(Source("s.kif", sheet), ["base"])
    assert (found.text, found.mends) == (sheet, ())
    assert found.notes == ("no base can be added: the terms nest without limit, or have too many shapes",)


def test_roles_are_not_mended_in_rules_with_too_many_alternatives() -> None:
    choices = " ".join(f"(or (p ?x{number}) (q ?x{number}))" for number in range(13))
    assert mended(f"(role x) (<= (goal ?r 0) {choices})", "role") == f"(role x) (<= (goal ?r 0) {choices})"
