"""Search for the best line of joint moves in games where one role chooses and there is no chance."""

from __future__ import annotations

from anygame.search.one_player.line_search import LineSearch
from anygame.search.one_player.lines import Line, SeveralChooseError, sole_chooser

__all__ = ["Line", "LineSearch", "SeveralChooseError", "sole_chooser"]
