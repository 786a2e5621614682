from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.language.test_laws import law, programs, refused

import anygame
from anygame.errors import RuleSheetError
from anygame.language import ReadingLimits, Source, Variable, parse_program, parse_term
from anygame.language.forms import infix_constant, infix_variable
from anygame.sheets.layout import format_sheet

if TYPE_CHECKING:
    from anygame.language import Program

SHEET = """\
% Two players take turns.
role(red)  role(blue)
init(control(red))
legal(R,mark(X,Y)) :- true(cell(X,Y,b)) & true(control(R)) & ~closed(X)
terminal :- ~(open | won(red)) & distinct(a, 'B').
"""


def read(text: str) -> Program:
    return parse_program(Source("sheet.hrf", text))


def rules(text: str) -> list[str]:
    return [str(rule) for rule in read(f"role(x) {text}").rules[1:]]


def faults(text: str, limits: ReadingLimits | None = None) -> str:
    with pytest.raises(RuleSheetError) as caught:
        parse_program(Source("sheet.hrf", text), limits=limits)
    return str(caught.value)


def test_infix_is_read_as_the_same_rules() -> None:
    assert [str(rule) for rule in read(SHEET).rules] == [
        "(role red)",
        "(role blue)",
        "(init (control red))",
        "(<= (legal ?r (mark ?x ?y)) (true (cell ?x ?y b)) (true (control ?r)) (not (closed ?x)))",
        "(<= terminal (not (or open (won red))) (distinct a B))",
    ]


@pytest.mark.parametrize(
    ("infix", "kif"),
    [
        ("p :- a & b & c", "(<= p a b c)"),
        ("p :- (a & b) & c", "(<= p (and a b) c)"),
        ("p :- (a & b)", "(<= p (and a b))"),
        ("p :- a | b & c", "(<= p (or a (and b c)))"),
        ("p :- a & b | c", "(<= p (or (and a b) c))"),
        ("p :- (a | b) | c", "(<= p (or (or a b) c))"),
        ("p :- ((a)) & ~~b", "(<= p a (not (not b)))"),
        ("p :- or(a) & or() & and(~a)", "(<= p (or a) (or) (and (not a)))"),
        ("p(f(a,g(b)),1,01)", "(p (f a (g b)) 1 01)"),
        ("'King'('+','it''s','a%b')", "(King + it's a%b)"),
        ("p :- q(Row,_Row,_1,_row,?'x+y',X)", "(<= p (q ?row ?Row ?1 ?_row ?x+y ?x))"),
        ("p :- q(_,_) & r(_)", "(<= p (q ?_any1 ?_any2) (r ?_any3))"),
        ("p :- q(_,_any1)", "(<= p (q ?_any2 ?_any1))"),
        ("terminal :- 'TRUE'(p)", "(<= terminal (true p))"),
        ("p. q.", "p"),
        ("p() ", "p"),
    ],
)
def test_each_kind_of_infix_rule_becomes_kif(infix: str, kif: str) -> None:
    assert rules(infix)[0] == kif


@pytest.mark.parametrize(
    ("infix", "kif"),
    [
        ("p :- a, b(X,Y), c", "(<= p a (b ?x ?y) c)"),
        ("p :- a & b, c | d", "(<= p (or (and a b c) d))"),
        ("p :- (a, b) | q(r(X), s)", "(<= p (or (and a b) (q (r ?x) s)))"),
        (
            "p :- a, not b(X), \\+ c, not (d), not not e",
            "(<= p a (not (b ?x)) (not c) (not d) (not (not e)))",
        ),
        ("p :- a, ~(b, c).", "(<= p a (not (and b c)))"),
        ("p(not, a).", "(p not a)"),
        ("p :- a, not (b, c), not(d).", "(<= p a (not (and b c)) (not d))"),
        ("p :- a, or((b, c), d).", "(<= p a (or (and b c) d))"),
    ],
)
def test_commas_and_negations_of_prolog_are_read(infix: str, kif: str) -> None:
    assert rules(infix)[0] == kif


