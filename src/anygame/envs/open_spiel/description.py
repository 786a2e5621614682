"""Descriptions: what OpenSpiel asks of a sheet before play, and the numbers of its moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from anygame.envs.extensive import MAX_STEPS, ExtensiveForm, find_turns, survey
from anygame.errors import RuleSheetError
from anygame.game import loads

try:
    import pyspiel as library
except ImportError:
    library = None

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from anygame.envs.extensive import Node, Survey
    from anygame.game import Game
    from anygame.language.terms import Term

#: OpenSpiel, None where it is not installed.
pyspiel: Final[Any] = library
#: What games and states inherit from; without the library nobody can make one.
GameBase: Final[Any] = object if pyspiel is None else pyspiel.Game
StateBase: Final[Any] = object if pyspiel is None else pyspiel.State
#: ``auto`` is sequential where roles take turns.
Dynamics: TypeAlias = Literal["auto", "sequential", "simultaneous"]
#: Sheets that stay loaded: OpenSpiel makes a game anew for every state that it deserialises.
_KEPT: Final = 16


@dataclass(frozen=True)
class Utilities:
    """What goals are worth: ``scale * goal + offset``.

    Attributes:
        scale: what a point is worth.
        offset: what is added, for every player.
        zero_sum: whether the mean of the players' goals is taken off before.
    """

    scale: float = 1.0
    offset: float = 0.0
    zero_sum: bool = False

    def of(self, goals: Sequence[int]) -> list[float]:
        """Return the utilities of all players."""
        mean = sum(goals) / len(goals) if self.zero_sum else 0.0
        return [self.scale * (goal - mean) + self.offset for goal in goals]

    def bounds(self, least: int, most: int, players: int) -> tuple[float, float]:
        """Return the least and the greatest utility, where goals lie between two numbers."""
        low, high = float(least), float(most)
        if self.zero_sum:
            high = (most - least) * (players - 1) / players
            low = -high
        ends = (self.scale * low + self.offset, self.scale * high + self.offset)
        return min(ends), max(ends)


class Description:
    """A sheet as OpenSpiel needs it; shared by all games and states of it.

    Attributes:
        game: the game.
        form: its tree.
        root: where every play begins.
        actions: the moves of the players, sorted by text; a move has one number, whoever makes it.
        draws: what `random` can draw, sorted by text.
        survey: what is certain of it; None where there are too many states to look at, or plays are cut.
        longest: nodes at which players decide in the longest play.
    """

    def __init__(self, game: Game, dynamics: Dynamics, max_steps: int) -> None:
        if all(role.is_random for role in game.roles):
            raise RuleSheetError(f"{game.name} has no role besides random: there is nobody to play it")
        game.compile_if_worth_it()
        self.game = game
        turns = find_turns(game)
        found = survey(game, turns)
        if found is not None:
            turns = replace(turns, are_taken=found.turns_are_taken)
        proven = found.steps if found else None
        steps = max_steps or proven or MAX_STEPS
        # What holds where plays end does not where they are cut.
        self.survey: Survey | None = found if proven is not None and proven <= steps else None
        self.form = ExtensiveForm(
            game, None if dynamics == "auto" else dynamics, turns=turns, max_steps=steps
        )
        self.root: Node = self.form.root()
        players = self.form.players
        self.actions = _sorted(move for role in players for move in game.actions(role))
        self.action_number = numbered(self.actions)
        self.draws = game.actions("random") if self.form.chance is not None else ()
        self.draw_number = numbered(self.draws)
        apart = self.form.order == "sequential" and not (self.survey and turns.are_taken)
        self.longest = (self.survey.decisions if self.survey else steps) * (len(players) if apart else 1)

    def __deepcopy__(self, memo: object) -> Description:
        return self

    @property
    def goals(self) -> tuple[int, int]:
        """The least and the greatest goal, as far as is known."""
        if self.survey is not None:
            return self.survey.goals
        values = self.game.domains().get(("goal", 2), ((), ()))[1]
        found = [int(text) for text in map(str, values) if text.lstrip("-").isdigit()]
        return min([*found, 0]), max([*found, 0])

    @property
    def goal_sum(self) -> int | None:
        """What the goals of the players sum up to, where that is certain and the same for all plays."""
        return self.survey.goal_sum if self.survey else None


def _sorted(moves: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(sorted(set(moves), key=str))


def numbered(terms: Iterable[Term]) -> Mapping[Term, int]:
    """Return the place of each term."""
    return {term: number for number, term in enumerate(terms)}


@lru_cache(maxsize=_KEPT)
def describe(
    name: str, text: str, case_sensitive: bool, lenient: bool, dynamics: Dynamics, max_steps: int
) -> Description:
    """Return the description of a sheet.

    Args:
        name: of the sheet, for messages.
        text: of the sheet.
        case_sensitive: whether names that differ by case differ.
        lenient: as of ``anygame.load``.
        dynamics: what is made of moves at the same time.
        max_steps: joint moves after which a play is cut; 0 for what is found.

    Raises:
        RuleSheetError: the sheet cannot be used, or has no players.
        LimitError: it is too large for a network, which numbers the moves.
    """
    game = loads(text, name=name, case_sensitive=case_sensitive, lenient=lenient)
    return Description(game, dynamics, max_steps)
