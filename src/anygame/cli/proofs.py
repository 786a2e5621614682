"""Functions of the commands that prove: comparing games, showing progress, recording counterexamples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from anygame.answers.proof import verdict_lines
from anygame.cli.options import command_options, flag, option, seconds
from anygame.cli.output import print_lines
from anygame.cli.progress import progress
from anygame.errors import LimitError, RuleSheetError
from anygame.game.loading import game_of, read_silently
from anygame.language.parser import parse_program
from anygame.proving import equal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from anygame.game.game import Game
    from anygame.language.source import Source
    from anygame.proving import Verdict

#: Help of ``--prove``.
PROVE_HELP: Final = """\
--prove proves that the result is the same game as the original sheet, as `anygame equal` does.
The exit status is 1 if there is no such proof. If the rules differ, a proof needs the extra
`prove`, and an original sheet that can be played."""


@command_options
class SameGameOptions:
    """Options of the commands that rewrite a sheet."""

    prove: bool = flag("--prove", "prove that the result is the same game as the original sheet")
    seconds: float = option("--seconds", "S", "time limit of the proof, in seconds", seconds, default=60.0)


def compared(first: Game, second: Game, **asked: Any) -> Verdict:
    """Return the verdict of `equal` on two games, with progress on a terminal."""
    with progress("comparing") as show:
        return equal(first, second, report=lambda doing: show(description=doing), **asked)


def same_game(
    before: Source, after: Source, limit: float, *, lenient: bool = False, stream: TextIO | None = None
) -> bool:
    """Prove that a rewritten sheet is the same game; print the result, and return whether it is proved.

    Raises RuleSheetError if the new sheet cannot be played.
    """
    try:
        with read_silently():
            first = game_of(parse_program(before, open_facts=lenient), lenient=lenient)
    except RuleSheetError:
        print(f"{before.name}: not compared: the original sheet cannot be played", file=stream)
        return False
    second = game_of(parse_program(after))
    try:
        verdict = compared(first, second, seconds=limit)
    except LimitError as error:
        print(f"{before.name}: not compared: {error.message}", file=stream)
        return False
    line, *details = verdict_lines(verdict)
    print_lines([f"{before.name}: {line}", *details], stream)
    return bool(verdict)


def write_matches(folder: str, game: Game, verdicts: Iterable[Verdict]) -> None:
    """Write a match record for each match in the verdicts. Raises AnygameError."""
    from anygame.cli.sheets import record_path
    from anygame.match.judging import Verdict as MoveVerdict
    from anygame.match.record import write_record
    from anygame.match.running import Terms, new_record

    for verdict in verdicts:
        if verdict.match is None:
            continue
        record = new_record(game, [None] * len(game.roles), Terms(start_clock=0, play_clock=0))
        record.names = [f"proof of {verdict.name}"] * len(game.roles)
        state = game.initial_state()
        record.add_state(state, [""] * len(game.roles))
        for joint in verdict.match:
            state = state.next(joint)
            record.add_turn(joint, state, [*map(MoveVerdict, joint)])
        write_record(record.to_json(), record_path(folder, record))
