"""The options that several commands have: each a dataclass to inherit from (`anygame.cli.options`)."""

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
--after takes one joint move: one move for each role, in the order of the roles. Roles
with a single legal move may be left out. A number stands for the move with that number
in the role's list of legal moves.
"""

#: Help of ``--lenient``.
LENIENT_HELP: Final = "allow variables that no positive literal binds, as Prolog-style sheets have them"
#: Help of the argument that names a rule sheet.
SHEET_HELP: Final = "rule sheet, or name of an installed game (`anygame games` lists them)"


def seed_option(default: int | None = None) -> Any:
    """Declare ``--seed``; without a default, every run draws another seed."""
    unset = "" if default is not None else " (default: a new one each time)"
    return option("--seed", "S", f"random seed; the same seed repeats results{unset}", whole, default=default)


def plot_option(what: str) -> Any:
    """Declare ``--plot``, which draws something at the end."""
    return option("--plot", "IMAGE", f"draw {what} into a file: *.png, *.svg or *.pdf")


def json_shape(shape: str) -> str:
    """Return what help says of the object that ``--json`` prints."""
    return f"with --json, one object; terms are texts in KIF:\n  {shape}\n"


@command_options
class CaseOption:
    """How names are read."""

    case_sensitive: bool = flag("--case-insensitive", "ignore case in names", to=False)


@command_options
class ReadingOptions(CaseOption):
    """How names are read, and variables that GDL leaves unbound."""

    lenient: bool = flag("--lenient", LENIENT_HELP)


@command_options
class SheetOptions(ReadingOptions):
    """A rule sheet."""

    file: str = argument("FILE", help=f"{SHEET_HELP}; - for standard input")


@command_options
class JsonOption:
    """The form of the answer."""

    json: bool = flag("--json", "print JSON")


@command_options
class MachineOption(SheetOptions):
    """A rule sheet, and what computes the answers."""

    machine: MachineName = option(
        "--machine",
        None,
        "interpret the rules (reasoner), compile them (network), or choose; the answers are the same",
        choices=("auto", "reasoner", "network"),
        default="auto",
    )


@command_options
class PositionOptions(JsonOption, MachineOption):
    """A question about a state: the initial one, or the one to which some moves lead."""

    after: list[str] = several("--after", "MOVES", "joint move to play before the question is asked")


def import_with_extra(module: str, extra: str, needed: str) -> Any:
    """Import a module of this package that needs an extra. Raises MissingExtraError without it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{needed} ({error}): pip install 'anygame[{extra}]'", extra) from error


#: Stands for a cluster that is started on this machine.
_HERE: Final = "here"


def cluster_option(meaning: str) -> Any:
    """Declare ``--cluster [ADDRESS]``; None where it is not given."""
    return option("--cluster", "ADDRESS", meaning, nargs="?", const=_HERE)


@contextmanager
def joined(address: str | None) -> Iterator[Cluster | None]:
    """Join the cluster of an option while the context lasts; None without the option.

    Raises MissingExtraError without Ray, and ClusterError if there is no such cluster.
    """
    if address is None:
        yield None
        return
    # Ray takes seconds to load, and most commands are run without it.
    made: Cluster = import_module("anygame.cluster").Cluster(None if address == _HERE else address)
    with made:
        yield made


@command_options
class ClockOptions(JsonOption, ReadingOptions):
    """Clocks, and what players are sent."""

    start_clock: float = option("--start-clock", "SECONDS", "time to get ready", seconds, default=30.0)
    play_clock: float = option("--play-clock", "SECONDS", "time for each move", seconds, default=10.0)
    scramble: bool = flag("--scramble", "scramble the names in the rules that are sent to HOST:PORT players")
