"""Whole sheets as people write them who try them with Prolog, and what dialects leave open."""

from __future__ import annotations

import pickle
from functools import cache
from pathlib import Path
from random import Random
from warnings import catch_warnings, simplefilter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

import anygame
from anygame import LenientReadingWarning
from anygame.doctor import check_program, read_sheet
from anygame.doctor.mending import EVERY_MEND, mend_sheet
from anygame.errors import AnygameError, RuleSheetError
from anygame.language import Source, parse_program
from anygame.language.rules import Literal, Rule
from anygame.sheets.installed import open_sheet
from anygame.sheets.layout import format_sheet
from anygame.sheets.lenient import LENIENT_MENDS

SHEETS = Path(__file__).parents[1] / "data" / "lenient"
TURN = """
(role x) (role o) (init (s 1)) (succ 1 2) (succ 2 3)
(<= (next (s ?n)) (true (s ?m)) (succ ?m ?n)) (<= terminal (true (s 3)))
"""
#: Of whatever stands in the hand.
LISTS = """
(init (hand (cons a (cons b nil)))) (<= (next (hand ?t)) (true (hand (cons ?h ?t))))
(<= (member ?x (cons ?x ?rest))) (<= (member ?x (cons ?y ?rest)) (member ?x ?rest))
(<= (joined nil ?list ?list)) (<= (joined (cons ?h ?t) ?list (cons ?h ?rest)) (joined ?t ?list ?rest))
"""


#: The sheets, and how many matches are played of each.
PLAYOUTS = {"market": 20, "draw_poker": 20, "last_trick": 20, "auction": 20, "kingdom": 1, "islands": 1}


@cache
def leniently(name: str) -> anygame.Game:
    with pytest.warns(LenientReadingWarning):
        return anygame.load(SHEETS / f"{name}.kif", lenient=True, machine="reasoner")


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYOUTS)
def test_sheets_play_to_the_end_with_goals_for_all(name: str) -> None:
    game = leniently(name)
    for playout in game.playouts(PLAYOUTS[name], 1, limit=500, strict=True):
        assert playout.is_complete
        assert None not in [playout.goals[role] for role in game.roles if not role.is_random]


@pytest.mark.parametrize("name", PLAYOUTS)
def test_mend_writes_the_lenient_readings(name: str) -> None:
    path = SHEETS / f"{name}.kif"
    mended = mend_sheet(Source(str(path), path.read_text()), ["role", *LENIENT_MENDS])
    assert anygame.loads(mended.text) == leniently(name)
    kept = [line for line in path.read_text().splitlines() if line.startswith(";")]
    assert [line for line in mended.text.splitlines() if line.startswith(";")] == kept


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYOUTS)
def test_a_sheet_with_all_mends_has_the_same_states(name: str) -> None:
    path = SHEETS / f"{name}.kif"
    mended = mend_sheet(Source(str(path), path.read_text()), set(EVERY_MEND) - {"base", "input"})
    assert states_of(anygame.loads(mended.text, machine="reasoner"), 40) == states_of(leniently(name), 40)


@pytest.mark.slow
@settings(max_examples=examples(20))
@given(st.data())
def test_mending_a_loosened_sheet_gives_its_lenient_reading(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["tic_tac_toe", "kuhn_poker", "pig", "monty_hall", "connect_four"]))
    text = loosened(data, open_sheet(name))
    with catch_warnings():
        simplefilter("ignore", LenientReadingWarning)
        try:
            read = anygame.loads(text, lenient=True, machine="reasoner")
        except RuleSheetError:
            return  # some next of what nothing declares, say
    mended = anygame.loads(mend_sheet(Source("s", text), ["role", *LENIENT_MENDS]).text, machine="reasoner")
    assert mended == read
    in_all_ways = mend_sheet(Source("s", text), set(EVERY_MEND) - {"base", "input"}).text
    assert states_of(anygame.loads(in_all_ways, machine="reasoner"), 5) == states_of(read, 5)


def loosened(data: st.DataObject, source: Source) -> str:
    """Return a sheet without some positive literals of its rules, which may have bound variables."""
    rules = parse_program(source).rules
    lines = []
    for rule in rules:
        body = list(rule.body)
        positive = [each for each in body if isinstance(each, Literal)]
        if positive and rule.head.predicate != "init" and data.draw(st.integers(0, 5)) == 0:
            body.remove(data.draw(st.sampled_from(positive)))
        lines.append(str(Rule(rule.head, tuple(body))))
    return "\n".join(lines)


