"""The ``quiz`` command: questions about rule sheets, with certain answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.cli.options import (
    Command,
    Status,
    argument,
    command_options,
    natural,
    option,
    positive,
    whole,
)
from anygame.cli.output import complain
from anygame.cli.progress import compile_needed, progress
from anygame.cli.shared_options import ReadingOptions
from anygame.cli.sheets import make_folder, read_game
from anygame.errors import QuizError
from anygame.files import file_faults, write_whole
from anygame.quiz import FORMS, KINDS, STYLES, Sheet, questions
from anygame.quiz.asking import DEFAULT_STATES

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.quiz.question import Kind, QuizForm
    from anygame.sheets.scrambling import Style

_DETAILS: Final = """\
legal     which moves of a role are legal
next      which facts are true after a joint move
terminal  whether the match is over
goal      which goal a role has
winner    which goal a role has at the end if all play as well as can be, where the
          states that follow can be counted (--states) and neither chance nor hidden
          information nor a mixed strategy matters
why       which rule gives an atom: the conditions of its body, with values

A question is a line of JSON: id, kind, form, sheet, prompt, answer, rules, facts,
moves, role, atom, difficulty {"facts", "rules", "depth"}. The prompt is for who is
asked, all else for who grades (`anygame grade`). No two questions are alike, the same
options give the same quiz, and a smaller --count the first of its questions. Where
the sheets have fewer, those are printed, and the exit status is 1.

Scrambled sheets are the same game under other names; keywords, the role `random` and
integers stay. --sheets FOLDER writes them, with what roles and moves are called, so
that `anygame equal SHEET FOLDER/NAME.kif --map FOLDER/NAME.map` proves it.
"""


@command_options
class _Options(ReadingOptions):
    files: list[str] = argument(
        "SHEET", nargs="+", help="a rule sheet, or a game of `anygame games`; - for standard input"
    )
    kinds: list[Kind] = option(
        "--kind", choices=KINDS, action="append", default=[], help="what is asked; may be repeated (all)"
    )
    count: int = option("--count", type=positive, default=10, metavar="N", help="how many questions (10)")
    seed: int = option("--seed", type=whole, default=0, metavar="S", help="of states, questions, names (0)")
    depth: int = option(
        "--depth",
        type=natural,
        default=10,
        metavar="D",
        help="joint moves at most before the state that is asked about (10)",
    )
    scramble: Style | None = option(
        "--scramble", choices=STYLES, help="use other names: words that can be said, or symbols"
    )
    form: QuizForm = option(
        "--form", choices=FORMS, default="kif", help="how rules and states are written (kif)"
    )
    states: int = option(
        "--states",
        type=positive,
        default=DEFAULT_STATES,
        metavar="N",
        help=f"for winner, the states that may follow ({DEFAULT_STATES:,})",
    )
    sheets: str | None = option(
        "--sheets", metavar="FOLDER", help="write the sheets as they are asked, and maps of their moves"
    )


def run(options: _Options) -> int:
    """Print questions, one a line; Ctrl-C ends it with those that are there."""
    games = [read_game(name, options) for name in options.files]
    if options.sheets is not None:
        for game in games:
            _write(game, options, options.sheets)
    found = questions(
        games,
        kinds=options.kinds or KINDS,
        count=options.count,
        seed=options.seed,
        depth=options.depth,
        scramble=options.scramble,
        form=options.form,
        states=options.states,
    )
    with progress("asking", options.count, counts=True) as show:
        try:
            for number, question in enumerate(found, start=1):
                sys.stdout.write(f"{question.to_json()}\n")
                show(completed=number)
        except QuizError as error:
            complain(error)
            return Status.ANSWER_IS_NO
    return Status.OK


def _write(game: Game, options: _Options, name: str) -> None:
    sheet = Sheet(game, "kif", options.scramble, options.seed)
    folder = make_folder(name)
    compile_needed(game)
    for suffix, text in (("kif", sheet.rules), ("map", sheet.map_text(game))):
        path = Path(folder, f"{sheet.name}.{suffix}")
        with file_faults("write", path):
            write_whole(path, text)


COMMAND = Command(_Options, run, _DETAILS)
