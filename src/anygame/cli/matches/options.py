"""The options that all commands have that let players meet."""

from __future__ import annotations

from anygame.cli.options import command_options, flag, option, seconds
from anygame.cli.shared_options import JsonOption, ReadingOptions


@command_options
class ClockOptions(JsonOption, ReadingOptions):
    """Clocks, and what players are sent."""

    start_clock: float = option(
        "--start-clock", read=seconds, default=30.0, metavar="SECONDS", help="to get ready (30)"
    )
    play_clock: float = option(
        "--play-clock", read=seconds, default=10.0, metavar="SECONDS", help="for each move (10)"
    )
    scramble: bool = flag("--scramble", help="send HOST:PORT players other words than those of the rules")