def states_of(game: anygame.Game, most: int) -> list[object]:
    """Return what is true, and may be done, in a random match; the error that ends it."""
    random, found = Random(1), list[object]()
    state = game.initial_state()
    try:
        for _ in range(most):
            legal = [state.legal_moves(role) for role in game.roles]
            found.append((state.facts, legal))
            if state.is_terminal or not all(legal):
                break
            state = state.next([random.choice(moves) for moves in legal])
    except AnygameError as error:
        found.append(type(error))
    return found


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("auction", "28:14: warning[zero-arity]: (0) is read as the constant 0"),
        ("auction", "16:17: error[variable-in-fact]: a fact has no variables, found ?lot"),
        ("auction", "25:12: error[variable-in-fact]: a rule without a body is a fact"),
        ("auction", "34:42: error[unsafe-variable]: nothing binds ?lot: it occurs in a negation"),
        ("auction", "39:12: error[unsafe-variable]: nothing binds ?p: it occurs in the head"),
        ("auction", "67:14: warning[function-arity]: bid has 2 arguments here and 1 elsewhere"),
        ("auction", "77:1: warning[relation-arity]: set has 2 arguments here and 3 elsewhere"),
        ("last_trick", "30:8: error[variable-in-fact]: a fact has no variables, found ?p"),
        ("last_trick", "60:33: error[unsafe-variable]: nothing binds ?led: it occurs in a negation"),
        ("last_trick", "77:34: error[unsafe-variable]: nothing binds ?b: it occurs in the head"),
        ("islands", "311:54: error[unsafe-variable]: nothing binds ?anybody: it occurs in a negation"),
    ],
)
def test_the_strict_check_names_each_looseness_at_its_place(name: str, told: str) -> None:
    source = Source(name, (SHEETS / f"{name}.kif").read_text())
    reading = read_sheet(source)
    found = [*reading.diagnostics, *check_program(reading.program)]
    assert any(told in str(each) for each in found)


@pytest.mark.filterwarnings("ignore::anygame.LenientReadingWarning")
def test_the_network_plays_a_loose_sheet_as_the_reasoner_does() -> None:
    game = anygame.load(SHEETS / "draw_poker.kif", lenient=True, machine="reasoner")
    compiled = anygame.load(SHEETS / "draw_poker.kif", lenient=True, machine="network")
    assert anygame.perft(game, 2) == anygame.perft(compiled, 2)


