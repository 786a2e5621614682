"""The table of commands and the modules behind it say the same."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path

import pytest
from tests.cli.transcripts import run

from anygame.cli import commands
from anygame.cli.command_table import COMMANDS, load_command


def test_every_command_has_a_module_and_every_module_is_a_command() -> None:
    (folder,) = commands.__path__
    modules = {path.stem.replace("_", "-") for path in Path(folder).glob("[!_]*.py")}
    assert modules == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_typed_options(name: str) -> None:
    assert is_dataclass(load_command(name).options)
    output, status = run([name, "--help"])
    assert status == 0
    assert output.startswith(f"usage: anygame {name} ")


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
