"""How a command declares its options: as fields of a dataclass, with their types, flags and help.

A module of `anygame.cli.commands` has one `Command`, whose ``options`` are such a dataclass::

    @command_options
    class Options(SheetOptions):
        depth: int = argument("DEPTH", natural, help="the number of joint moves")
        divide: bool = flag("--divide", help="for each first joint move apart")

Options that several commands have are inherited (`anygame.cli.shared_options`).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, fields
from math import inf
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    #: Makes a value of a text; raises ArgumentTypeError where it cannot.
    Reader: TypeAlias = Callable[[str], object]


OK: Final = 0
#: A query found nothing, a check found faults, a match was given up, a line of a script failed.
ANSWER_IS_NO: Final = 1
BAD_INPUT: Final = 2
#: As of a process that a signal ended: 128 and the number of SIGINT, SIGPIPE, SIGTERM.
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
TERMINATED: Final = 143


OptionsT = TypeVar("OptionsT")
_KEY: Final = "argument"
#: More than can ever be counted; int() need not read thousands of digits.
_MOST_DIGITS: Final = 18
#: What programs that draw seeds write.
_MOST_DIGITS_OF_A_SEED: Final = 40
#: More than machines have; and a number of bytes that arrays can be asked for.
_MOST_GIGABYTES: Final = 100_000


@dataclass(frozen=True)
class _Declaration:
    """What argparse needs of a field.

    Attributes:
        flags: names with dashes; empty for an argument that has a position.
        settings: as of ``ArgumentParser.add_argument``.
        group: options of one group exclude each other.
        constants: instead of flags, those that set the field to a constant, of which one may be given.
        default: the constant where none is.
    """

    flags: tuple[str, ...]
    settings: Mapping[str, Any]
    group: str = ""
    constants: Mapping[str, str] | None = None
    default: str | None = None


def _declared(*flags: str, group: str = "", **settings: Any) -> Any:
    given = {name: value for name, value in settings.items() if value is not None}
    return field(metadata={_KEY: _Declaration(flags, given, group)})


def argument(
    metavar: str,
    read: Reader | None = None,
    *,
    help: str,
    count: str | None = None,
    choices: Sequence[str] | None = None,
) -> Any:
    """Declare an argument with a position; ``count`` is ``?`` where it may be left out, ``+`` for many."""
    return _declared(metavar=metavar, type=read, help=help, nargs=count, choices=choices)


def option(
    *flags: str,
    metavar: str | None = None,
    read: Reader | None = None,
    help: str,
    default: object = None,
    choices: Sequence[str] | None = None,
    count: str | None = None,
    required: bool | None = None,
    alone: object = None,
) -> Any:
    """Declare an option with a value; without a default, it is None where it is not given.

    With the count ``?`` its value may be left out: then it is ``alone``.
    """
    return _declared(
        *flags,
        metavar=metavar,
        type=read,
        help=help,
        default=default,
        choices=choices,
        nargs=count,
        required=required,
        const=alone,
    )


def several(*flags: str, metavar: str, help: str) -> Any:
    """Declare an option that may be repeated: the list of its values."""
    return _declared(*flags, metavar=metavar, action="append", default=[], help=help)


def flag(*flags: str, help: str, group: str = "", to: bool = True) -> Any:
    """Declare an option without a value that sets its field to ``to``; a group's exclude each other."""
    return _declared(*flags, action="store_true" if to else "store_false", help=help, group=group)


def choice(constants: Mapping[str, str], *, default: str) -> Any:
    """Declare flags of which one may be given: each sets the field to its name. They come with helps."""
    return field(metadata={_KEY: _Declaration((), {}, constants=constants, default=default)})


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(argument, choice, flag, option, several)
)
def command_options(options: type[OptionsT]) -> type[OptionsT]:
    """Make a dataclass of a class of options; inherit from others that are made so."""
    # Nobody compares or prints them, and every start would wait for the methods that do.
    return dataclass(frozen=True, kw_only=True, eq=False, repr=False)(options)


