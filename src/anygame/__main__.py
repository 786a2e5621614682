"""``python -m anygame`` is the ``anygame`` command."""

from __future__ import annotations

import sys

from anygame.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
