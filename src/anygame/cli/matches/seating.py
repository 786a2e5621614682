"""Names and seats of the players that a command line names."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from itertools import chain, count
from threading import Timer
from typing import TYPE_CHECKING, Final

from anygame.cli.options import HIGHEST_PORT
from anygame.errors import PlayerError
from anygame.match.local import LocalSeat
from anygame.players.loading import LEVELS, is_address, make_player, split_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.match.seats import Seat

#: Help of the commands that have players as arguments.
PLAYERS: Final = f"""\
A player is one of
  random, legal, greedy,       built-in strategies: mcts is the strongest, uct is a plain
  uct, mcts, ismcts            Monte Carlo tree search, ismcts is for hidden information
  {", ".join(LEVELS)}
                               an opponent of that playing strength
  human                        a person at this terminal, without a clock
  MODULE:CLASS, FILE.py:CLASS  a subclass of anygame.players.Player
  HOST:PORT                    a remote player that speaks the GGP protocol
NAME=PLAYER gives a player a name. Options of a player follow after a colon. For example,
mcts:threads=2,memory=512MB,pondering=yes uses two threads and up to 512 MB (default 1GB), and
thinks while it is another player's turn (default no). A role `random` needs no player, because
its moves are sampled.
"""

#: Specification of a person at this terminal.
HUMAN: Final = "human"

_NAME: Final = re.compile(r"([\w.-]+)=(.+)")
#: Seconds that a player may prepare before a notice is printed.
_LONG: Final = 2.0

#: Name and specification of a player.
Named = tuple[str, str]


def named(specs: Sequence[str]) -> list[Named]:
    """Return the name and specification of each player. Repeated default names get numbers.

    Raises PlayerError if two players are given the same name.

    >>> named(["mcts", "mcts:threads=2", "old=localhost:9147", "my/player.py:Mine"])
    [('mcts', 'mcts'), ('mcts-2', 'mcts:threads=2'), ('old', 'localhost:9147'), ('Mine', 'my/player.py:Mine')]
    """
    players: list[Named] = []
    taken: set[str] = set()
    for spec in specs:
        given = _NAME.fullmatch(spec)
        name, what = (given[1], given[2]) if given else (_short(spec), spec)
        if given and name in taken:
            raise PlayerError(f"two players are called {name}: give them different names")
        numbered = chain([name], (f"{name}-{number}" for number in count(2)))
        unique = next(candidate for candidate in numbered if candidate not in taken)
        taken.add(unique)
        players.append((unique, what))
    return players


def _short(spec: str) -> str:
    """Return the default name of a player: its address, level or class."""
    if is_address(spec):
        return spec
    level = spec.partition(":")[0]
    if level in LEVELS:
        return level
    what, _ = split_options(spec)
    return what.rpartition(":")[2] or what


def make_seat(player: Named, seed: int | None = None, *, aloud: bool = False) -> Seat:
    """Return the seat of a player. With ``aloud``, a player comments on its moves if it can.

    Raises PlayerError for an unknown player, and for a person without a terminal.
    """
    name, spec = player
    if spec == HUMAN:
        # Only matches with people need the prompt.
        person: Seat = import_module("anygame.cli.playing.seat").PersonSeat(name)
        return person
    if not is_address(spec):
        local = LocalSeat(make_player(spec, seed=seed, aloud=aloud), name=name)
        _prepare(local)
        return local
    host, _, port = spec.rpartition(":")
    if not 0 < int(port[:6]) <= HIGHEST_PORT:
        raise PlayerError(
            f"the address {spec} is not valid: the port must be a number from 1 to {HIGHEST_PORT}"
        )
    # Only matches with remote players need sockets.
    seat: Seat = import_module("anygame.protocol.seat").RemoteSeat(host.strip("[]"), int(port), name=name)
    return seat


def _prepare(seat: LocalSeat) -> None:
    notice = Timer(
        _LONG, print, ["preparing the player; this takes longer the first time"], {"file": sys.stderr}
    )
    notice.daemon = True
    notice.start()
    try:
        seat.prepare()
    finally:
        notice.cancel()
