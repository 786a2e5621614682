"""Ways in which a compiled game may be played."""

from __future__ import annotations

import pytest

from anygame.network.kernels import kernel as kernels
from anygame.network.kernels import layout as rows


@pytest.fixture(params=["goals in every step", "goals late", "goals late, groups of moves"])
def played_any_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small games played as large ones are: lanes wait for goals, and moves are groups and members."""
    if request.param != "goals in every step":
        monkeypatch.setattr(kernels, "LATE_INPUTS", 0)
        patient = property(lambda kernel: 3000 if len(kernel._order.goals) else 0)
        monkeypatch.setattr(kernels.Kernel, "_patience", patient)
    if request.param == "goals late, groups of moves":
        monkeypatch.setattr(rows, "MOST_UNROLLED", 2)
