"""Declarations of command options as dataclass fields, with their types, flags and help texts.

The ``options`` of each `Command` are a dataclass::

    @command_options
    class Options(SheetOptions):
        depth: int = argument("DEPTH", natural, help="the number of joint moves")
        divide: bool = flag("--divide", "count separately for each first joint move")

Several commands inherit options from `anygame.cli.shared_options`.
"""

from __future__ import annotations

import argparse
from dataclasses import Field, dataclass, field, fields
from enum import IntEnum
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    #: Parser of an argument's value. Raises ArgumentTypeError for a malformed value.
    Reader: TypeAlias = Callable[[str], object]


class Status(IntEnum):
    """Exit status of a command."""

    OK = 0
    #: Exit status if a query finds nothing, a check finds faults, a match is aborted, or a script line fails.
    ANSWER_IS_NO = 1
    BAD_INPUT = 2
    #: As in shells, the exit status after a signal is 128 plus the number of the signal.
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


OptionsT = TypeVar("OptionsT")
_KEY: Final = "argument"
HIGHEST_PORT: Final = 65_535
#: Maximum number of digits of a whole number that is not a seed.
_MOST_DIGITS: Final = 18
#: Maximum number of digits of a seed: a seed of 128 bits has at most 39 digits.
_MOST_DIGITS_OF_A_SEED: Final = 40
#: Maximum number of playouts. The sums of the goals of all playouts then fit into 64-bit counters.
_MOST_PLAYOUTS: Final = 10**15
#: All letters that occur in units of time and memory.
_LETTERS: Final = "smhdMGTB"
#: Maximum number of gigabytes, more than any machine has.
_MOST_GIGABYTES: Final = 100_000


def _declared(*added: tuple[tuple[str, ...], dict[str, Any]], group: str = "") -> Any:
    """Return a dataclass field with arguments of ``add_argument``. Options in a group exclude each other."""
    return field(metadata={_KEY: (added, group)})


def argument(metavar: str, reader: Reader | None = None, **settings: Any) -> Any:
    """Declare a positional argument; ``settings`` are passed to ``ArgumentParser.add_argument``."""
    return _declared(((), {"metavar": metavar, "type": reader} | settings))


def option(
    flags: str,
    metavar: str | None,
    help: str,
    reader: Reader | None = None,
    *,
    default: object = None,
    former: str = "",
    **settings: Any,
) -> Any:
    """Declare an option with a value. A numeric or string default is appended to the help.

    ``flags`` are the names of the option, separated by blanks. ``former`` is a deprecated name, which the
    help omits. Other ``settings`` are passed to ``ArgumentParser.add_argument``.
    """
    shown_default = ""
    if isinstance(default, int | float | str):
        is_count = isinstance(default, int) and metavar != "PORT"
        shown_default = f" (default {f'{default:,}' if is_count else default})".replace(".0)", ")")
    settings |= {"metavar": metavar, "type": reader, "default": default, "help": f"{help}{shown_default}"}
    declared = [(tuple(flags.split()), settings)]
    if former:
        declared.append(((former,), settings | {"help": argparse.SUPPRESS}))
    return _declared(*declared)


def several(flags: str, metavar: str, help: str) -> Any:
    """Declare an option that can be repeated; its field is the list of its values."""
    return option(flags, metavar, f"{help}; can be repeated", action="append", default=[])


def flag(flags: str, help: str, *, group: str = "", to: bool = True) -> Any:
    """Declare an option without a value, which sets its field to ``to``.

    Options of the same ``group`` exclude each other.
    """
    return _declared(((flags,), {"action": f"store_{to}".lower(), "help": help}), group=group)


def choice(constants: Mapping[str, str], *, default: str) -> Any:
    """Declare flags that exclude each other, each with a help text. A flag stores its name in the field."""
    shared = {"action": "store_const", "default": default}
    added = [((f"--{name}",), shared | {"const": name, "help": text}) for name, text in constants.items()]
    return _declared(*added, group=" ".join(constants))


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(argument, choice, flag, option, several)
)
def command_options(options: type[OptionsT]) -> type[OptionsT]:
    """Turn a class into a dataclass of options; subclasses inherit the options."""
    # Options are never compared or printed, and generating methods for this would delay every start.
    return dataclass(frozen=True, kw_only=True, eq=False, repr=False)(options)


