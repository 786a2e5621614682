from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.match.games import COUNTDOWN, Raising

import anygame
from anygame.errors import RecordError
from anygame.files import write_whole
from anygame.match import replay, run
from anygame.match.record import Record, new_match_id, parse_record, read_record, write_record

if TYPE_CHECKING:
    from pathlib import Path

_WORD = st.text(st.characters(codec="utf-8"), max_size=8)
_WORDS = st.lists(_WORD, min_size=2, max_size=2)


@st.composite
def _records(draw: st.DrawFn) -> Record:
    count = draw(st.integers(0, 3))
    return Record(
        draw(_WORD),
        draw(st.sampled_from([1, 30, 0.5])),
        draw(st.sampled_from([2, 10, 1.5])),
        names=draw(_WORDS),
        states=draw(st.lists(_WORD, min_size=count + 1, max_size=count + 1)),
        moves=draw(st.lists(_WORDS, min_size=count, max_size=count)),
        errors=draw(st.lists(_WORDS, min_size=count + 1, max_size=count + 1)),
        state_times=draw(st.lists(st.integers(0, 2**45), min_size=count + 1, max_size=count + 1)),
        reasons=draw(st.just([]) | st.just([[None, "why"]])),
        goals=draw(st.none() | st.lists(st.integers(0, 10**400), min_size=2, max_size=2)),
        tournament=draw(_WORD),
        humans=draw(st.none() | st.just([True, False])),
        is_completed=draw(st.booleans()),
        is_aborted=draw(st.booleans()),
        is_scrambled=draw(st.booleans()),
        own=draw(st.dictionaries(_WORD, _WORD, max_size=2)),
        others=draw(st.just({}) | st.just({"weather": ["fine"]})),
    )


@settings(max_examples=examples(30))
@given(_records())
def test_a_written_record_is_read_without_changes(record: Record) -> None:
    text = json.dumps(record.to_json(), ensure_ascii=False)
    assert parse_record(text) == record
    assert parse_record(text).to_json() == record.to_json()


def test_whole_seconds_are_written_as_integers() -> None:
    assert json.dumps(Record("m", 30.0, 0.5).to_json()["startClock"]) == "30"
    assert Record("m", 30.0, 0.5).to_json()["playClock"] == 0.5


def _sound() -> dict[str, Any]:
    return run(anygame.loads(COUNTDOWN), ["legal", "legal"], seed=1).to_json()


def test_the_reference_keys_are_all_there() -> None:
    expected = (
        "errors gameMetaURL goalValues isAborted isCompleted matchId moves playClock playerNamesFromHost "
        "previewClock randomToken scrambled startClock startTime stateTimes states"
    )
    assert " ".join(sorted(set(_sound()) - {"anygame"})) == expected


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("matchId", 7, "matchId should be a string"),
        ("states", "( )", "states should be a list of strings"),
        ("moves", [["go"], 1], "moves should be lists of strings"),
        ("moves", [], "one state more than moves"),
        ("moves", [["go", "go"], ["go"], ["go", "go"]], "different numbers of roles"),
        ("stateTimes", [1], "as many times as states"),
        ("startClock", float("inf"), "startClock should be a number"),
        ("startClock", 10**400, "startClock should be a number"),
        ("playClock", float("nan"), "playClock should be a number"),
        ("isCompleted", 1, "isCompleted should be true or false"),
        ("anygame", [], "anygame should be an object"),
        ("goalValues", [1, "2"], "goalValues should be a list of goals"),
        ("goalValues", [1, True], "goalValues should be a list of goals"),
        ("anygame", {"reasons": [[1, None]]}, "reasons should be lists of strings or null"),
    ],
)
def test_damaged_records_are_refused(key: str, value: object, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse_record(json.dumps(_sound() | {key: value}), name="it")


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "[" * 100_000, "{}", '{"matchId": "m"}'])
def test_text_that_is_not_a_record_raises_an_error(text: str) -> None:
    with pytest.raises(RecordError, match="is not a match record"):
        parse_record(text)


def test_unreadable_records_raise_errors(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="No such file"):
        read_record(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(RecordError, match="is not a match record"):
        read_record(tmp_path / "bytes.json")


def test_states_that_are_not_lists_of_facts_raise_errors() -> None:
    data = _sound()
    for state in ("(", "a b", "fact"):
        broken = copy.deepcopy(data)
        broken["states"][1] = state
        with pytest.raises(RecordError, match="state 1"):
            parse_record(json.dumps(broken)).facts(1)


def test_a_file_is_there_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_whole(path, "old")
    path.chmod(0o640)
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "half \ud800")
    assert path.read_text() == "old"
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_writing_to_a_missing_folder_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot write"):
        write_record({}, tmp_path / "none" / "r.json")


def test_the_reason_why_a_reply_was_replaced_is_in_the_record() -> None:
    found = run(anygame.loads(COUNTDOWN), [Raising(), "legal"], seed=1, play_clock=5)
    data = found.to_json()
    assert data["errors"][1] == ["IL nil", ""]
    assert data["anygame"]["reasons"] == [
        ["Raising failed: SystemExit: no start", None],
        *[['Raising failed: KeyboardInterrupt: with "quotes"', None]] * 3,
    ]
    assert parse_record(json.dumps(data)) == found
    assert replay(found).faults == ()


def test_reasons_that_come_late_leave_room_for_those_that_are_not() -> None:
    state = anygame.loads(COUNTDOWN).initial_state()
    record = Record("m", 1, 1)
    record.add_state(state, ["", ""])
    record.explain(["", ""])
    record.add_state(state, ["", ""])
    assert record.reasons == []
    record.add_state(state, ["", "TO"], ["", "no \x1b[31m time " + "x" * 1000])
    record.add_state(state, ["", ""], ["", ""])
    nothing = [None, None]
    assert [record.reasons[place] for place in (0, 1, 3)] == [nothing] * 3
    assert (record.reasons[2][0], len(record.reasons[2][1] or "")) == (None, 500)
    assert (record.reasons[2][1] or "").isprintable()


def test_match_ids_are_single_words_and_differ() -> None:
    found = {new_match_id("gdl/tic tac (toe).kif") for _ in range(100)}
    assert len(found) == 100
    assert all(name.startswith("tic_tac__toe_.") and " " not in name for name in found)
