from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from anygame.errors import RuleSheetError, SheetSyntaxError, TermSyntaxError
from anygame.language import (
    And,
    Atom,
    Compound,
    Constant,
    Diagnostic,
    Distinct,
    Literal,
    Not,
    Or,
    Program,
    ReadingLimits,
    Rule,
    Source,
    Variable,
    fold,
    fold_head,
    parse_atom,
    parse_nodes,
    parse_program,
    parse_term,
)

ROLE = "(role white)"


def items(text: str, **options: bool) -> list[str]:
    """Return the items of a sheet after its first, as text."""
    return [str(rule) for rule in parse_program(f"{ROLE} {text}", **options).rules[1:]]  # type: ignore[arg-type]


def warned(text: str) -> list[str]:
    return [warning.code for warning in parse_program(f"{ROLE} {text}").warnings]


def refused(text: str) -> list[str]:
    with pytest.raises(RuleSheetError) as caught:
        parse_program(f"{ROLE} {text}")
    return [found.code for found in caught.value.diagnostics if isinstance(found, Diagnostic)]


# what the text means


def test_a_rule_becomes_the_tree_it_shows() -> None:
    (rule,) = parse_program(
        f"{ROLE} (<= (p ?x b) (q ?x) (not (r (f ?x))) (or (s ?x) t) (distinct ?x c) (and u v))"
    ).rules[1:]
    x = Variable("x")
    assert rule == Rule(
        Atom("p", (x, Constant("b"))),
        (
            Literal(Atom("q", (x,))),
            Not(Literal(Atom("r", (Compound("f", (x,)),)))),
            Or((Literal(Atom("s", (x,))), Literal(Atom("t")))),
            Distinct(x, Constant("c")),
            And((Literal(Atom("u")), Literal(Atom("v")))),
        ),
    )


def test_facts_can_be_names_lists_or_rules_without_body() -> None:
    program = parse_program(f"{ROLE} done (done) (<= done) (<= (done))")
    assert program.rules[1:] == (Rule(Atom("done")),) * 4
    assert [warning.code for warning in program.warnings] == [
        "zero-arity", "empty-body", "empty-body", "zero-arity",
    ]  # fmt: skip


def test_keywords_can_have_any_case() -> None:
    text = """
        (ROLE a) (Init (s One))
        (<= (NEXT (s ?X)) (True (s ?X)) (DOES a ?x) (NOT (OR (Distinct ?x b))) Terminal)
    """
    assert [str(rule) for rule in parse_program(text).rules] == [
        "(role a)",
        "(init (s One))",
        "(<= (next (s ?X)) (true (s ?X)) (does a ?x) (not (or (distinct ?x b))) terminal)",
    ]
    assert items("(SEES white a) (Percept white a)") == ["(sees white a)", "(percept white a)"]


def test_keywords_are_folded_inside_terms_too_and_nothing_else_is() -> None:
    assert items("(p Goal INPUT (Base x) Sees OR One oNe)") == ["(p goal input (base x) Sees OR One oNe)"]
    assert items("(<= (p ?Goal) (q ?Goal ?goal))") == ["(<= (p ?Goal) (q ?Goal ?goal))"]
    assert parse_term("(TRUE One)") == parse_term("(true One)") != parse_term("(true one)")


def test_case_can_be_ignored_throughout() -> None:
    assert items("(<= (P ?X (F A)) (Q ?x) (Sees ?X B))", case_sensitive=False) == [
        "(<= (p ?x (f a)) (q ?x) (sees ?x b))"
    ]
    assert parse_term("(F ?X A)", case_sensitive=False) is parse_term("(f ?x a)")
    assert parse_atom("(P ?X A)", case_sensitive=False) == parse_atom("(p ?x a)")


def test_exactly_ten_constants_are_folded() -> None:
    names = "role init true does next legal goal terminal base input sees percept not or and distinct random"
    assert [name for name in names.split() if fold(name.upper()) == name] == names.split()[:10]
    assert [name for name in names.split() if fold_head(name.upper()) == name] == names.split()[:-1]


@pytest.mark.parametrize(
    "name", ["+", "-", ">", "<", "=", "x+y", "-1", "a.b", '"quoted', "a'b", "_", "=>", "|x|", "#"]
)
def test_constants_can_have_unusual_characters(name: str) -> None:
    assert parse_term(f"(f {name})") == Compound("f", (Constant(name),))
    assert items(f"({name} {name})") == [f"({name} {name})"]


def test_numbers_are_symbols() -> None:
    assert parse_term("01") is not parse_term("1")
    assert parse_term("(f 1.0)") != parse_term("(f 1)")