@dataclass(frozen=True)
class Command(Generic[OptionsT]):
    """A command: the dataclass of its options, its code, and details for its help.

    ``run`` returns the exit status; None for success.
    """

    options: type[OptionsT]
    run: Callable[[OptionsT], int | None]
    details: str = ""

    def parse(self, name: str, summary: str, arguments: Sequence[str]) -> OptionsT:
        parser = _Parser(prog=f"anygame {name}", **self.settings(summary))
        self.declare(parser)
        return self.options(**vars(parser.parse_args(arguments)))

    def settings(self, summary: str) -> dict[str, Any]:
        return {
            "description": f"{summary[0].upper()}{summary[1:]}.",
            "epilog": self.details,
            "formatter_class": argparse.RawDescriptionHelpFormatter,
            "allow_abbrev": False,
        }

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Add own options, then inherited options, then positional arguments to a parser."""
        own = self.options.__annotations__
        groups: dict[str, Any] = {"": parser}

        def place(each: Field[Any]) -> int:
            (flags, _), *_ = each.metadata[_KEY][0]
            return 2 if not flags else each.name not in own

        for each in sorted(fields(self.options), key=place):  # type: ignore[arg-type]
            added, group = each.metadata[_KEY]
            if group not in groups:
                groups[group] = parser.add_mutually_exclusive_group()
            for flags, settings in added:
                named = {"dest": each.name} if flags else {}
                groups[group].add_argument(*(flags or [each.name]), **settings, **named)


class Parser(argparse.ArgumentParser):
    """Argument parser that reports a mistake in one line, and suggests ``--help`` in the next line."""

    def error(self, message: str) -> NoReturn:
        self.exit(Status.BAD_INPUT, f"{self.prog}: error: {message}\n  try: {self.prog} --help\n")


class _Parser(Parser):
    """Argument parser that accepts options between arguments, as in ``legal FILE --after MOVES ROLE``."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str], namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        parsed, unknown = self.parse_known_intermixed_args(args, namespace)
        if unknown:
            from difflib import get_close_matches

            from anygame.language.diagnostics import did_you_mean

            flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
            near = [get_close_matches(text.partition("=")[0], flags, n=1) for text in unknown]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{did_you_mean(near[0])}")
        return parsed


def whole(text: str) -> int:
    """Read a whole number with or without a sign."""
    digits = text[1:] if text[:1] in {"-", "+"} else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _MOST_DIGITS_OF_A_SEED:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text[:40]!r}")
    return int(text)


def whole_from(least: int, most: int | None, text: str, what: str = "whole number") -> int:
    """Read a whole number in a range; error messages call the number ``what``."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    if not is_number or not least <= int(text) <= (int(text) if most is None else most):
        wanted = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise argparse.ArgumentTypeError(f"expected a {what} {wanted}, found {text[:40]!r}")
    return int(text)


def read_port(text: str, least: int = 0) -> int:
    """Read a port number."""
    return whole_from(least, HIGHEST_PORT, text, "port")


def _above_0(what: str, most: float, units: Mapping[str, float], text: str) -> float:
    number = text.rstrip(_LETTERS)
    try:
        value = float(number) * units[text[len(number) :]]
    except (ValueError, KeyError):
        value = 0.0
    if not 0 < value <= most or value == inf:
        raise argparse.ArgumentTypeError(f"expected {what}, found {text[:40]!r}")
    return value


def many(text: str) -> int:
    """Read a whole number from 1 to 10**15, in a form such as 1e6 or 1_000_000."""
    try:
        number = int(text) if "e" not in text.lower() else float(text)
    except ValueError:
        number = 0.5
    if not 0 < number <= _MOST_PLAYOUTS or number != int(number):
        raise argparse.ArgumentTypeError(f"expected a number such as 1000000 or 1e6, found {text[:40]!r}")
    return int(number)


#: Reader of a whole number, 0 or more.
natural: Final = partial(whole_from, 0, None)
#: Reader of a number of joint moves.
joint_moves: Final = partial(whole_from, 0, 10_000_000)
#: Reader of a whole number, 1 or more.
positive: Final = partial(whole_from, 1, None)
#: Reader of a number of threads, up to the maximum that simulators and searches accept.
threads: Final = partial(whole_from, 1, 4096)
#: Number of seconds in each unit of time.
_TIMES: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
#: Number of gigabytes in each unit of memory.
_SIZES: Final = {"": 1.0, "MB": 1 / 1024, "GB": 1.0, "TB": 1024.0}
seconds: Final = partial(_above_0, "seconds above 0, such as 90, 1.5, 30m or 8h", inf, _TIMES)
gigabytes: Final = partial(_above_0, "gigabytes above 0, such as 4, 0.5 or 512MB", _MOST_GIGABYTES, _SIZES)
