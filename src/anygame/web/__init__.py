"""Games in the browser: pages drawn here, live updates, and a process of its own for every match."""

from __future__ import annotations

from anygame.web.settings import Settings

__all__ = ["Settings"]
