"""The arguments of the ``anygame`` command, and its help."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from anygame.cli.doctor_arguments import add_doctor
from anygame.cli.match_arguments import add_matches
from anygame.cli.player_arguments import add_player
from anygame.cli.rewriting_arguments import add_rewriting
from anygame.cli.sharing import add_case, add_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    Commands = argparse._SubParsersAction["_CommandParser"]

__all__ = ["parser"]

_EPILOG: Final = """\
examples:
  anygame repl gdl/copolymer.kif
  anygame legal gdl/copolymer.kif player1
  anygame state gdl/copolymer.kif --board --after "(move a 1)" --after swap
  anygame query gdl/copolymer.kif "(legal ?role (move ?row ?n))"
  anygame playout gdl/copolymer.kif --count 100 --seed 1 --json
  anygame simulate gdl/copolymer.kif --playouts 1e6

exit status:
  0    done
  1    the answer is no: query found nothing, check or replay found faults, a match
       was given up
  2    bad input; standard error tells what is wrong
  130  ended by Ctrl-C
"""

_MOST_PLAYOUTS: Final = 10**15

_AFTER: Final = """\
--after takes one joint move: a move for each role in the order of the roles, or
only for those roles that have more than one legal move. A number stands for the
move at that place in the role's list of legal moves.
"""

_JSON: Final = {
    "state": '{"game", "step", "terminal", "roles": [ROLE], "facts": [FACT]}',
    "legal": '{"game", "step", "terminal", "legal": {ROLE: [MOVE]}}',
    "goals": (
        '{"game", "step", "terminal", "goals": {ROLE: NUMBER or null},\n   "conflicts": {ROLE: [VALUE]}}\n'
        "  conflicts holds the roles to which the rules give several goals at once;\n"
        "  these have null in goals"
    ),
    "query": '{"game", "step", "terminal", "pattern", "bindings": [{"?VARIABLE": TERM}]}',
    "playout": (
        '{"game", "seed", "asked", "playouts", "unfinished", "lengths": {"mean", "min", "max"},\n'
        '   "goals": {ROLE: {"mean", "min", "max", "counts": {GOAL: NUMBER}}}}\n'
        "  lengths are numbers of joint moves; unfinished counts games that were cut for their length"
    ),
    "perft": (
        '{"game", "depth", "count", "divide": [{"moves": [MOVE], "count"}]}\n  divide only with --divide'
    ),
    "explain": '{"game", "strata" or "plan" or "domains" or "network": ...}',
    "simulate": (
        '{"game", "seed", "threads", "machine", "asked", "playouts", "cut", "interrupted", "states",\n'
        '   "seconds", "setup_seconds", "playouts_per_second", "states_per_second",\n'
        '   "lengths": {"mean", "min", "max", "counts": {LENGTH: NUMBER}},\n'
        '   "roles": {ROLE: {"mean", "spread", "error", "counts": {GOAL: NUMBER}, "missing", "double",\n'
        '                    "branching"}}}\n'
        "  spread is the standard deviation of the goals, error that of their mean; missing and double\n"
        "  count games that ended without a goal or with several; cut those given up for their length"
    ),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser; what it parses names its command as ``module:function`` in ``command``."""
    top = argparse.ArgumentParser(
        prog="anygame",
        description="Play, question and simulate any game written in the Game Description Language (GDL).",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action=_Version)
    commands = top.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    _add_repl(commands)
    _add_state(commands)
    _add_legal(commands)
    _add_position(commands, "goals", "print the goal of every role")
    _add_query(commands)
    _add_playout(commands)
    _add_simulate(commands)
    _add_perft(commands)
    _add_explain(commands)
    add_doctor(commands)
    add_rewriting(commands)
    add_matches(commands)
    add_player(commands)
    return top


class _CommandParser(argparse.ArgumentParser):
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