def test_a_comment_ends_a_token_and_reaches_to_the_end_of_the_line() -> None:
    assert items("(p a;(b) ?c\nb)") == ["(p a b)"]
    assert items("(p a;\rb)") == ["(p a b)"]
    assert items("(p;\na ;;; b\n) ; (q)") == ["(p a)"]
    assert items(';"\n(p "a;b"\n)') == ['(p "a)']


def test_white_space_of_all_kinds_separates() -> None:
    assert items("(p\ta\r\nb\fc\u00a0d)") == ["(p a b c d)"]


def test_a_name_needs_no_blank_before_its_list() -> None:
    assert items("(p(f a)b)(q)") == ["(p (f a) b)", "q"]


def test_relations_may_share_a_name() -> None:
    keys = [rule.head.key for rule in parse_program(f"{ROLE} (p a) (p a b) p").rules[1:]]
    assert keys == [("p", 1), ("p", 2), ("p", 0)]


def test_odd_formulas_are_kept_as_they_stand() -> None:
    text = "(<= p (or) (or (or (q) r) (not (not q))) (not (or q r)) (not (distinct a b)) (and))"
    assert items(text) == [text.replace("(q)", "q")]
    assert warned(text) == ["empty-or", "zero-arity", "and-formula"]
    assert items("(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))")


def test_a_pair_of_parentheses_round_the_sheet_is_taken_off() -> None:
    plain = parse_program("(role a) (<= p (q a))")
    assert parse_program("((role a) (<= p (q a)))") == plain
    assert parse_program(" ( ( role a )\n ( <= p ( q a ) ) ) ") == plain
    assert parse_program("((role a))") == parse_program("(role a)")
    assert parse_program("((role a) p)") == parse_program("(role a) p")


def test_old_declarations_are_ignored_as_a_whole() -> None:
    text = "(base s 1 2) (base s) (input white mark 1) (<= (base s ?x) (odd ?x) ()) (input white go)"
    assert items(text) == ["(base s)", "(input white go)"]
    assert warned(text) == ["old-declaration"] * 3


def test_percepts_of_another_arity_are_a_relation_like_any_other() -> None:
    assert items("(<= (sees ?x) (percept a b ?x))") == ["(<= (sees ?x) (percept a b ?x))"]
    assert warned("(<= (sees ?x) (percept a b ?x))") == ["keyword-arity"] * 2


def test_the_role_random_is_a_role() -> None:
    assert str(parse_program("(role random)").rules[0]) == "(role random)"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("(role)", ["keyword-arity"]),
        ("(<= p (true a b))", ["keyword-arity"]),
        ("(<= (true a) b)", ["state-in-head"]),
        ("(does white a)", ["state-in-head"]),
        ("(p ?x)", ["variable-in-fact"]),
        ("(<= p (<= q r))", ["stray-rule"]),
        ("(<= p <=)", ["formula-arity"]),
        ("(<= ?x p)", ["variable-sentence"]),
        ("(<= p ?x)", ["variable-sentence"]),
        ("(<= (not a) p)", ["bad-head"]),
        ("(<= p (not a b))", ["formula-arity"]),
        ("(<= p (distinct a))", ["formula-arity"]),
        ("(p ?)", ["empty-variable"]),
        ("(p ())", ["empty-list"]),
        ("()", ["empty-list"]),
        ("((p) a)", ["list-as-name"]),
        ("(?p a)", ["variable-as-name"]),
        ("(p (not a))", ["keyword-in-term"]),
        ("(p (<=))", ["keyword-in-term"]),
        ("a)", ["unexpected-close"]),
        ("(a", ["unclosed-list"]),
        ("(a\x00)", ["control-character"]),
        ("(a \ud800)", ["control-character"]),
    ],
)
def test_faulty_text_gives_the_expected_codes(text: str, codes: list[str]) -> None:
    assert [code for code in refused(text) if code != "zero-arity"] == codes


def test_a_sheet_without_a_role_is_refused() -> None:
    for text in ["", ";\n", "(init a)", "(<= (role ?x) (p ?x)) (p a)"]:
        with pytest.raises(RuleSheetError, match="no-role"):
            parse_program(text)


def test_all_errors_are_collected_in_order_and_warnings_with_them() -> None:
    found = refused("(p ?x) (q) (<= r (not)) (true a)")
    assert found == ["variable-in-fact", "zero-arity", "formula-arity", "state-in-head"]


def test_only_the_first_of_the_rules_inside_a_rule_is_reported() -> None:
    assert refused("(<= p (q)\n(<= r (s))\n(<= t (not))\n(<= u v))") == [
        "zero-arity", "stray-rule", "zero-arity", "formula-arity",
    ]  # fmt: skip


