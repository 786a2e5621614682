"""The schedule of a tournament."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

from anygame.errors import PlayerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.game.game import Game


_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Meeting:
    """A scheduled match.

    Attributes:
        round: number of the round, from 1.
        sheet: name of the game.
        players: names of the players in the order of the roles other than ``random``.
    """

    round: int
    sheet: str
    players: tuple[str, ...]

    @property
    def key(self) -> str:
        """The key of the match, which is unique in the tournament."""
        return f"{self.round}/{self.sheet}/{','.join(self.players)}"


def schedule(games: Mapping[str, Game], players: Sequence[str], rounds: int) -> list[Meeting]:
    """Return all matches in the order in which they are played.

    In each round, every combination of players plays each game as many times as the game has roles. The roles
    rotate by one place from match to match.

    >>> import anygame
    >>> game = anygame.loads("(role a) (role b) (legal a x) (legal b x)")
    >>> [" ".join(meeting.players) for meeting in schedule({"g": game}, ["p", "q", "r"], 1)]
    ['p q', 'q p', 'p r', 'r p', 'q r', 'r q']

    Raises:
        PlayerError: a game has more roles than there are players.
    """
    meetings = []
    for number in range(1, rounds + 1):
        for sheet, game in games.items():
            count = sum(not role.is_random for role in game.roles)
            if count > len(players):
                there = "is 1 player" if len(players) == 1 else f"are {len(players)} players"
                raise PlayerError(f"{sheet} needs a player for each of {count} roles, but there {there}")
            for chosen in combinations(players, count):
                orders = [tuple(rotated(chosen, turns)) for turns in range(max(1, count))]
                meetings += [Meeting(number, sheet, order) for order in orders]
    return meetings


def rotated(items: Sequence[_Item], turns: int) -> list[_Item]:
    """Move the last ``turns`` items to the front.

    >>> rotated(["a", "b", "c"], 1)
    ['c', 'a', 'b']
    """
    start = -turns % len(items) if items else 0
    return [*items[start:], *items[:start]]
