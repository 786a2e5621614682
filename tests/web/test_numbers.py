"""Numbers in addresses and forms: what is none is told so, wherever it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

pytest.importorskip("starlette")

from anygame.web.server.bodies import read_count, read_seconds
from anygame.web.server.processes import MatchFaultError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.web.conftest import Server

_LONG = "1" * 5_000
#: What `int` or `float` reads, or refuses with an error of its own.
_NONE = ["²", "٣", "1_0", " 1", "+1", "-1", "1.0", "", "x", _LONG]
_NO_SECONDS = ["nan", "inf", "-Infinity", "1e999", "1_0", "٣", "0x1", "", "x", _LONG]


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.address, timeout=60) as made:
        yield made


@pytest.fixture(scope="module")
def match(client: httpx.Client) -> str:
    return client.get("/play/tic_tac_toe").headers["location"]


@pytest.mark.parametrize("text", _NONE)
def test_text_that_is_not_a_whole_number_is_refused(text: str) -> None:
    with pytest.raises(MatchFaultError, match="the step should be a whole number") as caught:
        read_count(text, "the step")
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize("text", _NO_SECONDS)
def test_text_that_is_not_a_number_of_seconds_is_refused(text: str) -> None:
    with pytest.raises(MatchFaultError, match="the clock should be a number of seconds"):
        read_seconds(text, "the clock", 0.1, 60)


def test_times_are_kept_within_their_bounds() -> None:
    texts = ("5", "0.25", ".5", "5.", "1e1", "-3", "1e99")
    assert [read_seconds(text, "", 0.1, 60) for text in texts] == [5, 0.25, 0.5, 5, 10, 0.1, 60]


@pytest.mark.parametrize("step", _NONE)
def test_a_move_at_no_step_is_refused(client: httpx.Client, match: str, step: str) -> None:
    answer = client.post(f"{match}/move", data={"role": "x", "move": "(mark 1 1)", "step": step})
    assert answer.status_code == 400
    assert "the step should be a whole number" in answer.text


@pytest.mark.parametrize("clock", [text for text in _NO_SECONDS if text])
def test_a_clock_that_is_no_time_is_refused(client: httpx.Client, clock: str) -> None:
    for answer in (
        client.post("/play/tic_tac_toe", data={"seat0": "you", "seat1": "you", "clock": clock}),
        client.get("/play/tic_tac_toe", params={"clock": clock}),
    ):
        assert answer.status_code == 400
        assert "the clock should be a number of seconds" in answer.text


@pytest.mark.parametrize("what", ["", "/why", "/fired", "/values"])
def test_an_address_with_too_long_a_number_is_refused(client: httpx.Client, match: str, what: str) -> None:
    answer = client.get(f"{match}/{_LONG}{what}")
    assert answer.status_code == 400
    assert "of at most 15 digits, found 5,000" in answer.text
    assert client.get(f"{match}/99{what}").status_code == 400


@pytest.mark.slow
@pytest.mark.parametrize("step", ["²", "٣", "-1", "1.0", "nan"])
def test_an_address_without_a_number_is_none(client: httpx.Client, match: str, step: str) -> None:
    answer = client.get(f"{match}/{step}")
    assert answer.status_code == 404
    assert "there is no such page" in answer.text


@pytest.mark.parametrize("query", ["values?seconds=nan", "values?seconds=1e999", f"values?seconds={_LONG}"])
def test_a_search_of_no_time_is_refused(client: httpx.Client, match: str, query: str) -> None:
    answer = client.get(f"{match}/0/{query}")
    assert answer.status_code == 400
    assert "the time limit of a search should be a number of seconds" in answer.text


@pytest.mark.parametrize("known", ["²", "-1", _LONG])
def test_a_version_that_is_none_is_refused(client: httpx.Client, match: str, known: str) -> None:
    answer = client.get(f"{match}/events", params={"known": known})
    assert answer.status_code == 400
    assert "the version should be a whole number" in answer.text
