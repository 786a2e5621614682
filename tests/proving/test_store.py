"""Proofs that are kept: found again, checked again, and refused where they do not show what they should."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import anygame
from anygame.native import cache
from anygame.proving import prove, store
from anygame.proving.certificate import CertificateError
from anygame.proving.patience import Patience
from anygame.proving.properties import built_in
from anygame.proving.prover import Prover
from anygame.proving.store import ProofStore, digest
from anygame.proving.verdict import Certificate

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.game import Game
    from anygame.proving import Verdicts

_ASKED = ["playable", "ends", "goals", "turn-taking", "zero-sum"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("ANYGAME_CACHE", str(path))
    return path


def _game() -> Game:
    return anygame.load("three_player_chomp")


def _stored(folder: Path) -> Path:
    (path,) = folder.glob("*.proofs")
    return path


def _said(verdicts: Verdicts) -> list[tuple[Any, ...]]:
    return [(each.name, each.claim, each.outcome, each.most_moves, each.invariant) for each in verdicts]


def test_stored_proofs_are_only_checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = prove(_game(), _ASKED)
    assert first.all("proved")
    assert first["ends"].most_moves == 21
    content = json.loads(cache.read_cached(_stored(folder)) or b"")
    assert set(content) == {*_ASKED, "in every state"}
    # Without anything that looks for proofs.
    for name in (
        "prover.shortest",
        "prover.reach",
        "prover.Measures",
        "induction.learned",
        "prover.induction_depth",
    ):
        monkeypatch.setattr(f"anygame.proving.{name}", None)
    again = prove(_game(), _ASKED)
    assert _said(again) == _said(first)
    assert [each.note for each in again] == [each.note for each in first]


def test_formulas_are_kept_by_the_network_that_they_make(folder: Path) -> None:
    asked = ["(never (and (true (control x)) (true (control o))))"]
    first = prove(anygame.load("tic_tac_toe"), asked)
    assert first.all("proved")
    # Nothing else had to be known.
    assert set(ProofStore(_network(asked, "tic_tac_toe")).certificates) == set(asked)
    assert _said(prove(anygame.load("tic_tac_toe"), asked)) == _said(first)


def _network(asked: list[str], name: str) -> Any:
    from anygame.proving.formulas import read_formulas

    return read_formulas(anygame.load(name), asked).game.backends.needed_network().compiled


def test_a_certificate_that_proves_nothing_is_not_believed(folder: Path) -> None:
    # Of a game in which both goals can be missing; the invariant says that everything is excluded.
    game = anygame.loads("""
        (role a) (init (at 1)) (after 1 2) (after 2 3) (legal a on) (legal a off)
        (<= (next (at ?y)) (does a on) (true (at ?x)) (after ?x ?y)) (<= (next (at 3)) (does a off))
        (<= (next fell) (does a off)) (<= terminal (true (at 3))) (<= (goal a 100) (not (true fell)))
    """)
    compiled = game.backends.needed_network().compiled
    kept = ProofStore(compiled)
    lies = [
        Certificate(((3,),)),  # breaks at the start, or at a step
        Certificate(((5,), (7,), (9,))),
        Certificate(((2,), (4,), (6,), (8,))),
        Certificate((), depth=0),
        Certificate((), depth=1),
        Certificate((), depth=0, is_everything=True),
        Certificate((), depth=1, is_everything=True),
        Certificate(((3,), (5,)), measure=((1, 0, 2), (1, 0, 4))),
    ]
    for lie in lies:
        kept.keep("goals", lie)
        kept.keep("ends", lie)
        assert ProofStore(compiled).certificates["goals"] == lie
        found = prove(game, ["goals", "ends"])
        assert found["goals"].outcome == "refuted"
        assert found["ends"].claim == "every match ends within 2 moves"


@pytest.mark.parametrize(
    "value",
    [
        [],
        None,
        "text",
        {"ends": None},
        {"ends": [[], None, False]},
        {"ends": [[[0]], None, False, None, 0]},
        {"ends": [[[10**9]], None, False, None, 0]},
        {"ends": [[[2.0]], None, False, None, 0]},
        {"ends": [[[True]], None, False, None, 0]},
        {"ends": [[[]], None, False, None, 0]},
        {"ends": [[], -1, True, None, 0]},
        {"ends": [[], 10**30, True, None, 0]},
        {"ends": [[], 5, 1, None, 0]},
        {"ends": [[], None, False, [["a"]], 0]},
        {"ends": [[], None, False, [[2]], 0]},
        {"ends": [[], None, False, [[0, 0, 2]], 0]},
        {"ends": [[], None, False, [[1, 2, 2]], 0]},
        {"ends": [[], None, False, [[1, 0, 10**9]], 0]},
        {"ends": [[], None, False, [[1, 0, 2]], -1]},
        {"ends": [[], None, False, [[1, 0, 2]], 10**9]},
        {"ends": [{"a": 1}, None, False, None, 0]},
        {"ends": [[], None, False, None, 0, [], [[10**9]]]},
        {"ends": [[], None, False, None, 0, [], [[]]]},
        {"ends": [[], None, False, None, 0, [], [[4]]]},
        {"ends": [[], None, False, None, 0, [], [[5, 7]]]},
        {"ends": [[], None, False, None, 0, [], [[4, 4]]]},
        {"ends": [[], None, False, None, 0, [], [[4, 5]]]},
        {"ends": [[[5, 5, 7]], None, False, None, 0, [], []]},
    ],
)
def test_stored_values_that_are_not_certificates_are_ignored(folder: Path, value: object) -> None:
    prove(_game(), ["playable"])
    path = _stored(folder)
    cache.write_cached(path, json.dumps(value).encode())
    assert ProofStore(_game().backends.needed_network().compiled).certificates == {}
    assert prove(_game(), ["playable", "ends"]).all("proved")


def test_sums_that_were_changed_are_not_believed(folder: Path) -> None:
    game = anygame.load("phantom_tic_tac_toe")
    assert prove(game, ["playable"]).all("proved")
    path, compiled = _stored(folder), game.backends.needed_network().compiled
    kept = json.loads(cache.read_cached(path) or b"")
    prover = Prover.of(game, Patience(60))
    wanted = next(built_in(game, prover.model, prover.sample))
    place, (total, most, is_exact, parts) = next(
        (place, each) for place, each in enumerate(kept["playable"][5]) if len(each[3]) > 2
    )
    heavier = [[parts[0][0] + 1, *parts[0][1:]], *parts[1:]]
    for lie in (
        [total + 1, most, is_exact, parts],
        [total - 1, most, is_exact, parts],
        [total, most, is_exact, parts[1:]],
        [total, most, is_exact, heavier],
        [total, most, True, [[-weight, *fact] for weight, *fact in parts]],
    ):
        kept["playable"][5][place] = lie
        cache.write_cached(path, json.dumps(kept).encode())
        read = ProofStore(compiled).certificates["playable"]
        assert list(read.sums[place]) == [*lie[:3], tuple(map(tuple, lie[3]))]
        with pytest.raises(CertificateError):
            prover._checked(wanted, read, Patience(60))
    # Found anew, and kept in the place of the lie.
    assert prove(game, ["playable"]).all("proved")
    assert ProofStore(compiled).certificates["playable"] != read


def test_a_run_too_short_to_check_stored_proofs_keeps_them(folder: Path) -> None:
    prove(_game(), ["mutex"])
    compiled = _game().backends.needed_network().compiled
    before = ProofStore(compiled).certificates
    assert any(each.clauses or each.groups for each in before.values())
    prove(_game(), ["mutex"], seconds=1e-9)
    assert ProofStore(compiled).certificates == before


def test_a_damaged_file_is_passed_over(folder: Path) -> None:
    prove(_game(), ["playable", "ends"])
    path = _stored(folder)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert ProofStore(_game().backends.needed_network().compiled).certificates == {}
    path.write_bytes(whole[:-5])
    assert prove(_game(), ["playable", "ends"]).all("proved")
    assert path.read_bytes() == whole


def test_a_proof_of_another_game_is_not_read(folder: Path) -> None:
    prove(_game(), ["ends"])
    other = anygame.load("tic_tac_toe")
    path = folder / (digest(other.backends.needed_network().compiled) + ".proofs")
    _stored(folder).rename(path)
    assert ProofStore(other.backends.needed_network().compiled).certificates == {}
    assert prove(other, ["ends"])["ends"].claim == "every match ends within 10 moves"


def test_a_change_of_the_rules_changes_the_digest() -> None:
    def of(text: str) -> str:
        return digest(anygame.loads(text).backends.needed_network().compiled)

    text = str(_game().program)
    assert of(text) == of(f"; a comment\n{text}")
    assert of(text) != of(text.replace("100", "90"))
    assert of(text) != of(text.replace("alice", "zoe"))


def test_files_are_bounded_and_no_cache_is_no_harm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prove(anygame.load("tic_tac_toe"), ["playable"])
    size = _stored(folder).stat().st_size
    _stored(folder).unlink()
    prove(_game(), ["playable"])
    old = _stored(folder)
    monkeypatch.setattr(store, "PROOF_BYTES", old.stat().st_size + size - 1)
    prove(anygame.load("tic_tac_toe"), ["playable"])
    assert _stored(folder) != old
    compiled = _game().backends.needed_network().compiled
    ProofStore(compiled).keep("large", Certificate(((2,),) * (store._MOST_LITERALS + 1)))
    assert ProofStore(compiled).certificates == {}
    monkeypatch.setenv("ANYGAME_CACHE", "")
    assert prove(_game(), ["playable"]).all("proved")
    assert len(list(folder.glob("*.proofs"))) == 1
