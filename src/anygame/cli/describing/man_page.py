"""The manual page ``anygame(1)``, written from the table of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.cli.describing.words import described_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cli.describing.words import CommandWords, Option


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
    for command in described_commands():
        yield from _command(command)
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


def _command(command: CommandWords) -> Iterator[str]:
    arguments = "".join(f" \\fI{_escaped(each.metavar)}\\fR" for each in command.arguments)
    yield f".SS \\fBanygame {_escaped(command.name)}\\fR [\\fIOPTION\\fR]...{arguments}"
    yield _escaped(f"{command.summary[0].upper()}{command.summary[1:]}.")
    for each in (*command.arguments, *command.options):
        yield ".TP"
        yield _heading(each)
        yield _escaped(each.help)
    if command.details.strip():
        yield ".PP"
        yield ".nf"
        yield from map(_escaped, command.details.rstrip().splitlines())
        yield ".fi"


def _heading(option: Option) -> str:
    value = f"\\fI{_escaped(option.metavar)}\\fR" if option.metavar else ""
    if not option.flags:
        return value
    flags = ", ".join(f"\\fB{_escaped(flag)}\\fR" for flag in option.flags)
    return f"{flags} {value}".rstrip()


def _escaped(text: str) -> str:
    found = text.replace("\\", r"\e").replace("-", r"\-")
    return f"\\&{found}" if found.startswith((".", "'")) else found
