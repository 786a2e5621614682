"""Boards of things with two coordinate fluents, and hands of cards."""

from __future__ import annotations

from tests.boards.test_overlays import drawing

import anygame
from anygame.boards import picture, svg

COUNTED = "(succ 1 2) (succ 2 3) (succ 3 4) "
SHIP = """
(init (x 2)) (init (y 3)) (<= (legal red (go ?d)) (n ?d))
(<= (next (x ?b)) (true (x ?a)) (succ ?a ?b)) (<= (next (x 1)) (true (x 4)))
(<= (next (y ?b)) (true (y ?a)) (succ ?a ?b)) (<= (next (y 1)) (true (y 4)))
"""
RACE = """
(init (xpos red 1)) (init (ypos red 1)) (init (xpos blue 2)) (init (ypos blue 1))
(init (xspeed red 1)) (init (yspeed red 2))
(road 1 1) (road 2 1) (road 3 1) (road 4 1) (road 4 2) (road 4 3) (road 4 4) (road 3 4) (road 2 4) (road 1 4)
(<= (legal ?r (go ?d ?e)) (role ?r) (n ?d) (n ?e))
(<= (next (xpos ?r ?b)) (true (xpos ?r ?a)) (does ?r (go ?d ?e)) (plus ?a ?d ?b))
(<= (next (ypos ?r ?b)) (true (ypos ?r ?a)) (does ?r (go ?d ?e)) (plus ?a ?e ?b))
(<= (next (xspeed ?r ?d)) (does ?r (go ?d ?e))) (<= (next (yspeed ?r ?e)) (does ?r (go ?d ?e)))
(plus 1 1 2) (plus 1 2 3) (plus 2 1 3) (plus 2 2 4) (plus 1 3 4) (plus 3 1 4)
"""


def test_two_fluents_tell_where_a_thing_is() -> None:
    assert (
        drawing(COUNTED + SHIP)
        == """
4  . . . .
3  . x . .
2  . . . .
1  . . . .
   1 2 3 4
"""
    )


def test_a_relation_that_holds_where_things_start_names_the_squares_and_speeds_are_no_places() -> None:
    assert (
        drawing(RACE)
        == """
4  . . . .    b blue
3        .    r red
2        .
1  r b . .
   1 2 3 4

xspeed  (red 1)
yspeed  (red 2)
"""
    )


def test_a_thing_without_one_of_its_coordinates_is_not_drawn() -> None:
    text = drawing(RACE, "(xpos red 1)", "(ypos blue 1)")
    assert "r . . ." not in text


def test_cards_are_hands() -> None:
    sheet = """
    (init (card red king)) (init (card red ace)) (init (card blue jack)) (init (deck queen))
    """
    game = anygame.loads("(role red) (role blue) (legal red go) (legal blue go)" + sheet)
    found = picture(game.initial_state())
    hands = {listing.name: [(hand.owner, hand.cards) for hand in listing.hands] for listing in found.others}
    assert hands == {
        "card": [("blue", ("jack",)), ("red", ("ace", "king"))],
        "deck": [("", ("queen",))],
    }
    assert svg(found).count("<rect") == 1 + 4