@pytest.mark.parametrize(
    ("infix", "kif"),
    [
        ("place((a,b))", "(place (tuple a b))"),
        ("place((a,(b,c)),(d,))", "(place (tuple a (tuple b c)) (tuple d))"),
        ("place((a))", "(place a)"),
        ("p((X,Y)) :- q(X, Y), distinct((X,Y),(Y,X)), (a, b).",
         "(<= (p (tuple ?x ?y)) (q ?x ?y) (distinct (tuple ?x ?y) (tuple ?y ?x)) a b)"),
        ("low(-1)", "(low -1)"),
        ("p :- ~q(-10,X1) & r(X1)", "(<= p (not (q -10 ?x1)) (r ?x1))"),
    ],
)  # fmt: skip
def test_tuples_and_negative_numbers_are_read(infix: str, kif: str) -> None:
    program = read(f"role(x)\n{infix}")
    assert str(program.rules[1]).replace("(and a b)", "a b") == kif
    for form in ("infix", "kif"):
        source = Source("sheet.hrf", f"role(x)\n{infix}")
        assert parse_program(Source("sheet", format_sheet(source, form))) == program
    assert not read(format_sheet(Source("sheet.hrf", f"role(x)\n{infix}"))).warnings or "(and" in str(program)


def test_an_item_with_unreadable_parts_is_one_error() -> None:
    for text in ("p(X) <= q(X)", "p(X) :- q(X,Y) & X > 1", "p(Y) :- q(X) & Y is X + 1", "p :- q and r(X)"):
        assert faults(f"role(x)\n{text}").count("error[") == 1, text


def test_messages_name_terms_as_the_text_has_them() -> None:
    for text, said in (
        ("p(_Role,Y) :- q(_Role)", "nothing binds Y"),
        ("p(Role) :- q(_Role) & ~r(_Role)", "nothing binds Role: "),
        ("p(_Role) :- q(Role)", "nothing binds _Role: "),
        (
            "p :- ~q(_,X) & r(X,Y) & ~s(f(_Z,a),Y)",
            "try: negate a new relation that holds if s(f(_Z,a),Y) holds for some _Z",
        ),
        ("legal(R,go)", "try: legal(R,go) :- role(R)"),
        ("next(n(Y),true(n(X)))", "try: next(n(Y)) :- true(n(X))"),
        ("terminal(won('X'))", "try: terminal :- won('X')"),
        ("goal(R)", "try: goal(white,100)"),
    ):
        with pytest.raises(RuleSheetError) as caught:
            anygame.loads(f"role(x)\n{text}", name="sheet.hrf")
        assert said in str(caught.value)


def test_each_prolog_mark_causes_one_warning() -> None:
    text = "role(x).  % a game\nterminal :- true(a), true(b), not true(c).\np :- a, b.\n"
    assert [str(warning) for warning in read(text).warnings] == [
        "sheet.hrf:2:20: warning[infix-dialect]: `,` before a formula is read as `&`, as in Prolog\n"
        "    2 | terminal :- true(a), true(b), not true(c).\n"
        "      |                    ^\n"
        "note: and 2 more times\n"
        "  try: `anygame format` writes &",
        "sheet.hrf:2:31: warning[infix-dialect]: `not` before a formula is read as `~`, as in Prolog\n"
        "    2 | terminal :- true(a), true(b), not true(c).\n"
        "      |                               ^~~\n"
        "  try: `anygame format` writes ~",
    ]
    assert not read(format_sheet(Source("sheet.hrf", text))).warnings


def test_commas_join_formulas_of_bodies_alone() -> None:
    assert "infix-syntax" in faults("role(x). a, b :- c.")
    assert "infix-syntax" in faults("role(x). a, b.")


def test_errors_are_reported_with_warnings_about_prolog_marks() -> None:
    found = faults("role(x)\np :- a, b\nq :- c,\n  &\n")
    assert "warning[infix-dialect]" in found
    assert "error[infix-syntax]" in found
    assert "error[no-role]" in faults("p :- a, b")


