"""Whole sheets as people write them who try them with Prolog, and what dialects leave open."""

from __future__ import annotations

from pathlib import Path

import pytest

import anygame
from anygame import LenientReadingWarning
from anygame.analysis.lenient import LENIENT_MENDS
from anygame.analysis.mends import mend_sheet
from anygame.errors import RuleSheetError
from anygame.language import Source

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


@pytest.mark.filterwarnings("ignore::anygame.LenientReadingWarning")
@pytest.mark.parametrize(("name", "playouts"), [("market", 20), ("draw_poker", 20), ("kingdom", 1)])
def test_sheets_play_to_the_end_with_goals_for_all(name: str, playouts: int) -> None:
    game = anygame.load(SHEETS / f"{name}.kif", lenient=True)
    for playout in game.playouts(playouts, 1, limit=500, strict=True):
        assert playout.is_complete
        assert None not in [playout.goals[role] for role in game.roles if not role.is_random]


@pytest.mark.parametrize("name", ["market", "draw_poker", "kingdom"])
def test_mend_writes_out_what_is_read(name: str) -> None:
    path = SHEETS / f"{name}.kif"
    with pytest.warns(LenientReadingWarning):
        read = anygame.load(path, lenient=True)
    mended = mend_sheet(
        Source(str(path), path.read_text()), ["role", "negation", "distinct", "binding", "domain"]
    )
    assert anygame.loads(mended.text) == read
    kept = [line for line in path.read_text().splitlines() if line.startswith(";")]
    assert [line for line in mended.text.splitlines() if line.startswith(";")] == kept


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
def test_dialects(rules: str, legal: str, mended: bool) -> None:
    text = TURN + rules
    game = anygame.loads(mend_sheet(Source("s", text)).text if mended else text, lenient=not mended)
    assert " ".join(sorted(map(str, game.initial_state().legal_moves("x")))) == legal


@pytest.mark.filterwarnings("ignore::anygame.LenientReadingWarning")
def test_mend_writes_roles_and_bindings_in_the_order_of_reading() -> None:
    text = TURN + (
        "(<= (input ?r (to ?n)) (succ ?n ?k)) (<= (legal ?r (to ?n)) (or (succ ?n 2) (true (s 1))))"
    )
    mended = mend_sheet(Source("s", text), ["role", *LENIENT_MENDS])
    assert anygame.loads(mended.text, name="s") == anygame.loads(text, name="s", lenient=True)


def test_what_is_no_gdl_stays_an_error_told_once_with_its_place() -> None:
    rules = TURN + "(<= (next (?f 1)) (true (?f 1)))\n(<= terminal (not (true (s ?z))))\n(base (s ?n))"
    with pytest.raises(RuleSheetError) as caught:
        anygame.loads(rules, name="s", lenient=True)
    assert str(caught.value).count("error[") == 1
    assert "s:4:12: error[variable-as-name]" in str(caught.value)
    with pytest.raises(RuleSheetError) as caught:
        anygame.loads(TURN + "(<= (next (on ?x)) (true (s 1)))\n(legal ?r stay)", name="s", lenient=True)
    assert [line for line in str(caught.value).splitlines() if "error[" in line] == [
        "s:4:15: error[unsafe-variable]: nothing binds ?x: it stands in the head and in no positive literal "
        "of the body"
    ]
    with pytest.raises(RuleSheetError) as caught:
        anygame.loads(TURN + "(goal ?r 50)\n(legal ?r ?move)\n(legal ?r stay)", name="s", lenient=True)
    assert [line for line in str(caught.value).splitlines() if "error[" in line] == [
        "s:5:8: error[variable-in-fact]: a fact has no variables, found ?r"
    ]
