r"""Harness for language models on Kaggle: legal moves, prompts, and a parser of replies.

Pass a harness to ``kaggle_environments.core_harness.create_agent_fn``. This module does not import Kaggle's
library. After an illegal move, the next prompt explains why the move is illegal.

>>> import anygame
>>> game = anygame.load("tic_tac_toe")
>>> harness = GameHarness(game)
>>> seen = harness.observation(game.initial_state(), "x")
>>> harness.get_legal_moves(seen)[4]
'(mark 2 2)'
>>> harness.parse_response("Best is ```\nmark(2,2)\n```", list(seen["legalActionStrings"])).legal_action
'(mark 2 2)'
>>> harness.parse_response("(mark 4 4)", list(seen["legalActionStrings"])).raw_action
'(mark 4 4)'
>>> print(harness.generate_prompt(seen, [], "(mark 4 4)", "(mark 4 4)").rpartition("    ")[2])
fails  (true (cell 4 4 b))
<BLANKLINE>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import AnygameError
from anygame.language.parser import parse_term
from anygame.language.rules import Atom
from anygame.quiz.replies import ItemReader, answer_in
from anygame.quiz.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anygame.game.game import Game
    from anygame.game.state import State

#: OpenSpiel's player number for simultaneous moves.
_AT_ONCE: Final = -2
#: Maximum number of characters of the explanation why a move is illegal.
_LONGEST_REASON: Final = 2_000


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The move of a reply, with the attributes that Kaggle's library expects.

    Attributes:
        legal_action: the move, or None for an illegal move.
        raw_action: the move, legal or not; None if the reply has no move.
        submission: always None. The library uses ``submission`` only for games that do not list their moves.
        thoughts: always None. If ``thoughts`` is None, the library shows the whole reply.
    """

    legal_action: str | None = None
    raw_action: str | None = None
    submission: Any = None
    thoughts: str | None = None


class GameHarness:
    """Harness for one game."""

    def __init__(self, game: Game) -> None:
        self._sheet = Sheet(game)
        self._game = self._sheet.game
        self._reader = ItemReader(self._sheet.rules)

    def observation(self, state: State, role: str) -> dict[str, Any]:
        """Return the observation of a state, with the keys of Kaggle's OpenSpiel environments.

        Raises:
            UnknownRoleError: the game has no such role.
        """
        legal = list(map(str, state.legal_moves(role)))
        movers = state.movers
        return {
            "playerId": self._game.role_index(role),
            "currentPlayer": self._game.role_index(movers[0]) if len(movers) == 1 else _AT_ONCE,
            "isTerminal": state.is_terminal,
            "legalActions": list(range(len(legal))),
            "legalActionStrings": legal,
            "observationString": "\n".join(sorted(map(str, state.facts))),
        }

    def get_legal_moves(self, observation: Mapping[str, Any]) -> dict[int, str]:
        """Return the legal moves in the observed state, by number."""
        state, role = self._seen(observation)
        return dict(enumerate(map(str, state.legal_moves(role))))

    def generate_prompt(
        self,
        observation: Mapping[str, Any],
        move_history: Sequence[str],
        previous_response: str | None = None,
        previous_action: str | None = None,
    ) -> str:
        """Return the prompt. After an illegal move, the prompt explains why the move is illegal."""
        state, role = self._seen(observation)
        facts = "\n".join(sorted(map(str, state.facts)))
        text = (
            f"These are the rules of a game in the Game Description Language (GDL).\n\n{self._sheet.rules}\n"
            f"In the current state, these facts are true, and all others are false:\n\n{facts}\n\n"
            f"The moves of {role} so far: {', '.join(move_history) or 'none'}\n"
            f"You play {role}. Choose a legal move that leads to the greatest goal for you.\n"
            "End your reply with the move between two lines of ```.\n"
        )
        if previous_action:
            reason = self.why_not(state, role, previous_action)
            text += f"\nYou answered {previous_action}, which is not legal:\n{reason}\n"
        elif previous_response is not None:
            text += f"\nNo move was found in your last reply, which ended with:\n{previous_response[-500:]}\n"
        return text

    #: Kaggle's library calls `generate_prompt` by this name.
    make_prompt = generate_prompt

    def why_not(self, state: State, role: str, move: str) -> str:
        """Explain why a move is illegal: return the first failing condition of each rule for the move."""
        try:
            term = self._game.roles[self._game.role_index(role)].term
            return str(state.explain_failure(Atom("legal", (term, parse_term(move)))))[:_LONGEST_REASON]
        except AnygameError as error:
            return str(error)[:_LONGEST_REASON]

    def parse_response(
        self,
        response: str,
        legal_action_strings: Sequence[str] | None,
        *,
        observation: Mapping[str, Any] | None = None,
    ) -> ParseResult:
        """Return the last move in the answer of a reply."""
        items = [str(item) for item in self._reader.items(answer_in(response))]
        if not items:
            return ParseResult()
        raw = items[-1]
        return ParseResult(raw if raw in (legal_action_strings or ()) else None, raw)

    def _seen(self, observation: Mapping[str, Any]) -> tuple[State, str]:
        facts = str(observation["observationString"]).splitlines()
        return self._game.state(facts), self._game.roles[int(observation["playerId"])]