def test_every_part_knows_its_place() -> None:
    rule = read(SHEET).rules[3]
    assert rule.span is not None
    assert rule.span.text == "legal(R,mark(X,Y)) :- true(cell(X,Y,b)) & true(control(R)) & ~closed(X)"
    assert rule.head.node is not None
    assert rule.head.node.argument(1, 0).span.text == "X"
    nodes = [getattr(formula, "node", None) for formula in rule.body]
    assert [node and node.span.text for node in nodes] == [
        "true(cell(X,Y,b))",
        "true(control(R))",
        "~closed(X)",
    ]
    (body,) = read("role(x) p :- ( a | b )").rules[1].body
    assert getattr(body, "node").span.text == "( a | b )"  # noqa: B009


def test_faults_are_shown_in_the_infix_text() -> None:
    text = "role(x)\np :-\n    q(X) &\n    ~distinct(X)\nr(Y)\n"
    assert faults(text) == (
        "sheet.hrf:4:6: error[formula-arity]: `distinct` takes two terms, found 1\n"
        "    4 |     ~distinct(X)\n"
        "      |      ^~~~~~~~~~~\n"
        "  try: distinct(X,Y)\n"
        "sheet.hrf:5:3: error[variable-in-fact]: a fact has no variables, found Y\n"
        "    5 | r(Y)\n"
        "      |   ^\n"
        "  try: r(Y) :- ..., with a body that binds Y"
    )


def test_all_errors_of_the_text_are_reported() -> None:
    text = "role(x)\nlegal(x,y :- a\nopen(x)\n  a)\np(?x)\nq(a b)\nr :- a; b\nlast(a\n"
    found = faults(text)
    assert [line.split(": ", 1)[1] for line in found.splitlines() if "error[" in line] == [
        "error[infix-syntax]: expected a comma or ), found :-",
        "error[unexpected-close]: this closing parenthesis has no opening one",
        "error[infix-character]: expected a name, ~ or (, found ?",
        "error[infix-syntax]: expected a comma or ), found b",
        "error[infix-character]: expected a name, ~ or (, found ;",
        "error[unclosed-list]: this parenthesis is never closed",
    ]
    assert "sheet.hrf:8:5: error[unclosed-list]" in found
    for hint in (
        "a variable starts with a capital letter: X",
        "join alternatives with |; a comment starts with %",
        "add the missing )",
    ):
        assert f"try: {hint}" in found


def test_errors_in_intact_items_are_reported_with_errors_of_the_text() -> None:
    assert "variable-in-fact" in faults("role(x)\nr(Y)\np(a\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("p :- !a", "a negation is written ~"),
        ("p <= a", "a rule is written head :- body"),
        ("p :- X != Y", "write distinct(X,Y) for two terms that must differ"),
        ("p('a b')", "expected a name that is valid in KIF, found 'a b'"),
        ("p('')", "expected a name that is valid in KIF"),
        ("p('?x')", "expected a name that is valid in KIF"),
        ("p('a)", "end a quoted name on its line"),
        ("p <- a", "a rule is written head :- body"),
        ("p :- q(X) & X \\= Y", "write distinct(X,Y) for two terms that must differ"),
        ("p :- q(X) & X = Y", "use the same variable for equal terms, or write ~distinct(X,Y)"),
        ("p :- q(X) & X > 1", "GDL has no arithmetic: write facts"),
        ("p :- q(Y) & Y is X+1", "GDL has no arithmetic"),
        ("p(X+1) :- q(X)", "GDL has no arithmetic"),
        ("p(X-1) :- q(X)", "GDL has no arithmetic"),
        ("p(1..8)", "GDL has no intervals: write one fact for each number"),
        ("p([a,b])", "GDL has no lists"),
        ("{p(X)} :- q(X)", "GDL has no choice rules"),
        ("q(b). :- q(a)", "GDL has no constraints"),
        ("#show p/1.", "GDL has no directives"),
        ("// old", "a comment starts with %"),
        ("p :- a && b", "a single &"),
        ("p :- a || b", "a single |"),
        ("p :- a and b", "join formulas with & and |"),
        ("p(a), q(a).", "separate items with periods or line ends"),
        ("p(@a)", "put a name with special characters in quotes: '@'"),
        ("p(a,)", "expected a name, ~ or (, found )"),
        ("p :-", "expected a name, ~ or (, found the end of the text"),
        ("p :- q :- r", "expected a name, ~ or (, found :-"),
        ("X :- q(X)", "expected a sentence, found the variable"),
        ("a & b :- c", "expected a sentence, found a formula with `and`"),
        ("p(a | b)", "`or` joins sentences and cannot occur inside a term"),
        ("p\x07", "U+0007"),
    ],
)
def test_errors_are_described_in_words(text: str, fault: str) -> None:
    assert fault in faults(f"role(x)\n{text}")


