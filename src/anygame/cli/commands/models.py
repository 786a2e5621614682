"""The ``models`` command: what was trained on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, Status, command_options
from anygame.cli.output import complain, print_json
from anygame.cli.shared_options import JsonOption
from anygame.errors import ModelError
from anygame.search import models
from anygame.search.model import models_folder
from anygame.training.training import trainings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_DETAILS: Final = """\
ANYGAME_MODELS names the folder of models. Who wants to be rid of one deletes its file.
Trainings that were stopped are listed, too; `anygame train FILE --resume` resumes them.

with --json, one object; error says why a file cannot be used, and the rest is missing then:
  {"models": [{"file", "game", "rules", "games", "positions", "seconds", "trial_leaves",
               "trial_matches", "trial_score", "trust", "history": [...], "error"}],
   "trainings": [{"file", "game", "rules", "games", "seconds", "error"}]}
"""


@command_options
class _Options(JsonOption):
    """What ``anygame models`` is asked."""


def run(options: _Options) -> int:
    """Print each model with its file, or that there is none."""
    found, stopped = models(), trainings()
    if options.json:
        print_json({"models": _described(found), "trainings": _described(stopped)})
        return Status.OK
    if not found and not stopped:
        folder = models_folder()
        where = "there is no folder of models" if folder is None else f"there are no models in {folder}"
        complain(f"note: {where}; `anygame train FILE` learns one")
    for path, each in (*found.items(), *stopped.items()):
        print(each if isinstance(each, ModelError) else f"{each}\n  {path}")
    return Status.OK


def _described(found: Mapping[Path, Any]) -> list[dict[str, Any]]:
    return [
        {"file": str(path)} | ({"error": str(each)} if isinstance(each, ModelError) else asdict(each))
        for path, each in found.items()
    ]


COMMAND = Command(_Options, run, _DETAILS)
