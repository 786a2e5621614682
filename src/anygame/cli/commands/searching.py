"""The commands that search: ``analyse`` estimates the values of moves, ``solve`` computes exact values."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

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
    from anygame.search import Analysis, Model

# -- analyse -------------------------------------------------------------------------------------------

_ANALYSE_DETAILS: Final = f"""\
The moves of each role are listed, the best first: visits (number of leaves evaluated below
the move), mean goal and its standard error, proven values or bounds, and the best known line
of play. On a terminal, the table is updated during the search. Without --seconds and
--iterations, the search ends at Ctrl-C, when all values are proven, or when all states have
been visited and no final state has a goal. Times exclude compilation.

If `anygame train` has trained a model of this sheet and the model won its trial, the search
uses the model. With --iterations, the search uses a model only if --model asks for one, so
that the same seed gives the same result on every machine.

{AFTER}
With --json, one object is printed on each line, about four times a second and at the end, with
terms in KIF:
  {{"game", "step", "terminal", "iterations", "seconds", "nodes", "depth", "bytes", "engine",
   "fallback", "solved", "reason", "goals": {{ROLE: N}}, "proven": {{ROLE: N}},
   "moves": {{ROLE: [{{"move", "visits", "goal", "error", "proven", "bounds": [N, N],
                     "line": [[MOVE]]}}]}}}}
  Unknown values are null. bounds are a lower and an upper bound of the value. engine is `lanes`
  if the compiled game evaluates many leaves in parallel, else `states`. fallback says why the
  slower engine `states` is used. depth is the depth of the search tree. If the search has visited
  all states and no final state has a goal, the field "reason" says so.
"""

_NOTHING_TO_PRACTISE: Final = "no practice: self-play needs a compiled game with several roles"


@command_options
class _AnalyseOptions(PositionOptions):
    practise: float | None = option(
        "--practise",
        "S",
        "first train a model by self-play for S seconds; the search uses the model if it wins a trial",
        seconds,
    )
    seconds: float | None = option(
        "--seconds", "S", "stop the search after S seconds (default: no limit)", seconds
    )
    iterations: int | None = option(
        "--iterations", "N", "stop the search after N evaluated leaves (default: no limit)", positive
    )
    threads: int = option("--threads", "N", "number of threads", threads, default=1)
    memory: float = option(
        "--memory", "GB", "memory limit of the search tree, in gigabytes", gigabytes, default=1.0
    )
    seed: int | None = seed_option()
    table: str | None = option(
        "--table", "FILE", "file of exact values for the search, written by `anygame solve --table`"
    )
    model: str | None = option(
        "--model",
        "FILE",
        "model for the search: yes (the trained model of this sheet, if any), no, or a file (default yes; "
        "with --iterations no)",
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
            complain(f"note: {search.no_model}: searching without a model")
    if options.practise is not None:
        report = practise(search, options.practise)
        screen.say(str(report or _NOTHING_TO_PRACTISE))
    bounds: dict[str, Any] = {"seconds": options.seconds, "iterations": options.iterations}
    if options.json:
        analysis = search.run(at.state, progress=lambda analysis: _print(at, analysis), **bounds)
        _print(at, analysis)
    else:
        analysis = analyse(search, at.state, Screen(), **bounds)
    if options.plot is not None:
        _plot(analysis, options.plot)
    return Status.INTERRUPTED if analysis.interrupted else Status.OK


def _model(options: _AnalyseOptions, game: Game) -> Model | None:
    if options.machine == "reasoner":
        if options.model not in {None, "no"}:
            raise ModelError("--model needs a compiled game: leave out --machine reasoner")
        return None
    asked = options.model or ("no" if options.iterations is not None else "yes")
    try:
        return wanted_model(game, {"yes": True, "no": False}.get(asked, asked))
    except ModelError as error:
        if options.model not in {None, "yes"}:
            raise
        complain(f"note: {error}: searching without a model")
        return None


def _plot(analysis: Analysis, path: str) -> None:
    most = max(map(len, analysis.moves.values()), default=0)
    if not most:
        raise PositionError("nothing to plot: no role has a move in this state")
    roles = [role for role, moves in analysis.moves.items() if len(moves) > min(1, most - 1)]
    with image(path, len(roles), (7 * len(roles), 4)) as panes:
        for ax, role in zip(panes, roles, strict=True):
            analysis.plot(ax, role)


def _print(at: Position, analysis: Analysis) -> None:
    print_event(at.to_json() | analysis.to_json())


# -- solve ---------------------------------------------------------------------------------------------


@command_options
class _SolveOptions(PositionOptions):
    memory: float = option("--memory", "GB", "memory limit, in gigabytes", gigabytes, default=4.0)
    seconds: float | None = option(
        "--seconds",
        "S",
        "time limit in seconds; if half of it does not suffice to visit all states, then a proof search "
        "(default: visit states until --memory is full, then search for the same time)",
        seconds,
    )
    table: str | None = option("--table", "FILE", "write the values of all states to FILE")


def _solve(options: _SolveOptions) -> int:
    at = load_compiled_position(options)
    with progress("exploring states") as show:
        solution = solve(
            at.game,
            at.state,
            memory=round(options.memory * 2**30),
            table=options.table is not None,
            seconds=options.seconds,
            progress=lambda expanded, states: show(
                description=f"{counted(states, 'state')}, {states - expanded:,} of them not yet expanded"
            ),
            proving=lambda analysis: show(
                description=f"searching for a proof: {analysis.iterations:,} leaves"
            ),
        )
    print_answer(Solved(at, solution), options)
    if options.table is not None:
        said = f"{options.table} was not written: there are no values to write"
        if solution.table is not None:
            save_table(solution.table, options.table)
            said = f"wrote the values of {counted(len(solution.table), 'state')} to {options.table}"
        if not options.json:
            print(said)
    if solution.interrupted:
        return Status.INTERRUPTED
    return Status.OK if solution.solved else Status.ANSWER_IS_NO


_SOLVE_DETAILS: Final = f"""\
With one role, the value of a state is the best goal that the role can reach. If two roles with
opposed goals take turns, the value is the minimax value. If the two roles move at the same time, the
value is that of optimal mixed strategies, which need the extra `solve`. If there are too many states
to visit, a search tries to prove the goals that two roles can guarantee (maximin), or to find the
best line of one role. Except with maximin values, a winner plays the shortest line to the end, and a
loser the longest line. All moves of `random` are equally likely.

If the rules give a role no goal or several goals in a final state, the command assumes any goal
from 0 to 100, and prints a value only if the value does not depend on these goals. Other games,
such as games with hidden information, are not solved; the exit status is then 1.

--table FILE writes the values of all states to a file for `anygame analyse --table` and, in
Python, anygame.load_table.

{AFTER}
{json_shape(SHAPE)}"""


COMMANDS: Final = {
    "analyse": Command(_AnalyseOptions, _analyse, _ANALYSE_DETAILS),
    "solve": Command(_SolveOptions, _solve, _SOLVE_DETAILS),
}
