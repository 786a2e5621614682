from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tools.strength import Outcome, Plan, main, play, row

from anygame.match import run

if TYPE_CHECKING:
    from anygame.match import Record

SHEETS = Path(__file__).parents[2] / "gdl"


def test_a_row_counts_matches() -> None:
    outcomes = [
        Outcome(100, (0, 0), 5, (1, 0)),
        Outcome(50, (50, 0), 7, (0, 4)),
        Outcome(0, (100, 0), 9, (2, 1)),
    ]
    assert row("gdl/some.kif", outcomes) == (
        "some",
        "3",
        "50.0 (too few)",
        "25.0",
        "1",
        "1",
        "1",
        "7",
        "3, 5",
    )
    assert row("s", [Outcome(30, (), 4, (0, 0))]) == (
        "s",
        "1",
        "30.0 (too few)",
        "",
        "0",
        "0",
        "0",
        "4",
        "0, 0",
    )


def test_matches_are_played_on_each_sheet(capsys: pytest.CaptureFixture[str]) -> None:
    sheets = [str(SHEETS / "rock_paper_scissors.kif"), str(SHEETS / "lights_out.kif")]
    assert (
        main([*sheets, "--player", "greedy", "--matches", "3", "--start-clock", "9", "--play-clock", "9"])
        == 0
    )
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "sheet"
    assert [line.split()[:2] for line in rows] == [["rock_paper_scissors", "3"], ["lights_out", "3"]]


def test_each_opening_is_played_in_all_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def recording(*arguments: Any, **options: Any) -> Record:
        record = run(*arguments, **options)
        begun.append((record.names, record.moves[:4], record.moves[4]))
        return record

    monkeypatch.setattr("tools.strength.run", recording)
    for number in range(6):
        play(Plan(str(SHEETS / "connect_four.kif"), number, "legal", "greedy", 4, 9, 9))
    names, openings, after = zip(*begun, strict=True)
    assert names[:2] == (["LegalPlayer", "GreedyPlayer"], ["GreedyPlayer", "LegalPlayer"])
    assert openings[0::2] == openings[1::2]
    assert len({str(opening) for opening in openings}) == 3
    assert {moves[0] for moves in after[0::2]} == {"( drop 1 )"}


def test_matches_with_wrong_rules_do_not_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet = tmp_path / "stuck.kif"
    sheet.write_text("(role a) (init (s 1)) (<= (legal a go) (true (s 1))) (<= terminal (true (s 9)))")
    assert main([str(sheet), "--player", "legal", "--matches", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["stuck", "0"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "cannot read nosuch"),
        (["pig", "--against", "nobody"], "there is no player 'nobody'"),
        (["pig", "--opening", "-1"], "expected a whole number from 1 to 10000, found -1"),
    ],
)
def test_wrong_arguments_are_reported(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
