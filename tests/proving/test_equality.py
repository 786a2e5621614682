"""Two sheets that are the same game, and sheets that can be told apart."""

from __future__ import annotations

import re

import pytest

import anygame
from anygame.errors import QueryError
from anygame.game.machine import FallbackWarning
from anygame.proving import equal
from anygame.proving.prover import Prover

_TEXT = str(anygame.load("three_player_chomp").program)


def test_a_sheet_is_itself_however_its_rules_are_ordered() -> None:
    # The roles of the reversed sheet stand in another order.
    found = equal(anygame.loads(_TEXT), anygame.loads("\n".join(reversed(_TEXT.splitlines()))))
    assert (found.outcome, found.match, found.note) == ("proved", None, "both sheets have the same rules")


def test_games_too_large_to_be_compiled_are_proved_equal_only_if_their_rules_are_the_same() -> None:
    large = "(role a) (legal a go) (goal a 100) (<= terminal (true (at ?x ?y ?z ?u ?v ?w ?m ?n)))\n"
    large += "(<= (next (at ?x ?y ?z ?u ?v ?w ?m ?n))" + "".join(f"(d ?{v})" for v in "xyzuvwmn") + ")\n"
    large += "".join(f"(d {digit})" for digit in range(10))
    other = large.replace("(goal a 100)", "(goal a 50)")
    assert equal(anygame.loads(large), anygame.loads(f"{large}\n(d 1)")).outcome == "proved"
    with pytest.warns(FallbackWarning):
        found = equal(anygame.loads(large), anygame.loads(other), seconds=10)
    assert found.outcome == "open"
    assert found.note.startswith(
        "no proof was attempted: this needs a compiled game, and <text> cannot be compiled"
    )


def test_matches_have_no_fewer_moves_than_none() -> None:
    game = anygame.load("tic_tac_toe")
    with pytest.raises(ValueError, match="expected a number of moves, 0 or more, found -1"):
        equal(game, game, up_to=-1)


def test_moves_of_other_names_are_matched_by_a_map() -> None:
    one = anygame.load("tic_tac_toe")
    text = re.sub(r"\(mark (\S+) ([^\s()]+)\)", r"(put \2 \1)", str(one.program))
    other = anygame.loads(text)
    assert equal(one, other).outcome == "refuted"
    found = equal(one, other, moves="(mark ?x ?y) (put ?y ?x) ; turned")
    assert found.outcome == "proved"
    # The board may be turned over.
    assert equal(one, other, moves="(mark ?x ?y) (put ?x ?y)").outcome == "proved"


def test_fluents_of_other_names_do_not_matter() -> None:
    one = anygame.load("tic_tac_toe")
    other = anygame.loads(str(one.program).replace("cell", "square").replace("control", "turn"))
    assert equal(one, other).outcome == "proved"


@pytest.mark.parametrize(
    ("find", "write", "note"),
    [
        (
            r"\(goal (\?\w+) 100\)",
            r"(goal \1 90)",
            "has goal 100 in the first sheet, and goal 90 in the second",
        ),
        (
            r"\(true \(cell 2 2 \?player\)\)",
            "",
            "the match is over in the second sheet, but not in the first",
        ),
        (r"\(init \(control x\)\)", "(init (control o))", "legal"),
    ],
)
def test_a_difference_is_shown_by_a_shortest_match(find: str, write: str, note: str) -> None:
    one = anygame.load("tic_tac_toe")
    other = anygame.loads(re.sub(find, write, str(one.program), count=1))
    found = equal(one, other)
    assert (found.outcome, found.is_shortest) == ("refuted", True)
    assert note in found.note
    assert found.match is not None
    states = [one.initial_state(), other.initial_state()]
    for joint in found.match:
        states = [state.next(list(joint)) for state in states]


def test_fluents_that_change_alike_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    one = anygame.load("tic_tac_toe")
    text = str(one.program)
    # Relations have other names, and rules another order: no prover is asked.
    monkeypatch.setattr(Prover, "decide", None)
    renamed = text.replace("(line ", "(row_of_three ").replace("(row ", "(rank ")
    assert renamed != text
    found = equal(one, anygame.loads("\n".join(reversed(renamed.splitlines()))))
    assert (found.outcome, found.note) == ("proved", "both sheets compile to the same network")


