"""What programs of the field sent each other, given to our player and to our seats."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.protocol.loops import fake_player, listening, raw, reply_of, run, send
from tests.protocol.recordings import Exchange, exchanges, find_recordings, names, needs_recordings, record

import anygame
from anygame.language.parser import parse_term
from anygame.match.judging import judge
from anygame.match.seats import MatchInfo, Reply
from anygame.players import RandomPlayer
from anygame.protocol.http.framing import HttpError
from anygame.protocol.messages import (
    Abort,
    Info,
    Message,
    Ping,
    Play,
    PlayII,
    Preview,
    Start,
    Stop,
    StopII,
    Unreadable,
    parse_info,
    parse_message,
)
from anygame.protocol.seat import RemoteSeat, read_response
from anygame.sheets.scrambling import Scrambling

if TYPE_CHECKING:
    from anygame.language.terms import Term

pytestmark = needs_recordings

#: Where our verdict on a recorded reply is another, and better, by recording and step.
BETTER = {
    ("probe_bad_replies", 10): "IL null",  # an empty reply leaves a trace
    ("probe_bad_replies", 26): "",  # chunks are understood
    ("probe_bad_replies", 28): "CE",  # the end of the reply is missing
}


class Expectation:
    """What a player should answer, told from the messages alone."""

    def __init__(self) -> None:
        self.match_id: str | None = None
        self.state: anygame.State | None = None
        self.role = ""

    def check(self, message: Message, reply: str) -> None:
        match message:
            case Info():
                info = parse_info(reply)
                assert (info.name, info.status) == ("anygame", "busy" if self.match_id else "available")
            case Unreadable(keyword):
                assert reply == ("busy" if keyword == "START" else "nil")
            case Ping() | Preview():
                assert reply == ("busy" if self.match_id else "ready")
            case Start():
                assert reply == ("busy" if self.match_id else "ready")
                if self.match_id is None:
                    self.match_id, self.role = message.match_id, str(message.role)
                    self.state = anygame.loads(message.rules).initial_state()
            case Abort(match_id) | Stop(match_id) | StopII(match_id):
                known = "aborted" if isinstance(message, Abort) else "done"
                assert reply == (known if match_id == self.match_id else "busy")
                if match_id == self.match_id:
                    self.match_id = None
            case Play(match_id) | PlayII(match_id):
                if match_id != self.match_id:
                    assert reply == "busy"
                    return
                assert self.state is not None
                if isinstance(message, Play) and message.moves is not None:
                    self.state = self.state.next(message.moves)
                assert parse_term(reply) in self.state.legal_moves(self.role)
                assert reply == str(parse_term(reply)).replace("(", "( ").replace(")", " )")


def _players() -> list[tuple[str, str]]:
    return [
        (name, player) for name in names() for player in sorted({each.player for each in exchanges(name)})
    ]


@pytest.mark.parametrize(("name", "player"), _players())
def test_every_recorded_request_is_answered_in_kind(name: str, player: str) -> None:
    expected = Expectation()

    async def main() -> None:
        async with listening(lambda: RandomPlayer(1)) as (_, port):
            for exchange in exchanges(name):
                if exchange.player != player:
                    continue
                half_close = b"content-length" not in exchange.request.lower()
                response = await send(port, exchange.request, half_close=half_close)
                method = exchange.request.split()[0]
                if method == b"HEAD":
                    assert response.endswith(b"\r\n\r\n")
                    continue
                reply = reply_of(response)
                if method == b"OPTIONS":
                    assert reply == ""
                else:
                    expected.check(parse_message(exchange.text if method == b"POST" else "(INFO)"), reply)

    run(main, 60)


def _plays(name: str) -> list[tuple[Exchange, int, int]]:
    """Return the exchanges that asked for moves, with their steps from 1 and the places of their roles."""
    found = []
    steps: dict[str, int] = {}
    places: dict[str, int] = {}
    for exchange in exchanges(name):
        message = parse_message(exchange.text)
        if isinstance(message, Start):
            places[exchange.player] = anygame.loads(message.rules).role_index(message.role)
        elif isinstance(message, Play):
            steps[exchange.player] = steps.get(exchange.player, 0) + 1
            found.append((exchange, steps[exchange.player], places[exchange.player]))
    return found


def _states(name: str, player: str) -> list[anygame.State]:
    """Return the states in which a player was asked for moves, in the words that it was told."""
    states: list[anygame.State] = []
    for exchange in exchanges(name):
        message = parse_message(exchange.text)
        if exchange.player == player and isinstance(message, Start):
            states = [anygame.loads(message.rules).initial_state()]
        elif exchange.player == player and isinstance(message, Play) and message.moves is not None:
            states.append(states[-1].next(message.moves))
    return states


async def _read(response: bytes) -> Reply:
    reader = asyncio.StreamReader()
    reader.feed_data(response)
    reader.feed_eof()
    try:
        return Reply((await read_response(reader, 10_000)).content.decode(errors="replace"))
    except HttpError as error:
        return Reply(None, "CE", str(error))


def _recorded() -> list[str]:
    folder = find_recordings()
    with_record = {path.stem for path in (folder / "records").glob("*.json")} if folder else set()
    # Those without players' words on record: see the test of scrambled replies.
    return sorted((with_record & set(names())) - {"scrambled_plain_replies"})


@pytest.mark.parametrize("name", _recorded())
def test_every_recorded_reply_is_judged_as_it_was_or_better(name: str) -> None:
    errors = record(name).get("errors", [])
    judged = 0
    for player in {exchange.player for exchange in exchanges(name)}:
        states = _states(name, player)
        for exchange, step, place in _plays(name):
            if exchange.player != player or step >= len(errors) or errors[step][place] == "TO":
                continue
            expected = BETTER.get((name, step) if player == "fake" else ("", 0), errors[step][place])
            state = states[step - 1]
            legal = state.legal_moves(state.game.roles[place])
            verdict = judge(asyncio.run(_read(exchange.response)), legal)
            assert verdict.error == expected, (exchange, exchange.response)
            assert (verdict.move is None) == bool(expected)
            judged += 1
    assert judged or name in ("preview", "no_legal_moves", "abort_idle", "abort_thinking", "player_absent")


@pytest.mark.parametrize(
    "exchange",
    [each for each in exchanges("probe_bad_replies") if b"PLAY" in each.request and each.player == "fake"]
    if "probe_bad_replies" in names()
    else [],
    ids=str,
)
def test_odd_replies_are_judged_alike_over_sockets(exchange: Exchange) -> None:
    step = next(step for each, step, _ in _plays("probe_bad_replies") if each == exchange)
    expected = BETTER.get(("probe_bad_replies", step), record("probe_bad_replies")["errors"][step][0])
    if expected == "TO":
        pytest.skip("the player was silent")
    start = parse_message(exchanges("probe_bad_replies")[0].text)
    assert isinstance(start, Start)
    game = anygame.loads(start.rules)
    legal: list[Term] = list(game.initial_state().legal_moves(game.roles[0]))

    async def main() -> None:
        async with fake_player(raw(exchange.response)) as port:
            seat = RemoteSeat("127.0.0.1", port)
            assert await seat.start(_match(game)) is not None
            verdict = judge(await seat.play("m", None, 5), legal)
            assert verdict.error == expected, verdict

    run(main)


def _match(game: anygame.Game) -> MatchInfo:
    return MatchInfo("m", game, game.roles[0], 5, 5)


def test_a_reply_with_quotes_is_illegal_and_nothing_worse() -> None:
    found = [
        asyncio.run(_read(exchange.response))
        for exchange, step, _ in _plays("quoted_reply")
        if exchange.player == "fake" and step == 2
    ]
    assert [judge(reply, [parse_term("go")]).error for reply in found] == ['IL "go"']


def test_scrambled_matches_take_replies_in_the_original_words() -> None:
    start = parse_message(exchanges("probe_bad_replies")[0].text)
    assert isinstance(start, Start)
    game = anygame.loads(start.rules)
    words = Scrambling(list(map(str, game.program.rules)), 1)
    legal = game.initial_state().legal_moves(game.roles[0])
    verdicts = []
    for exchange, _, _ in _plays("scrambled_plain_replies"):
        if exchange.player == "fake":
            text = asyncio.run(_read(exchange.response)).text or ""
            verdicts.append(judge(Reply(words.restore(text)), legal).error)
    recorded = [step[0] for step in record("scrambled_plain_replies")["errors"][1:]]
    assert len(verdicts) == len(recorded)
    # The reference manager lower-cases replies, and so takes no original move that has a capital. Where
    # capitals tell moves apart, we take them only as they are.
    differing = [(ours, theirs) for ours, theirs in zip(verdicts, recorded, strict=True) if ours != theirs]
    assert differing == [("", "IL ( put a b )"), ("IL ( PUT A b )", "IL ( put a b )")]
