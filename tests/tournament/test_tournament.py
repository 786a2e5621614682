"""Tournaments: who meets whom, and that nothing is lost or played twice."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests.match.games import COUNTDOWN, DICE, STUCK, Illegal, Witness

import anygame
from anygame.errors import PlayerError, RecordError
from anygame.match import LocalSeat, Terms, Turn, Watcher, replay
from anygame.players import make_player
from anygame.tournament import Result, Store, Tournament, schedule, standings
from anygame.tournament.standings import Estimate, plot_standings

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.match import Seat

GAMES = {"count": anygame.loads(COUNTDOWN), "dice": anygame.loads(DICE)}
PLAYERS = {"a": "random", "b": "legal", "c": "random"}
TERMS = Terms(5, 5, seed=3)


def _seat(player: tuple[str, str], seed: int) -> Seat:
    return LocalSeat(make_player(player[1], seed=seed), name=player[0])


def _play(path: Path, *, rounds: int = 1, watcher: Watcher | None = None) -> int:
    """Play what is left of a tournament; return how many matches that was."""
    with Store(path) as store:
        event = Tournament(GAMES, PLAYERS, store, TERMS, _seat)
        left = [meeting for meeting in event.meetings(rounds) if not store.is_over(meeting)]

        async def play() -> None:
            for meeting in left:
                await event.play(meeting, watcher)

        asyncio.run(play())
        return len(left)


def test_everybody_meets_everybody_in_every_role() -> None:
    meetings = schedule(GAMES, list(PLAYERS), 2)
    assert len(meetings) == len({meeting.key for meeting in meetings}) == 2 * (6 + 3)
    seats = Counter((name, place) for meeting in meetings for place, name in enumerate(meeting.players))
    assert {count for (_, place), count in seats.items() if place} == {4}
    assert [meeting.round for meeting in meetings] == [1] * 9 + [2] * 9


def test_three_roles_are_taken_in_turn() -> None:
    game = anygame.loads("(role a) (role b) (role c) (legal a x) (legal b x) (legal c x)")
    found = ["".join(meeting.players) for meeting in schedule({"g": game}, "pqrs", 1)]
    assert found[:3] == ["pqr", "rpq", "qrp"]
    assert len(found) == 12
    with pytest.raises(PlayerError, match="g needs a player for each of 3 roles, but there are 2 players"):
        schedule({"g": game}, "pq", 1)


def test_a_tournament_is_played_once(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    assert _play(path) == 9
    assert _play(path) == 0
    assert _play(path, rounds=2) == 9
    with Store(path) as store:
        results = store.results()
    assert len(results) == 18
    assert all(result.goals is not None for result in results)
    assert {len(result.players) for result in results if result.sheet == "dice"} == {1}


class _Stopping(Watcher):
    """Ends the process's work after some turns, as Ctrl-C or a crash does."""

    def __init__(self, turns: int, error: type[BaseException]) -> None:
        self.turns = turns
        self.error = error

    def moved(self, turn: Turn) -> None:
        self.turns -= 1
        if self.turns < 0:
            raise self.error


@pytest.mark.slow
@pytest.mark.parametrize("turns", [0, 1, 4, 11])
@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError])
def test_an_interrupted_tournament_continues(tmp_path: Path, turns: int, error: type[BaseException]) -> None:
    whole, parts = tmp_path / "whole.sqlite", tmp_path / "parts.sqlite"
    _play(whole)
    with pytest.raises(error):
        _play(parts, watcher=_Stopping(turns, error))
    _play(parts)
    with Store(whole) as one, Store(parts) as other:
        assert [(r.sheet, r.players) for r in one.results()] == [
            (r.sheet, r.players) for r in other.results()
        ]
        resumed = 0
        for meeting in schedule(GAMES, list(PLAYERS), 1):
            record = other.record(meeting)
            assert record is not None
            assert record.is_completed
            assert replay(record).faults == ()
            resumed += bool(record.own.get("resumed"))
    assert resumed == 1


