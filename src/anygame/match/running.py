"""Running a match, from its start or from a record."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import SystemRandom
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anygame.errors import PlayerError, RecordError
from anygame.game.loading import loads
from anygame.language.diagnostics import counted
from anygame.language.parser import parse_term
from anygame.language.rules import Atom, Rule, atoms_in, map_atoms
from anygame.match.local import LocalSeat
from anygame.match.record import Record, new_match_id, write_record
from anygame.match.referee import Referee
from anygame.match.replaying import replay
from anygame.match.seats import is_person
from anygame.match.signing import signed
from anygame.players.loading import make_player
from anygame.players.player import Failures

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Coroutine, Sequence

    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.rules import Program
    from anygame.match.referee import Watcher
    from anygame.match.seats import Seat
    from anygame.players.player import Player

_Result = TypeVar("_Result")
_INIT: Final = ("init", 1)


@dataclass(frozen=True, slots=True)
class Terms:
    """Settings of a match.

    Attributes:
        start_clock: seconds to get ready.
        play_clock: seconds for each move.
        seed: seed of all random numbers of the manager.
        scramble: whether remote players receive rules with scrambled names.
        tournament: name of the tournament in records; empty without a tournament.
    """

    start_clock: float = 30
    play_clock: float = 10
    seed: int = field(default_factory=lambda: SystemRandom().randrange(2**32))
    scramble: bool = False
    tournament: str = ""


def run(
    game: Game,
    players: Sequence[Player | str] | Mapping[str, Player | str],
    *,
    start_clock: float = 30,
    play_clock: float = 10,
    seed: int | None = None,
    record: str | os.PathLike[str] | None = None,
    watcher: Watcher | None = None,
) -> Record:
    """Play one match in this process, to its end.

    >>> import anygame
    >>> game = anygame.loads('''
    ...   (role a) (role b) (init (at 1)) (legal a go) (legal b go) (legal b wait)
    ...   (<= (next (at 2)) (does b go)) (<= (next (at 1)) (does b wait)) (<= terminal (true (at 2)))
    ...   (goal a 50) (goal b 100)''')
    >>> record = run(game, ["random", "legal"], play_clock=1)
    >>> record.moves, record.goals
    ([['go', 'go']], [50, 100])

    Args:
        game: rules of the match.
        players: players in the order of the roles, or by role. The role ``random`` needs no player. Each
            player is a `Player`, or the specification of a player (see `anygame.players.make_player`).
        start_clock: seconds for all players to get ready.
        play_clock: seconds for each move.
        seed: seed of the random numbers of the manager, and of players that are given by a specification.
        record: file for the record, which is written after every step.
        watcher: observer of all events.

    Raises:
        PlayerError: there are too few or too many players, or a player cannot be created or prepared.
        RecordError: the record cannot be written.
    """
    terms = Terms(start_clock, play_clock) if seed is None else Terms(start_clock, play_clock, seed)
    local_seats = [
        LocalSeat(make_player(player, seed=terms.seed + index) if isinstance(player, str) else player)
        for index, player in enumerate(_players_in_order(game, players))
    ]
    for seat in local_seats:
        seat.prepare()
    seats = seated(game, local_seats)
    match_record = new_record(game, seats, terms)
    keep = keeper(record)
    keep(match_record)
    referee = Referee(game, seats, match_record, keep=keep, watcher=watcher, failures=Failures(record))

    async def play() -> Record:
        try:
            return await referee.play()
        finally:
            await asyncio.gather(*[seat.close() for seat in local_seats])

    return wait_for(play())


def _players_in_order(
    game: Game, players: Sequence[Player | str] | Mapping[str, Player | str]
) -> Sequence[Player | str]:
    if not isinstance(players, Mapping):
        return players
    by_role = {game.roles[game.role_index(role)]: player for role, player in players.items()}
    wanted = [role for role in game.roles if not role.is_random]
    missing = [role for role in wanted if role not in by_role]
    if missing:
        raise PlayerError(f"missing players for {', '.join(missing)}")
    return [by_role[role] for role in wanted]


def seated(game: Game, seats: Sequence[Seat]) -> list[Seat | None]:
    """Return the seat of each role; None for ``random``. Raises PlayerError for a wrong number of seats."""
    wanted = [role for role in game.roles if not role.is_random]
    if len(seats) != len(wanted):
        names = ", ".join(wanted)
        raise PlayerError(
            f"expected {counted(len(wanted), 'player')}, one for each of {names}; found {len(seats)}"
        )
    waiting = iter(seats)
    return [None if role.is_random else next(waiting) for role in game.roles]


def new_record(game: Game, seats: Sequence[Seat | None], terms: Terms, *, match_id: str = "") -> Record:
    """Return the record of a match that has not begun."""
    source = game.program.source
    record = Record(
        match_id or new_match_id(game.name),
        terms.start_clock,
        terms.play_clock,
        names=_names(seats),
        humans=_people(seats),
        game_url=_url(game.name),
        tournament=terms.tournament,
        is_scrambled=terms.scramble,
    )
    record.own = {
        "game": game.name,
        "roles": list(map(str, game.roles)),
        "seed": terms.seed,
        "caseSensitive": game.case_sensitive,
        "rules": source.text if source else str(game),
    }
    return record


def _names(seats: Sequence[Seat | None]) -> list[str]:
    return ["random" if seat is None else seat.name for seat in seats]


def _people(seats: Sequence[Seat | None]) -> list[bool] | None:
    people = [is_person(seat) for seat in seats]
    return people if any(people) else None


def _url(name: str) -> str:
    path = Path(name)
    try:
        return path.resolve().as_uri() if path.is_file() else ""
    except (OSError, ValueError):
        return ""


def keeper(path: str | os.PathLike[str] | None, key: RSAPrivateKey | None = None) -> Callable[[Record], None]:
    """Return a function that writes a record to a file. With a key, the record is signed."""

    def keep(record: Record) -> None:
        if path is not None and record.states:
            data: Mapping[str, Any] = record.to_json()
            write_record(data if key is None else signed(data, key), path)

    return keep


async def resume(
    game: Game,
    seats: Sequence[Seat | None],
    record: Record,
    *,
    keep: Callable[[Record], None] = lambda record: None,
    watcher: Watcher | None = None,
    failures: Failures | None = None,
) -> Record:
    """Resume a match from the last state of its record, and return the record.

    Players receive ABORT for the interrupted match, and START for a match with another id that begins in the
    last state (see `continued`). In games with hidden information (GDL-II), the last state would reveal
    hidden facts. In GDL-II, the match begins in the first state again, and each player receives its own moves
    and percepts again. Remote players receive PLAY for every past turn, and their replies are ignored.

    Raises:
        RecordError: the match is completed, or its record disagrees with the rules.
    """
    if record.is_completed:
        raise RecordError(f"{record.match_id} is completed and cannot be resumed")
    replayed = replay(record, game)
    if replayed.faults:
        raise RecordError(f"{record.match_id} cannot be resumed: its record is damaged: {replayed.faults[0]}")
    if replayed.states[-1].is_terminal:
        record.goals = None
    resumed = record.own.get("resumed")
    if not isinstance(resumed, list):
        resumed = record.own["resumed"] = []
    former = _wire_id(record.match_id, len(resumed))
    resumed.append(record.step)
    record.names, record.humans = _names(seats), _people(seats)
    record.errors += [[""] * len(game.roles)] * (len(record.states) - len(record.errors))
    parse = partial(parse_term, case_sensitive=game.case_sensitive)
    return await Referee(
        game if game.is_gdl2 else continued(replayed.states[-1]),
        seats,
        record,
        keep=keep,
        watcher=watcher,
        failures=failures,
        wire_id=_wire_id(record.match_id, len(resumed)),
        former_id=former,
        past=[tuple(map(parse, joint)) for joint in record.moves] if game.is_gdl2 else (),
    ).play()


def _wire_id(match_id: str, resumptions: int) -> str:
    return f"{match_id}.{resumptions}" if resumptions else match_id


def continued(state: State) -> Game:
    """Return the game of a state, with this state as the initial state.

    The protocol has no message for past moves. The future of a match depends only on the current state, so a
    match that begins in this state is a continuation for every player.

    >>> import anygame
    >>> game = anygame.loads('''
    ...   (role me) (init (at 1)) (legal me go)
    ...   (<= (next (at 2)) (does me go)) (<= terminal (true (at 2)))''')
    >>> rest = continued(game.initial_state().next(["go"]))
    >>> print(rest.initial_state())
    ((at 2))
    """
    game = state.game
    rules = _without_init(game.program)
    rules += [Rule(Atom(_INIT[0], (fact,))) for fact in sorted(state.facts)]
    return loads(
        "\n".join(map(str, rules)), name=game.name, case_sensitive=game.case_sensitive, limits=game.limits
    )


def _without_init(program: Program) -> list[Rule]:
    """Return the rules without ``init``; if bodies of rules use ``init``, rename the relation instead."""
    former = "initially"
    while former in {rule.head.predicate for rule in program.rules}:
        former += "_"
    is_read = any(atom.key == _INIT for rule in program.rules for atom, _ in atoms_in(rule.body))

    def renamed(atom: Atom) -> Atom:
        return replace(atom, predicate=former) if atom.key == _INIT else atom

    rules = []
    for rule in program.rules:
        body = tuple([map_atoms(formula, renamed) for formula in rule.body])
        if rule.head.key != _INIT:
            rules.append(replace(rule, body=body))
        elif is_read:
            rules.append(replace(rule, head=replace(rule.head, predicate=former), body=body))
    return rules


def wait_for(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine to its end; in another thread if an event loop is running, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: Future[_Result] = Future()

    def run_in_thread() -> None:
        try:
            outcome.set_result(asyncio.run(work))
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=run_in_thread, name="match", daemon=True).start()
    return outcome.result()
