from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anygame
from anygame.language.parser import parse_term
from anygame.language.terms import Compound, Constant, Term
from anygame.match.judging import match_ignoring_case
from anygame.protocol.player.played_game import OriginalNames
from anygame.sheets.scrambling import Scrambling

SHEETS = sorted((Path(__file__).parents[2] / "gdl").glob("*.kif"))
RESERVED = (
    "role init true does next legal goal terminal base input sees percept random not or distinct and <= _ nil"
)


def rules_of(game: anygame.Game) -> list[str]:
    return list(map(str, game.program.rules))


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_a_scrambled_game_is_the_same_game(path: Path) -> None:
    game = anygame.load(path)
    words = Scrambling(rules_of(game), 3)
    other = anygame.loads(" ".join(map(words.scramble, rules_of(game))))
    state, twin = game.initial_state(), other.initial_state()
    for _ in range(3):
        assert [words.restore(role) for role in other.roles] == list(game.roles)
        assert sorted(map(words.restore, map(str, twin.facts))) == sorted(map(str, state.facts))
        if state.is_terminal:
            break
        joint = [state.legal_moves(role)[-1] for role in game.roles]
        state, twin = state.next(joint), twin.next(list(map(words.scramble_term, joint)))


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_all_names_are_scrambled_except_keywords(path: Path) -> None:
    rules = rules_of(anygame.load(path))
    words = Scrambling(rules, 3)
    scrambled = " ".join(map(words.scramble, rules))
    before, after = (re.findall(r"[^\s()]+", text) for text in (" ".join(rules), scrambled))
    for name, word in zip(before, after, strict=True):
        stays = name in RESERVED.split() or re.fullmatch(r"[+-]?\d+", name)
        assert (word == name) == bool(stays), (name, word)
        assert word.startswith("?") == name.startswith("?")
    assert (
        not (set(after) & set(before))
        - set(RESERVED.split())
        - {n for n in before if n.lstrip("+-").isdigit()}
    )
    assert len(set(before)) == len(set(after))
    assert scrambled.isascii()
    assert scrambled == scrambled.lower()


def test_words_depend_on_the_seed_alone() -> None:
    rules = rules_of(anygame.load(SHEETS[0]))
    texts = [" ".join(map(Scrambling(rules, seed).scramble, rules)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_many_names_have_many_words() -> None:
    names = [f"name{number}" for number in range(20_000)]
    words = Scrambling([f"(p {' '.join(names)})"], 1)
    found = words.scramble(" ".join(names)).split()
    assert len(set(found)) == len(names)
    assert words.restore(" ".join(found)).split() == names


ATOMS = st.text("abAB1?-", min_size=1, max_size=3).filter(lambda name: not name.startswith("?"))
TERMS: st.SearchStrategy[Term] = st.recursive(
    ATOMS.map(Constant),
    lambda inner: st.builds(
        lambda name, some: Compound(name, tuple(some)), ATOMS, st.lists(inner, min_size=1)
    ),
    max_leaves=6,
)


@given(st.lists(TERMS, min_size=1, max_size=5), st.integers(0, 9))
def test_replies_are_restored(terms: list[Term], seed: int) -> None:
    words = Scrambling(map(str, terms), seed)
    for term in terms:
        scrambled = words.scramble_term(term)
        assert str(scrambled) == words.scramble(str(term))
        assert words.restore(str(scrambled)) == words.restore(str(scrambled).upper()) == str(term)
        assert words.restore(str(term)) == str(term)


@pytest.mark.parametrize(
    ("sheet", "move", "spelled"),
    [
        ("(MARK 1 X)", "(mark 1 x)", "(MARK 1 X)"),
        ("(Mark 1 x) (mark 2 X)", "(mark 1 x)", "(mark 1 x)"),
        ("(mark GOAL)", "(mark goal)", "(mark GOAL)"),
        ("(mark 1)", "(fly 1)", "(fly 1)"),
    ],
)
def test_moves_are_spelled_as_in_the_sheet(sheet: str, move: str, spelled: str) -> None:
    assert OriginalNames(sheet).restore(move) == spelled


@pytest.mark.parametrize(
    ("move", "legal", "found"),
    [
        ("go", ["GO", "go"], "go"),
        ("Go", ["GO", "go"], None),
        ("Go", ["GO", "stay"], "GO"),
        ("fly", ["GO"], None),
        ("(PUT 1 x)", ["(put 1 X)"], "(put 1 X)"),
    ],
)
def test_the_nearest_move_is_the_only_one_but_for_case(
    move: str, legal: list[str], found: str | None
) -> None:
    meant = match_ignoring_case(parse_term(move), [parse_term(each) for each in legal])
    assert (None if meant is None else str(meant)) == found
