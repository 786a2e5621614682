"""What things on boards look like: initials of colours, draughtsmen, lamps, gaps, colours of roles."""

from __future__ import annotations

import anygame
from anygame.boards import Picture, picture, svg


def drawn(roles: str, contents: str, *later: str, more: str = "") -> Picture:
    """Return a board of one row below a blank one, with further contents that base allows."""
    values = contents.split()
    cells = "".join(f"(init (cell 1 {n} {value}))" for n, value in enumerate(values, 1))
    cells += "".join(f"(n {n})" for n in range(1, len(values) + 1))
    cells += "(r 1) (r 2)" + "".join(f"(v {value})" for value in {*values, *later})
    rules = "".join(f"(role {role}) (legal {role} wait)" for role in roles.split())
    rules += "(<= (base (cell ?x ?y ?v)) (r ?x) (n ?y) (v ?v)) (<= (next ?f) (true ?f)) "
    return picture(anygame.loads(rules + cells + more, lenient=True).initial_state())


def looks(found: Picture) -> dict[str, tuple[str, str, str]]:
    return {look.label: (look.form, look.figure, look.colour) for look in found.grids[0].looks}


def test_the_initial_of_a_role_that_is_called_by_a_colour_is_a_stone() -> None:
    found = looks(drawn("white red", "w r none"))
    assert found["w"] == ("stone", "", "white")
    assert found["r"] == ("stone", "", "red")
    assert looks(drawn("reddish redder blue", "r none"))["r"] == ("stone", "", "red")
    assert looks(drawn("xplayer oplayer", "x none"))["x"] == ("text", "", "blue")
    # Where colours are written in full, a letter is something else.
    assert looks(drawn("white black", "white black b none"))["b"][0] == "text"


def test_pawns_are_draughtsmen_where_play_begins_without_a_king() -> None:
    men = looks(drawn("white black", "wp bp none", "wk", "bk"))
    assert [men[name] for name in ("wp", "bk")] == [
        ("piece", "man", "white"),
        ("piece", "crowned", "black"),
    ]
    chess = looks(drawn("white black", "wp bp wk bk none"))
    assert chess["wp"] == ("piece", "pawn", "white")
    assert looks(drawn("white black", "wp bp none", "wk", "bk", "wq", "bq"))["wp"][1] == "pawn"
    assert svg(drawn("white black", "wp bp none", "wk", "bk")).count("<circle") == 4


def test_lamps_are_lit_or_not() -> None:
    assert looks(drawn("me", "on off on")) == {
        "off": ("stone", "", "grey"),
        "on": ("stone", "", "yellow"),
    }
    assert looks(drawn("me", "on off broken"))["on"][0] == "text"


def test_the_gap_among_numbered_tiles_is_empty() -> None:
    found = drawn("me", "3 1 b 2")
    assert [look.label for look in found.grids[0].looks if look.empty] == ["b"]
    assert not [look for look in drawn("me", "3 1 c 2").grids[0].looks if look.empty]


def test_a_role_has_the_colour_that_facts_give_it() -> None:
    markers = "(init (marker player1 red)) (init (marker player2 blue))"
    found = drawn("player1 player2", "red blue none", more=markers)
    assert found.colours == {"player1": "red", "player2": "blue"}
    assert [listing.facts for listing in found.others] == [
        (("(player1 red)", "red"), ("(player2 blue)", "blue"))
    ]


def test_facts_that_give_two_roles_one_colour_or_one_role_two_say_nothing() -> None:
    usual = {"player1": "blue", "player2": "red"}
    for facts in (
        "(init (likes player1 red)) (init (likes player2 red))",
        "(init (likes player1 red)) (init (likes player1 blue))",
        "(init (likes player1 red))",
    ):
        assert drawn("player1 player2", "red blue none", more=facts).colours == usual
    named = drawn("white black", "w b none", more="(init (likes white black)) (init (likes black white))")
    assert named.colours == {"white": "white", "black": "black"}


def test_roles_have_the_colours_of_their_pieces() -> None:
    assert picture(anygame.load("hex_pie").initial_state()).colours == {"player1": "red", "player2": "blue"}
