"""Trainings: what they learn and write, and that nothing but seconds is lost, whatever ends them."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.search.tree.race import RACE

if TYPE_CHECKING:
    from pathlib import Path

import anygame
from anygame.errors import ModelError
from anygame.search import Search, load_model
from anygame.search.evaluation.network import MANY_UNITS, UNITS
from anygame.search.learning import run
from anygame.search.learning.learner import Learner
from anygame.search.learning.learners import ROUND, Learners
from anygame.search.learning.run import searcher_to_learn
from anygame.search.learning.trial import Trial, judge
from anygame.search.model import find_model, model_path
from anygame.training import TrainingProgress, train


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANYGAME_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def test_a_training_writes_a_model_that_is_found_and_used() -> None:
    game = anygame.loads(RACE)
    reports: list[TrainingProgress] = []
    model = train(game, games=4000, seed=1, progress=reports.append)
    assert model.figures.games >= 4000
    assert model.figures.is_used
    compared = [replace(report, left=None) for report in reports if report.matches]
    assert [report.games >= 1000 * 2**place for place, report in enumerate(compared)] == [True] * 3
    assert all(report.matches == 12 for report in compared)
    assert compared[0].score > 0.6  # against who has learned nothing
    assert model.figures.history == tuple(compared)
    found = find_model(game)
    assert found is not None
    assert found.figures == model.figures
    assert (found.weights == model.weights).all()


def test_longer_trainings_have_trials_with_more_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = anygame.loads(RACE)
    assert train(game, games=1000, seed=1).figures.trial_leaves == 2_000
    monkeypatch.setattr(run, "_GAMES_FOR_A_LEAF", 0.2)
    figures = train(game, games=1000, seed=2).figures
    assert figures.trial_leaves == figures.games * 5
    monkeypatch.setattr(run, "_GAMES_FOR_A_LEAF", 0.001)
    assert train(game, games=1000, seed=3).figures.trial_leaves == 20_000


@pytest.mark.parametrize("threads", [1, 3])
def test_a_resumed_training_gives_the_same_model(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    game = anygame.loads(RACE)
    whole = train(game, games=1500, seed=1, threads=threads, into=_path(game).with_name("whole.npz"))
    play = Learner.play
    calls = []

    def stopped(self: Learner, games: float, **_: object) -> bool:
        calls.append(games)
        done = play(self, min(games, 170 + 20 * len(calls)))
        raise KeyboardInterrupt if done else AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "play", stopped)
        with pytest.raises(KeyboardInterrupt):
            train(game, games=1500, seed=1, threads=threads)
    assert len(calls) == threads
    assert find_model(game) is None
    gone_on = train(game, games=1500, seed=99, resume=True)
    assert (gone_on.weights == whole.weights).all()
    assert gone_on.figures.trial_score == whole.figures.trial_score
    assert gone_on.figures.games == whole.figures.games


def test_several_learn_from_games_of_their_own_and_have_their_mean() -> None:
    searcher = searcher_to_learn(anygame.loads(RACE))
    both, first = Learners(searcher, 1, 2), Learner(searcher, 1)
    assert both.play(2 * ROUND - 20)
    first.play(ROUND - 10)
    state = both.state()
    assert (state["0 means"] == first.weights).all()
    assert (state["1 means"] != first.weights).any()
    assert both.weights == pytest.approx((state["0 means"] + state["1 means"]) / 2)
    assert both.play(2 * ROUND)
    state = both.state()
    assert (state["0 means"] == state["1 means"]).all()
    assert state["round"] == 2
    assert both.progress.games >= 2 * ROUND
    assert both.progress.positions > both.progress.games
    other = Learners(searcher, 7, 2)
    other.restore(state)
    assert both.play(3 * ROUND)
    assert other.play(3 * ROUND)
    assert (both.weights == other.weights).all()
    many = Learners(searcher, 1, 64)._here
    assert sum(len(each._practice.targets) for each in many) <= len(first._practice.targets)
    with pytest.raises(ValueError, match="no array"):
        Learners(searcher, 1, 3).restore(state)
    with pytest.raises(ValueError, match="number of rounds"):
        other.restore({**state, "round": np.array([0])})


def _path(game: anygame.Game) -> Path:
    path = model_path(game)
    assert path is not None
    return path


def test_a_full_disk_leaves_the_last_whole_state(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.loads(RACE)
    train(game, games=300, seed=1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("anygame.search.array_file.whole_file", full)
        with pytest.raises(ModelError, match="No space left on device; the previous checkpoint is intact"):
            train(game, games=600, seed=1, resume=True)
    assert train(game, games=600, resume=True).figures.games >= 600


def test_simultaneous_trainings_have_separate_checkpoints(folder: Path) -> None:
    game = anygame.loads(RACE)
    train(game, games=300, seed=1)
    train(game, games=600, seed=2)
    assert len(list(folder.glob("*.learning"))) == 2
    (first, _) = sorted(folder.glob("*.learning"))
    assert train(game, games=10, resume=True).figures.games >= 600
    for path in folder.glob("*.learning"):
        path.write_bytes(path.read_bytes()[:-100] if path == first else b"")
    with pytest.raises(ModelError, match=r"no training of .* can be resumed; .* cannot be used"):
        train(game, games=700, resume=True)


def test_a_model_that_is_used_is_not_replaced_by_one_that_is_not() -> None:
    game = anygame.loads(RACE)
    good = train(game, games=4000, seed=1)
    poor = train(game, games=100, seed=2)
    assert good.figures.is_used
    assert not poor.figures.is_used
    path = _path(game)
    assert load_model(path).figures == good.figures
    train(game, games=100, seed=2, into=path)
    assert not load_model(path).figures.is_used


def test_seconds_end_a_training_too() -> None:
    model = train(anygame.loads(RACE), seconds=0.2, seed=1)
    assert model.figures.games
    assert model.figures.seconds >= 0.2


def test_a_training_reports_the_matches_of_its_trial() -> None:
    reports: list[TrainingProgress] = []
    figures = train(anygame.loads(RACE), games=4000, seed=1, progress=reports.append).figures
    matches = [report.trial_matches for report in reports if report.trial_matches is not None]
    assert matches == [*range(0, figures.trial_matches, 2)]
    assert str(reports[-1]) == f"{figures.games:,} games; trial: {matches[-1]} matches so far"


def test_a_training_with_a_time_limit_has_a_trial_with_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.loads(RACE)
    limits: list[float] = []

    def judged(*_: object, end: float, **__: object) -> tuple[float, Trial]:
        limits.append(end)
        return 0.0, Trial()

    monkeypatch.setattr(run, "judge", judged)
    train(game, games=300, seconds=600, seed=1)
    train(game, games=300, seed=1)
    assert limits[0] < limits[1] == inf


def test_a_trial_whose_time_is_up_accepts_no_estimates() -> None:
    game = anygame.loads(RACE)
    searcher = searcher_to_learn(game)
    learner = Learner(searcher, 1)
    learner.play(4000)
    assert judge(game, learner.weights, learner.progress, seed=1)[0]
    trust, trial = judge(game, learner.weights, learner.progress, seed=1, end=0.0)
    assert (trust, trial.leads) == (0.0, [])


@pytest.mark.parametrize("name", ["three_player_chomp", "rock_paper_scissors"])
def test_games_of_several_roles_and_of_moves_made_at_once_are_trained(name: str) -> None:
    game = anygame.load(name)
    model = train(game, games=1100, seed=1)
    assert model.figures.games >= 1100
    assert [report.matches for report in model.figures.history] == [12]
    assert find_model(game) is not None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lights_out", "the game has one role"),
        ("pig", "the game has chance moves"),
        ("phantom_tic_tac_toe", "the roles have incomplete information"),
    ],
)
def test_other_games_are_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(ModelError, match=f"{name} cannot be trained: {why}; expected a game of"):
        train(name, games=300)


def test_nothing_but_a_model_of_the_game_is_written_over(tmp_path: Path) -> None:
    sheet, folder, other = tmp_path / "race.kif", tmp_path, tmp_path / "other.npz"
    sheet.write_text(RACE)
    train("tic_tac_toe", games=100, into=other)
    for path, why in (
        (sheet, "is not a valid 'anygame model 2' file"),
        (folder, "directory"),
        (other, "does not fit the rules of"),
    ):
        with pytest.raises(ModelError, match=f"cannot replace the file {path}: .*{why}"):
            train(str(sheet), games=100, into=path)
    assert sheet.read_text() == RACE
    assert {path.suffix for path in tmp_path.iterdir()} == {".kif", ".npz", ".learning"}
    train("tic_tac_toe", games=110, into=other)
    assert load_model(other).figures.games >= 110


def test_invalid_arguments_raise_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="expected a number of seconds or games"):
        train("tic_tac_toe")
    with pytest.raises(ValueError, match="expected 1 to 256 threads, got 0"):
        train("tic_tac_toe", games=300, threads=0)
    with pytest.raises(ModelError, match=r"can be resumed; if the rules have changed, start a new training"):
        train("tic_tac_toe", games=300, resume=True)
    monkeypatch.setenv("ANYGAME_MODELS", "")
    with pytest.raises(ModelError, match="name a file for the model"):
        train("tic_tac_toe", games=300)
    assert anygame.train is train


def test_a_training_on_a_board_has_windows_and_its_model_is_used() -> None:
    game = anygame.loads(RACE)
    whole = train(game, games=600, seed=1, into=_path(game).with_name("whole.npz"))
    train(game, games=300, seed=1)
    resumed = train(game, games=600, resume=True)
    assert resumed.has_windows
    assert (resumed.weights == whole.weights).all()
    used = replace(resumed, figures=replace(resumed.figures, trust=1.0))
    search = Search(game, model=used, seed=1)
    assert search.no_model is None
    assert search.run(iterations=500).moves


def test_a_training_on_a_small_board_has_no_windows_and_more_units() -> None:
    model = train("tic_tac_toe", games=300, seed=1)
    assert not model.has_windows
    assert model.weights.shape[1] == MANY_UNITS


def test_a_long_training_has_more_units_and_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anygame.search.learning.learner._LONG_TRAINING", 1.0)
    short = train("hex_pie", seconds=0.5, into=tmp_path / "short.npz")
    long = train("hex_pie", seconds=1.0, into=tmp_path / "long.npz")
    assert short.weights.shape == (len(long.weights), UNITS)
    assert long.weights.shape[1] == MANY_UNITS
    longer = train("hex_pie", games=long.figures.games + 100, into=tmp_path / "long.npz", resume=True)
    assert longer.figures.games > long.figures.games
    assert longer.weights.shape == long.weights.shape
