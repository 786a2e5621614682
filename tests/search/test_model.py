"""Models in files: found by the rules, refused where they are damaged or of something else."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.search.models import POINT, model_of, saved_model

import anygame
from anygame.errors import ModelError
from anygame.players import make_player
from anygame.players.player import Clock
from anygame.search import Search, load_model, models
from anygame.search.array_file import write_arrays
from anygame.search.evaluation.network import first_weights
from anygame.search.model import PACKAGED, find_model, model_name
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.game.game import Game


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANYGAME_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("anygame.search.model.PACKAGED", tmp_path / "package")
    return tmp_path / "models"


def test_a_model_is_read_as_it_was_written_and_found_by_its_rules(folder: Path) -> None:
    game = anygame.load("tic_tac_toe")
    assert find_model(game) is None
    assert models() == {}
    path = saved_model(game)
    found, model = find_model(game), model_of(game)
    assert found is not None
    assert (found.figures, found.fluents) == (model.figures, model.fluents)
    assert (found.weights == model.weights).all()
    assert models() == {path: model.figures}
    assert path.parent == folder
    assert find_model(anygame.load("connect_four")) is None


def test_a_model_of_the_package_is_used_until_a_model_of_the_user_wins_its_trial(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = anygame.load("tic_tac_toe")
    packaged = replace(model_of(game), weights=model_of(game).weights.astype(np.float16))
    packaged.save(folder.with_name("package") / model_name(game))
    found = find_model(game)
    assert found is not None
    assert found.weights.dtype == np.float32
    assert (found.weights == packaged.weights).all()
    saved_model(game, trust=0.0)
    assert find_model(game).figures.trust == 0.6  # type: ignore[union-attr]
    path = saved_model(game, trust=0.3)
    assert find_model(game).figures.trust == 0.3  # type: ignore[union-attr]
    assert list(models()) == [path, folder.with_name("package") / path.name]
    monkeypatch.setenv("ANYGAME_MODELS", "")
    assert find_model(game) is None
    assert models() == {}


def test_searches_can_use_the_models_of_the_package() -> None:
    sheets = {model_name(game): game for game in map(anygame.load, anygame.games())}
    paths = sorted(PACKAGED.iterdir())
    assert paths
    assert sum(path.stat().st_size for path in paths) < 3_000_000
    for path in paths:
        model = load_model(path, sheets[path.name])
        assert model.figures.is_used
        assert Search(sheets[path.name], model=model, memory=1 << 24).no_model is None


def test_a_model_of_other_rules_is_refused(folder: Path) -> None:
    game, other = anygame.load("tic_tac_toe"), anygame.load("connect_four")
    with pytest.raises(anygame.ModelError, match="'tic_tac_toe' does not fit the rules of connect_four"):
        load_model(saved_model(game), other)
    with pytest.raises(anygame.ModelError, match="does not fit the rules"):
        Search(other, model=model_of(game))
    search = Search(game, model=replace(model_of(game), fluents=("other",)), seed=1)
    before = Search(game, seed=1).run(iterations=500).moves
    assert search.run(iterations=500).moves == before
    assert "cannot use the inputs" in str(search.no_model)


def test_searches_use_a_model_if_its_trial_spoke_for_it() -> None:
    game = anygame.load("connect_four")
    without = Search(game, seed=1).run(iterations=2000).moves
    assert Search(game, seed=1, model=model_of(game, 0.0)).run(iterations=2000).moves == without
    assert Search(game, seed=1, model=model_of(game, 0.6)).run(iterations=2000).moves != without


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_damaged_file_is_refused_wherever_it_ends(folder: Path, share: float) -> None:
    path = saved_model(anygame.load("tic_tac_toe"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(anygame.ModelError, match="is not a valid 'anygame model 2' file"):
        load_model(path)
    (found,) = models().values()
    assert isinstance(found, anygame.ModelError)


def test_a_changed_byte_of_the_weights_is_found(folder: Path) -> None:
    game = anygame.load("tic_tac_toe")
    path, model = saved_model(game), model_of(game)
    content = bytearray(path.read_bytes())
    content[content.index(model.weights.tobytes()) + 100] ^= 1
    path.write_bytes(content)
    with pytest.raises(anygame.ModelError, match="damaged"):
        load_model(path)


@pytest.mark.parametrize(
    "history",
    [
        "none",
        [POINT] * 65,
        [asdict(POINT) | {"interval": [0.4]}],
        [asdict(POINT) | {"games": -1}],
        [asdict(POINT) | {"error": "small"}],
        [asdict(POINT) | {"interval": [0.4, "1"]}],
        [7],
    ],
)
def test_a_history_without_figures_is_refused(tmp_path: Path, history: object) -> None:
    header = {"format": "anygame model 2", "fluents": [], "history": history}
    header = json.loads(json.dumps(header, default=asdict))
    write_arrays(tmp_path / "some.npz", header, {"weights": np.zeros((2, 2), np.float32)})
    with pytest.raises(
        anygame.ModelError, match="an entry of the training history has missing or invalid figures"
    ):
        load_model(tmp_path / "some.npz")


def test_a_history_is_shown_as_a_table_and_drawn() -> None:
    model = model_of(anygame.load("tic_tac_toe"))
    html = model._repr_html_()
    assert "<caption>tic_tac_toe: 500 games; 5.5 points in 6" in html
    assert "75 %" in html
    assert "47 to 91" in html
    pytest.importorskip("matplotlib")
    ax = model.figures.plot()
    (line,) = [each for each in ax.get_lines() if each.get_label() == "error"]
    assert [*map(float, line.get_xydata()[0])] == [1000.0, 0.2]  # type: ignore[index, arg-type]


def test_other_files_are_refused_and_no_pickle_is_read(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    with pytest.raises(anygame.ModelError, match="No such file"):
        load_model(path)
    write_arrays(path, {"format": "anygame learning 4"}, {})
    with pytest.raises(anygame.ModelError, match="model 2' file: the format is 'anygame learning 4'"):
        load_model(path)
    np.savez(path, some=np.zeros(3))
    with pytest.raises(anygame.ModelError, match="the header is missing"):
        load_model(path)
    np.savez(path, header=np.array([{"format": "anygame model 2"}], object))
    with pytest.raises(anygame.ModelError, match="pickle"):
        load_model(path)


def test_weights_that_are_no_numbers_and_figures_that_say_nothing_are_refused(tmp_path: Path) -> None:
    model, path = model_of(anygame.load("tic_tac_toe")), tmp_path / "model.npz"
    replace(model, weights=np.full_like(model.weights, np.nan)).save(path)
    with pytest.raises(anygame.ModelError, match="missing or invalid"):
        load_model(path)
    replace(model, figures=replace(model.figures, trust=2.0)).save(path)
    with pytest.raises(anygame.ModelError, match="trust is 2"):
        load_model(path)
    replace(model, figures=replace(model.figures, games=-1)).save(path)
    with pytest.raises(anygame.ModelError, match="games is missing or invalid"):
        load_model(path)


def _said(game: Game, spec: str) -> str:
    """Return what a player says of a start clock, and that it moves."""
    player = make_player(spec, seed=1)
    player.begin(game, game.roles[0], Clock.of(0.3))
    assert player.move(game.initial_state(), Clock.of(0.3)) in game.initial_state().legal_moves(game.roles[0])
    return "; ".join(player.take_said())


def test_a_player_uses_the_model_and_names_it(folder: Path) -> None:
    game = anygame.load("connect_four")
    path = saved_model(game)
    used = (
        "model of connect_four: 500 games; 5.5 points in 6 trial matches with up to 2,000 leaves a move: used"
    )
    assert _said(game, "mcts") == used
    assert _said(game, "mcts:model=yes,iterations=50") == used
    assert _said(game, f"mcts:model={path},iterations=50") == used
    assert _said(game, "mcts:model=no") == ""
    assert _said(game, "mcts:iterations=50") == ""


def test_a_player_plays_without_an_unusable_model(folder: Path) -> None:
    game = anygame.load("connect_four")
    path = saved_model(game)
    path.write_bytes(b"something else")
    assert "damaged" in _said(game, "mcts")
    assert _said(game, "mcts").endswith("playing without it")
    with pytest.raises(anygame.PlayerError, match="there is no file"):
        make_player("mcts:model=nothing.npz")


@pytest.mark.parametrize(("more", "units"), [(1, 32), (0, 24), (0, 1024)])
def test_weights_of_another_shape_are_refused(more: int, units: int) -> None:
    game = anygame.load("tic_tac_toe")
    searcher = TreeSearcher(game, seed=1, memory=1 << 22)
    weights = first_weights(searcher.shape._replace(patterns=searcher.shape.patterns + more), units, 1)
    with pytest.raises(ModelError, match="cannot use the inputs"):
        replace(model_of(game), weights=weights).use_in(searcher)


def test_hidden_layers_may_be_larger_than_those_of_practice() -> None:
    game = anygame.load("tic_tac_toe")
    searcher = TreeSearcher(game, seed=1, memory=1 << 22)
    weights = first_weights(searcher.shape, 128, 1)
    replace(model_of(game, trust=1.0), weights=weights).use_in(searcher)
    searcher.begin(game.initial_state())
    assert searcher.advance(60, 500) > 0
