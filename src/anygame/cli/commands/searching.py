"""The commands that search: ``analyse`` for the values of moves, ``solve`` for the exact value of a state."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from anygame.answers.solution import SHAPE, Solved
from anygame.cli.options import (
    Command,
    Status,
    command_options,
    gigabytes,
    option,
    positive,
    seconds,
    threads,
)
from anygame.cli.output import Screen, complain, print_answer, print_event
from anygame.cli.positions import load_compiled_position
from anygame.cli.progress import analyse, compile_search, practise, progress
from anygame.cli.shared_options import AFTER, PositionOptions, json_shape, plot_option, seed_option
from anygame.errors import ModelError, PositionError
from anygame.language.diagnostics import counted
from anygame.plotting import image
from anygame.search import Search, load_table, save_table, solve
from anygame.search.model import wanted_model

if TYPE_CHECKING:
    from anygame.answers.position import Position
    from anygame.game import Game
    from anygame.search import Analysis, Model, Solution

# -- analyse -------------------------------------------------------------------------------------------

_ANALYSE_DETAILS: Final = f"""\
Each role's moves are listed, the best first: visits (number of leaves evaluated below
the move), mean goal and its standard error, the exact value or its bounds where they are
proven, and a line of best play as far as it is known. On a terminal, the table updates.
Without --seconds and --iterations the search ends when everything is proven, when all
states were seen and no end gives a goal, or at Ctrl-C. Time counts from the end of compiling.

If `anygame train` has made a model of this sheet and the model won its trial, the search
uses it. With --iterations it does so only if --model says so, since the same seed then
gives the same result on every machine.

{AFTER}
with --json, an object a line, about four times a second and at the end; terms are texts
in KIF:
  {{"game", "step", "terminal", "iterations", "seconds", "nodes", "depth", "bytes", "engine",
   "fallback", "solved", "reason", "goals": {{ROLE: N}}, "proven": {{ROLE: N}},
   "moves": {{ROLE: [{{"move", "visits", "goal", "error", "proven", "bounds": [N, N],
                     "line": [[MOVE]]}}]}}}}
  unknown values are null; bounds enclose the value; engine is `lanes` where leaves are
  evaluated side by side in the compiled game, or `states`; fallback says why it is `states`
  although lanes would be faster; depth is that of the tree; reason says that no end gives
  a role a goal, once all states were seen
"""

_NOTHING_TO_PRACTISE: Final = "there was no practice: it needs a compiled game with several roles"


@command_options
class _AnalyseOptions(PositionOptions):
    practise: float | None = option(
        "--practise", "S", "first learn from self-play for S seconds, and use that if it helps", seconds
    )
    seconds: float | None = option("--seconds", "S", "search for S seconds", seconds)
    iterations: int | None = option("--iterations", "N", "evaluate N leaves", positive)
    threads: int = option("--threads", "N", "number of cores to use", threads, default=1)
    memory: float = option("--memory", "GB", "maximum size of the tree in gigabytes", gigabytes, default=1.0)
    seed: int | None = seed_option()
    table: str | None = option("--table", "FILE", "exact values, as `anygame solve --table` writes them")
    model: str | None = option(
        "--model", "FILE", "use a trained model: yes, no, or a file (default yes; no with --iterations)"
    )
    plot: str | None = plot_option("the goals of the moves")


def _analyse(options: _AnalyseOptions) -> int:
    at = load_compiled_position(options)
    game = at.game
    table = None if options.table is None else load_table(options.table, game)
    memory = round(options.memory * 2**30)
    screen = Screen(sys.stderr)
    model = _model(options, game)
    search = Search(game, seed=options.seed, threads=options.threads, memory=memory, table=table, model=model)
    compile_search(search)
    if model is not None:
        screen.say(f"model of {model.figures}")
        if search.no_model is not None:
            complain(f"note: {search.no_model}: searching without it")
    if options.practise is not None:
        report = practise(search, options.practise)
        screen.say(str(report or _NOTHING_TO_PRACTISE))
    if options.json:
        found = _printed(options, search, at)
    else:
        found = analyse(search, at.state, Screen(), seconds=options.seconds, iterations=options.iterations)
    if options.plot is not None:
        _draw(found, options.plot)
    return Status.INTERRUPTED if found.interrupted else Status.OK


def _model(options: _AnalyseOptions, game: Game) -> Model | None:
    """Return the model to search with. Raises ModelError if a model asked for by name cannot be used."""
    if options.machine == "reasoner":
        if options.model not in {None, "no"}:
            raise ModelError("--model is for compiled games: it does not go with --machine reasoner")
        return None
    asked = options.model or ("no" if options.iterations is not None else "yes")
    try:
        return wanted_model(game, {"yes": True, "no": False}.get(asked, asked))
    except ModelError as error:
        if options.model not in {None, "yes"}:
            raise
        complain(f"note: {error}: searching without it")
        return None


def _draw(found: Analysis, path: str) -> None:
    most = max(map(len, found.moves.values()), default=0)
    if not most:
        raise PositionError("nobody has a move here: there is nothing to draw")
    roles = [role for role, moves in found.moves.items() if len(moves) > min(1, most - 1)]
    with image(path, len(roles), (7 * len(roles), 4)) as panes:
        for ax, role in zip(panes, roles, strict=True):
            found.plot(ax, role)


def _printed(options: _AnalyseOptions, search: Search, at: Position) -> Analysis:
    position = at.to_json()

    def show(analysis: Analysis) -> None:
        print_event(position | analysis.to_json())

    found = search.run(at.state, seconds=options.seconds, iterations=options.iterations, progress=show)
    show(found)
    return found


# -- solve ---------------------------------------------------------------------------------------------


@command_options
class _SolveOptions(PositionOptions):
    memory: float = option("--memory", "GB", "give up if more gigabytes are needed", gigabytes, default=4.0)
    seconds: float | None = option(
        "--seconds",
        "S",
        "time limit: half to count states, the rest to search for a proof if there are too many (default: "
        "count until --memory is used, then search equally long)",
        seconds,
    )
    table: str | None = option("--table", "FILE", "write the values of all states to FILE")


def _solve(options: _SolveOptions) -> int:
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


def _solved(at: Position, options: _SolveOptions) -> Solution:
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


_SOLVE_DETAILS: Final = f"""\
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


COMMANDS: Final = {
    "analyse": Command(_AnalyseOptions, _analyse, _ANALYSE_DETAILS),
    "solve": Command(_SolveOptions, _solve, _SOLVE_DETAILS),
}
