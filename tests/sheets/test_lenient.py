from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import anygame
from anygame import LenientReadingWarning
from anygame.doctor import check_program
from anygame.doctor.mending import mend_sheet
from anygame.errors import RuleSheetError
from anygame.language import Source, parse_program
from anygame.protocol.player.played_game import PlayerSettings, load_rules
from anygame.sheets.layout import format_sheet
from anygame.sheets.lenient import read_leniently

if TYPE_CHECKING:
    from anygame.game.backends import MachineName
    from anygame.language.forms import Form

MARKET = Path(__file__).parents[1] / "data" / "lenient" / "market.kif"
#: One token on one of two places; what is free is said as for Prolog.
TOKEN = """(role x) (place a) (place b) (init (at a))
(<= (free ?p) (place ?p) (not (true (at ?p))))
(<= empty (not (true (at ?any)))) ; no place at all
(<= (legal x (go ?p)) (free ?p))
(<= (legal x leave) (true (at ?p)))
(<= (next (at ?p)) (does x (go ?p)))
(<= terminal empty)
(goal x 100)
"""


def read(text: str) -> str:
    return read_leniently(parse_program(text, open_facts=True))[0].text


def test_strict_is_the_default() -> None:
    with pytest.raises(RuleSheetError, match="nothing binds \\?any"):
        anygame.loads(TOKEN)


def test_a_variable_of_one_negated_literal_is_read_for_no_value() -> None:
    with pytest.warns(LenientReadingWarning, match=r"negations read as 'for no value': 1\)"):
        game = anygame.loads(TOKEN, lenient=True)
    state = game.initial_state()
    assert {str(move) for move in state.legal_moves("x")} == {"(go b)", "leave"}
    assert not state.is_terminal
    assert state.next(["leave"]).is_terminal
    assert not state.next(["(go b)"]).is_terminal


ANY = """(role x) (place a) (place b) (place c) (init (at a x)) (init (some_at 1))
(<= (free ?p) (place ?p) (not (true (at ?p ?_who))))
(<= empty (not (true (at ?_p ?_who))))
(<= crowded (not (not (true (at b ?_)))))
(<= odd (place ?p) (not (or (true (at ?p ?_)) (true (some_at ?_n)))))
(<= (legal x (go ?p)) (free ?p))
(<= (legal x leave) (not crowded))
(<= (next (at ?p y)) (does x (go ?p)))
(<= terminal (or empty odd))
(goal x 100)
"""
#: The same in plain GDL.
PLAIN = """(role x) (place a) (place b) (place c) (init (at a x)) (init (some_at 1))
(<= (taken ?p) (true (at ?p ?who)))
(<= (free ?p) (place ?p) (not (taken ?p)))
(<= empty (not any))
(<= any (taken ?p))
(<= crowded (true (at b ?who)))
(<= odd (place ?p) (not (taken ?p)) (not counted))
(<= counted (true (some_at ?n)))
(<= (legal x (go ?p)) (free ?p))
(<= (legal x leave) (not crowded))
(<= (next (at ?p y)) (does x (go ?p)))
(<= terminal (or empty odd))
(goal x 100)
"""


@pytest.mark.parametrize("form", ["kif", "infix"])
@pytest.mark.parametrize("machine", ["reasoner", "network"])
def test_an_underscore_under_not_is_read_for_no_value(form: Form, machine: MachineName) -> None:
    text = format_sheet(Source("any.kif", ANY), form)
    games = [anygame.loads(each, machine=machine) for each in (text, PLAIN)]
    assert format_sheet(Source("any", text), "kif") == format_sheet(Source("any.kif", ANY), "kif")
    pending = [[game.initial_state() for game in games]]
    seen = set()
    while pending:
        one, other = pending.pop()
        assert one.legal_moves("x") == other.legal_moves("x")
        assert (one.facts, one.is_terminal) == (other.facts, other.is_terminal)
        if one.facts not in seen and not one.is_terminal:
            seen.add(one.facts)
            pending += [[one.next([move]), other.next([move])] for move in one.legal_moves("x")]
    assert seen


