"""A manager that runs match after match between remote players, as a script that you can adapt.

    python tools/manager_loop.py gdl/*.kif --players localhost:9147 localhost:9148 --records results
    python tools/manager_loop.py gdl/pig.kif --players localhost:9147 localhost:9148 --matches 10

Sends INFO to the players until enough players are free, and runs a match on the next sheet. Then it prints a
line with the sheet and, for each player, its goal and its mean goal so far. After a match on every sheet, the
players change roles. If players do not answer, the manager asks them again later. Ctrl-C aborts the match.
For a table, ratings and a store, see ``anygame tournament``.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict, deque
from itertools import count
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import anygame
from anygame.match.referee import Referee
from anygame.match.running import Terms, keeper, new_record, seated
from anygame.protocol import RemoteSeat, ask_info

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

_POLL = 1.0

Address = tuple[str, int]


def read_address(text: str) -> Address:
    """Read ``HOST:PORT``."""
    host, _, port = text.rpartition(":")
    if not (host and port.isdigit()):
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, found {text!r}")
    return host.strip("[]"), int(port)


async def free_players(addresses: Sequence[Address], wanted: int) -> list[tuple[Address, str]]:
    """Wait until enough players are free; return their addresses, with the names that they report."""
    while True:
        infos = await asyncio.gather(*[ask_info(host, port) for host, port in addresses])
        free = [
            (address, info.name or f"{address[0]}:{address[1]}")
            for address, info in zip(addresses, infos, strict=True)
            if info is not None and info.status != "busy"
        ]
        if len(free) >= wanted:
            return free[:wanted]
        await asyncio.sleep(_POLL)


async def manage(options: Namespace) -> None:
    """Run the given number of matches, or run matches until an interrupt."""
    games = [anygame.load(sheet, lenient=True) for sheet in options.sheets]
    waiting = deque(options.players)
    scores: dict[str, list[int]] = defaultdict(list)
    for number in range(options.matches) if options.matches else count():
        game = games[number % len(games)]
        wanted = sum(not role.is_random for role in game.roles)
        if wanted > len(waiting):
            raise SystemExit(f"manager_loop: {game.name} needs {wanted} players")
        chosen = await free_players(waiting, wanted)
        if number % len(games) == len(games) - 1:
            waiting.rotate(-1)
        seats = seated(game, [RemoteSeat(host, port, name=name) for (host, port), name in chosen])
        terms = Terms(options.start_clock, options.play_clock)
        record = new_record(game, seats, terms)
        path = options.records and options.records / f"{record.match_id}.json"
        await Referee(game, seats, record, keep=keeper(path)).play()
        tell(number + 1, game, record.names, record.goals, scores)


def tell(
    number: int, game: anygame.Game, names: list[str], goals: list[int] | None, scores: dict[str, list[int]]
) -> None:
    """Print the result of a match, and the mean goal of each player so far."""
    if goals is None:
        print(f"{number:4} {Path(game.name).stem}: given up", flush=True)
        return
    parts = []
    for role, name, goal in zip(game.roles, names, goals, strict=True):
        if not role.is_random:
            scores[name].append(goal)
            parts.append(f"{name} {goal} ({mean(scores[name]):.1f})")
    print(f"{number:4} {Path(game.name).stem}: {', '.join(parts)}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and run matches; return the exit status."""
    parser = argparse.ArgumentParser(description="Run match after match between remote players.")
    parser.add_argument("sheets", metavar="SHEET", nargs="+", help="rule sheets, played in turn")
    parser.add_argument("--players", metavar="HOST:PORT", nargs="+", required=True, type=read_address)
    parser.add_argument("--start-clock", type=float, default=30, metavar="SECONDS", help="(30)")
    parser.add_argument("--play-clock", type=float, default=10, metavar="SECONDS", help="(10)")
    parser.add_argument(
        "--matches", type=int, default=0, metavar="N", help="number of matches; 0: no limit (0)"
    )
    parser.add_argument("--records", type=Path, metavar="DIR", help="folder of the match records")
    options = parser.parse_args(arguments)
    if options.records:
        options.records.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(manage(options))
    except KeyboardInterrupt:
        return 130
    except anygame.AnygameError as error:
        print(f"manager_loop: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