_HIDDEN = """
(role random) (role guesser) (init hidden) (face red) (face black)
(<= (legal random (turn ?face)) (true hidden) (face ?face)) (<= (legal random wait) (not (true hidden)))
(<= (legal guesser wait) (true hidden)) (<= (legal guesser (say ?face)) (not (true hidden)) (face ?face))
(<= (next (lies ?face)) (does random (turn ?face))) (<= (next (lies ?face)) (true (lies ?face)))
(<= (next said) (does guesser (say ?face)))
(<= (sees guesser (bright ?face)) (does random (turn ?face)) (shows ?face)) (shows red)
(<= terminal (true said)) (goal guesser 50) (goal random 0)
"""


@pytest.mark.parametrize(
    ("find", "write", "note"),
    [
        ("(shows red)", "(shows black)", "guesser sees"),
        (
            "(shows red)",
            "(shows red) (shows black)",
            "guesser sees (bright black) in the second sheet, but not in the first",
        ),
        (
            "(sees guesser",
            "(sees random",
            "random sees (bright red) in the second sheet, but not in the first",
        ),
        (
            "(sees guesser",
            "(unseen guesser",
            "guesser sees (bright red) in the first sheet, but not in the second",
        ),
    ],
)
def test_percepts_of_two_sheets_are_compared(find: str, write: str, note: str) -> None:
    one, other = anygame.loads(_HIDDEN), anygame.loads(_HIDDEN.replace(find, write))
    found = equal(one, other)
    assert (found.outcome, found.is_shortest) == ("refuted", True)
    assert found.note.startswith(note)
    assert found.match is not None
    seen = []
    for game in (one, other):
        state = game.initial_state()
        for joint in found.match[:-1]:
            state = state.next(list(joint))
        seen.append(state.percepts(list(found.match[-1])))
    assert seen[0] != seen[1]


def test_percepts_of_other_names_are_matched_by_a_map() -> None:
    # What hides the face has another name, too, so that the gates are not the same.
    text = _HIDDEN.replace("(bright ?face)", "(dull ?face)").replace("hidden", "covered")
    one, other = anygame.loads(_HIDDEN), anygame.loads(text)
    assert equal(one, other).outcome == "refuted"
    assert equal(one, other, moves="(bright ?face) (dull ?face)").outcome == "proved"


def test_a_bound_on_moves_is_kept() -> None:
    one = anygame.load("tic_tac_toe")
    other = anygame.loads(re.sub(r"\((goal \?\w+) 100\)", r"(\1 90)", str(one.program)))
    longest = equal(one, other).match
    assert longest is not None
    within = equal(one, other, up_to=len(longest) - 1)
    assert (within.outcome, within.depth) == ("proved", len(longest) - 1)
    assert equal(one, other, up_to=len(longest)).outcome == "refuted"


def test_other_roles_and_unusable_maps_are_refused() -> None:
    one, other = anygame.load("tic_tac_toe"), anygame.load("connect_four")
    with pytest.raises(QueryError, match="different roles: x, o; red, yellow"):
        equal(one, other)
    with pytest.raises(QueryError, match="has no partner"):
        equal(one, one, moves="(mark ?x ?y)")
    with pytest.raises(QueryError, match=r"\?z of .* must also occur in"):
        equal(one, one, moves="(mark ?x ?y) (mark ?x ?z)")


def test_goal_terms_of_one_integer_are_one_value() -> None:
    rules = "(role me) (legal me a) (legal me b) (<= (next (chose ?x)) (does me ?x))"
    rules += "(<= terminal (true (chose ?x)))"
    one = rules + "(<= (goal me 0100) (true (chose a))) (<= (goal me 100) (true (chose b)))"
    plain = rules + "(<= (goal me 100) (true (chose ?x)))"
    assert equal(anygame.loads(one), anygame.loads(plain)).outcome == "proved"
    for lost in ("a", "b"):
        less = rules + f"(<= (goal me 100) (true (chose {'ab'.replace(lost, '')})))"
        assert equal(anygame.loads(one), anygame.loads(less)).outcome == "refuted"
    twice = plain + "(<= (goal me 0100) (true (chose a)))"
    assert equal(anygame.loads(twice), anygame.loads(plain)).outcome == "refuted", "two goals are none"