def test_a_sheet_without_roles_is_refused() -> None:
    assert "try: role(white)" in faults("p(a)")


def test_bounds_of_the_input_hold() -> None:
    assert "has more than 10 bytes" in faults("role(white)", ReadingLimits(bytes=10))
    assert "has more than 3 tokens" in faults("role(white)", ReadingLimits(tokens=3))
    assert "a token has 5 characters; the limit is 4" in faults("role(white)", ReadingLimits(token_length=4))
    assert "nested more than 200 deep" in faults("role(x) p :- " + "~" * 100_000 + "a")
    assert "nested more than 200 deep" in faults("role(x) p(" + "f(" * 100_000)
    assert "nested more than 200 deep" in faults("role(x) p :- " + "(a | b & " * 150 + "a" + ")" * 150)
    assert faults("role(x)\n" + "p(\n" * 5000, ReadingLimits(problems=7)).count("error[") == 7


def test_games_are_loaded_from_either_form() -> None:
    game = anygame.loads(SHEET + "legal(R,noop) :- role(R)", name="sheet.hrf")
    assert game.roles == ("red", "blue")
    assert [str(fact) for fact in game.initial_state().facts] == ["(control red)"]
    assert str(game).startswith("(role red)")
    assert anygame.loads(SHEET).roles == game.roles


@pytest.mark.slow
@law
@given(programs)
def test_translating_to_infix_and_back_keeps_the_program(program: Program) -> None:
    kif = Source("sheet.kif", str(program))
    infix = Source("sheet.hrf", format_sheet(kif, "infix"))
    assert parse_program(infix) == program
    again = Source("sheet.kif", format_sheet(infix, "kif"))
    assert parse_program(again) == program
    assert parse_program(Source("sheet.hrf", format_sheet(again, "infix"))) == program


@law
@given(st.text("aZ09_'?+", min_size=1))
@example("_1")
@example("Row")
def test_spelling_is_one_to_one(name: str) -> None:
    (rule,) = rules(f"p :- q({infix_variable(name)})")
    assert rule == f"(<= p (q ?{name}))"
    assert parse_term(f"?{name}") is Variable(name)
    if name[0] != "?":
        assert rules(f"p({infix_constant(name)})") == [f"(p {name})"]


pieces = st.sampled_from(
    [
        "(", ")", ")", ":-", "&", "|", "~", ",", ".", "'", "?'", "''", "p", "q(", "X", "_", "role(x)", "\n",
        "\nrole(x)", "%", " ", "distinct(", "or(", "not", "'<='", "-", ";", "\0", "\r", "true(", "does",
    ]
)  # fmt: skip


@law
@given(st.text() | st.lists(pieces, max_size=40).map("".join))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    refusal = refused(lambda: read(text))
    if refusal is None:
        program = read(text)
        assert parse_program(Source("sheet.kif", str(program))) == program
        assert read(format_sheet(Source("sheet.hrf", text))) == program
    else:
        assert isinstance(refusal, RuleSheetError)
        assert refusal.diagnostics