class _Version(argparse.Action):
    """Print the version, which is looked up only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"anygame {version('anygame')}")
        parser.exit()


def _add(
    commands: Commands, name: str, command: str, summary: str, more: str = ""
) -> argparse.ArgumentParser:
    """Add a command that reads a rule sheet."""
    json = f"with --json, one object; terms are texts in KIF:\n  {_JSON[name]}\n" if name in _JSON else ""
    added = add_command(commands, name, command, summary, "\n".join(filter(None, [more, json])))
    stdin = ", - for standard input" if name != "repl" else ""
    added.add_argument("file", metavar="FILE", help=f"the rule sheet{stdin}")
    add_case(added)
    if json:
        added.add_argument("--json", action="store_true", help="print JSON")
    return added


def _add_position(
    commands: Commands, name: str, summary: str, more: str = _AFTER, module: str = "commands"
) -> argparse.ArgumentParser:
    """Add a command that asks about the initial state, or the one that some moves lead to."""
    added = _add(commands, name, f"{module}:{name}", summary, more)
    added.add_argument(
        "--after",
        metavar="MOVES",
        action="append",
        default=[],
        help="play a joint move first; may be repeated",
    )
    _add_machine(added)
    return added


def _add_machine(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--machine",
        choices=("auto", "reasoner", "network"),
        default="auto",
        help="what computes the answers, which are the same: the rules, the rules compiled, or what suits",
    )


def _add_repl(commands: Commands) -> None:
    more = (
        "Commands are read from standard input. On a terminal they are edited and completed\n"
        "(if the extra is installed: pip install 'anygame[terminal]'). Otherwise there is no\n"
        "prompt, and a command that fails does not stop the next one.\n"
        "`help` lists the commands.\n"
    )
    added = _add(commands, "repl", "repl:repl", "play a game, question its states", more)
    added.add_argument("--seed", type=int, metavar="S", help="for moves played at random")
    added.add_argument("--echo", action="store_true", help="repeat the commands in the output, after `> `")
    _add_machine(added)


def _add_state(commands: Commands) -> None:
    added = _add_position(commands, "state", "print the facts of a state")
    added.add_argument("--board", action="store_true", help="draw boards, list the other facts")


def _add_legal(commands: Commands) -> None:
    added = _add_position(commands, "legal", "print the legal moves")
    added.add_argument("role", metavar="ROLE", nargs="?", help="of this role only, one a line")


def _add_query(commands: Commands) -> None:
    added = _add_position(commands, "query", "print all instances of a pattern that hold")
    added.add_argument(
        "pattern", metavar="PATTERN", help='such as "(legal ?role (move ?row ?n))" or terminal'
    )
    added.add_argument(
        "--moves", metavar="MOVES", help="the joint move on which the answer depends, as for (next ?fact)"
    )


def _add_playout(commands: Commands) -> None:
    added = _add(
        commands, "playout", "playouts:playout", "play games at random, print what they have in common"
    )
    added.add_argument("--count", type=_positive, default=1, metavar="N", help="how many games (1)")
    added.add_argument("--seed", type=int, metavar="S", help="the same seed gives the same games")
    _add_machine(added)


def _add_simulate(commands: Commands) -> None:
    summary = "play games at random by the million, print what they have in common"
    more = f"The first time a sheet is simulated its rules are compiled, which is kept.\n\n{_AFTER}"
    added = _add_position(commands, "simulate", summary, more, "simulating")
    added.add_argument("--playouts", type=_many, default=1_000_000, metavar="N", help="how many games (1e6)")
    added.add_argument("--seed", type=int, metavar="S", help="the same seed gives the same result")
    added.add_argument("--threads", type=_positive, default=1, metavar="T", help="cores to use (1)")
    added.add_argument(
        "--limit",
        type=_natural,
        default=10_000,
        metavar="L",
        help="give a game up after L joint moves (10000)",
    )
    added.add_argument(
        "--compile-seconds",
        type=_positive,
        metavar="C",
        help="play by the rules if compiling takes longer (30)",
    )


def _add_perft(commands: Commands) -> None:
    added = _add(commands, "perft", "commands:perft", "count the sequences of joint moves of a length")
    added.add_argument("depth", metavar="DEPTH", type=_natural, help="the number of joint moves")
    added.add_argument("--divide", action="store_true", help="for each first joint move apart")
    _add_machine(added)


def _add_explain(commands: Commands) -> None:
    added = _add(commands, "explain", "commands:explain", "print how the rules are understood")
    what = added.add_mutually_exclusive_group(required=True)
    for name, meaning in (
        ("strata", "in which order relations are computed"),
        ("plan", "how the rules are joined"),
        ("domains", "which values arguments can have"),
        ("network", "what they become when they are compiled"),
    ):
        what.add_argument(f"--{name}", dest="what", action="store_const", const=name, help=meaning)
    added.add_argument(
        "--dot", metavar="OUT", help="with --network: write it as a picture for Graphviz, if it is small"
    )
    added.set_defaults(machine="auto")


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, found {text!r}")
    return int(text)


def _positive(text: str) -> int:
    number = _natural(text)
    if not number:
        raise argparse.ArgumentTypeError("expected a whole number from 1, found '0'")
    return number


def _many(text: str) -> int:
    """Read a number that may be written as 1e6 or 1_000_000."""
    try:
        number = int(text) if "e" not in text.lower() else float(text)
    except ValueError:
        number = 0.5
    if not 0 < number <= _MOST_PLAYOUTS or number != int(number):
        raise argparse.ArgumentTypeError(f"expected a number such as 1000000 or 1e6, found {text!r}")
    return int(number)
