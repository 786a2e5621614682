"""Files that tell what each code of a diagnostic means, for editors that follow links."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from anygame.doctor import CODES


class Explanations:
    """A folder of explanations, which goes when it is closed; each is written when it is first linked to."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None
        self._links: dict[str, str] = {}

    def link(self, code: str) -> str | None:
        """Return the address of what a code means; None where that is not told."""
        if code not in CODES:
            return None
        if code not in self._links:
            self._links[code] = self._written(code)
        return self._links[code] or None

    def _written(self, code: str) -> str:
        try:
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="anygame-codes-")
            path = Path(self._folder.name) / f"{code}.txt"
            path.write_text(f"{CODES[code].text}\n", encoding="utf-8")
        except OSError:
            return ""
        return path.as_uri()

    def close(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.cleanup()