def test_an_underscore_is_any_value_in_one_literal_only() -> None:
    for rule in ("(not (p ?_x)) (not (q ?_x))", "(not (and (p ?_x) (q ?_x)))", "(distinct a ?_x)"):
        with pytest.raises(RuleSheetError, match=r"nothing binds \?_x"):
            anygame.loads(f"(role x) (p a) (q a) (<= terminal {rule})")
    program = parse_program("(role x) (p a) (<= terminal (not (p ?_x)))")
    (warning,) = [found for found in check_program(program) if found.code == "unsafe-variable"]
    assert str(warning.severity) == "warning"
    assert "negate a new relation" in warning.hint
    assert "for some ?_x; " in warning.hint


def test_the_relation_is_written_after_the_rule_and_comments_stay() -> None:
    expected = "(<= empty (not some_at)) ; no place at all\n(<= some_at (true (at ?any)))\n"
    assert read(TOKEN) == TOKEN.replace("(<= empty (not (true (at ?any)))) ; no place at all\n", expected)


@pytest.mark.parametrize("form", ["kif", "infix"])
def test_places_are_those_of_the_text_that_the_author_wrote(form: Form) -> None:
    text = format_sheet(Source("token.kif", TOKEN), form)
    rules = parse_program(Source("token", text), open_facts=True).rules
    with pytest.warns(LenientReadingWarning, match=r"^token is read"):
        game = anygame.loads(text, name="token", lenient=True)
    derived = game.initial_state().explain("(next (at b))", ["(go b)"])
    wanted = next(rule for rule in rules if rule.head.predicate == "next")
    assert wanted.span is not None
    assert derived.place == wanted.span.place
    added = next(rule for rule in game.program.rules if rule.head.predicate == "some_at")
    before = next(rule for rule in rules if rule.head.predicate == "empty")
    assert added.span is not None
    assert added.span == before.span


@pytest.mark.parametrize(("form", "command"), [("kif", "mend"), ("infix", "translate --lenient")])
def test_the_command_that_writes_it_out_is_one_that_does(form: Form, command: str) -> None:
    text = format_sheet(Source("token.kif", TOKEN), form)
    with pytest.warns(LenientReadingWarning, match=f"`anygame {command}` writes this reading"):
        anygame.loads(text, lenient=True)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("(<= (p ?x) (q ?x) (not (r ?x ?y)))", "(<= (p ?x) (q ?x) (not (t ?x)))\n(<= (t ?x) (r ?x ?y))"),
        ("(<= p (not (does ?r (go ?x))))", "(<= p (not some_go))\n(<= some_go (does ?r (go ?x)))"),
        ("(<= p (not (some_r ?x)))", "(<= p (not some_some_r))\n(<= some_some_r (some_r ?x))"),
        ("(<= (sees ?r end) (true over))", "(<= (sees ?r end) (role ?r) (true over))"),
        ("(<= (legal ?r go) (true over))", "(<= (legal ?r go) (role ?r) (true over))"),
        ("(<= (legal x (go ?n)) (true over))", "(<= (legal x (go ?n)) (input x (go ?n)) (true over))"),
        ("(<= (next (at ?n)) (true over))", "(<= (next (at ?n)) (base (at ?n)) (true over))"),
        ("(<= (next (at ?n)))", "(<= (next (at ?n)) (base (at ?n)))"),
        # each of two negations has values of its own
        ("(<= p (not (q ?x)) (not (s ?x)))",
         "(<= p (not some_q) (not some_s))\n(<= some_q (q ?x))\n(<= some_s (s ?x))"),
        ("(<= p (not (or (q ?x) (s ?x ?y))))",
         "(<= p (not some_q))\n(<= some_q (or (q ?x) (s ?x ?y)))"),
        ("(<= p (or (role x) (not (q ?x))))", "(<= p (or (role x) (not some_q)))\n(<= some_q (q ?x))"),
        ("(<= p (not (q ?x)) (distinct ?x 1))", "(<= p (not some_q))\n(<= some_q (q ?x))"),
        # what is bound in one alternative and not in the other has no one reading
        ("(<= p (or (q ?x) (role ?y)) (not (s ?x)))", "(<= p (or (q ?x) (role ?y)) (not (s ?x)))"),
        # heads and facts, by what can stand there
        ("(<= (p ?x) (true over)) (<= q (p 1))", "(<= (p ?x) (num ?x) (true over)) (<= q (p 1))"),
        ("(<= (p ?x) (true over)) (<= q (p 2))",
         "(<= (p ?x) (domain1 ?x) (true over))\n(domain1 2) (<= q (p 2))"),
        ("(same ?x ?x) (<= p (same ?n ?m) (num ?n) (num ?m))",
         "(<= (same ?x ?x) (num ?x)) (<= p (same ?n ?m) (num ?n) (num ?m))"),
        ("(plays ?r) (<= p (plays ?r) (does ?r go))",
         "(<= (plays ?r) (role ?r)) (<= p (plays ?r) (does ?r go))"),
        ("(base (in ?r ?n)) ; all\n(init (in x 7)) (init (in x 8))",
         "(<= (base (in ?r ?n)) (role ?r) (domain1 ?n)) ; all\n(domain1 7) (domain1 8)\n"
         "(init (in x 7)) (init (in x 8))"),
        # of what nothing declares: these stay errors
        ("(<= (next (other ?n)) (true over))", "(<= (next (other ?n)) (true over))"),
        # in order as they are
        ("(<= (p ?x) (not (r ?x)) (q ?x))", "(<= (p ?x) (not (r ?x)) (q ?x))"),
    ],
)  # fmt: skip
def test_lenient_reading_binds_unbound_variables(rule: str, expected: str) -> None:
    sheet = "(role x) (<= (base (at ?n)) (num ?n)) (<= (input x (go ?n)) (num ?n)) (num 1)\n"
    assert read(sheet + rule) == sheet + expected.replace("(t ?x)", "(some_r ?x)")


