"""From names to their definitions and all their places, and renaming."""

from __future__ import annotations

import pytest
from tests.language_server.places import GAME, INFIX, MARK, applied, lines_of, marked

from anygame.language_server.navigating import (
    RenamingError,
    can_rename,
    definitions,
    references,
    rename,
)


def _at(text: str, before: str, after: str) -> str:
    """Return a text with a mark between two pieces of it."""
    assert before + after in text
    return text.replace(before + after, before + MARK + after, 1)


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("(not (mar", "ked ?n)", [23]),  # a relation: its rules
        ("(not op", "en)", [28]),
        ("(true (ce", "ll ?n b)", [6, 6, 6, 18, 20]),  # a fluent: what makes it true
        ("(does ?player (mark", " ?n)))\n(<= (next", [11]),  # a move: what makes it legal
        ("(next (control bl", "ack))", [3]),  # a role: the fact
        ("(cell ?n ", "?c))\n    (true", [21]),  # a variable: what binds it
        ("(<= (goal ?player 1", "00)", [32]),
        ("(not", " op", []),
        ("(true (cell 2", " ?player)) (role", [4]),  # another constant: where it stands first
    ],
)
def test_definitions_are_found(before: str, after: str, lines: list[int]) -> None:
    sheet, offset = marked(_at(GAME, before, after))
    assert lines_of(sheet, definitions(sheet, offset)) == lines


def test_definitions_are_found_in_broken_texts() -> None:
    # Two arguments of q, by the parentheses; but there is a relation of that name.
    sheet, offset = marked("(p a)\n(<= (q ?x\n    (p¦ ?x)\n(role x)\n")
    assert lines_of(sheet, definitions(sheet, offset)) == [1]


def test_references_can_include_definitions() -> None:
    sheet, offset = marked(_at(GAME, "(not (mar", "ked ?n)"))
    assert lines_of(sheet, references(sheet, offset)) == [22, 23]
    assert lines_of(sheet, references(sheet, offset, declaration=False)) == [22]


def test_variables_are_those_of_their_rule() -> None:
    sheet, offset = marked(_at(GAME, "(<= (marked ?", "n)"))
    assert lines_of(sheet, references(sheet, offset)) == [23, 24]


def test_highlights_tell_heads_from_bodies() -> None:
    sheet, offset = marked(_at(GAME, "(<= op", "en"))
    assert [name.in_head for name in references(sheet, offset)] == [True, False]


def test_nothing_is_defined_between_names() -> None:
    sheet, _ = marked(GAME + MARK)
    for offset in (0, 5, len(GAME), GAME.index("\n\n") + 1):
        assert definitions(sheet, offset) == []
        assert references(sheet, offset) == []


# -- renaming -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "new", "places"),
    [
        ("(not (mar", "ked ?n)", "taken", 2),
        ("(not op", "en)", "open-cell", 2),
        ("(true (ce", "ll ?n b)", "square", 10),
        ("(next (control bl", "ack))", "red", 3),
        ("(<= (marked ?", "n)", "?cell", 2),
        ("(<= (marked ?", "n)", "cell", 2),
    ],
)
def test_renaming_changes_all_places(before: str, after: str, new: str, places: int) -> None:
    sheet, offset = marked(_at(GAME, before, after))
    edits = rename(sheet, offset, new)
    assert len(edits) == places
    old = GAME[edits[0][0].start : edits[0][0].end]
    changed, back = marked(applied(GAME, edits)[:offset] + MARK + applied(GAME, edits)[offset:])
    if old.strip("?"):
        again = rename(changed, edits[0][0].start, old)
        assert applied(changed.text, again) == GAME
    assert back == offset


@pytest.mark.parametrize(
    ("before", "after", "new", "reason"),
    [
        ("(<= (le", "gal", "x", "legal is a keyword"),
        ("(no", "t (true", "x", "not is a keyword"),
        ("(not op", "en)", "index", None),  # a relation of another arity is another one
        ("(not op", "en)", "a b", "without blanks"),
        ("(not op", "en)", "a(b", "without blanks"),
        ("(not op", "en)", "a;b", "without blanks"),
        ("(not op", "en)", "?open", "not a variable"),
        ("(not op", "en)", "", "expected a name"),
        ("(not op", "en)", "x" * 5000, "expected a name"),
        ("(not op", "en)", "Terminal", "is a keyword of GDL"),
        ("(not (mar", "ked ?n)", "index", "used already, in line 4"),
        ("(next (control bl", "ack))", "white", "used already, in line 2"),
        ("(legal ?player (mark ?", "n))", "?player", "used already, in this rule"),
        ("(legal ?player (mark ?", "n))", "a b", "expected a variable"),
        ("(goal ?player 1", "00)", "x", "value of a goal"),
        (";; Who ", "plays", "x", "no name here"),
    ],
)
def test_names_that_cannot_be_changed(before: str, after: str, new: str, reason: str | None) -> None:
    sheet, offset = marked(_at(GAME, before, after))
    if reason is None:
        assert rename(sheet, offset, new)
        return
    with pytest.raises(RenamingError, match=reason):
        rename(sheet, offset, new)


def test_the_role_of_chance_keeps_its_name() -> None:
    sheet, offset = marked("(role ran¦dom)")
    with pytest.raises(RenamingError, match="random"):
        can_rename(sheet, offset)


def test_names_are_spelled_as_the_infix_form_asks() -> None:
    sheet, offset = marked(_at(INFIX, "oth", "er(P,Q)"), "game.hrf")
    assert {text for _, text in rename(sheet, offset, "Next-player")} == {"'Next-player'"}
    sheet, offset = marked(_at(INFIX, "(P,'Wa", "it')"), "game.hrf")
    assert [text for _, text in rename(sheet, offset, "rest")] == ["rest"]
    sheet, offset = marked(_at(INFIX, "next(control(", "Q"), "game.hrf")
    assert [text for _, text in rename(sheet, offset, "Other")] == ["Other", "Other"]
    with pytest.raises(RenamingError, match="starts with a capital"):
        rename(sheet, offset, "other")
