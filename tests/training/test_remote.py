"""Learners on workers learn what those of threads do, wherever processes die, and however calls are cut."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.search.tree.race import RACE

import anygame
from anygame.errors import WorkerLostError
from anygame.search.array_file import read_arrays
from anygame.search.learning import FORMAT, remote
from anygame.search.learning.learners import ROUND, Learners
from anygame.search.learning.run import searcher_to_learn
from anygame.training import train

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


class _Workers:
    """Workers of this process, which lose their objects at some calls."""

    count = 2

    def __init__(self, loses: Callable[[int], bool] = lambda number: False) -> None:
        self._loses, self.numbers = loses, count(1)
        self.lost = 0

    @contextmanager
    def actors(self, make: Callable[[Any], object], items: Sequence[Any]) -> Iterator[list[_Actor]]:
        made = [_Actor(self, make, item) for item in items]
        yield made
        for each in made:
            each.held = None

    def is_lost(self) -> bool:
        is_lost = self._loses(next(self.numbers))
        self.lost += is_lost
        return is_lost


class _Actor:
    def __init__(self, workers: _Workers, make: Callable[[Any], object], item: object) -> None:
        self._workers, self._make = workers, make
        self.held: object | None = make(_sent(item))

    def call(self, method: str, *arguments: object) -> Any:
        assert self.held is not None
        found = _sent(getattr(self.held, method)(*_sent(arguments)))
        if self._workers.is_lost():
            self.held = None
            raise WorkerLostError("the work was abandoned: its process died")
        return found

    def renew(self, item: object) -> None:
        if self._workers.is_lost():
            raise WorkerLostError("the work was abandoned: its process died at once")
        self.held = self._make(_sent(item))


def _sent(message: Any) -> Any:
    return pickle.loads(pickle.dumps(message))


def _assert_same(found: Mapping[str, NDArray[Any]], wanted: Mapping[str, NDArray[Any]]) -> None:
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        # The last state of a game has no value until its tree has grown: what stands there is older.
        assert name.endswith(" values") or np.array_equal(found[name], array), name


@pytest.mark.parametrize("learners", [1, 3])
def test_processes_that_die_lose_nothing_but_time(monkeypatch: pytest.MonkeyPatch, learners: int) -> None:
    monkeypatch.setattr(remote, "_SLICE", 600.0)  # a call a round: how many there are is certain
    searcher = searcher_to_learn(anygame.loads(RACE))
    alone, apart = Learners(searcher, 1, learners), Learners(searcher, 1, learners)
    workers = _Workers(lambda number: number % 4 == 0)
    alone.play(20 * learners)
    apart.play(20 * learners)  # what was learned before goes along
    with apart.placed(workers):
        for games in (2 * ROUND - 30, 3 * ROUND + 40, 5 * ROUND):
            assert alone.play(games * learners)
            assert apart.play(games * learners)
            assert (apart.weights == alone.weights).all()
            if games > 3 * ROUND:  # from here they begin anew
                _assert_same(apart.state(), alone.state())
    assert workers.lost > 1
    assert apart.progress == alone.progress


def test_calls_are_divided_so_that_stopping_is_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_SLICE", 0.001)
    searcher = searcher_to_learn(anygame.loads(RACE))
    alone, apart = Learners(searcher, 1, 2), Learners(searcher, 1, 2)
    workers = _Workers()
    with apart.placed(workers):
        assert apart.play(2 * 2 * ROUND)
    assert next(workers.numbers) > 2 * 4
    assert alone.play(2 * 2 * ROUND)
    assert (apart.weights == alone.weights).all()


def test_a_worker_that_always_dies_ends_the_training(tmp_path: Path) -> None:
    with pytest.raises(WorkerLostError, match="the work was abandoned: its process died"):
        train(
            anygame.loads(RACE), games=600, cluster=_Workers(lambda number: True), into=tmp_path / "model.npz"
        )


def test_a_training_resumed_elsewhere_gives_the_same_model(tmp_path: Path) -> None:
    game = anygame.loads(RACE)
    whole = train(game, games=1500, seed=1, threads=2, into=tmp_path / "whole.npz")

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    for name, first, second in (("to.npz", None, _Workers()), ("from.npz", _Workers(), None)):
        path = tmp_path / name
        with pytest.raises(KeyboardInterrupt):
            train(
                game,
                games=1500,
                seed=1,
                threads=2,
                into=path,
                cluster=first,
                progress=stop,
            )
        gone_on = train(game, games=1500, seed=9, resume=True, into=path, cluster=second)
        assert (gone_on.weights == whole.weights).all()
        assert gone_on.figures.games == whole.figures.games
        (_, wanted), (_, found) = (
            read_arrays(tmp_path / f"{each}.1.learning", FORMAT) for each in ("whole.npz", name)
        )
        _assert_same(found, wanted)


def test_a_cluster_has_as_many_learners_as_cores_by_default(tmp_path: Path) -> None:
    game, path = anygame.loads(RACE), tmp_path / "model.npz"
    for given, learners in ((None, 2), (3, 3)):
        train(game, games=60, seed=1, threads=given, cluster=_Workers(), into=path)
        assert read_arrays(tmp_path / "model.npz.1.learning", FORMAT)[0]["threads"] == learners
    with pytest.raises(anygame.ModelError, match="the thread count is 3, expected 2"):
        train(game, games=90, threads=2, cluster=_Workers(), into=path, resume=True)
