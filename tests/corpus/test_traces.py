"""Public rule sheets give, state by state, what an independent reasoner recorded of them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.conftest import find_corpus

import anygame

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIFFERENCES = json.loads((Path(__file__).parent.parent / "data" / "known_differences.json").read_text())
#: States of the sheets whose states are huge; the others are compared in full.
_STATES = {"amazons": 20, "amazons_10x10": 20, "chess": 40, "slaughter": 40, "gt_two_thirds_6p": 4}


def _sheets() -> list[str]:
    folder = find_corpus()
    return sorted(path.stem for path in (folder / "rules").glob("*.kif")) if folder else []


def _trace(corpus: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(corpus / "traces" / f"{name}.jsonl.gz", "rt") as lines:
        yield from map(json.loads, lines)


def _as_recorded(terms: Any, name: str) -> list[str]:
    """Return terms as the recording reasoner writes them."""
    written = _DIFFERENCES.get(name, {}).get("written", {})
    return sorted(written.get(str(term), str(term)) for term in terms)


@pytest.mark.slow
@pytest.mark.skipif(not _sheets(), reason="no corpus of public rule sheets (see tests/conftest.py)")
@pytest.mark.parametrize("name", _sheets())
def test_every_recorded_state_agrees(corpus: Path, name: str) -> None:
    if not (corpus / "traces" / f"{name}.jsonl.gz").exists():
        pytest.skip("no trace was recorded of this sheet")
    game = anygame.load(corpus / "rules" / f"{name}.kif")
    head, *states = _trace(corpus, name)
    assert list(game.roles) == head["roles"]
    assert _as_recorded(game.initial_state().facts, name) == head["init"]
    for number, recorded in enumerate(states[: _STATES.get(name)]):
        where = f"playout {recorded['playout']}, step {recorded['step']}"
        state = game.state(recorded["facts"])
        for role in game.roles:
            assert list(map(str, state.legal_moves(role))) == recorded["legal"][role], (
                f"{where}: legal of {role}"
            )
        assert state.is_terminal == recorded["terminal"], f"{where}: terminal"
        assert [_goal(state, role) for role in game.roles] == recorded["goals"], f"{where}: goals"
        # A recording may have been cut after a move.
        if recorded["moves"] and number + 1 < len(states):
            following = states[number + 1]
            assert following["playout"] == recorded["playout"]
            found = _as_recorded(state.next(recorded["moves"]).facts, name)
            assert found == following["facts"], f"{where}: next"


def _goal(state: anygame.State, role: str) -> int | None:
    try:
        return state.goal(role)
    except anygame.GoalError:
        return None
