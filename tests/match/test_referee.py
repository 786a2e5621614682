"""The referee: whatever players do, the match goes on by the rules and is recorded as it was."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import pytest
from tests.match import games

import anygame
from anygame.errors import PlayerError, RecordError
from anygame.match import Record, Referee, Terms, Turn, Watcher, replay, resume, run
from anygame.match.record import parse_record
from anygame.match.running import keeper, new_record, seated
from anygame.match.seats import MatchInfo, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.language.terms import Term
    from anygame.players import Player


@dataclass
class Scripted:
    """A seat that says what it is told to say, and keeps what it is told."""

    replies: Sequence[Reply | Exception] = ()
    name: str = "scripted"
    told: list[tuple[str, str, object]] = field(default_factory=list)
    info: MatchInfo | None = None

    async def start(self, match: MatchInfo) -> Reply:
        self.info = match
        self.told.append(("START", match.match_id, str(match.role)))
        return Reply("ready")

    async def play(self, match_id: str, joint: tuple[Term, ...] | None, clock: float) -> Reply:
        turn = sum(what == "PLAY" for what, _, _ in self.told)
        self.told.append(("PLAY", match_id, joint and " ".join(map(str, joint))))
        reply = self.replies[turn] if turn < len(self.replies) else Reply("(say yes)")
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def stop(self, match_id: str, joint: tuple[Term, ...] | None) -> None:
        self.told.append(("STOP", match_id, joint and " ".join(map(str, joint))))

    async def abort(self, match_id: str) -> None:
        self.told.append(("ABORT", match_id, None))

    async def close(self) -> None:
        self.told.append(("close", "", None))


def _lead(rules: str, seats: Sequence[Scripted], *, watcher: Watcher | None = None) -> Record:
    game = anygame.loads(rules)
    terms = Terms(5, 5, seed=7)
    order = seated(game, seats)
    record = new_record(game, order, terms, match_id="m")
    return asyncio.run(Referee(game, order, record, watcher=watcher).play())


def test_messages_follow_the_protocol() -> None:
    seat = Scripted()
    record = _lead(games.COUNTDOWN, [seat, Scripted([Reply("(say no)")] * 3)])
    joint = "(say yes) (say no)"
    assert seat.told == [
        ("START", "m", "a"),
        ("PLAY", "m", None),
        ("PLAY", "m", joint),
        ("PLAY", "m", joint),
        ("STOP", "m", joint),
    ]
    assert record.moves == [["( say yes )", "( say no )"]] * 3
    assert record.goals == [100, 0]
    assert record.errors == [["", ""]] * 4
    assert (record.is_completed, record.is_aborted) == (True, False)
    assert replay(record).faults == ()


def test_wrong_replies_are_recorded_and_replaced() -> None:
    wrong = [Reply(None, "TO"), Reply(None, "CE"), Reply('( say "maybe" )')]
    record = _lead(games.COUNTDOWN, [Scripted(wrong), Scripted([OSError("gone"), Reply(""), Reply("busy")])])
    assert record.errors == [["", ""], ["TO", "CE"], ["CE", "IL null"], ['IL ( say "maybe" )', "IL busy"]]
    assert record.is_completed
    assert replay(record).faults == ()
    assert parse_record(json.dumps(record.to_json())) == record


def test_the_replacement_move_does_not_depend_on_replies() -> None:
    late = _lead(games.COUNTDOWN, [Scripted([Reply(None, "TO")] * 3), Scripted()])
    bad = _lead(games.COUNTDOWN, [Scripted([Reply("fly")] * 3), Scripted([Reply("(say no)")] * 3)])
    assert [joint[0] for joint in late.moves] == [joint[0] for joint in bad.moves]


def test_replacement_moves_are_uniformly_random() -> None:
    game = anygame.loads(games.COUNTDOWN)
    drawn = {tuple(run(game, [games.Illegal(), games.Nothing()], seed=seed).moves[0]) for seed in range(60)}
    assert drawn == set(product(["( say no )", "( say yes )"], repeat=2))


def test_the_role_random_is_played_by_the_manager() -> None:
    seat = Scripted([Reply("(guess 2)")] * 2)
    record = _lead(games.DICE, [seat])
    assert record.names == ["random", "scripted"]
    assert [joint[1] for joint in record.moves] == ["( guess 2 )"] * 2
    assert {joint[0] for joint in record.moves} <= {f"( roll {n} )" for n in (1, 2, 3)}
    assert record.goals is not None
    assert record.goals[0] == 0
    assert replay(record).faults == ()


@pytest.mark.parametrize(
    ("rules", "players", "fault", "steps"),
    [(games.STUCK, 2, "no legal move", 1), (games.NO_GOAL, 1, "no goal", 1)],
)
def test_an_error_of_the_rules_ends_the_match_with_abort(
    rules: str, players: int, fault: str, steps: int
) -> None:
    seats = [Scripted([Reply("go")] * 3) for _ in range(players)]
    record = _lead(rules, seats)
    assert fault in record.own["fault"]
    assert (record.is_completed, record.is_aborted, record.goals) == (False, True, None)
    assert record.step == steps
    assert [seat.told[-1] for seat in seats] == [("ABORT", "m", None)] * players
    assert replay(record).faults == ()


def test_no_message_is_sent_if_the_rules_fail_at_once() -> None:
    seat = Scripted()
    record = _lead("(role a) (init (s 1)) (<= (legal a go) (true (s 2))) (<= terminal (true (s 2)))", [seat])
    assert seat.told == []
    assert "no legal move" in record.own["fault"]


class _Cancelling(Watcher):
    def __init__(self, step: int) -> None:
        self.step = step

    def moved(self, turn: Turn) -> None:
        if turn.step == self.step:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()


def _cancelled(record: Record, seats: Sequence[Scripted]) -> None:
    game = anygame.loads(games.COUNTDOWN)

    async def play() -> None:
        referee = Referee(game, seats, record, watcher=_Cancelling(1))
        await referee.play()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(play())


def test_a_cancelled_match_is_aborted_and_can_be_resumed() -> None:
    game = anygame.loads(games.COUNTDOWN)
    first = Scripted()
    record = new_record(game, [first, Scripted()], Terms(5, 5, seed=1), match_id="m")
    _cancelled(record, [first, Scripted()])
    assert first.told[-1] == ("ABORT", "m", None)
    assert (record.is_aborted, record.step) == (True, 1)

    kept: list[int] = []
    seats = [Scripted(), Scripted()]
    record = parse_record(json.dumps(record.to_json()))
    asyncio.run(resume(game, seats, record, keep=lambda found: kept.append(found.step)))
    assert [what for what, _, _ in seats[0].told] == ["ABORT", "START", "PLAY", "PLAY", "STOP"]
    assert seats[0].told[:3] == [("ABORT", "m", None), ("START", "m.1", "a"), ("PLAY", "m.1", None)]
    assert seats[0].info is not None
    assert "(left 2)" in str(seats[0].info.game.initial_state())
    assert kept[0] == 1
    assert kept[-1] == 3
    assert (record.match_id, record.is_completed, record.is_aborted) == ("m", True, False)
    assert record.own["resumed"] == [1]
    assert replay(record).faults == ()


def test_going_on_twice_uses_a_new_name_each_time() -> None:
    game = anygame.loads(games.COUNTDOWN)
    record = new_record(game, [Scripted(), Scripted()], Terms(5, 5, seed=1), match_id="m")
    _cancelled(record, [Scripted(), Scripted()])

    async def again(seats: Sequence[Scripted]) -> None:
        with pytest.raises(asyncio.CancelledError):
            await resume(game, seats, record, watcher=_Cancelling(2))

    asyncio.run(again([Scripted(), Scripted()]))
    seats = [Scripted(), Scripted()]
    asyncio.run(resume(game, seats, record))
    assert seats[0].told[:2] == [("ABORT", "m.1", None), ("START", "m.2", "a")]
    assert replay(record).faults == ()


def test_a_match_continues_if_no_player_answers() -> None:
    class Gone(Scripted):
        async def start(self, match: MatchInfo) -> Reply:
            raise OSError("gone")

        async def stop(self, match_id: str, joint: tuple[Term, ...] | None) -> None:
            raise OSError("gone")

        async def abort(self, match_id: str) -> None:
            raise OSError("gone")

    game = anygame.loads(games.COUNTDOWN)
    record = new_record(game, [Scripted(), Scripted()], Terms(5, 5, seed=1), match_id="m")
    _cancelled(record, [Scripted(), Scripted()])
    asyncio.run(resume(game, [Gone([OSError("gone")] * 3), Scripted()], record))
    assert record.is_completed
    assert [errors[0] for errors in record.errors] == ["", "", "CE", "CE"]
    assert replay(record).faults == ()


def test_a_completed_or_damaged_match_cannot_be_resumed() -> None:
    game = anygame.loads(games.COUNTDOWN)
    record = run(game, ["legal", "legal"], seed=1)
    with pytest.raises(RecordError, match="completed"):
        asyncio.run(resume(game, [Scripted(), Scripted()], record))
    record.is_completed = False
    record.moves[0][0] = "( fly )"
    with pytest.raises(RecordError, match="damaged"):
        asyncio.run(resume(game, [Scripted(), Scripted()], record))


@pytest.mark.parametrize("bad", [games.Raising, games.Nothing, games.Garbage, games.Illegal, games.Huge])
def test_no_player_of_this_process_can_spoil_a_match(bad: Callable[[], Player], tmp_path: object) -> None:
    game = anygame.loads(games.COUNTDOWN)
    path = f"{tmp_path}/r.json"
    record = run(game, [bad(), "legal"], start_clock=5, play_clock=5, seed=1, record=path)
    assert record.is_completed
    assert all(errors[0].startswith("IL ") for errors in record.errors[1:])
    assert all(errors[1] == "" for errors in record.errors)
    kept = anygame.match.read_record(path)
    assert kept == record
    assert replay(kept).faults == ()


def test_players_that_hang_are_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.match.local.PLAY_GRACE", 0.05)
    record = run(anygame.loads(games.COUNTDOWN), [games.Hanging(), "legal"], play_clock=0.05, seed=1)
    assert record.is_completed
    assert [errors[0] for errors in record.errors] == ["", "TO", "TO", "TO"]


def test_a_hanging_seat_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PLAY_GRACE", "REACH_CLOCK", "_SLACK"):
        monkeypatch.setattr(f"anygame.match.referee.{name}", 0.02)

    class Stuck(Scripted):
        async def play(self, match_id: str, joint: tuple[Term, ...] | None, clock: float) -> Reply:
            await asyncio.Event().wait()
            raise AssertionError

    game = anygame.loads(games.COUNTDOWN)
    seats = [Stuck(), Scripted()]
    record = new_record(game, seats, Terms(5, 0.02), match_id="m")
    asyncio.run(Referee(game, seats, record).play())
    assert [errors[0] for errors in record.errors] == ["", "TO", "TO", "TO"]


def test_the_record_is_kept_after_every_step(tmp_path: object) -> None:
    path = f"{tmp_path}/r.json"
    seen: list[int] = []

    class Reading(Watcher):
        def moved(self, turn: Turn) -> None:
            seen.append(anygame.match.read_record(path).step)

    run(anygame.loads(games.COUNTDOWN), ["legal", "random"], seed=1, record=path, watcher=Reading())
    assert seen == [1, 2, 3]


def test_the_same_seed_gives_the_same_match() -> None:
    game = anygame.loads(games.DICE)
    moves = [run(game, ["random"], seed=seed).moves for seed in (1, 1, 2, 3, 4)]
    assert moves[0] == moves[1]
    assert any(other != moves[0] for other in moves[2:])


def test_players_are_given_by_order_or_by_role() -> None:
    game = anygame.loads(games.COUNTDOWN)
    assert run(game, {"b": "random", "a": "legal"}, seed=1).names == ["LegalPlayer", "RandomPlayer"]
    with pytest.raises(PlayerError, match="missing players for b"):
        run(game, {"a": "legal"})
    with pytest.raises(PlayerError, match="expected 2 players, one for each of a, b; found 1"):
        run(game, ["legal"])
    with pytest.raises(PlayerError, match="did you mean random"):
        run(game, ["rondom", "legal"])


def test_a_match_runs_where_a_loop_is_running() -> None:
    async def notebook() -> Record:
        return run(anygame.loads(games.COUNTDOWN), ["legal", "legal"], seed=1)

    assert asyncio.run(notebook()).is_completed


def test_errors_are_raised_inside_a_running_event_loop() -> None:
    async def notebook() -> None:
        run(anygame.loads(games.COUNTDOWN), ["legal", "legal"], record="/nowhere/at/all")

    with pytest.raises(RecordError, match="cannot write"):
        asyncio.run(notebook())


def test_nothing_is_kept_without_a_path() -> None:
    keeper(None)(Record("m", 1, 1))
