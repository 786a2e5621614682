"""The ``prove`` command: what is true of a game in every match, or a match in which it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.exit_status import ANSWER_IS_NO, INTERRUPTED, OK
from anygame.cli.options import Command, command_options, flag, option, seconds, several
from anygame.cli.output import print_json, print_lines
from anygame.cli.positions import load_game
from anygame.cli.progress import compile_game, progress_bar
from anygame.cli.shared_options import JsonOption, MachineOption, json_shape
from anygame.proving import prove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.game import Game
    from anygame.proving import Verdict, Verdicts

_SHAPE: Final = """\
{"game", "seconds", "interrupted", "verdicts": [{"property", "claim",
   "verdict": "proved" | "refuted" | "open", "match": [[MOVE]], "shortest", "depth",
   "invariant": [CLAUSE], "lemmas", "note", "found": [TEXT], "seconds"}]}
  match is null, or the joint moves to a state that refutes the claim, or that shows it
  where one state is enough; depth is, where a claim is open, so many moves were looked at
  without such a state; invariant holds clauses in GDL of which each holds in every state,
  lemmas counts the steps of a solver's proof that were checked"""
#: Facts of a survey that are shown; all are with --all and with --json.
_SHOWN: Final = 6


@command_options
class Options(JsonOption, MachineOption):
    """What ``anygame prove`` is asked."""

    properties: list[str] = several(
        "--property",
        metavar="NAME",
        help="a property, or a formula; may be repeated (all that are built in)",
    )
    seconds: float = option(
        "--seconds", read=seconds, default=60.0, metavar="S", help="how long each may take (60)"
    )
    all: bool = flag("--all", help="show all that was found, and the invariants")


def run(options: Options) -> int:
    """Print a verdict for each property; Ctrl-C ends it, with those that are known."""
    game = load_game(options)
    compile_game(game)
    found = _proved(game, options)
    if options.json:
        verdicts = [verdict.to_json() for verdict in found]
        shape = {"seconds": found.seconds, "interrupted": found.interrupted, "verdicts": verdicts}
        print_json({"game": game.name} | shape)
    if found.interrupted:
        return INTERRUPTED
    return OK if found.all("proved") else ANSWER_IS_NO


def _proved(game: Game, options: Options) -> Verdicts:
    with progress_bar() as bar:
        task = None if bar is None else bar.add_task("proving", total=None)

        def report(doing: str) -> None:
            if bar is not None and task is not None:
                bar.update(task, description=doing)

        def show(verdict: Verdict) -> None:
            if options.json:
                return
            lines = list(_lines(verdict, everything=options.all))
            if bar is None:
                print_lines(lines)
            else:
                bar.stop()
                print_lines(lines)
                bar.start()

        return prove(game, options.properties, seconds=options.seconds, report=report, found=show)


def _lines(verdict: Verdict, *, everything: bool) -> Iterator[str]:
    yield f"{verdict.outcome:<8} {verdict.name}: {verdict.claim} ({verdict.seconds:.1f} s)"
    for line in _details(verdict, everything=everything):
        yield f"         {line}"


def _details(verdict: Verdict, *, everything: bool) -> Iterator[str]:
    if verdict.outcome == "open" and verdict.depth is not None:
        yield f"no match of up to {verdict.depth} moves decides it"
    if verdict.note:
        yield verdict.note
    if verdict.match is not None:
        shortest = "a shortest match" if verdict.is_shortest else "a match"
        moves = len(verdict.match)
        yield f"shown by {shortest}, of {moves} joint move{'' if moves == 1 else 's'}{':' if moves else ''}"
        for number, joint in enumerate(verdict.match, start=1):
            yield f"{number:>3}  {'  '.join(map(str, joint))}"
    if verdict.invariant is not None:
        count = len(verdict.invariant)
        clauses = f"{count} clause{'' if count == 1 else 's'}"
        yield f"by an invariant of {clauses}, checked by {verdict.steps:,} lemmas"
        if everything:
            yield from verdict.invariant
    shown = verdict.found if everything else verdict.found[:_SHOWN]
    yield from shown
    if len(shown) < len(verdict.found):
        yield f"... {len(verdict.found) - len(shown):,} more (--all shows them)"
    if not verdict.found and verdict.match is None and verdict.invariant is None and not verdict.note:
        yield from ["none"] if verdict.outcome == "proved" and verdict.depth is None else []


_DETAILS: Final = f"""\
Properties that are built in: playable, ends, goals, turn-taking, zero-sum, winnable (of
each role: winnable ROLE), and what is looked for: constant-players, mutex (fluents of
which one holds), latched fluents, monotone goals, dead fluents and moves.

`proved` means that a checker has followed the proof. `refuted` comes with a match that
the rules themselves allow. Moves of `random` count as any other moves. The exit status
is 0 where all is proved, else 1. Proofs need the extra `prove`.

{json_shape(_SHAPE)}"""

COMMAND = Command(Options, run, _DETAILS)
