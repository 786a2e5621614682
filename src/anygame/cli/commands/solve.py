"""The ``solve`` command: finds the exact value of a game whose states can be counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.answers.solution import SHAPE, Solved
from anygame.cli.options import Command, Status, command_options, gigabytes, option, seconds
from anygame.cli.output import print_answer
from anygame.cli.positions import load_compiled_position
from anygame.cli.progress import progress
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape
from anygame.language.diagnostics import counted
from anygame.search import save_table, solve

if TYPE_CHECKING:
    from anygame.answers.position import Position
    from anygame.search import Solution


@command_options
class _Options(PositionOptions):
    memory: float = option("--memory", "GB", "give up if more gigabytes are needed", gigabytes, default=4.0)
    seconds: float | None = option(
        "--seconds",
        "S",
        "time limit: half to count states, the rest to search for a proof if there are too many (default: "
        "count until --memory is used, then search equally long)",
        seconds,
    )
    table: str | None = option("--table", "FILE", "write the values of all states to FILE")


def run(options: _Options) -> int:
    """Print the value under best play and a line of best play; after Ctrl-C, print the progress so far."""
    at = load_compiled_position(options)
    found = _solved(at, options)
    print_answer(Solved(at, found), options)
    if options.table is not None:
        said = f"nothing was written to {options.table}: no values are known"
        if found.table is not None:
            save_table(found.table, options.table)
            said = f"the values of {counted(len(found.table), 'state')} are in {options.table}"
        if not options.json:
            print(said)
    if found.interrupted:
        return Status.INTERRUPTED
    return Status.OK if found.solved else Status.ANSWER_IS_NO


def _solved(at: Position, options: _Options) -> Solution:
    with progress("exploring states") as show:
        return solve(
            at.game,
            at.state,
            memory=round(options.memory * 2**30),
            table=options.table is not None,
            seconds=options.seconds,
            progress=lambda expanded, states: show(
                description=f"{counted(states, 'state')}, {states - expanded:,} of them to be continued"
            ),
            proving=lambda analysis: show(description=f"looking for a proof: {analysis.iterations:,} leaves"),
        )


_DETAILS: Final = f"""\
One role: the best goal. Two roles of which one gains what the other loses: minimax if they
take turns, mixed strategies (extra `solve`) if they move at the same time. If there are too
many states to count, a search tries to prove what each of two roles can be sure of
(maximin), or looks for the best line of one. A winner's line is the shortest, a loser's the
longest, except under maximin, which does not compare lengths. Moves of `random` have equal
weight. An end that gives a role no goal, or several, may be worth anything to it: a value is
given if that makes no difference. No value is computed for other games, or for games with
hidden information; then the exit status is 1.

--table FILE writes the values of all states. `anygame analyse --table` and, from Python,
anygame.load_table look them up for these rules.

{AFTER}
{json_shape(SHAPE)}"""

COMMANDS: Final = {"solve": Command(_Options, run, _DETAILS)}
