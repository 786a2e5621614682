"""Write the manual page and the reference of commands and codes; run this after each change of them.

::

    python tools/reference_pages.py
"""

from __future__ import annotations

from argparse import SUPPRESS
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anygame
from anygame.cli.command_table import full_parser
from anygame.doctor import CODES

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser
    from collections.abc import Iterator

DOCS: Final = Path(__file__).parents[1] / "docs"


def main() -> None:
    """Write the pages."""
    for name, text in pages(anygame.__version__).items():
        (DOCS / name).write_text(text, encoding="utf-8")


def pages(version: str) -> dict[str, str]:
    """Return the text of each page by its path in docs/."""
    return {
        "anygame.1": man_page(version),
        "reference/command-line.md": "\n".join(_command_line()) + "\n",
        "reference/codes.md": "\n".join(_codes()) + "\n",
    }


def _command_line() -> Iterator[str]:
    yield "# Command line\n"
    yield "A FILE is a rule sheet, `-` for standard input, or the name of a game that comes with the package."
    yield "`anygame COMMAND --help` prints the same. [The prompt](../guide/prompt.md) has examples.\n"
    for name, parser in full_parser()[1].items():
        arguments = parser._get_positional_actions()
        typed = "".join(f" {_plain_value(argument)}" for argument in arguments)
        yield f"## anygame {name}\n"
        yield f"`anygame {name} [OPTION]...{typed}`\n"
        yield f"{_cell(parser.description or '')}\n"
        # The first option is --help.
        shown = [option for option in parser._get_optional_actions() if option.help != SUPPRESS][1:]
        yield "| argument | meaning |"
        yield "| --- | --- |"
        for action in (*arguments, *shown):
            value = _plain_value(action)
            written = [f"{flag} {value}".strip() for flag in action.option_strings] or [value]
            yield f"| {', '.join(f'`{_cell(form)}`' for form in written)} | {_cell(action.help or '')} |"
        yield f"\n```text\n{parser.epilog.strip()}\n```\n" if parser.epilog and parser.epilog.strip() else ""


def _codes() -> Iterator[str]:
    yield "# Codes of diagnostics\n"
    yield "`anygame explain-code CODE` prints the reason, the source and an example of each."
    yield "[Checking sheets](../guide/checking.md) shows them in use.\n"
    yield "| code | severity | meaning | rule |"
    yield "| --- | --- | --- | --- |"
    for name, code in sorted(CODES.items()):
        yield f"| `{name}` | {code.severity} | {_cell(code.title)} | {_cell(code.demand)} |"


def _cell(text: str) -> str:
    """Return text for a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def _plain_value(action: Action) -> str:
    """Return the name of a value; empty for an option that takes none."""
    if action.nargs == 0:
        return ""
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else "VALUE"
    return str(action.metavar or choices)


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
    """Return the name of a value in italics; empty for an option that takes none."""
    value = _plain_value(action)
    return f"\\fI{_escaped(value)}\\fR" if value else ""


def _escaped(text: str) -> str:
    found = text.replace("\\", r"\e").replace("-", r"\-")
    return f"\\&{found}" if found.startswith((".", "'")) else found


if __name__ == "__main__":
    main()
