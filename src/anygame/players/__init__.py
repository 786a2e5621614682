"""Players: what chooses moves."""

from __future__ import annotations
