"""Moves as people type them: what is clear is taken, what is not is told."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

import anygame
from anygame.errors import IllegalMoveError
from anygame.game.typed_moves import completed_moves, filtered_moves, meant_moves, typed_move
from anygame.language.parser import parse_term
from anygame.language.terms import Compound, Constant, Term

BOARD = [f"(move {row} {place})" for row in "abd" for place in (1, 2, 4)]
CHESS = ["(move wp e 2 e 3)", "(move wp e 2 e 4)", "(move wn g 1 f 3)", "(move wp d 2 d 4)"]
COLUMNS = ["(drop 10)", "(drop 2)", "(drop 3)", "noop"]
CELLS = ["(mark 1 1)", "(mark 1 10)", "(mark 11 1)", "(mark 2 1)"]


def _terms(texts: list[str]) -> list[Term]:
    return [parse_term(text) for text in texts]


@pytest.mark.parametrize(
    ("legal", "text", "meant"),
    [
        (BOARD, "d 4", "(move d 4)"),
        (BOARD, "move d 4", "(move d 4)"),
        (BOARD, "(move d 4)", "(move d 4)"),
        (BOARD, "  ( MOVE  d 4 ) ", "(move d 4)"),
        (BOARD, "d4", "(move d 4)"),
        (BOARD, "moved4", "(move d 4)"),
        (BOARD, "m d 4", "(move d 4)"),
        (BOARD, "(move d 4", "(move d 4)"),
        (BOARD, "3", "(move a 4)"),
        (BOARD, "#3", "(move a 4)"),
        (["(move a 1)", "(jump a 1)", "noop", "doNotSwap"], "do", "doNotSwap"),
        (["(move a 1)", "(jump a 1)", "noop", "doNotSwap"], "j", "(jump a 1)"),
        (["swap", "doNotSwap"], "s", "swap"),
        (CHESS, "e2 e4", "(move wp e 2 e 4)"),
        (CHESS, "e2e4", "(move wp e 2 e 4)"),
        (CHESS, "e2-e4", "(move wp e 2 e 4)"),
        (CHESS, "E2 E4", "(move wp e 2 e 4)"),
        (CHESS, "e4", "(move wp e 2 e 4)"),
        (CHESS, "wn", "(move wn g 1 f 3)"),
        (CHESS, "f3", "(move wn g 1 f 3)"),
        (CHESS, "d2", "(move wp d 2 d 4)"),
        (COLUMNS, "drop 2", "(drop 2)"),
        (COLUMNS, "10", "(drop 10)"),
        (COLUMNS, "1", "(drop 10)"),
        (COLUMNS, "#2", "(drop 2)"),
        (CELLS, "1 1", "(mark 1 1)"),
        (CELLS, "mark 1 1", "(mark 1 1)"),
        (["(put (cell 1 2) x)", "(put (cell 2 1) x)"], "1 2 x", "(put (cell 1 2) x)"),
        (CELLS, "111", "(mark 11 1)"),
        (["(put (cell 1 2) x)", "(put (cell 2 1) x)"], "cell 1 2 x", "(put (cell 1 2) x)"),
        (["(f (g a) b)", "(f (g a b))"], "(f (g a b))", "(f (g a b))"),
        (["7", "8"], "7", "7"),
        (["7", "1"], "1", "1"),
        (["a", "A"], "a", "a"),
        (["a", "A"], "A", "A"),
        (["play"], "play", "play"),
    ],
)
def test_an_unambiguous_text_means_its_move(legal: list[str], text: str, meant: str) -> None:
    assert str(typed_move(text, _terms(legal))) == meant


@pytest.mark.parametrize(
    ("legal", "text", "could_be"),
    [
        (BOARD, "d", ["(move d 1)", "(move d 2)", "(move d 4)"]),
        (BOARD, "m a", ["(move a 1)", "(move a 2)", "(move a 4)"]),
        (CHESS, "e2", ["(move wp e 2 e 3)", "(move wp e 2 e 4)"]),
        (["(drop 2)", "(drop 3)"], "2", ["(drop 3)", "(drop 2)"]),
        (["(mark 1 11)", "(mark 11 1)"], "111", ["(mark 1 11)", "(mark 11 1)"]),
        (["(f (g a) b)", "(f (g a b))"], "f g a b", ["(f (g a) b)", "(f (g a b))"]),
        (["ab", "AB"], "aB", ["ab", "AB"]),
    ],
)
def test_an_ambiguous_text_lists_candidates(legal: list[str], text: str, could_be: list[str]) -> None:
    terms = _terms(legal)
    assert list(map(str, meant_moves(text, terms))) == could_be
    with pytest.raises(
        IllegalMoveError, match="is not a legal move of white here, but can mean #"
    ) as refused:
        typed_move(text, terms, "white")
    assert refused.value.suggestions == tuple(could_be)


@pytest.mark.parametrize(
    ("legal", "text", "message"),
    [
        (BOARD, "d 5", r"nearest legal moves are \(move d 4\)"),
        (BOARD, "mvoe a 1", r"nearest legal moves are \(move a 1\)"),
        (BOARD, "(move d 3)", r"nearest legal moves are \(move d"),
        (BOARD, "(move d)", "nearest legal moves are"),
        (BOARD, "17", "numbered 1 to 9"),
        (BOARD, "#0", "numbered 1 to 9"),
        (BOARD, "xyzzy", r"there are 9 others, such as \(move a 1\)"),
        (["swap", "noop"], "xyzzy", "legal moves are swap, noop"),
        (["swap"], "", "legal moves are swap"),
        (["swap"], "()", "legal moves are swap"),
        ([], "swap", "legal moves are none"),
        (["swap"], "\x00\x1b[31m" * 3, "\N{REPLACEMENT CHARACTER}"),
        (BOARD, "d " * 5_000, "is not a legal move"),
    ],
)
def test_meaningless_text_lists_similar_moves(legal: list[str], text: str, message: str) -> None:
    with pytest.raises(IllegalMoveError, match=message):
        typed_move(text, _terms(legal))


@pytest.mark.parametrize("name", anygame.games())
def test_the_full_text_of_a_legal_move_means_that_move(name: str) -> None:
    game = anygame.load(name)
    state = game.initial_state()
    for joint in next(iter(game.playouts(1, seed=1))).moves[:10]:
        for role in game.roles:
            legal = state.legal_moves(role)
            for number in {0, len(legal) // 2, len(legal) - 1}:
                assert typed_move(str(legal[number]), legal) == legal[number]
                assert typed_move(f"#{number + 1}", legal) == legal[number]
        state = state.next(joint)


_NAMES = st.sampled_from(["a", "A", "b", "ab", "a-b", "1", "2", "12", "11", "#1", "move", "e2", "noop"])
_TERMS = st.recursive(
    _NAMES.map(Constant),
    lambda inner: st.builds(
        lambda name, arguments: Compound(name, tuple(arguments)),
        _NAMES,
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(st.lists(_TERMS, min_size=1, max_size=12, unique=True))
def test_the_full_text_of_any_move_means_that_move(moves: list[Term]) -> None:
    legal = sorted(moves)
    for move in legal:
        assert typed_move(str(move), legal) == move
        assert typed_move(f" {str(move).replace('(', ' ( ')}", legal) == move
        assert any(str(move) == form for found, form in completed_moves(str(move), legal) if found == move)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(st.text(max_size=20), st.lists(_TERMS, max_size=8, unique=True))
def test_any_text_means_a_legal_move_or_is_refused(text: str, moves: list[Term]) -> None:
    legal = sorted(moves)
    found = meant_moves(text, legal)
    assert set(found) <= set(legal)
    if len(found) != 1:
        with pytest.raises(IllegalMoveError) as refused:
            typed_move(text, legal)
        assert set(refused.value.suggestions) <= set(map(str, legal))
    assert set(filtered_moves(text, legal)) <= set(legal)


@pytest.mark.parametrize(
    ("pattern", "fit"),
    [
        ("a *", ["(move a 1)", "(move a 2)", "(move a 4)"]),
        ("a", ["(move a 1)", "(move a 2)", "(move a 4)"]),
        ("* 4", ["(move a 4)", "(move b 4)", "(move d 4)"]),
        ("(move a *)", ["(move a 1)", "(move a 2)", "(move a 4)"]),
        ("MOVE D 4", ["(move d 4)"]),
        ("[ab] 1", ["(move a 1)", "(move b 1)"]),
        ("c", []),
        ("", []),
        ("*", BOARD),
        ("a 1 *", []),
    ],
)
def test_patterns_filter(pattern: str, fit: list[str]) -> None:
    assert list(map(str, filtered_moves(pattern, _terms(BOARD)))) == fit


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("(move d", ["(move d 1)", "(move d 2)", "(move d 4)"]),
        ("move d", ["move d 1", "move d 2", "move d 4"]),
        ("d ", ["d 1", "d 2", "d 4"]),
        ("D", ["d 1", "d 2", "d 4"]),
        ("d 4", ["d 4"]),
        ("x", []),
    ],
)
def test_beginnings_are_completed_in_their_own_form(text: str, forms: list[str]) -> None:
    assert [form for _, form in completed_moves(text, _terms(BOARD))] == forms
