"""Base classes for the options that several commands share (see `anygame.cli.options`)."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import argument, command_options, flag, option, seconds, several, whole
from anygame.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cluster import Cluster
    from anygame.game.backends import MachineName


#: Help of the commands with ``--after``.
AFTER: Final = """\
In --after MOVES, MOVES is a joint move: one move for each role, in the order of the roles. A role
with a single legal move can be left out. A number stands for the move with that number in
the role's list of legal moves.
"""

#: Help of ``--lenient``.
LENIENT_HELP: Final = "accept variables that no positive literal binds, as in Prolog-style sheets"
#: Help of the argument that names a rule sheet.
SHEET_HELP: Final = "rule sheet, or name of an installed game (`anygame games` lists them)"


def seed_option(default: int | None = None) -> Any:
    """Declare ``--seed``; without a default, every run uses a new random seed."""
    unset = "" if default is not None else " (default: a new seed for each run)"
    return option(
        "--seed", "S", f"random seed; the same seed gives the same results{unset}", whole, default=default
    )


def plot_option(what: str) -> Any:
    """Declare ``--plot``."""
    return option("--plot", "IMAGE", f"write a plot of {what} to this file: *.png, *.svg or *.pdf")


def json_shape(shape: str) -> str:
    """Return the help text about the output of ``--json``."""
    return f"With --json, one object is printed, with terms in KIF:\n  {shape}\n"


@command_options
class CaseOption:
    """Whether names that differ only in case are different names."""

    case_sensitive: bool = flag("--case-insensitive", "ignore the case of letters in names", to=False)


@command_options
class ReadingOptions(CaseOption):
    """Options of commands that read rule sheets."""

    lenient: bool = flag("--lenient", LENIENT_HELP)


@command_options
class SheetOptions(ReadingOptions):
    """Options of commands that read one rule sheet."""

    file: str = argument("FILE", help=f"{SHEET_HELP}; - for standard input")


@command_options
class JsonOption:
    """The option ``--json``."""

    json: bool = flag("--json", "print JSON, in the form described below")


@command_options
class MachineOption(SheetOptions):
    """Options of commands that compute states of one game."""

    machine: MachineName = option(
        "--machine",
        None,
        "reasoner interprets the rules, network compiles them, auto chooses the faster of the two; all give "
        "the same answers",
        choices=("auto", "reasoner", "network"),
        default="auto",
    )


@command_options
class PositionOptions(JsonOption, MachineOption):
    """Options of commands about one state: the initial state, or the state after the moves of ``--after``."""

    after: list[str] = several(
        "--after", "MOVES", "joint move to make before the command runs, as described below"
    )


def import_with_extra(module: str, extra: str, needed: str) -> Any:
    """Import a module of this package that needs an extra. Raises MissingExtraError without the extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{needed} ({error}): pip install 'anygame[{extra}]'", extra) from error


#: Value of ``--cluster`` without an address: start a cluster on this machine.
_HERE: Final = "here"


def cluster_option(meaning: str) -> Any:
    """Declare ``--cluster [ADDRESS]``; the field is None without this option."""
    return option("--cluster", "ADDRESS", meaning, nargs="?", const=_HERE)


@contextmanager
def joined(address: str | None) -> Iterator[Cluster | None]:
    """Yield a connection to the cluster of ``--cluster``; None if the option is not given.

    Raises MissingExtraError or ClusterError.
    """
    if address is None:
        yield None
        return
    # Importing Ray takes seconds, and most commands run without it.
    made: Cluster = import_module("anygame.cluster").Cluster(None if address == _HERE else address)
    with made:
        yield made


@command_options
class ClockOptions(JsonOption, ReadingOptions):
    """Options of commands that play matches."""

    start_clock: float = option(
        "--start-clock", "SECONDS", "seconds that players have before the first move", seconds, default=30.0
    )
    play_clock: float = option(
        "--play-clock", "SECONDS", "seconds that players have for each move", seconds, default=10.0
    )
    scramble: bool = flag("--scramble", "send the rules with scrambled names to remote players (HOST:PORT)")
