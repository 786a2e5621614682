"""Loading games from rule sheets."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from warnings import catch_warnings, simplefilter, warn

from anygame.errors import RuleSheetError
from anygame.game.game import Game
from anygame.language.diagnostics import Diagnostic, format_diagnostics
from anygame.language.forms import form_of
from anygame.language.parser import parse_program
from anygame.language.source import Source
from anygame.language.terms import collector_paused
from anygame.sheets.installed import open_sheet

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from anygame.game.backends import MachineName
    from anygame.language.limits import Limits
    from anygame.language.rules import Program

_READINGS: Final = {
    "negation": "negations read as 'for no value'",
    "distinct": "each `distinct` with an unbound variable left out",
    "role": "roles added",
    "binding": "variables bound by role, base or input",
    "domain": "variables bound by the possible values of their argument",
    "any": "unbound variables of next, legal or goal can have any value",
}


class LenientReadingWarning(UserWarning):
    """A sheet has unbound variables, which were read as in Prolog-like reasoners."""


def load(
    path: str | os.PathLike[str],
    *,
    case_sensitive: bool = True,
    lenient: bool = False,
    limits: Limits | None = None,
    machine: MachineName = "auto",
) -> Game:
    """Load a game from a rule sheet.

    Args:
        path: a file in KIF or in infix form, or the name of an installed game (see ``games``).
        case_sensitive: whether names that differ by case are different; the case of keywords never matters.
        lenient: whether to read unbound variables as Prolog-like reasoners do. A variable that occurs only in
            negations means "for no value". A variable in a head or a fact takes the values that `role`,
            `base` or `input` give, or the possible values of the argument at this place. A
            `LenientReadingWarning` counts the lenient readings.
        limits: bounds on the length of the text and the number of derived facts.
        machine: the machine that computes the answers; all machines agree. ``reasoner`` evaluates the rules.
            ``network`` compiles the rules into logic gates first. ``auto`` uses the reasoner until a call
            visits many states (``simulate``, ``batch``, 500 playouts, a ``perft`` of more than 5,000 states).
            A call of this kind compiles the game, and the network computes all later answers.

    Raises:
        RuleSheetError: the sheet has faults; the error lists all faults with their places.
        LimitError: the game exceeds a bound.
    """
    source = open_sheet(path, limits.reading if limits else None)
    return _loaded(source, case_sensitive, lenient, limits, machine)


def loads(
    text: str,
    *,
    name: str = "<text>",
    case_sensitive: bool = True,
    lenient: bool = False,
    limits: Limits | None = None,
    machine: MachineName = "auto",
) -> Game:
    """Load a game from the text of a rule sheet; see ``load``."""
    return _loaded(Source(name, text), case_sensitive, lenient, limits, machine)


def _loaded(
    source: Source, case_sensitive: bool, lenient: bool, limits: Limits | None, machine: MachineName
) -> Game:
    reading = limits.reading if limits else None
    with collector_paused():
        program = parse_program(source, case_sensitive=case_sensitive, limits=reading, open_facts=lenient)
        return game_of(
            program, case_sensitive=case_sensitive, lenient=lenient, limits=limits, machine=machine
        )


def game_of(
    program: Program,
    *,
    case_sensitive: bool = True,
    lenient: bool = False,
    limits: Limits | None = None,
    machine: MachineName = "auto",
) -> Game:
    """Return the game of a program, as `load` does. Only a program with faults is read leniently.

    To read facts with variables leniently, parse the program with ``open_facts``.
    """
    try:
        with collector_paused():
            return Game(program, case_sensitive=case_sensitive, limits=limits, machine=machine)
    except RuleSheetError as error:
        if not lenient or program.source is None:
            raise
        from anygame.sheets.lenient import in_places_of, read_leniently

        source, mends = read_leniently(program, case_sensitive=case_sensitive)
        if not mends:
            raise
        bounds = limits.reading if limits else None
        try:
            plain = parse_program(source, case_sensitive=case_sensitive, limits=bounds)
            plain = in_places_of(program, plain)
            game = Game(plain, case_sensitive=case_sensitive, limits=limits, machine=machine)
        except RuleSheetError as lenient_error:
            raise _remaining_faults(error, lenient_error) from None
        message = _describe_reading(program.source, Counter(mend.kind for mend in mends))
        warn(LenientReadingWarning(message), stacklevel=4)
        return game


@contextmanager
def read_silently() -> Iterator[None]:
    """Suppress `LenientReadingWarning`, for callers that report lenient readings in another way."""
    with catch_warnings():
        simplefilter("ignore", LenientReadingWarning)
        yield


def _remaining_faults(strict: RuleSheetError, lenient: RuleSheetError) -> RuleSheetError:
    """Return an error that locates the faults of a lenient reading in the author's text."""
    faults = [fault for fault in strict.diagnostics if isinstance(fault, Diagnostic)]
    remaining = [fault for fault in lenient.diagnostics if isinstance(fault, Diagnostic)]
    # The line of a fault changes if another part of the line was read leniently.
    for parts in 3, 2:
        wanted = {_identity(fault)[:parts] for fault in remaining}
        same = [fault for fault in faults if _identity(fault)[:parts] in wanted]
        if same:
            return RuleSheetError(format_diagnostics(same), same)
    return lenient


def _identity(fault: Diagnostic) -> tuple[str, ...]:
    span = fault.span
    line = span.source.line(span.source.position(span.start)[0]) if span else ""
    return fault.code, fault.message, line


def _describe_reading(source: Source, counts: Counter[str]) -> str:
    parts = [f"{what}: {counts[kind]}" for kind, what in _READINGS.items() if counts[kind]]
    # `mend` edits only sheets in KIF, and makes no edit that changes the game.
    command = "mend" if form_of(source) == "kif" and not counts["any"] else "translate --lenient"
    return f"{source.name} is read leniently ({', '.join(parts)}); `anygame {command}` writes this reading"
