"""A game of people at this terminal against players, in which moves can be taken back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from anygame.errors import GoalError, IllegalMoveError
from anygame.game.joint_moves import final_goals, legal_by_role
from anygame.match.judging import Verdict, judge
from anygame.match.opponents import Opponent
from anygame.match.referee import Turn
from anygame.match.running import Terms, keeper, new_record
from anygame.players.player import Failures

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

    from anygame.cli.repl.session import Session
    from anygame.game.roles import Role
    from anygame.language.terms import Term
    from anygame.match.record import Record
    from anygame.match.seats import Seat

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Seating:
    """The people and players of all roles except ``random``.

    Attributes:
        players: name and specification of each person and player, by role.
        seats: seats of players, by role. People have no seats.
        clock: seconds that players have to get ready, and for each move.
    """

    players: dict[Role, tuple[str, str]]
    seats: dict[Role, Seat]
    clock: float

    @property
    def people(self) -> tuple[Role, ...]:
        return tuple([role for role in self.players if role not in self.seats])


class Table:
    """A game in progress. Players think in a background thread.

    Attributes:
        opponents: players by role.
        chosen: moves that people have chosen in this turn, by role.
        path: path of the record; None if the game is not recorded.
    """

    chosen: dict[Role, Term]
    record: Record
    path: str | None

    def __init__(
        self,
        session: Session,
        seating: Seating,
        path_of: Callable[[Record], str | None] = lambda record: None,
    ) -> None:
        self.session = session
        self.seating = seating
        self.opponents = {role: Opponent(seat, role, seating.clock) for role, seat in seating.seats.items()}
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="opponents", daemon=True)
        self._thread.start()
        self._path_of = path_of
        self._failures: Failures | None = None
        self._begin()

    @property
    def resigned(self) -> str | None:
        return self.record.own.get("resigned")

    @property
    def is_over(self) -> bool:
        return self.resigned is not None or self.session.state.is_terminal

    @property
    def choosers(self) -> list[Role]:
        """The roles of people who have not yet chosen a move in this turn."""
        return [] if self.is_over else [role for role in self._choosing() if role not in self.chosen]

    def _choosing(self) -> list[Role]:
        return [role for role in self.session.state.movers if role in self.seating.people]

    def play_turn(self) -> Turn:
        """Ask the players for moves, sample the moves of ``random``, and play the joint move.

        Raises IllegalMoveError if a role has no legal move. After KeyboardInterrupt, people choose again.
        """
        session = self.session
        state, chosen = session.state, self.chosen
        self.chosen = {}
        legal = legal_by_role(state)
        stuck = state.stuck_role
        if stuck is not None:
            raise IllegalMoveError(f"{stuck} has no legal move, so nobody can move here", stuck)
        course = self.record.match_id, session.game, list(session.moves), state
        replies = _wait(self._all(lambda one: one.reply(*course)))
        verdicts = {
            role: judge(reply, legal[role], case_sensitive=session.game.case_sensitive)
            for role, reply in zip(self.opponents, replies, strict=True)
        }
        joint = []
        for role, moves in legal.items():
            made = verdicts[role].move if role in verdicts else chosen.get(role)
            joint.append(made or session.draw(moves))
        session.play_joint(tuple(joint))
        turn = Turn(
            session.step,
            tuple(joint),
            tuple([verdicts.get(role, Verdict(move)) for role, move in zip(legal, joint, strict=True)]),
            (),
            session.state,
        )
        self.record.add_turn(turn.joint, turn.state, turn.verdicts)
        if turn.state.is_terminal:
            self._note_result()
        self._keep()
        if turn.state.is_terminal:
            line = list(session.moves)
            _wait(self._all(lambda one: one.stop(line, turn.state)))
        return turn

    def resign(self, role: Role) -> None:
        self.record.own["resigned"] = str(role)
        self.record.is_aborted = True
        self._keep()

    def undo(self, count: int = 1) -> int:
        """Take back the last ``count`` choices of people, and return the number of undone joint moves.

        A resignation counts as one joint move, and so do the choices in an unfinished turn.
        """
        taken = 0
        if self.chosen or self.resigned is not None:
            self.chosen = {}
            count, taken = 0, 1
        for _ in range(count):
            while self.session.undo():
                taken += 1
                if self._choosing():
                    break
        for why in ("resigned", "fault"):
            self.record.own.pop(why, None)
        self.record.take_back_to(self.session.step)
        self._keep()
        return taken

    def restart(self) -> None:
        self.session.undo(self.session.step)
        self._begin()

    def load(self, path: str) -> None:
        """Continue from a saved file of this game, with a new record."""
        self.session.load(path)
        self._begin()

    def _begin(self) -> None:
        self.chosen = {}
        session, seating, clock = self.session, self.seating, self.seating.clock
        self.record = record = new_record(session.game, [], Terms(clock, clock, session.seed))
        record.names = [seating.players.get(role, ("random", ""))[0] for role in session.game.roles]
        record.humans = [role in seating.people for role in session.game.roles]
        record.own["players"] = [list(player) for player in seating.players.values()]
        record.add_state(session.states[0], [""] * len(session.game.roles))
        for joint, state in zip(session.moves, session.states[1:], strict=True):
            record.add_turn(joint, state, [*map(Verdict, joint)])
        self.path = self._path_of(record)
        if session.state.is_terminal:
            self._note_result()
            self._keep()
        self._failures = Failures(self.path, self._failures)
        for one in self.opponents.values():
            one.failures = self._failures
        course = record.match_id, session.game, list(session.moves), session.state
        self._all(lambda one: one.prepare(*course))

    def _note_result(self) -> None:
        record = self.record
        try:
            record.goals = final_goals(self.session.state)
            record.is_completed = True
        except GoalError as error:
            record.own["fault"] = str(error)
            record.is_aborted = True

    def _keep(self) -> None:
        keeper(self.path)(self.record)

    def leave(self) -> None:
        """Close the players, and mark the record as aborted unless the game is completed."""
        try:
            if not self.record.is_completed:
                self.record.is_aborted = True
                if self.session.step:
                    self._keep()
            _wait(self._all(Opponent.close))
        finally:
            # Tasks must end before the event loop closes, even if writing fails or Ctrl-C ends the wait.
            _wait(asyncio.run_coroutine_threadsafe(_cancel_tasks(), self._loop))
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _all(self, message: Callable[[Opponent], Coroutine[Any, Any, _Result]]) -> Future[list[_Result]]:
        async def work() -> list[_Result]:
            return await asyncio.gather(*[message(one) for one in self.opponents.values()])

        return asyncio.run_coroutine_threadsafe(work(), self._loop)


async def _cancel_tasks() -> None:
    """Cancel all remaining tasks, such as a wait that Ctrl-C has just ended."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _wait(future: Future[_Result]) -> _Result:
    """Wait for the players. Ctrl-C cancels the wait; the players can be asked again."""
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise
