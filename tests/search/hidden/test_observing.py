"""What roles observe: enough, in our sheets, to know their own moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.game.sheets import SHEETS

import anygame
from anygame.search.hidden.belief import Belief
from anygame.search.lane_pool import legal_choices

_OWN = Path(__file__).parents[2] / "data" / "hidden"
_HIDING = [
    *(path for path in sorted(SHEETS.glob("*.kif")) if anygame.load(path).is_gdl2),
    *sorted(_OWN.glob("*.kif")),
]
_LANES = 1_024
_STEPS = 12


@pytest.mark.parametrize("sheet", _HIDING, ids=lambda path: path.stem)
def test_roles_can_infer_their_legal_moves_from_percepts(sheet: Path) -> None:
    # A manager does not tell them.
    game = anygame.load(sheet, machine="network")
    belief = Belief(game, game.roles[0])
    start = np.frombuffer(game.batch(1).packed().tobytes(), np.uint64)
    lanes = belief.pool.holding(np.tile(start, (_LANES, 1)))
    everywhere = np.arange(_LANES)
    going = np.ones(_LANES, np.bool_)
    keys = belief.observing.at_start(lanes.packed())
    random = np.random.default_rng(1)
    known: list[dict[int, bytes]] = [{} for _ in game.roles]
    met = 0
    for _ in range(_STEPS):
        going &= ~lanes.terminal
        chosen, choices = [], []
        for role, legal in enumerate(lanes.legal_by_role()):
            for lane in [] if game.roles[role].is_random else np.flatnonzero(going).tolist():
                key, found = int(keys[lane, role]), legal[lane].tobytes()
                met += key in known[role]
                assert known[role].setdefault(key, found) == found
            actions, first, counts = legal_choices(legal)
            draws = (random.random(_LANES) * counts).astype(np.int64)
            chosen.append(actions[(first + draws).clip(0, len(actions) - 1)])
            choices.append(counts)
        belief.pool.step(lanes, chosen)
        keys = belief.observing.after(keys, chosen, choices, lanes, everywhere)
    assert met > _LANES
