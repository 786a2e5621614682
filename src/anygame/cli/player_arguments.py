"""The arguments of ``player``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from anygame.cli.match_arguments import positive, seconds
from anygame.cli.sharing import add_case, add_command

if TYPE_CHECKING:
    from typing import Any

    Commands = argparse._SubParsersAction[Any]

__all__ = ["add_player"]

_HIGHEST_PORT: Final = 65_535
_MORE: Final = """\
Managers send the rules, and ask for moves by the GGP protocol (HTTP, usually port 9147).
Only this machine is listened to, unless --host says more: 0.0.0.0 for everybody. If no
port is given and 9147 is taken, the next free one is used. Ctrl-C ends the player.

An answer leaves before the clock is up, with the best move so far. A match that its
manager has left is given up when nothing has come for the start clock, ten play clocks
and ten seconds, or for --patience.

In GDL-II, both forms of messages are understood. The older one has percepts where GDL-I
has moves; with --gdl2 it is always read so in games in which some rule says what a role
`sees`, without it only where they can be no moves.

with --json, one object a line:
  {"event": "listening", "host", "port", "name", "strategy"}
  {"event": "message", "time", "peer", "message", "match", "text", "reply", "seconds", "note"}
  {"event": "stopped"}
  message is INFO, PING, START, PLAY, STOP, ABORT, PREVIEW, or ? for what is none; note says
  what went wrong

exit status:
  0    ended by Ctrl-C or SIGTERM
  2    there is no such player, or the port cannot be had
"""


def add_player(commands: Commands) -> None:
    """Add the command."""
    summary = "play for managers over the network"
    added = add_command(commands, "player", "player:player", summary, _MORE)
    added.add_argument(
        "--port", type=_port, metavar="PORT", help="where to listen (9147); 0 for any free port"
    )
    added.add_argument("--host", default="127.0.0.1", metavar="HOST", help="for whom to listen (127.0.0.1)")
    added.add_argument("--name", metavar="NAME", help="what managers are told (anygame and the strategy)")
    added.add_argument(
        "--strategy",
        default="mcts",
        metavar="PLAYER",
        help="random, legal, greedy, mcts (the default), MODULE:CLASS or FILE.py:CLASS",
    )
    added.add_argument("--gdl2", action="store_true", help="short messages of GDL-II games hold percepts")
    added.add_argument("--parallel", type=positive, default=1, metavar="N", help="matches at a time (1)")
    added.add_argument("--margin", type=seconds, metavar="SECONDS", help="to keep back of every clock")
    added.add_argument("--patience", type=seconds, metavar="SECONDS", help="without a message in a match")
    added.add_argument("--seed", type=int, metavar="S", help="of random numbers")
    add_case(added)
    added.add_argument("--json", action="store_true", help="print JSON")


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:6]) <= _HIGHEST_PORT):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to {_HIGHEST_PORT}, found {text!r}")
    return int(text)
