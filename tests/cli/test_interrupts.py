"""Ctrl-C: commands print what was done so far and exit with 130; no traceback at any moment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")

#: The exit status; or the signal itself ended the process, which a shell reports as 130.
_INTERRUPTED: Final = (130, -signal.SIGINT)
_TRACES: Final = ("Traceback", "KeyboardInterrupt", "Exception ignored", "never retrieved")

#: Commands, what they show on a terminal when Ctrl-C is pressed, and what they print after that.
_COMMANDS: Final = {
    "simulate connect_four --playouts 1e12": (
        r"[1-9]\d*/10+",
        r"[\d,]+ of 1,000,000,000,000 random playouts.*interrupted: the results cover only the games played",
    ),
    "simulate connect_four --playouts 1e12 --json": (
        r"[1-9]\d*/10+",
        r'"interrupted": true',
    ),
    "simulate connect_four --playouts 1e12 --machine reasoner": (
        r"[1-9]\d*/10+",
        "interrupted: the results cover only the games played so far",
    ),
    "solve copolymer": (
        "[1-9][0-9,]* states, .* of them not yet expanded",
        "the exploration was interrupted",
    ),
    "solve copolymer --json": ("[1-9][0-9,]* states, .* of them not yet expanded", '"interrupted": true'),
    "solve copolymer --memory 0.01 --seconds 1000": (
        "searching for a proof: [1-9]",
        "[0-9,]+ leaves in the search for a proof",
    ),
    "analyse copolymer": ("[1-9][0-9,]* iterations", "[1-9][0-9,]* iterations"),
    "analyse copolymer --seconds 1000 --json": (r'"iterations": [1-9]', r'"iterations": [1-9]'),
    "playout hex_pie --playouts 1000000": ("playouts.* [1-9][0-9]*/10+", "of 1,000,000 random playouts"),
    "quiz connect_four --kind legal --count 1000000": ("[1-9][0-9]*/10+", ""),
    "export liars_dice --to efg --histories 10000000 -o FOLDER/a.efg": ("[1-9][0-9,]* histories", ""),
    "prove hex_pie --property ends --seconds 1000": ("ends", "interrupted: 0 verdicts so far"),
    "train connect_four --seconds 1000 -o FOLDER/a.model": ("games", "stopped; the training is saved"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", _COMMANDS)
def test_an_interrupted_command_prints_its_results_so_far(command: str, tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    pytest.importorskip("rich")
    shown, printed = _COMMANDS[command]
    child = pexpect.spawn(
        sys.executable,
        ["-m", "anygame", *command.replace("FOLDER", str(tmp_path)).split()],
        timeout=240,
        encoding="utf-8",
        dimensions=(24, 240),
    )
    child.expect(shown)
    child.sendintr()
    rest = child.read()
    child.wait()
    assert (child.exitstatus or -child.signalstatus) in _INTERRUPTED, rest
    assert re.search(printed, rest, re.DOTALL), rest
    assert not any(trace in rest for trace in _TRACES)


def _imports(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("import time:")]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
def test_no_traceback_while_modules_are_loaded(share: float) -> None:
    """Press Ctrl-C after a share of the imports that follow the first module of the command line."""
    command = [sys.executable, "-X", "importtime", "-m", "anygame", "legal", "tic_tac_toe"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    names = [line.rpartition("|")[2].strip() for line in _imports(done.stderr.splitlines())]
    own = names[names.index("anygame.errors") :]
    last = own[round(share * (len(own) - 1))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.rpartition("|")[2].strip() == last:
            break
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    rest = [line for line in errors.splitlines() if not line.startswith("import time:")]
    assert rest == []
    # What was interrupted after all has been printed is done.
    assert process.returncode in (*_INTERRUPTED, 0)
    assert (process.returncode == 0) <= (output == done.stdout)


def test_a_process_that_ignores_ctrl_c_continues() -> None:
    script = (
        "import os, signal; from anygame.__main__ import main; os.kill(os.getpid(), signal.SIGINT); main()"
    )
    done = subprocess.run(
        ["bash", "-c", 'trap "" INT; exec "$@"', "bash", sys.executable, "-c", script, "games"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "tic_tac_toe" in done.stdout
