"""Progress in notebooks: what is shown below a cell, when, and that it goes."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

import anygame
from anygame import progress

IPython = pytest.importorskip("IPython")


class Cell:
    """What stands below the cell of a notebook, one text after another."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> Cell:
        assert raw
        assert display_id
        assert not self.shown or not self.shown[-1], "the place is made once"
        self.shown.append(data["text/html"])
        return self

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(data["text/html"])


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    cell = Cell()
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr(IPython.display, "display", cell.display)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_BETWEEN", 0.0)
    return cell


def test_it_is_shown_while_something_is_done_and_goes(cell: Cell) -> None:
    with progress.reporting(None, progress.progress_bar("things")) as report:
        assert report is not None
        report(0, 10)
        report(5, 10)
    first, second, last = cell.shown
    assert first == '<progress max="10" value="0"></progress> things: 0 of 10'
    assert second.startswith('<progress max="10" value="5"></progress> things: 5 of 10, ')
    assert second.endswith(" s left")
    assert last == ""


def test_it_goes_when_an_error_ends_it(cell: Cell) -> None:
    with pytest.raises(KeyboardInterrupt), progress.reporting(None, str) as report:  # noqa: PT012
        assert report is not None
        report("at work")
        raise KeyboardInterrupt
    assert cell.shown == ["at work", ""]


def test_quick_calls_show_no_progress(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 1e6)
    with progress.reporting(None, str) as report:
        assert report is not None
        report("at work")
    assert cell.shown == []


def test_only_the_function_of_the_caller_receives_progress(cell: Cell) -> None:
    told: list[int] = []
    with progress.reporting(told.append, str) as report:
        assert report is not None
        report(1)
    assert (told, cell.shown) == ([1], [])


def test_threads_beside_the_cell_show_nothing(cell: Cell) -> None:
    found: list[Any] = []

    def work() -> None:
        with progress.reporting(None, str) as report:
            found.append(report)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [None]


def test_nothing_is_shown_outside_of_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in (None, SimpleNamespace()):
        monkeypatch.setattr(IPython, "get_ipython", lambda shell=shell: shell)
        with progress.reporting(None, str) as report:
            assert report is None


def test_long_work_reports_by_itself(cell: Cell) -> None:
    game = anygame.load("tic_tac_toe")
    game.simulate(200_000, seed=1)
    told = "\n".join(cell.shown)
    assert "compiling: " in told or game.has_cached_code
    assert "random matches: " in told
    for asked, words in (
        (lambda: anygame.perft_divide(game, 4), "first moves: 9 of 9"),
        (lambda: anygame.solve(game), "exploring states: "),
        (lambda: anygame.analyse(game, iterations=20_000, seed=1, seconds=1), "<table>"),
    ):
        cell.shown.clear()
        # The place is made anew for each.
        asked()
        assert any(words in each for each in cell.shown) or words == "<table>", words
        assert not cell.shown or cell.shown[-1] == ""
