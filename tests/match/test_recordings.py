"""What others recorded: read as it is, replayed against its rules, verified, judged as it was judged."""

from __future__ import annotations

import json
import re

import pytest
from tests.match.recordings import find_recordings, game_of, record_names

from anygame.errors import RecordError
from anygame.match.judging import judge
from anygame.match.record import Record, read_record
from anygame.match.replaying import replay
from anygame.match.seats import Reply
from anygame.match.signing import canonical_text, is_signed, verify

pytestmark = pytest.mark.skipif(
    not record_names(), reason="no recorded matches (see tests/match/recordings.py)"
)
_SIGNED = ("signed", "signed_scrambled")


def _read(name: str) -> Record:
    folder = find_recordings()
    assert folder is not None
    return read_record(folder / "records" / f"{name}.json")


def _raw(name: str) -> dict[str, object]:
    folder = find_recordings()
    assert folder is not None
    found = json.loads((folder / "records" / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", record_names())
def test_every_record_is_written_as_it_was_read(name: str) -> None:
    assert _read(name).to_json() == _raw(name)


@pytest.mark.parametrize("name", record_names())
def test_every_record_replays_against_its_rules(name: str) -> None:
    record = _read(name)
    found = replay(record, game_of(name))
    assert found.faults == ()
    assert len(found.states) == len(record.states)


@pytest.mark.parametrize("name", record_names())
def test_every_change_of_a_record_is_noticed(name: str) -> None:
    game = game_of(name)
    record = _read(name)
    record.states[-1] = record.states[-1][:-1] + "( nobody home ) )"
    assert any("nobody home" in fault for fault in replay(record, game).faults)
    record = _read(name)
    if record.goals is not None:
        record.goals[0] += 1
        assert any(fault.startswith("the goal of") for fault in replay(record, game).faults)
    if record.moves:
        record.moves[0] = ["( fly 9 9 )"] * len(record.moves[0])
        assert any("( fly 9 9 )" in fault or "(fly 9 9)" in fault for fault in replay(record, game).faults)


@pytest.mark.parametrize("name", _SIGNED)
def test_signed_records_verify_until_they_are_changed(name: str) -> None:
    raw = _raw(name)
    assert is_signed(raw)
    verify(raw)
    raw["startClock"] = 4
    with pytest.raises(RecordError, match="changed"):
        verify(raw)


def test_canonical_text_keeps_non_ascii_characters() -> None:
    assert canonical_text({"b": "ä", "a": [1, True]}) == '{"a":[1,true],"b":"ä"}'


def _verdicts() -> list[tuple[str, str, str]]:
    """Return the replies of a scripted player, with the errors that its manager recorded."""
    folder = find_recordings()
    if folder is None:
        return []
    found = []
    text = (folder / "wire" / "probe_bad_replies" / "verdicts.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        cells = re.fullmatch(r'\| \d+ \| (.*?) \| (".*") \| .*? \| (".*") \|', line)
        if cells:
            found.append((cells[1], json.loads(cells[2]), json.loads(cells[3])))
    return found


@pytest.mark.parametrize(("what", "sent", "recorded"), _verdicts(), ids=[each[0] for each in _verdicts()])
def test_replies_are_judged_as_they_were(what: str, sent: str, recorded: str) -> None:
    legal = game_of("probe_bad_replies").initial_state().legal_moves("fake")
    verdict = judge(Reply(sent), legal)
    if what == "empty body":
        recorded = "IL null"  # the reference manager recorded nothing
    if what == "latin-1 letter":
        recorded = "IL ( m\u00e4rk 1 )"  # how bytes are read is the seat's business
    assert verdict.error == recorded
    assert (verdict.move is None) == bool(recorded)


def test_all_kinds_of_replies_were_found() -> None:
    assert len(_verdicts()) >= 25
