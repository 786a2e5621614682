"""Options that several commands share, as dataclasses to inherit from (`anygame.cli.options`)."""

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


#: Help of the commands that take ``--after``.
AFTER: Final = """\
--after takes a joint move: one move for each role, in the order of the roles. Roles
with a single legal move can be left out. A number means the move with that number in the
role's list of legal moves.
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
    """Return the help about the object that ``--json`` prints."""
    return f"With --json, one object is printed, with terms in KIF:\n  {shape}\n"


@command_options
class CaseOption:
    """Option for the case of names."""

    case_sensitive: bool = flag("--case-insensitive", "ignore the case of letters in names", to=False)


@command_options
class ReadingOptions(CaseOption):
    """Options for the case of names, and for unbound variables."""

    lenient: bool = flag("--lenient", LENIENT_HELP)


@command_options
class SheetOptions(ReadingOptions):
    """Options of commands about one rule sheet."""

    file: str = argument("FILE", help=f"{SHEET_HELP}; - for standard input")


@command_options
class JsonOption:
    """Option for the form of the answer."""

    json: bool = flag("--json", "print JSON, in the form described below")


@command_options
class MachineOption(SheetOptions):
    """Options of commands about one rule sheet, with the machine that computes the answers."""

    machine: MachineName = option(
        "--machine",
        None,
        "reasoner interprets the rules, network compiles them, auto chooses the faster one; the answers are "
        "the same",
        choices=("auto", "reasoner", "network"),
        default="auto",
    )


@command_options
class PositionOptions(JsonOption, MachineOption):
    """Options of commands about one state: the initial state, or the state after given moves."""

    after: list[str] = several("--after", "MOVES", "joint move to make first, as described below")


def import_with_extra(module: str, extra: str, needed: str) -> Any:
    """Import a module of this package that needs an extra. Raises MissingExtraError without it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{needed} ({error}): pip install 'anygame[{extra}]'", extra) from error


#: Value of ``--cluster`` without an address: start a cluster on this machine.
_HERE: Final = "here"


def cluster_option(meaning: str) -> Any:
    """Declare ``--cluster [ADDRESS]``; its field is None if it is not given."""
    return option("--cluster", "ADDRESS", meaning, nargs="?", const=_HERE)


@contextmanager
def joined(address: str | None) -> Iterator[Cluster | None]:
    """Join the cluster of ``--cluster``; yield None without one. Raises MissingExtraError, ClusterError."""
    if address is None:
        yield None
        return
    # Importing Ray takes seconds, and most commands run without it.
    made: Cluster = import_module("anygame.cluster").Cluster(None if address == _HERE else address)
    with made:
        yield made


@command_options
class ClockOptions(JsonOption, ReadingOptions):
    """Options for the clocks, and for the names in the rules that players receive."""

    start_clock: float = option(
        "--start-clock", "SECONDS", "seconds that players have to get ready", seconds, default=30.0
    )
    play_clock: float = option(
        "--play-clock", "SECONDS", "seconds that players have for each move", seconds, default=10.0
    )
    scramble: bool = flag(
        "--scramble", "replace the names in the rules that are sent to remote players (HOST:PORT)"
    )