def test_every_part_knows_its_place() -> None:
    text = "(role a)\n(<= (next (c ?x))\n  (not (true (c (f ?x)))))"
    program = parse_program(Source("sheet", text))
    rule = program.rules[1]
    assert program.source is not None
    assert rule.span is not None
    assert rule.head.span is not None
    assert rule.span.place == "sheet:2:1"
    assert rule.head.span.place == "sheet:2:5"
    (negation,) = rule.body
    assert isinstance(negation, Not)
    assert negation.node is not None
    assert negation.node.span.place == "sheet:3:3"
    assert isinstance(negation.formula, Literal)
    assert negation.formula.node is not None
    assert negation.formula.node.argument(0, 0, 0).span.place == "sheet:3:20"


def test_places_do_not_matter_for_equality() -> None:
    first, second = (
        parse_program("(role a) (p)", name="one"),
        parse_program("; two\n(role a)\n\n p", name="two"),
    )
    assert first == second
    assert hash(first) == hash(second)
    assert first != parse_program("(role a) (q)")
    assert isinstance(first, Program)


# terms, sentences, nodes


def test_parse_term_reads_terms() -> None:
    assert parse_term("  ( f )\n") is Constant("f")
    assert parse_term("?x") is Variable("x")
    assert parse_term("(f ?x (g a));c") is Compound("f", (Variable("x"), Compound("g", (Constant("a"),))))


def test_parse_atom_reads_sentences() -> None:
    assert parse_atom("terminal") == parse_atom("(TERMINAL)") == Atom("terminal")
    assert parse_atom("(legal ?r (move ?x ?y))").key == ("legal", 2)


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("", "expected a term, found nothing", 0),
        (" ; c", "expected a term, found nothing", 0),
        ("a b", "expected one term, found more text after a; try (a b)\n  a b\n    ^", 2),
        ("(f (g a)", "this list is never closed\n  (f (g a)\n  ^", 0),
        ("f)", "this closing parenthesis has no opening one\n  f)\n   ^", 1),
        ("(f\n ?)", "a variable needs a name after its question mark\n   ?)\n   ^", 4),
        ("(f ())", "expected the name of a function and its arguments, found ()\n  (f ())\n     ^~", 3),
        ("(?f a)", "expected the name of a function, found the variable ?f\n  (?f a)\n   ^~", 1),
        ("(not a)", "`not` joins sentences and cannot occur inside a term\n  (not a)\n  ^~~~~~~", 0),
        ("<=", "`<=` starts a rule and cannot be part of a term\n  <=\n  ^~", 0),
    ],
)
def test_text_that_is_not_one_term_raises_an_error(text: str, message: str, position: int) -> None:
    with pytest.raises(TermSyntaxError) as caught:
        parse_term(text)
    assert str(caught.value) == message
    assert (caught.value.text, caught.value.position) == (text, position)


@pytest.mark.parametrize(
    "text", ["?x", "(not p)", "(<= p q)", "(legal ?r)", "(or)", "p q", "", "(?x a)", "not"]
)
def test_text_that_is_not_one_sentence_raises_an_error(text: str) -> None:
    with pytest.raises(TermSyntaxError):
        parse_atom(text)


def test_terms_are_bounded() -> None:
    for text in [
        "(" * 10**8,
        "(s " * 201 + "0" + ")" * 201,
        "x" * 5000,
        "(f" + " a" * 1001 + ")",
        " " * 2**21,
    ]:
        with pytest.raises(TermSyntaxError) as caught:
            parse_term(text)
        assert len(str(caught.value)) < 500
    assert str(parse_term("(s " * 200 + "0" + ")" * 200)).count("(") == 200


def test_parse_nodes_reads_any_lists() -> None:
    nodes = parse_nodes("(START M.1 a (( role a )) 30 10) done")
    assert [node.span.text for node in nodes] == ["(START M.1 a (( role a )) 30 10)", "done"]
    assert nodes[0].children is not None
    assert [child.text for child in nodes[0].children] == ["START", "M.1", "a", "", "30", "10"]
    assert parse_nodes("") == ()
    with pytest.raises(TermSyntaxError):
        parse_nodes("(a))")
    with pytest.raises(TermSyntaxError):
        parse_nodes("(a b c)", limits=ReadingLimits(tokens=4))


def test_errors_name_the_sheet() -> None:
    with pytest.raises(SheetSyntaxError, match=r"^my\.kif:1:1: error\[unclosed-list\]"):
        parse_program("(role", name="my.kif")


def test_threads_do_not_mix_their_sheets() -> None:
    texts = [f"(role r{index})" + f"(p{index} a)" * 200 for index in range(16)]
    with ThreadPoolExecutor(4) as pool:
        programs = list(pool.map(parse_program, texts))
    for text, program in zip(texts, programs, strict=True):
        assert program.source is not None
        assert program.source.text == text
        assert "".join(map(str, program.rules)) == text


def test_lark_is_loaded_on_first_use_only() -> None:
    code = """if True:
        import sys, anygame.language
        assert "lark" not in sys.modules
        anygame.language.parse_term("a")
        assert "lark" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)
