"""Write the manual page ``docs/anygame.1`` anew, after commands or their options have changed.

::

    python tools/man_page.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import anygame
from anygame.cli.describing.man_page import man_page

PAGE: Final = Path(__file__).parents[1] / "docs" / "anygame.1"


def main() -> None:
    """Write the page."""
    PAGE.write_text(man_page(anygame.__version__), encoding="utf-8")


if __name__ == "__main__":
    main()
