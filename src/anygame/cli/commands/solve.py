"""The ``solve`` command: the exact value of a game whose states can be counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, Status, command_options, gigabytes, option, seconds
from anygame.cli.output import print_json, print_lines
from anygame.cli.positions import describe_position, load_position
from anygame.cli.progress import compile_game, progress
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape
from anygame.game.machine import reason_of
from anygame.language.diagnostics import counted
from anygame.search import save_table, solve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game import Game, State
    from anygame.search import Solution

_COUNTED: Final = ("states", "expanded", "edges", "depth", "seconds", "bytes", "leaves")
_SHAPE: Final = """\
{"game", "step", "terminal", "solved", "method", "goals": {ROLE: N}, "bounds": {ROLE: [N, N]},
   "reason", "interrupted", "states", "expanded", "edges", "depth", "seconds", "bytes", "leaves",
   "missing": {ROLE: N}, "line": [[MOVE]], "fallback"}
  goals are null where they are not known; reason says why; bounds are null or enclose the goal;
  expanded counts the states that were continued by every joint move, edges these joint moves;
  depth is the number of joint moves within which every state was; leaves counts
  the positions evaluated in search of a proof; missing counts, per role, the ends
  among the states that give it no goal, several, or none that is a whole number; fallback
  is null, or why the reasoner computes states although the network was to"""


@command_options
class _Options(PositionOptions):
    memory: float = option(
        "--memory", type=gigabytes, default=4.0, metavar="GB", help="give up where more would be needed (4)"
    )
    seconds: float | None = option(
        "--seconds",
        type=seconds,
        metavar="S",
        help="how long it may take: half to count states, the rest to look for a proof where they are too "
        "many (as memory allows, and as long again)",
    )
    table: str | None = option("--table", metavar="FILE", help="write the values of all states to a file")


def run(options: _Options) -> int:
    """Print the value under best play, and a line of it. Ctrl-C ends it, with how far it came."""
    game, state = load_position(options)
    if options.machine != "reasoner" and not game.is_settled:
        compile_game(game)
    found = _solved(game, state, options)
    if options.json:
        fallback = {"fallback": reason_of(game.fallback)}
        print_json(describe_position(options, state) | _described(found) | fallback)
    else:
        print_lines(_lines(state, found))
        if options.table is not None and found.table is None:
            print(f"nothing was written to {options.table}: no values are known")
    if options.table is not None and found.table is not None:
        save_table(found.table, options.table)
        if not options.json:
            print(f"the values of {counted(len(found.table), 'state')} are in {options.table}")
    if found.interrupted:
        return Status.INTERRUPTED
    return Status.OK if found.solved else Status.ANSWER_IS_NO


def _solved(game: Game, state: State, options: _Options) -> Solution:
    memory, table = round(options.memory * 2**30), options.table is not None
    with progress("looking for states") as show:
        return solve(
            game,
            state,
            memory=memory,
            table=table,
            seconds=options.seconds,
            progress=lambda expanded, found: show(
                description=f"{counted(found, 'state')}, {found - expanded:,} of them to be continued"
            ),
            proving=lambda found: show(description=f"looking for a proof: {found.iterations:,} leaves"),
        )


def _described(found: Solution) -> dict[str, Any]:
    return {
        "solved": found.solved,
        "method": found.method,
        "goals": dict(found.goals),
        "bounds": {role: None if bounds is None else list(bounds) for role, bounds in found.bounds.items()},
        "reason": found.reason,
        "interrupted": found.interrupted,
        **{name: getattr(found, name) for name in _COUNTED},
        "missing": dict(found.missing),
        "line": [list(map(str, joint)) for joint in found.line],
    }


def _lines(state: State, found: Solution) -> Iterator[str]:
    width = max(map(len, state.game.roles))
    if found.solved:
        for role, goal in found.goals.items():
            yield f"{role.ljust(width)}  {'-' if goal is None else f'{goal:g}'}"
        yield f"under best play ({found.method})"
    else:
        yield f"not solved: {found.reason}"
        for role, bounds in found.bounds.items():
            if bounds is not None:
                yield f"{role.ljust(width)}  between {bounds.least:g} and {bounds.most:g}"
    for role, count in found.missing.items():
        if count:
            yield f"ends without a goal for {role}: {count:,}; each may be worth anything from 0 to 100"
    if found.line:
        kept = (
            "a line that keeps the value, of any length:"
            if found.method == "maximin"
            else "a line of best play:"
        )
        yield kept if found.solved else "the best line that was found:"
    for number, joint in enumerate(found.line, start=1):
        yield f"{number:>3}  {'  '.join(map(str, joint))}"
    part = "" if found.expanded == found.states else f", {found.expanded:,} of them continued"
    proof = f", then {found.leaves:,} leaves in search of a proof" if found.leaves else ""
    yield (
        f"{counted(found.states, 'state')}{part}, {counted(found.edges, 'joint move')}, "
        f"{found.depth} deep{proof}; {found.seconds:.2f} s, {found.bytes / 2**20:,.0f} MiB"
    )


_DETAILS: Final = f"""\
One role: the best goal. Two roles, of which one gains what the other loses: minimax
where they take turns, mixed strategies (extra `solve`) where they move together.
Where states are too many to be counted, a search looks for a proof of what each of
two roles can make sure of (maximin), or for the best line of one. A winner's line is
the shortest, a loser's the longest, but under maximin, which does not compare lengths.
Moves of `random` are weighed alike. An end that gives a role no goal, or several,
may be worth anything to it: a value is given where that makes no difference.
For other games, and those with hidden
information, no value is computed. The exit status is 1 where none is found.

--table FILE writes the values of all states, to be looked up for these rules
(from Python, anygame.load_table).

{AFTER}
{json_shape(_SHAPE)}"""

COMMAND = Command(_Options, run, _DETAILS)
