"""Train the models of the package, which takes about an hour on one core.

    python tools/train_models.py
    python tools/train_models.py hex_pie copolymer

A model is written to the package if it won its trial. Its weights are stored as 16-bit floats, which halves
the file. Run the tool again after a change of a sheet's rules or of the inputs of models.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np

import anygame
from anygame.search.model import PACKAGED, Model, model_name
from anygame.training import train

if TYPE_CHECKING:
    from collections.abc import Sequence


#: Seconds of self-play for each sheet.
_SECONDS: Final = {"copolymer": 480, "hex_pie": 900, "six_in_a_row": 720}


def package(model: Model, game: anygame.Game) -> Path:
    """Write a model to the package, with 16-bit weights; return its path."""
    path = PACKAGED / model_name(game)
    replace(model, weights=model.weights.astype(np.float16)).save(path)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Train the models of the given sheets; return 0."""
    parser = argparse.ArgumentParser(prog="train_models", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sheets", nargs="*", metavar="SHEET", help="sheets to train (default: all)")
    sheets = parser.parse_args(arguments).sheets or list(_SECONDS)
    if unknown := sorted(set(sheets) - set(_SECONDS)):
        parser.error(f"expected sheets among {', '.join(_SECONDS)}, found {unknown[0]}")
    with TemporaryDirectory() as folder:
        for sheet in sheets:
            game = anygame.load(sheet)
            path = Path(folder, f"{sheet}.npz")
            model = train(game, seconds=_SECONDS[sheet], seed=1, into=path)
            print(model.figures, flush=True)
            if model.figures.is_used:
                print(f"  {package(model, game)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