def test_another_tournament_needs_another_store(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    _play(path)
    with Store(path) as store:
        with pytest.raises(RecordError, match="clocks is '5 and 5 s', not '9 and 5 s'"):
            Tournament(GAMES, PLAYERS, store, Terms(9, 5), _seat)
        with pytest.raises(RecordError, match="player b is 'legal', not 'random'"):
            Tournament(GAMES, PLAYERS | {"b": "random"}, store, TERMS, _seat)
        with pytest.raises(RecordError, match="rules of count is"):
            Tournament(GAMES | {"count": anygame.loads(STUCK)}, PLAYERS, store, TERMS, _seat)
        Tournament(GAMES, PLAYERS | {"d": "random"}, store, TERMS, _seat)


def test_a_file_that_is_not_a_store_raises_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    path.write_text("not a data base at all, but long enough to be taken for something" * 20)
    with pytest.raises(RecordError, match="as the store of a tournament"):
        Store(path)
    with pytest.raises(RecordError, match="as the store of a tournament"):
        Store(tmp_path)
    other = tmp_path / "o.sqlite"
    base = sqlite3.connect(other)
    base.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT)")
    base.execute("INSERT INTO facts VALUES ('format', 'recipes')")
    base.commit()
    base.close()
    with pytest.raises(RecordError, match="format is 'recipes'"):
        Store(other)


def test_a_match_with_wrong_rules_is_given_up_once(tmp_path: Path) -> None:
    with Store(tmp_path / "t.sqlite") as store:
        event = Tournament({"stuck": anygame.loads(STUCK)}, PLAYERS, store, TERMS, _seat)
        meeting = event.meetings(1)[0]
        asyncio.run(event.play(meeting))
        assert store.is_over(meeting)
        (result,) = store.results()
    assert result.goals is None
    assert "no legal move" in result.fault


def test_replaced_replies_are_counted(tmp_path: Path) -> None:
    def seat(player: tuple[str, str], seed: int) -> Seat:
        return LocalSeat(Illegal() if player[0] == "b" else Witness(), name=player[0])

    with Store(tmp_path / "t.sqlite") as store:
        event = Tournament({"count": GAMES["count"]}, {"a": "w", "b": "i"}, store, TERMS, seat)
        for meeting in event.meetings(1):
            asyncio.run(event.play(meeting))
        found = {standing.name: standing.errors for standing in standings("ab", store.results(), rated=False)}
    assert found == {"a": 0, "b": 6}


def _result(players: str, goals: tuple[int, ...] | None, number: int = 1) -> Result:
    return Result(number, "g", tuple(players), goals, (0,) * len(players), "" if goals else "wrong")


def test_the_winner_gets_the_higher_rating() -> None:
    results = [_result("ab", (100, 0)), _result("ba", (0, 100)), _result("bc", (50, 50)), _result("ca", None)]
    found = standings("abcd", results)
    assert found[0].name == "a"
    mus = {standing.name: standing.mu or 0 for standing in found}
    assert mus["a"] > mus["d"] > mus["b"]
    by_name = {standing.name: standing for standing in found}
    assert by_name["a"].estimate is not None
    assert (by_name["a"].estimate.mean, by_name["a"].estimate.count) == (100, 2)
    assert by_name["d"].estimate is None
    assert by_name["b"].by_sheet == {"g": pytest.approx(50 / 3)}


def test_games_for_one_are_compared_within_a_round() -> None:
    results = [_result("a", (90,)), _result("b", (10,)), _result("a", (80,), 2), _result("b", (20,), 2)]
    first, second = standings("ab", results)
    assert (first.name, second.name) == ("a", "b")
    assert (first.rating or 0) > (second.rating or 0)


def test_without_ratings_players_are_sorted_by_mean() -> None:
    found = standings("ab", [_result("ab", (10, 90))], rated=False)
    assert [(standing.name, standing.rating) for standing in found] == [("b", None), ("a", None)]


@pytest.mark.parametrize(
    ("goals", "expected"),
    [
        ([100], "100.0 (too few)"),
        ([100, 100], "100.0 (too few)"),
        ([100, 0], "50.0 (too few)"),
        ([0, 100, 100], "66.7 (too few)"),
        ([0, 100, 100, 0], "50.0 ± 91.9"),
    ],
)
def test_a_few_goals_have_no_interval(goals: list[int], expected: str) -> None:
    assert str(Estimate.of(goals)) == expected


