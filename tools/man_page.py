"""Write the manual page ``docs/anygame.1`` anew, after commands or their options have changed.

::

    python tools/man_page.py
"""

from __future__ import annotations

from argparse import SUPPRESS
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anygame
from anygame.cli.command_table import full_parser

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser
    from collections.abc import Iterator

PAGE: Final = Path(__file__).parents[1] / "docs" / "anygame.1"


def main() -> None:
    """Write the page."""
    PAGE.write_text(man_page(anygame.__version__), encoding="utf-8")


def man_page(version: str) -> str:
    """Return the page in the language of man(7)."""
    return "\n".join(_lines(version)) + "\n"


def _lines(version: str) -> Iterator[str]:
    yield f'.TH ANYGAME 1 "" "anygame {version}" "User Commands"'
    yield ".SH NAME"
    yield r"anygame \- load, play, question and simulate any game written in the Game Description Language"
    yield ".SH SYNOPSIS"
    yield r"\fBanygame\fR \fICOMMAND\fR ..."
    yield ".br"
    yield r"\fBanygame\fR \fIFILE\fR"
    yield ".SH DESCRIPTION"
    yield "A rule sheet in the Game Description Language says everything about a game: its roles, its moves,"
    yield "and when and how it ends. The commands below play it, answer questions about it, and check it."
    yield r"A \fIFILE\fR is a rule sheet, or the name of a game that comes with the package; alone, it opens"
    yield r"the prompt of \fBanygame repl\fR."
    yield ".SH COMMANDS"
    for name, parser in full_parser()[1].items():
        yield from _command(name, parser)
    yield ".SH FILES"
    yield ".TP"
    yield r"\fI~/.local/state/anygame/history\fR"
    yield "what was typed at the prompt"
    yield ".TP"
    yield r"\fI~/.local/state/anygame/matches\fR"
    yield r"the records of games that were played with \fBanygame play\fR"
    yield ".SH ENVIRONMENT"
    yield ".TP"
    yield r"\fBANYGAME_CACHE\fR"
    yield "the folder in which compiled rules are kept"
    yield ".TP"
    yield r"\fBNO_COLOR\fR"
    yield "if it is set, nothing is coloured"
    yield ".TP"
    yield r"\fBXDG_STATE_HOME\fR"
    yield r"stands for \fI~/.local/state\fR"


def _command(name: str, parser: ArgumentParser) -> Iterator[str]:
    arguments = parser._get_positional_actions()
    typed = "".join(f" {_value(each)}" for each in arguments)
    yield f".SS \\fBanygame {_escaped(name)}\\fR [\\fIOPTION\\fR]...{typed}"
    yield _escaped(parser.description or "")
    shown = [each for each in parser._get_optional_actions() if each.help != SUPPRESS]
    for action in (*arguments, *shown):
        flags = ", ".join(f"\\fB{_escaped(flag)}\\fR" for flag in action.option_strings)
        yield ".TP"
        yield f"{flags} {_value(action)}".strip()
        yield _escaped(action.help or "")
    if parser.epilog and parser.epilog.strip():
        yield ".PP"
        yield ".nf"
        yield from map(_escaped, parser.epilog.rstrip().splitlines())
        yield ".fi"


def _value(action: Action) -> str:
    """Return what a value is called; empty for an option that takes none."""
    if action.nargs == 0:
        return ""
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else "VALUE"
    return f"\\fI{_escaped(str(action.metavar or choices))}\\fR"


def _escaped(text: str) -> str:
    found = text.replace("\\", r"\e").replace("-", r"\-")
    return f"\\&{found}" if found.startswith((".", "'")) else found


if __name__ == "__main__":
    main()