@dataclass(frozen=True)
class Command(Generic[OptionsT]):
    """A command.

    Attributes:
        options: the dataclass of its options.
        run: carries it out, and returns the exit status.
        details: what its help says below the options.
    """

    options: type[OptionsT]
    run: Callable[[OptionsT], int]
    details: str = ""

    def parse(self, name: str, summary: str, arguments: Sequence[str]) -> OptionsT:
        """Read the arguments after the name of the command; what is wrong with them ends the process."""
        parser = _Parser(prog=f"anygame {name}", **self.settings(summary))
        self.declare(parser)
        return self.options(**vars(parser.parse_args(arguments)))

    def settings(self, summary: str) -> dict[str, Any]:
        """Return what a parser of the command is made with, beside its name."""
        return {
            "description": f"{summary[0].upper()}{summary[1:]}.",
            "epilog": self.details,
            "formatter_class": argparse.RawDescriptionHelpFormatter,
            "allow_abbrev": False,
        }

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare its arguments and options to a parser; its own options before those that others share."""
        declared = [(each.name, each.metadata[_KEY]) for each in fields(self.options)]  # type: ignore[arg-type]
        own = self.options.__annotations__
        groups: dict[str, Any] = {}
        for name, declaration in sorted(declared, key=lambda item: item[0] not in own):
            if declaration.constants:
                _declare_constants(parser, name, declaration.constants)
                parser.set_defaults(**{name: declaration.default})
            elif declaration.flags:
                group = declaration.group
                if group and group not in groups:
                    groups[group] = parser.add_mutually_exclusive_group()
                groups.get(group, parser).add_argument(*declaration.flags, dest=name, **declaration.settings)
        for name, declaration in declared:
            if not declaration.flags and not declaration.constants:
                parser.add_argument(name, **declaration.settings)


def _declare_constants(parser: argparse.ArgumentParser, name: str, constants: Mapping[str, str]) -> None:
    group = parser.add_mutually_exclusive_group()
    for constant, meaning in constants.items():
        group.add_argument(f"--{constant}", dest=name, action="store_const", const=constant, help=meaning)


class _Parser(argparse.ArgumentParser):
    """Accepts options between positional arguments, as in ``legal FILE --after MOVES ROLE``."""

    _is_intermixed = False

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        if self._is_intermixed:
            return super().parse_known_args(args, namespace)
        self._is_intermixed = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_intermixed = False

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str], namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        found: argparse.Namespace
        found, unknown = self.parse_known_args(args, namespace)  # type: ignore[no-untyped-call]
        if unknown:
            from difflib import get_close_matches

            flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
            near = [get_close_matches(text.partition("=")[0], flags, n=1) for text in unknown]
            advice = [f"; did you mean {flag}?" for (flag,) in filter(None, near[:1])]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{''.join(advice)}")
        return found


# -- readers of values ---------------------------------------------------------------------------------------


def whole(text: str) -> int:
    """Read a whole number, with a sign if it has one."""
    digits = text[1:] if text[:1] in {"-", "+"} else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _MOST_DIGITS_OF_A_SEED:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text[:40]!r}")
    return int(text)


def natural(text: str) -> int:
    """Read a whole number from 0."""
    return _whole_from(0, text)


def positive(text: str) -> int:
    """Read a whole number from 1."""
    return _whole_from(1, text)


def _whole_from(least: int, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number from {least}, found {text[:40]!r}")
    return int(text)


def seconds(text: str) -> float:
    """Read a number of seconds above 0."""
    return _above_0("seconds", text, inf)


def gigabytes(text: str) -> float:
    """Read an amount of memory."""
    return _above_0("gigabytes", text, _MOST_GIGABYTES)


def _above_0(what: str, text: str, most: float) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= most or found == inf:
        raise argparse.ArgumentTypeError(f"expected {what}, a number above 0, found {text[:40]!r}")
    return found
