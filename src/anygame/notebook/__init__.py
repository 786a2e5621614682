"""A board in a notebook, on which people play against any player; needs the extra ``notebook``.

Each match runs in its own thread, so players can think while cells run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from random import SystemRandom
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from anygame.boards import Painter, paint_rules
from anygame.boards.drawing.clickable import choosing_script, clickable_state
from anygame.errors import AnygameError, IllegalMoveError, MissingExtraError, PlayerError
from anygame.game.game import begun
from anygame.game.typed_moves import typed_move
from anygame.match.hosted import HostedMatch
from anygame.match.local import LocalSeat
from anygame.match.opponents import Opponent
from anygame.match.record import Record, new_match_id
from anygame.players.loading import make_player

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise MissingExtraError(
        "boards in notebooks need anywidget: pip install 'anygame[notebook]'", "notebook"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.players.player import Player

#: The entry in ``players`` for a person.
HUMAN: Final = "human"
_FOLDER: Final = Path(__file__).parent
#: Maximum number of moves that have a button.
_MOST_MOVES: Final = 1_000


class PlayableBoard(anywidget.AnyWidget):
    """A match on a board in a notebook; see `play`."""

    _esm = f"{choosing_script()}\n{(_FOLDER / 'notebook.js').read_text(encoding='utf-8')}"
    _css = (_FOLDER / "notebook.css").read_text(encoding="utf-8") + paint_rules()
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, game: Game, start: State, players: Sequence[Player | None], clock: float) -> None:
        super().__init__()
        self._painter = Painter.of(game)
        self._message = ""
        self._waiting = Event()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="board", daemon=True)
        self._thread.start()
        seats = [None if player is None else LocalSeat(player) for player in players]
        names = [HUMAN if seat is None else seat.name for seat in seats]
        record = Record(new_match_id(game.name), clock, clock, names=names)
        record.own = {"game": game.name, "roles": list(map(str, game.roles)), "rules": str(game)}
        record.add_state(start, [""] * len(game.roles))
        opponents = {
            index: Opponent(seat, game.roles[index], clock)
            for index, seat in enumerate(seats)
            if seat is not None and not game.roles[index].is_random
        }
        self._match = HostedMatch(
            game, record, [start], opponents, keep=lambda record: None, changed=self._changed
        )
        for seat in seats:
            if seat is not None:
                seat.prepare()
        self._do(self._match.begin())
        self.on_msg(self._receive)

    @property
    def state(self) -> State:
        """The state on the board."""
        return self._match.states[-1]

    @property
    def record(self) -> Record:
        """The record of the match so far."""
        return self._match.record

    def choose(self, move: str, role: str | None = None) -> None:
        """Make the move of a person.

        Args:
            move: the move in KIF, or a short form of it.
            role: the role that moves; by default, the first role whose person has to choose.

        Raises:
            IllegalMoveError: no person has to choose, or the text means no legal move.
        """
        match = self._match
        if role is None and not match.turn:
            raise IllegalMoveError("no person has a move to choose now", move=move)
        index = match.turn[0] if role is None else match.game.role_index(role)
        name = match.game.roles[index]
        meant = typed_move(move, self.state.legal_moves(name), name)
        self._waiting.clear()
        self._do(match.choose(index, str(meant), len(match.line)))

    def take_back(self) -> None:
        """Take back the last choice of a person. Raises IllegalMoveError if people have made no choice."""
        self._do(self._match.take_back(self._match.people))

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until a person has to choose, or the match is over; return False after a number of seconds."""
        return self._waiting.wait(seconds)

    def close(self) -> None:
        """End the match, and stop its players."""
        if self._loop.is_running():
            self._do(self._match.close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        super().close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _receive(self, widget: object, content: object, buffers: object) -> None:
        self._message = ""
        try:
            if isinstance(content, dict) and content.get("back") is True:
                self.take_back()
            elif isinstance(content, dict) and isinstance(content.get("move"), str):
                self.choose(content["move"])
        except AnygameError as error:
            self._message = str(error)
        self._changed()

    def _changed(self) -> None:
        match = self._match
        self.view = _view(match, self._painter, self._message)
        if match.turn or match.is_over:
            self._waiting.set()
        else:
            self._waiting.clear()


def _view(match: HostedMatch, painter: Painter, message: str) -> dict[str, Any]:
    roles, state = match.game.roles, match.states[-1]
    before, joint = (match.states[-2], match.line[-1]) if match.line else (None, None)
    drawn = clickable_state(painter, state, before=before, joint=joint)
    mine = roles[match.turn[0]] if match.turn else None
    legal = state.legal_moves(mine)[:_MOST_MOVES] if mine is not None else ()
    touches = drawn["touches"].get(mine, {})
    return {
        "svg": drawn["svg"],
        "facts": [f"{listing['name']} {' '.join(listing['facts'])}" for listing in drawn["listings"]],
        "status": message or _status(match, mine),
        "yours": mine is not None,
        "moves": [{"move": str(move), **touches.get(str(move), {"cells": [], "area": []})} for move in legal],
        "last": ", ".join([str(joint[index]) for index in match.told(len(match.line) - 1)] if joint else []),
        "back": bool(match.line) and bool(match.people),
    }


def _status(match: HostedMatch, mine: str | None) -> str:
    if match.fault:
        return f"The match cannot continue: {match.fault}"
    if match.is_over:
        goals = zip(match.game.roles, match.summary.goals, strict=True)
        results = [f"{role} {goal}" for role, goal in goals if not role.is_random]
        return f"The match is over: {', '.join(results)}"
    if mine is not None:
        return f"{mine} to move"
    return f"{', '.join(match.game.roles[index] for index in match.thinking) or 'Nobody'} is thinking ..."


def play(
    game: Game | State,
    players: Sequence[Player | str] | Mapping[str, Player | str] = (),
    *,
    state: State | None = None,
    play_clock: float = 1.0,
    seed: int | None = None,
) -> PlayableBoard:
    """Return a board in a notebook, on which people play with clicks on cells or on the list of moves.

    The board shows everything, including information that the rules hide.

    Args:
        game: the game, or a state from which the match starts.
        players: players in the order of the roles, or by role, without a player for ``random``. Each entry is
            ``human``, the name of a player (see `anygame.players.make_player`), or a player. People play the
            roles without an entry.
        state: the state from which the match starts; the initial state by default.
        play_clock: seconds that a player has for a move.
        seed: random seed of the players that are given by name; None for a new seed.

    Raises:
        MissingExtraError: the extra ``notebook`` is not installed.
        PlayerError: there are too many players, or a player cannot be created or started.
        UnknownRoleError: the game has no such role.
    """
    game, state = begun(game, state)
    wanted = [index for index, role in enumerate(game.roles) if not role.is_random]
    if isinstance(players, Mapping):
        named = {game.role_index(role): one for role, one in players.items()}
    elif len(players) > len(wanted):
        roles = ", ".join([game.roles[index] for index in wanted])
        raise PlayerError(f"expected at most {len(wanted)} players, for {roles}; found {len(players)}")
    else:
        named = dict(zip(wanted, players, strict=False))
    first = SystemRandom().getrandbits(32) if seed is None else seed
    made = [
        None if one == HUMAN else make_player(one, seed=first + index) if isinstance(one, str) else one
        for index, one in ((index, named.get(index, HUMAN)) for index in range(len(game.roles)))
    ]
    return PlayableBoard(game, game.initial_state() if state is None else state, made, play_clock)
