"""Plots: what is on the axes, on which ones, and what is said where there is no library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

import anygame
from anygame import plotting
from anygame.tournament import Result, standings
from tests.cli.transcripts import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

matplotlib = pytest.importorskip("matplotlib")
GAME = anygame.load("tic_tac_toe")
#: Many goals, and one beyond all floats.
LOTTERY = anygame.loads(
    "(role me) " + " ".join(f"(legal me {n})" for n in range(40)) + "(<= (next (drew ?n)) (does me ?n))"
    f"(<= terminal (true (drew ?n))) (<= (goal me ?n) (true (drew ?n)) (distinct ?n 0))"
    f"(<= (goal me {10**400}) (true (drew 0)))",
    machine="reasoner",
)


@pytest.fixture(autouse=True)
def _without_a_screen() -> Iterator[None]:
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def _labels(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_a_simulation_shows_the_share_of_each_goal() -> None:
    result = GAME.simulate(1000, seed=1)
    ax: Any = result.plot()
    heights = [bar.get_height() for bar in ax.patches]
    goals = sorted({*result.goal_counts["x"], *result.goal_counts["o"]})
    assert heights == [result.goal_counts[role].get(goal, 0) / 10 for role in ("x", "o") for goal in goals]
    assert [label.get_text() for label in ax.get_xticklabels()] == list(map(str, goals))
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [each.split(":")[0] for each in told] == ["x", "o"]


def test_many_or_huge_goals_are_plotted_as_a_line() -> None:
    ax = LOTTERY.simulate(400, seed=1).plot()
    assert not ax.patches
    assert len(ax.lines) == 1
    ax.figure.canvas.draw()
    assert not GAME.simulate(0).plot().patches


def test_an_analysis_shows_the_best_move_on_top() -> None:
    found = anygame.analyse(GAME, iterations=500, seed=1)
    ax = found.plot()
    best = found.moves[GAME.roles[0]][0]
    assert _labels(ax)[0] == f"{best.move}, {best.visits:,} visits"
    assert len(ax.patches) == 9
    assert ax.yaxis_inverted()
    assert len(found.plot(role="o").patches) == 1
    with pytest.raises(KeyError, match="nobody"):
        found.plot(role="nobody")


@pytest.mark.parametrize("rated", [True, False])
def test_standings_name_the_best_player_on_top(rated: bool) -> None:
    if rated:
        pytest.importorskip("openskill")
    results = [Result(n, "s", ("a", "b"), (10, 90), (0, 0), "") for n in range(3)]
    found = standings("ab", results, rated=rated)
    ax = found.plot()
    assert _labels(ax) == ["b", "a"]
    assert ax.get_xlabel().startswith("rating" if rated else "mean goal")
    assert "<td>b</td>" in found._repr_html_()


def test_axes_that_are_given_are_drawn_on_and_returned() -> None:
    from matplotlib import pyplot

    _, (left, right) = pyplot.subplots(1, 2)
    assert GAME.simulate(10, seed=1).plot(left) is left
    assert anygame.analyse(GAME, iterations=100, seed=1).plot(ax=right) is right
    assert left.has_data()
    assert right.has_data()
    assert len(pyplot.get_fignums()) == 1


def test_a_plot_without_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = GAME.simulate(10, seed=1)
    for name in ("matplotlib", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(anygame.MissingExtraError, match=r"pip install 'anygame\[plot\]'") as missing:
        result.plot()
    assert missing.value.extra == "plot"
    with pytest.raises(anygame.MissingExtraError), plotting.image(tmp_path / "p.png"):
        pass


@pytest.mark.parametrize(
    "command",
    [["simulate", "--playouts", "100"], ["analyse", "--iterations", "300"]],
    ids=lambda each: each[0],
)
def test_commands_draw(tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "p.svg"
    name, *rest = command
    for sheet in ("tic_tac_toe", "rock_paper_scissors") if name == "analyse" else ("tic_tac_toe",):
        if sheet not in anygame.games():
            continue
        output, status = run([name, sheet, *rest, "--seed", "1", "--plot", str(path)])
        assert status == 0, output
        assert "<svg" in path.read_text()
    output, status = run([name, "tic_tac_toe", *rest, "--plot", str(tmp_path / "none" / "p.svg")])
    assert status != 0


def test_a_terminal_state_has_no_plot(tmp_path: Path) -> None:
    sheet = tmp_path / "over.kif"
    sheet.write_text("(role me) (legal me go) (init over) (<= terminal (true over)) (goal me 1)")
    output, status = run(["analyse", str(sheet), "--plot", str(tmp_path / "p.svg")])
    assert status in (0, 2)
    assert "Traceback" not in output
