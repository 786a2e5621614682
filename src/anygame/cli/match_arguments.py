"""The arguments of ``match``, ``replay`` and ``tournament``."""

from __future__ import annotations

import argparse
from math import isfinite
from typing import TYPE_CHECKING, Final

from anygame.cli.sharing import add_case, add_command

if TYPE_CHECKING:
    from typing import Any

    Commands = argparse._SubParsersAction[Any]

__all__ = ["add_matches", "positive", "seconds"]

_PLAYERS: Final = """\
a player is one of
  random, legal, greedy, mcts  a built-in strategy
  HOST:PORT                    a GGP player that listens there
  MODULE:CLASS, FILE.py:CLASS  a subclass of anygame.players.Player
and may have a name: NAME=PLAYER. A role `random` is played by the manager.
"""

_MATCH: Final = f"""\
{_PLAYERS}
A reply that is late (TO), missing (CE), or no legal move (IL) is replaced by a random
legal move, and the match goes on. Ctrl-C sends ABORT to the players.

with --json, one object a line:
  {{"event": "start", "match", "game", "players": {{ROLE: NAME}}, "seed", "step", "record"}}
  {{"event": "ready", "errors": {{ROLE: ERROR}}, "seconds": {{ROLE: SECONDS}}}}
  {{"event": "turn", "step", "moves": {{ROLE: MOVE}}, "errors", "seconds"}}
  {{"event": "end", "match", "completed", "goals": {{ROLE: GOAL}} or null, "fault"}}
  {{"event": "summary", "games", "players": [{{"name", "games", "mean", "margin", "errors"}}]}}
  errors and seconds only of roles that have any; margin is half of a 95 % interval

exit status:
  0    done
  1    an error of the rules ended a match
  2    bad input
  130  ended by Ctrl-C
"""

_REPLAY: Final = """\
On a terminal, the record is stepped through: Enter goes on, b back, a number to that
step, e to the end, q quits. Otherwise its moves are printed, and with --board its states.
All of it is checked against the rules: those in the record, or those of FILE. A signature
is verified where there is one.

with --json, one object:
  {"match", "game", "players": [NAME], "steps", "completed", "aborted", "goals",
   "signed": true or false, "faults": [TEXT]}

exit status:
  0    the record agrees with the rules
  1    it does not, or its signature is bad
  2    bad input
"""

_TOURNAMENT: Final = f"""\
{_PLAYERS}
In each round, every choice of players meets on every sheet, once in each turn of the
roles. Matches are kept in the store after every step: the same command goes on where it
was stopped, and does nothing but print once all is played.

with --json, one object:
  {{"matches": {{"played", "planned", "failed"}},
   "players": [{{"name", "rating", "mu", "sigma", "games", "mean", "margin", "errors"}}],
   "sheets": {{FILE: {{NAME: MEAN}}}}}}
  rating is mu - 3 sigma; null without the extra `tournament`
"""


def add_matches(commands: Commands) -> None:
    """Add the three commands."""
    _add_match(commands)
    _add_replay(commands)
    _add_tournament(commands)


def _add_match(commands: Commands) -> None:
    added = add_command(commands, "match", "matches:match", "play matches between players", _MATCH)
    added.add_argument("file", metavar="FILE", nargs="?", help="the rule sheet; not needed with --resume")
    added.add_argument("--players", metavar="PLAYER", nargs="+", help="in the order of the roles")
    _add_clocks(added)
    added.add_argument("--games", type=positive, default=1, metavar="N", help="how many matches (1)")
    added.add_argument("--swap-roles", action="store_true", help="players take turns in the roles")
    added.add_argument("--record", metavar="DIR", help="keep the record of each match in this folder")
    added.add_argument("--resume", metavar="RECORD", help="go on with the match of a record")
    added.add_argument("--sign", metavar="KEY", help="sign records with an RSA key (PEM; made if missing)")
    added.add_argument(
        "--scramble", action="store_true", help="send HOST:PORT players other words than those of the rules"
    )
    added.add_argument("--seed", type=int, metavar="S", help="of random moves and of built-in players")
    _add_common(added)


def _add_replay(commands: Commands) -> None:
    added = add_command(
        commands, "replay", "replaying:replay", "step through a match record, check it", _REPLAY
    )
    added.add_argument("record", metavar="RECORD", help="a match record in the reference JSON form")
    added.add_argument("file", metavar="FILE", nargs="?", help="the rule sheet, if the record has none")
    added.add_argument("--board", action="store_true", help="draw every state")
    added.add_argument("--check", action="store_true", help="print only what is wrong")
    _add_common(added)


def _add_tournament(commands: Commands) -> None:
    added = add_command(
        commands, "tournament", "tournaments:tournament", "let players meet each other", _TOURNAMENT
    )
    added.add_argument("files", metavar="FILE", nargs="+", help="rule sheets")
    added.add_argument("--players", metavar="PLAYER", nargs="+", required=True, help="two or more, as a rule")
    added.add_argument("--store", metavar="FILE", required=True, help="the SQLite file of all matches")
    added.add_argument("--rounds", type=positive, default=1, metavar="N", help="how many rounds (1)")
    _add_clocks(added)
    added.add_argument(
        "--scramble", action="store_true", help="send HOST:PORT players other words than those of the rules"
    )
    added.add_argument("--seed", type=int, default=0, metavar="S", help="of random moves and players (0)")
    added.add_argument("--plot", metavar="IMAGE", help="draw the ratings: *.png, *.svg, *.pdf")
    added.add_argument("--report", action="store_true", help="print the table, play nothing")
    _add_common(added)


def _add_clocks(added: argparse.ArgumentParser) -> None:
    added.add_argument("--start-clock", type=seconds, default=30, metavar="SECONDS", help="to get ready (30)")
    added.add_argument("--play-clock", type=seconds, default=10, metavar="SECONDS", help="for each move (10)")


def _add_common(added: argparse.ArgumentParser) -> None:
    add_case(added)
    added.add_argument("--json", action="store_true", help="print JSON")


def positive(text: str) -> int:
    """Read a whole number from 1."""
    if not (text.isascii() and text.isdigit() and int(text[:9])):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, found {text!r}")
    return int(text[:9])


def seconds(text: str) -> float:
    """Read a number of seconds above 0."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not (isfinite(found) and found > 0):
        raise argparse.ArgumentTypeError(f"expected seconds, a number above 0, found {text!r}")
    return found
