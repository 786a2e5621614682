"""Games side by side on a graphics card, which is emulated: they are those of a batch on a processor."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import anygame
from anygame.cards import array as arrays
from anygame.errors import DeviceError, IllegalMoveError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tests.cards.emulated_card import EmulatedDriver

    from anygame.game.batch import Batch, CardBatch


def on_card(values: NDArray[Any]) -> Any:
    """Return an array as libraries have it on a card."""
    return SimpleNamespace(__cuda_array_interface__=values.__array_interface__, kept=values)


def agree(found: CardBatch, expected: Batch) -> None:
    assert (found.terminal.numpy() == expected.terminal).all()
    assert (found.stuck.numpy() == expected.stuck).all()
    assert (found.observation().numpy() == expected.observation()).all()
    for role in found.game.roles:
        assert (found.legal_mask(role).numpy() == expected.legal_mask(role)).all()
        assert np.array_equal(found.goals(role).numpy(), expected.goals(role), equal_nan=True)


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("name", ["tic_tac_toe", "three_player_chomp", "rock_paper_scissors", "monty_hall"])
def test_they_are_those_of_a_processor(name: str) -> None:
    game = anygame.load(f"gdl/{name}.kif")
    lanes, random = 70, np.random.default_rng(1)
    found, expected = game.card_batch(lanes, seed=1), game.batch(lanes, seed=1)
    agree(found, expected)
    while not expected.terminal.all():
        moves = {
            role: (expected.legal_mask(role) * random.random(expected.legal_mask(role).shape)).argmax(axis=1)
            for role in game.roles
        }
        expected.step(moves)
        kinds = [on_card(moves[role].astype(kind)) for role, kind in zip(game.roles, "il" * 9, strict=False)]
        found.step(dict(zip(game.roles, kinds, strict=True)) if random.random() < 0.5 else moves)
        agree(found, expected)
    some = np.arange(lanes) % 3 == 0
    for mask, meant in ((some, some), (on_card(~some), ~some), (None, None)):
        found.reset(mask)
        expected.reset(meant)
        agree(found, expected)


@pytest.mark.usefixtures("driver", "played_any_way")
def test_random_moves_are_legal_and_made() -> None:
    game = anygame.load("gdl/tic_tac_toe.kif")
    found, expected = game.card_batch(2_100, seed=3), game.batch(2_100, seed=3)
    while not expected.terminal.all():
        over = expected.terminal
        chosen = {role: array.numpy() for role, array in found.step_random().items()}
        assert all(((choice == -1) == over).all() for choice in chosen.values())
        expected.step(chosen)
        agree(found, expected)
    again = game.card_batch(2_100, seed=3)
    first = again.step_random()["x"].numpy()
    assert (np.bincount(first, minlength=10)[:9] > 150).all(), "each of nine squares is as likely as another"


@pytest.mark.usefixtures("driver")
def test_errors_do_not_change_the_batch() -> None:
    game = anygame.load("gdl/tic_tac_toe.kif")
    batch = game.card_batch(5, seed=1)
    noop, marks = [str(move) for move in game.actions("x")].index("noop"), np.arange(5)
    before = batch.observation().numpy()
    wrong = marks.copy()
    wrong[3] = noop
    with pytest.raises(
        IllegalMoveError, match=r"^lane 3: 9, noop, is not legal for x; legal: 0 \(mark 1 1\), 1 "
    ):
        batch.step({"x": wrong, "o": np.full(5, noop)})
    other = np.array([noop, noop, -7, 1, 1], np.int32)
    with pytest.raises(IllegalMoveError, match=r"^lane 2: -7 \(numbers go from 0 to 9\) is not legal for o"):
        batch.step({"x": on_card(marks.astype(np.int32)), "o": on_card(other)})
    with pytest.raises(IllegalMoveError, match="no array is given for o"):
        batch.step({"x": marks})
    with pytest.raises(
        ValueError, match=r"the actions of role 0 should be 5 integers, one per lane, not an array of"
    ):
        batch.step({"x": marks[:4], "o": marks})
    with pytest.raises(ValueError, match="should be 5 integers of 4 or 8 bytes, one per lane"):
        batch.step({"x": on_card(marks.astype(np.int8)), "o": marks})
    with pytest.raises(ValueError, match="the mask should be 5 truth values"):
        batch.reset(marks)
    assert (batch.observation().numpy() == before).all()
    with pytest.raises(ValueError, match="expected from 1 to 67,108,864 lanes, got 0"):
        game.card_batch(0)
    with pytest.raises(DeviceError, match=r"on a processor, use game.batch\(\)"):
        game.card_batch(5, device="cpu")


def test_libraries_read_arrays_where_they_are(
    driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = anygame.load("gdl/tic_tac_toe.kif").card_batch(7, seed=1)
    mask = batch.legal_mask("x")
    assert mask.__dlpack_device__() == (2, 0)
    assert (len(mask), mask.shape) == (7, (7, 10))
    assert repr(mask) == "<CardArray bool [7, 10] on an emulated card>"
    assert repr(batch) == "<CardBatch of 7 lanes of gdl/tic_tac_toe.kif on an emulated card>"
    assert mask.__cuda_array_interface__["strides"] == (1, 2_048)
    with pytest.raises(ValueError, match="copy=False is impossible"):
        np.array(mask, copy=False)
    monkeypatch.setattr(arrays, "_CUDA", 1)  # what the emulated card has lies in the memory of the processor
    read = np.from_dlpack(mask)
    goals = np.from_dlpack(batch.goals("x"))
    assert read.ctypes.data == mask.address
    assert (read == mask.numpy()).all()
    assert goals.dtype == np.float32
    batch.step_random()
    batch.legal_mask("x")
    assert (read == mask.numpy()).all(), "it is the same memory, written anew"
    unused = mask.__dlpack__()
    del unused
    taken = len(driver.taken)
    del batch, mask
    gc.collect()
    assert 0 < len(driver.taken) < taken, "what somebody reads stays"
    del read, goals
    gc.collect()
    assert not driver.taken
    assert not arrays._HANDED_OUT


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("kind", "number"),
    [
        *((np.int64, number) for number in ((1 << 32) + 2, (3 << 40) + 2, 2 - (1 << 32), (1 << 62) + 2, -1)),
        *((np.uint64, number) for number in ((1 << 32) + 2, (1 << 63) + 2)),
        *((np.int32, number) for number in (-(1 << 31) + 2, -1)),
        (np.uint32, (1 << 31) + 2),
    ],
)
def test_numbers_are_read_whole(kind: type[np.integer[Any]], number: int) -> None:
    game = anygame.load("gdl/tic_tac_toe.kif")
    batch, expected = game.card_batch(3, seed=1), game.batch(3, seed=1)
    noop = [str(move) for move in game.actions("x")].index("noop")
    moves = np.arange(6, dtype=kind)[::2]  # with a stride: the numbers between are not read
    waits = np.full(3, noop, kind)
    wrong = moves.copy()
    wrong[1] = kind(number)
    for given in (wrong, on_card(wrong), on_card(np.repeat(wrong, 2)[::2])):
        with pytest.raises(
            IllegalMoveError, match=r"^lane 1: -?\d+ \(numbers go from 0 to 9\) is not legal for x"
        ):
            batch.step({"x": given, "o": waits})
    batch.step({"x": on_card(moves), "o": on_card(waits)})
    expected.step({"x": moves, "o": waits})
    agree(batch, expected)


@pytest.mark.usefixtures("driver")
def test_numbers_in_the_other_order_of_bytes_are_refused() -> None:
    batch = anygame.load("gdl/tic_tac_toe.kif").card_batch(3, seed=1)
    swapped = np.zeros(3, np.dtype(np.int32).newbyteorder())
    with pytest.raises(ValueError, match="should be 3 integers of 4 or 8 bytes"):
        batch.step({"x": on_card(swapped), "o": swapped})
