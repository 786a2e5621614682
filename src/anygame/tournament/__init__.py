"""Tournaments: the schedule, the store of matches, ratings and their plot."""

from __future__ import annotations

from anygame.tournament.running import Tournament
from anygame.tournament.schedule import Meeting, schedule
from anygame.tournament.standings import Standing, Standings, standings
from anygame.tournament.store import Result, Store

__all__ = ["Meeting", "Result", "Standing", "Standings", "Store", "Tournament", "schedule", "standings"]