@pytest.mark.filterwarnings("ignore::anygame.LenientReadingWarning")
@pytest.mark.parametrize(
    ("rules", "legal"),
    [
        # who may be meant by a variable that only the role can bind
        ("(<= (legal ?p ?p) (true (s 1))) (<= (legal ?r stay) (true (s 1)))", "stay x"),
        ("(legal ?r stay)", "stay"),
        # a comparison alone makes a relation
        ("(<= (differ ?a ?b) (distinct ?a ?b)) (<= (legal ?r (to ?n)) (succ ?m ?n) (differ ?n 2))", "(to 3)"),
        ("(<= (legal ?r (to ?n)) (distinct ?n 2) (succ ?m ?n))", "(to 3)"),
        ("(<= (same ?a ?b) (not (distinct ?a ?b))) (<= (legal ?r (to ?n)) (succ ?m ?n) (same ?n 2))",
         "(to 2)"),
        ("(same ?a ?a) (<= (legal ?r (to ?n)) (succ ?m ?n) (not (same ?n 2)))", "(to 3)"),
        # of terms, too
        ("(same ?a ?a) (<= (legal ?r (to ?n)) (succ ?m ?n) (same (to ?n) (to 3)))", "(to 3)"),
        # parentheses round a name
        ("(<= (open) (true (s (1)))) (<= (legal ?r stay) open) (<= (legal ?r go) (not (open)))", "stay"),
        # a negation of a disjunction, of values of its own
        ("(<= (legal ?r stay) (not (or (true (t ?z)) (succ ?z 9))))", "stay"),
        ("(<= (legal ?r stay) (not (or (true (t ?z)) (succ ?z 2))))\n(legal ?r go)", "go"),
        ("(<= (legal ?r stay) (not (and (true (s ?z)) (succ ?z 2))))\n(legal ?r go)", "go"),
        # one name, two relations
        ("(far 1) (far 1 2) (<= (legal ?r (to ?n)) (far ?m) (far ?m ?n))", "(to 2)"),
        # what nothing makes is false
        ("(<= (legal ?r stay) (not (squee ?x)))", "stay"),
        ("(<= (legal ?r stay) (distinct ?x ?y))", "stay"),
        ("(succ ?n never) (<= (legal ?r (to ?n)) (succ 2 ?n))", "(to 3) (to never)"),
        # lists and numbers made of terms, which no table can hold
        (LISTS + "(<= (legal ?r (play ?x)) (true (hand ?list)) (member ?x ?list))", "(play a) (play b)"),
        (LISTS + "(<= (legal ?r (show ?z)) (true (hand ?list)) (joined ?list (cons c nil) ?z))",
         "(show (cons a (cons b (cons c nil))))"),
        (LISTS + "(<= (legal ?r (cut ?x ?y)) (true (hand ?list)) (joined ?x ?y ?list) (distinct ?x nil)\n"
         "(distinct ?y nil))", "(cut (cons a nil) (cons b nil))"),
        ("(init (n (s s0))) (<= (plus s0 ?n ?n)) (<= (plus (s ?m) ?n (s ?sum)) (plus ?m ?n ?sum))\n"
         "(<= (legal ?r (to ?n)) (true (n ?m)) (plus ?m ?m ?n))", "(to (s (s s0)))"),
        (LISTS + "(item a) (item z) (<= (legal ?r (get ?x)) (item ?x) (true (hand ?y)) (not (member ?x ?y)))",
         "(get z)"),
        (LISTS + "(without ?x (cons ?x ?t) ?t)\n"
         "(<= (without ?x (cons ?h ?t) (cons ?h ?u)) (distinct ?x ?h) (without ?x ?t ?u))\n"
         "(<= (legal ?r (keep ?u)) (true (hand ?y)) (without b ?y ?u))", "(keep (cons a nil))"),
        # keywords in capitals, lines of Windows, tabs, odd comments
        ("(<= (LEGAL ?r Go)\r\n\t(TRUE (s 1))\t(NOT (TRUE (t ?z)))) ; (\u201eodd\u201c \u2603\r\n",
         "Go"),
        # who moves is bound by the move, what moves by nothing
        ("(legal ?r stay) (<= (next (idle ?r)) (not (does ?r (put ?n))))", "stay"),
        ("(<= (legal ?r go) (distinct ?r o)) (<= (legal ?r stay) (not (legal ?r go)))", "go"),
        ("(<= (legal ?r (to ?n)) (distinct ?n ?m) (distinct ?r o) (succ ?m ?n))", "(to 2) (to 3)"),
        ("(<= (legal ?r (to ?n)) (or (succ ?n 2) (and (succ ?m ?n) (or (succ ?k ?m) (true (s ?m))))))",
         "(to 1) (to 2) (to 3)"),
        # values that something starts with
        ("(init (plays ?r)) (<= (next (plays ?r)) (true (plays ?r))) (<= (legal ?r go) (true (plays ?r)))",
         "go"),
        ("(card a) (card b) (init (holds ?c)) (<= (legal ?r (play ?c)) (true (holds ?c)) (card ?c))",
         "(play a) (play b)"),
        # a relation with two numbers of arguments by mistake
        ("(cell 1 1) (cell 1 2 b) (<= (legal ?r (put ?x)) (cell ?x ?y ?z) (not (cell ?x ?other b)))\n"
         "(<= (legal ?r (take ?x)) (cell ?x ?y) (not (cell ?x 2)))", "(take 1)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mended", [False, True])
def test_sheets_in_dialects_have_the_expected_legal_moves(rules: str, legal: str, mended: bool) -> None:
    text = TURN + rules
    game = anygame.loads(mend_sheet(Source("s", text)).text if mended else text, lenient=not mended)
    assert " ".join(sorted(map(str, game.initial_state().legal_moves("x")))) == legal


@pytest.mark.filterwarnings("ignore::anygame.LenientReadingWarning")
def test_infix_sheets_can_be_read_leniently(tmp_path: Path) -> None:
    kif = TURN + "(base (s ?n)) (<= (legal ?r stay) (not (true (t ?any))))"
    path = tmp_path / "sheet.hrf"
    path.write_text(format_sheet(Source("sheet", kif), "infix"))
    read = anygame.load(path, lenient=True)
    assert list(map(str, read.initial_state().legal_moves("o"))) == ["stay"]
    assert pickle.loads(pickle.dumps(read)) == read


@pytest.mark.filterwarnings("ignore::anygame.LenientReadingWarning")
def test_mend_writes_roles_and_bindings_in_the_order_of_reading() -> None:
    text = TURN + (
        "(<= (input ?r (to ?n)) (succ ?n ?k)) (<= (legal ?r (to ?n)) (or (succ ?n 2) (true (s 1))))"
    )
    mended = mend_sheet(Source("s", text), ["role", *LENIENT_MENDS])
    assert anygame.loads(mended.text, name="s") == anygame.loads(text, name="s", lenient=True)


def test_text_that_is_not_gdl_is_one_error_with_its_place() -> None:
    rules = TURN + "(<= (next (?f 1)) (true (?f 1)))\n(<= terminal (not (true (s ?z))))\n(base (s ?n))"
    with pytest.raises(RuleSheetError) as caught:
        anygame.loads(rules, name="s", lenient=True)
    assert str(caught.value).count("error[") == 1
    assert "s:4:12: error[variable-as-name]" in str(caught.value)
    with pytest.raises(RuleSheetError) as caught:
        anygame.loads(TURN + "(<= (next (on ?x)) (true (s 1)))\n(legal ?r stay)", name="s", lenient=True)
    assert [line for line in str(caught.value).splitlines() if "error[" in line] == [
        "s:4:15: error[unsafe-variable]: nothing binds ?x: it occurs in the head and in no positive literal "
        "of the body"
    ]
    with pytest.raises(RuleSheetError) as caught:
        anygame.loads(TURN + "(goal ?r 50)\n(legal ?r ?move)\n(legal ?r stay)", name="s", lenient=True)
    assert [line for line in str(caught.value).splitlines() if "error[" in line] == [
        "s:5:8: error[variable-in-fact]: a fact has no variables, found ?r"
    ]
