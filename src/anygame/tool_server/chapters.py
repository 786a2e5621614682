"""The chapters of the documentation, which the build copies into the package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
_FOLDERS: Final = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")


def chapters() -> dict[str, Path]:
    """Return the chapters by name; none where they were left out of the package."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    return {path.stem: path for path in sorted(folder.glob("*.md"))} if folder else {}
