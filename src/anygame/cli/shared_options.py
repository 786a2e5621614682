"""The options that several commands have: each a dataclass to inherit from (`anygame.cli.options`)."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import argument, command_options, flag, option, seconds, several
from anygame.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.cluster import Cluster
    from anygame.game.backends import MachineName


#: What the help of commands says that take ``--after``.
AFTER: Final = """\
--after takes one joint move: a move for each role in the order of the roles, or
only for those roles that have more than one legal move. A number stands for the
move with that number in the role's list of legal moves.
"""

#: What help says of ``--lenient``.
LENIENT_HELP: Final = "read variables that nothing binds as Prolog-like reasoners do"


def json_shape(shape: str) -> str:
    """Return what help says of the object that ``--json`` prints."""
    return f"with --json, one object; terms are texts in KIF:\n  {shape}\n"


@command_options
class CaseOption:
    """How names are read."""

    case_sensitive: bool = flag("--case-insensitive", to=False, help="read names without regard to capitals")


@command_options
class ReadingOptions(CaseOption):
    """How names are read, and variables that GDL leaves unbound."""

    lenient: bool = flag("--lenient", help=LENIENT_HELP)


@command_options
class SheetOptions(ReadingOptions):
    """A rule sheet."""

    file: str = argument("FILE", help="the rule sheet, or a game of `anygame games`; - for standard input")


@command_options
class JsonOption:
    """The form of the answer."""

    json: bool = flag("--json", help="print JSON")


@command_options
class MachineOption(SheetOptions):
    """A rule sheet, and what computes the answers."""

    machine: MachineName = option(
        "--machine",
        choices=("auto", "reasoner", "network"),
        default="auto",
        help="what computes the answers, which are the same: the rules, the rules compiled, or what suits",
    )


@command_options
class PositionOptions(JsonOption, MachineOption):
    """A question about a state: the initial one, or the one to which some moves lead."""

    after: list[str] = several("--after", metavar="MOVES", help="play a joint move first; may be repeated")


def import_with_extra(module: str, extra: str, needed: str) -> Any:
    """Import a module of this package that needs an extra; what is missing then stands in the error.

    Raises:
        MissingExtraError: the extra is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{needed} ({error}): pip install 'anygame[{extra}]'", extra) from error


#: What stands for a cluster that is started here.
_HERE: Final = "here"


def cluster_option(meaning: str) -> Any:
    """Declare ``--cluster [ADDRESS]``; None where it is not given."""
    return option("--cluster", metavar="ADDRESS", nargs="?", const=_HERE, help=meaning)


@contextmanager
def joined(address: str | None) -> Iterator[Cluster | None]:
    """Join the cluster of an option, and leave it; None where it is not given.

    Raises:
        MissingExtraError: Ray is not installed.
        ClusterError: there is no cluster.
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

    start_clock: float = option(
        "--start-clock", type=seconds, default=30.0, metavar="SECONDS", help="to get ready (30)"
    )
    play_clock: float = option(
        "--play-clock", type=seconds, default=10.0, metavar="SECONDS", help="for each move (10)"
    )
    scramble: bool = flag("--scramble", help="send HOST:PORT players other words than those of the rules")
