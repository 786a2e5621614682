"""A search tree over states, for games without a network: one state after the other, by any machine."""

from __future__ import annotations

from anygame.search.state_tree.searcher import StateSearcher

__all__ = ["StateSearcher"]
