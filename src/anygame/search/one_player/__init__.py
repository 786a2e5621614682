"""One player: the best line of joint moves where a single role chooses and nothing is left to chance."""

from __future__ import annotations

from anygame.search.one_player.choosing import SeveralChooseError, sole_chooser
from anygame.search.one_player.line import Line
from anygame.search.one_player.line_search import LineSearch

__all__ = ["Line", "LineSearch", "SeveralChooseError", "sole_chooser"]
