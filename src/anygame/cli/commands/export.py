"""The ``export`` command: writes a game in the formats of other programs."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, command_options, natural, option, positive
from anygame.cli.positions import load_game
from anygame.cli.progress import compile_needed, progress
from anygame.cli.shared_options import MachineOption
from anygame.cli.sheets import print_sheet, replace_sheet
from anygame.envs.extensive import MOST_HISTORIES, gambit_text
from anygame.errors import AnygameError
from anygame.proving.exports import FORMS, binary_aiger, export_text

if TYPE_CHECKING:
    from anygame.game.game import Game

_DETAILS: Final = """\
efg     the tree of all histories as a game in extensive form, for Gambit and OpenSpiel
        (pyspiel.load_efg_game)
aiger   an and-inverter graph in AIGER 1.9; in the binary format if OUT ends in .aig
asp     an answer set program for clingo: each answer set is a match of up to --depth joint
        moves; with --goal, a match in which --role reaches that goal
dot     the network as a Graphviz graph, if the network is small

efg: A role without a choice makes no decision. If roles move at the same time, they decide one
after the other, without seeing each other's choices, and `random` decides last. If the sheet
defines `sees` (GDL-II), a role's moves and percepts determine its information sets, otherwise
the moves of all roles. A payoff is the goal times --scale, plus --offset. Example:
--scale 1/25 --offset=-2 gives the payoffs of Kuhn poker in chips. The number of histories is
estimated first. If the estimate is greater than --histories, nothing is written.

aiger: Moves are inputs. Three properties must never be violated. playable is violated if the
match is not over and a role has no legal move. goals is violated if the match is over and a role
has no goal from 0 to 100, or several goals. turn-taking is violated if two roles have a choice.
An illegal joint move sets the latch `illegal`, after which no property is violated.

asp: Every relation that depends on the state has one more argument: the number of joint moves
before the state. Comments in the files explain names and bits.
"""
#: Names of the options that each format accepts.
_BELONGS: Final = {"efg": frozenset(("histories", "scale", "offset", "machine")), **FORMS}
#: Formats that are generated from the rules, without a compiled network.
_OF_RULES: Final = frozenset(("efg", "asp"))
#: Maximum number of characters of a scale or offset.
_LONGEST_NUMBER: Final = 40


def _number(text: str) -> Fraction:
    try:
        # With an exponent, a short string can denote a number of a million digits.
        if len(text) > _LONGEST_NUMBER or "e" in text.lower():
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError(
            f"expected a number such as 2, -0.5 or 1/3, found {text[:40]!r}"
        ) from None


@command_options
class _Options(MachineOption):
    to: str = option("--to", None, "format to write", choices=tuple(_BELONGS), required=True)
    output: str | None = option("-o --output", "OUT", "file to write (default: standard output)")
    depth: int | None = option("--depth", "N", "asp: maximum number of joint moves", natural)
    role: str | None = option("--role", "ROLE", "asp: role that must reach --goal (default: the first)")
    goal: int | None = option("--goal", "N", "asp: minimum goal of --role, from 0 to 100", natural)
    histories: int | None = option(
        "--histories",
        "N",
        f"efg: refuse games with more than N histories (default {MOST_HISTORIES:,})",
        positive,
    )
    scale: Fraction | None = option(
        "--scale", "X", "efg: multiply goals by X to get payoffs (default 1)", _number
    )
    offset: Fraction | None = option("--offset", "X", "efg: add X to every payoff (default 0)", _number)


def _export(options: _Options) -> None:
    _check(options)
    game = load_game(options)
    if options.to not in _OF_RULES:
        compile_needed(game)
    content = _written(game, options)
    if options.output is not None:
        replace_sheet(options.output, content)
    elif isinstance(content, str):
        print_sheet(content)


def _check(options: _Options) -> None:
    for name in sorted(frozenset().union(*_BELONGS.values()) - _BELONGS[options.to]):
        if getattr(options, name) not in (None, "auto"):
            forms = [form for form, names in _BELONGS.items() if name in names]
            raise AnygameError(f"--{name} is for --to {' and '.join(forms)}, not for {options.to}")
    if "depth" in _BELONGS[options.to] and options.depth is None:
        raise AnygameError(f"--to {options.to} needs --depth N: the maximum number of joint moves")


def _written(game: Game, options: _Options) -> str | bytes:
    if options.to == "efg":
        text = []
        with progress("estimating the number of histories") as show:
            for line in gambit_text(
                game,
                scale=1 if options.scale is None else options.scale,
                offset=options.offset or 0,
                limit=options.histories or MOST_HISTORIES,
            ):
                text.append(f"{line}\n")
                show(description=f"{len(text):,} histories")
        return "".join(text)
    if options.to == "aiger" and (options.output or "").endswith(".aig"):
        return binary_aiger(game)
    try:
        return export_text(game, options.to, depth=options.depth, role=options.role, goal=options.goal)
    except ValueError as error:
        raise AnygameError(str(error)) from error


COMMANDS: Final = {"export": Command(_Options, _export, _DETAILS)}
