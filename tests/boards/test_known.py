"""Pictures of what somebody knows of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anygame
from anygame.boards import Painter, svg, text
from anygame.language.parser import parse_term

if TYPE_CHECKING:
    from anygame.boards import Picture


def shown(name: str, facts: str, possible: str, legal: str = "") -> Picture:
    game = anygame.load(name)
    terms = [[parse_term(f"({part})") for part in parts.split("; ") if part] for parts in (facts, possible)]
    moves = {game.roles[0]: [parse_term(f"({move})") for move in legal.split("; ") if move]}
    return Painter.of(game).known_picture(name, *terms, legal=moves)


def test_a_cell_is_unknown_where_something_may_stand_and_nothing_is_known_to() -> None:
    found = shown(
        "phantom_tic_tac_toe",
        "cell 1 1 x; control x; found x (at 2 3); cell 2 3 o",
        "cell 1 1 o; cell 1 2 o; cell 3 3 o; found o (at 1 1)",
        "mark 1 2; mark 3 3",
    )
    assert (
        "\n" + text(found)
        == """
   1 2 3
1  x ? .
2  . . o
3  . . ?

control  x
found    (x (at 2 3))  (o ?)"""
    )
    assert {cell.name for cell in found.cells() if "unknown" in cell.marks} == {"1 2", "3 3"}
    assert [found.cell(touch.cells[0]).name for touch in found.touches] == ["1 2", "3 3"]
    assert svg(found).count(">?</text>") == 2
    assert "1 2: not known</title>" in svg(found)


def test_an_unknown_card_is_drawn_face_down() -> None:
    (card, *_) = shown("leduc_poker", "card player1 king hearts", "card player2 jack spades").others
    assert [(hand.owner, hand.cards) for hand in card.hands] == [
        ("player1", ("king hearts",)),
        ("player2", ("?",)),
    ]


def test_a_known_card_excludes_all_other_cards_of_the_player() -> None:
    (card, *_) = shown("kuhn_poker", "card player1 king", "card player1 queen").others
    assert card.facts == (("(player1 king)", "blue"),)