@pytest.mark.parametrize("rated", [True, False])
def test_standings_are_drawn(tmp_path: Path, rated: bool) -> None:
    pytest.importorskip("matplotlib")
    found = standings("abc", [_result("ab", (10, 90)), _result("ab", (20, 90))], rated=rated)
    plot_standings(found, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    plot_standings(found, tmp_path / "p.svg")
    with pytest.raises(RecordError, match="cannot draw"):
        plot_standings(found, tmp_path / "p.nothing")
    with pytest.raises(RecordError, match="cannot draw"):
        plot_standings(found, tmp_path / "none" / "p.png")


@pytest.mark.parametrize("rated", [True, False])
def test_goals_may_be_larger_than_any_float(tmp_path: Path, rated: bool) -> None:
    huge = 10**309
    results = [_result("ab", (huge, huge + 1)), _result("ba", (3 * huge, -huge)), _result("a", (0,), 2)]
    found = standings("ab", results, rated=rated)
    assert (found[0].name, str(found[0].estimate)) == ("b", "1.8e+308 (too few)")
    plot_standings(found, tmp_path / "p.png")


def test_a_game_with_a_huge_goal_is_played_once_and_read_again(tmp_path: Path) -> None:
    game = anygame.loads(
        f"(role a) (legal a go) (<= (next x) (does a go)) (<= terminal (true x)) (goal a 1{'0' * 309})"
    )
    for _ in range(2):
        with Store(tmp_path / "t.sqlite") as store:
            event = Tournament({"huge": game}, {"p": "legal"}, store, TERMS, _seat)
            (meeting,) = event.meetings(1)
            if not store.is_over(meeting):
                asyncio.run(event.play(meeting))
            record = store.record(meeting)
            assert record is not None
            assert record.goals == [10**309]
            assert standings("p", store.results())[0].estimate is not None


_JUNK: tuple[Any, ...] = (
    "", "x", "{", "[1]", "[]", "[[1]]", "[true]", "[1.5]", '["a"]', '["a", "b", "c"]', '{"a": 1}',
    "[" * 100_000, "[1e999, 2]", "null", -1, 1.5, 10**15, b"\xff\x00", b"[1, 2]",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "column", ["key", "round", "sheet", "players", "record", "is_over", "goals", "errors", "fault"]
)
@pytest.mark.parametrize("is_over", [True, False])
def test_damaged_rows_are_record_errors(tmp_path: Path, column: str, is_over: bool) -> None:
    path = tmp_path / "t.sqlite"
    game = {"count": GAMES["count"]}
    players = {"a": "legal", "b": "legal"}

    async def play_what_is_left(event: Tournament) -> None:
        for meeting in event.meetings(1):
            if not event.store.is_over(meeting):
                await event.play(meeting)

    with Store(path) as store:
        asyncio.run(play_what_is_left(Tournament(game, players, store, TERMS, _seat)))
    sound = path.read_bytes()
    refused = 0
    for junk in _JUNK:
        path.write_bytes(sound)
        base = sqlite3.connect(path)
        with base:
            base.execute(
                f"UPDATE matches SET is_over = {is_over:d}, {column} = ? WHERE players LIKE '[\"a%'", (junk,)
            )
        base.close()
        with Store(path) as store:
            event = Tournament(game, players, store, TERMS, _seat)
            try:
                asyncio.run(play_what_is_left(event))
                standings(list(players), store.results())
                for meeting in event.meetings(1):
                    store.record(meeting)
            except RecordError:
                refused += 1
    # What is not over is played again whatever its other columns say; any text is a fault.
    assert refused or column in ("is_over", "fault") or not is_over


@pytest.mark.parametrize(
    "change",
    [
        {"goalValues": [100]}, {"goalValues": [1, 2]}, {"errors": [[""]] * 4}, {"moves": [["go", "go"]] * 3},
        {"states": ["( )"] * 4}, {"states": ["("] * 4}, {"stateTimes": []},
        {"anygame": {"resumed": 7, "seed": "x"}},
        {"anygame": {"reasons": 7}}, {"goalValues": None}, {"isCompleted": False, "errors": []},
    ],
    ids=str,
)  # fmt: skip
def test_damaged_records_of_a_store_are_record_errors(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "t.sqlite"
    with Store(path) as store:
        event = Tournament({"count": GAMES["count"]}, {"a": "legal", "b": "legal"}, store, TERMS, _seat)
        meeting = event.meetings(1)[0]
        record = asyncio.run(event.play(meeting)).to_json()
    base = sqlite3.connect(path)
    with base:
        base.execute("UPDATE matches SET is_over = 0, record = ?", (json.dumps(record | change),))
    base.close()
    with Store(path) as store:
        event = Tournament({"count": GAMES["count"]}, {"a": "legal", "b": "legal"}, store, TERMS, _seat)
        with suppress(RecordError):
            asyncio.run(event.play(meeting))
            assert len(store.results()) == 1


def test_an_unusable_store_raises_an_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=f"there is no folder {tmp_path}/none"):
        Store(tmp_path / "none" / "store")
    with pytest.raises(
        RecordError, match=r"expected a file or postgresql://.*, found mysql://me:\.\.\.@host/x"
    ):
        Store("mysql://me:secret@host/x")
