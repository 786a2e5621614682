"""The table of commands and the modules behind it say the same."""

from __future__ import annotations

import subprocess
import sys
from argparse import SUPPRESS
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest
from tests.cli.transcripts import run

from anygame.cli import commands
from anygame.cli.command_table import COMMANDS, full_parser, load_command


def test_every_command_has_a_module_and_every_module_is_a_command() -> None:
    (folder,) = commands.__path__
    modules = [import_module(f"{commands.__name__}.{path.stem}") for path in Path(folder).glob("[!_]*.py")]
    assert sorted(name for module in modules for name in module.COMMANDS) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_typed_options(name: str) -> None:
    assert is_dataclass(load_command(name).options)
    output, status = run([name, "--help"])
    assert status == 0
    assert output.startswith(f"usage: anygame {name} ")


@pytest.mark.parametrize(
    ("name", "arguments", "former"),
    [
        ("train", ["a", "--seconds", "30m", "-o", "b"], ["a", "--time", "30m", "--into", "b"]),
        ("player", ["--players", "legal"], ["--strategy", "legal"]),
        ("play", ["a", "--play-clock", "2"], ["a", "--clock", "2"]),
        ("playout", ["a", "--playouts", "1e3"], ["a", "--count", "1000"]),
        ("equal", ["a", "b", "--depth", "3"], ["a", "b", "--up-to", "3"]),
        ("check", ["a", "--limit", "3"], ["a", "--steps", "3"]),
    ],
)
def test_former_names_of_options_work_and_are_not_shown(
    name: str, arguments: list[str], former: list[str]
) -> None:
    command = load_command(name)
    assert vars(command.parse(name, ".", arguments)) == vars(command.parse(name, ".", former))
    shown = run([name, "--help"])[0]
    assert not any(flag in shown.split() for flag in former if flag.startswith("--"))


def test_an_option_has_one_type_in_all_commands() -> None:
    _, parsers = full_parser()
    readers: dict[str, set[object]] = {}
    for parser in parsers.values():
        for action in parser._actions:
            for option in () if action.help == SUPPRESS else action.option_strings:
                readers.setdefault(option, set()).add((action.type, action.nargs == 0))
    # A training or a record, names of a kind or any, and a training has fewer threads at most.
    exceptions = {"--resume", "--scramble", "--threads"}
    assert {option for option, found in readers.items() if len(found) > 1} == exceptions


def test_the_list_of_commands_imports_none_of_them() -> None:
    program = (
        "import sys; from anygame.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print([name for name in sys.modules if name.startswith('anygame.cli.commands')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=True
    )
    assert all(f"\n    {name}" in done.stdout for name in COMMANDS)
    assert done.stdout.endswith("[]\n")