def test_the_same_literal_has_one_relation() -> None:
    text = read("(role x) (<= p (not (r a ?x))) (<= q (not (r a ?y))) (<= s (not (r b ?y)))")
    assert text.count("(<= some_r") == 2
    assert "(<= q (not some_r))" in text
    assert "(<= s (not some_r2))" in text


def test_messages_list_several_unbound_variables() -> None:
    rule = "(<= empty (not (true (at ?a ?b))) (distinct ?c ?d))"
    program = parse_program(f"(role x) (init (at 1 2)) {rule}", open_facts=True)
    assert [mend.message for mend in read_leniently(program)[1]] == [
        "the negation of (true (at ?a ?b)) means 'for no ?a and no ?b': "
        "the added relation some_at holds if (true (at ?a ?b)) holds for some ?a and some ?b",
        "(distinct ?c ?d) is removed: nothing binds ?c or ?d, so the formula always holds",
    ]


def test_mend_writes_and_lists_the_lenient_readings() -> None:
    mended = mend_sheet(Source("s", TOKEN), ["negation"])
    assert mended.text == read(TOKEN)
    assert [mend.kind for mend in mended.mends] == ["negation"]
    anygame.loads(mended.text)


def test_remaining_faults_have_places_in_the_authors_text() -> None:
    text = TOKEN + "(<= (next (gone ?x)) (not (true (at ?z))))\n"
    with pytest.raises(RuleSheetError) as caught:
        anygame.loads(text, name="s", lenient=True)
    assert "s:9:17: error[unsafe-variable]: nothing binds ?x" in str(caught.value)


def test_a_sheet_in_order_is_read_without_a_warning() -> None:
    assert anygame.load("tic_tac_toe", lenient=True) == anygame.load("tic_tac_toe")


def test_a_game_of_the_market_plays_to_its_end_and_travels() -> None:
    with pytest.warns(LenientReadingWarning, match="negations read as 'for no value': 4, roles added: 2"):
        game = anygame.load(MARKET, lenient=True)
    for playout in game.playouts(20, 1, limit=50, strict=True):
        assert playout.is_complete
        assert None not in playout.goals.values()
    assert pickle.loads(pickle.dumps(game)) == game
    compiled = anygame.loads(str(game), machine="network")
    assert anygame.perft(compiled, 3) == anygame.perft(game, 3)


def test_the_player_reads_the_rules_of_a_match_leniently() -> None:
    with pytest.warns(LenientReadingWarning, match="<START> is read leniently"):
        game = load_rules(TOKEN.replace(" ; no place at all", ""), PlayerSettings(), 10.0)
    assert not game.initial_state().is_terminal
