"""The steps of the build that `pyproject.toml` cannot name: rule sheets and native code go into the package.

The sheets of `gdl/` are installed as `anygame/gdl`, the chapters of `docs/` as `anygame/docs`. A checkout,
and a package installed from it as editable, read them in place (`anygame.sheets.installed`,
`anygame.tool_server.server`). The native functions of search and proving are lowered to
LLVM's text, so that users who install the package wait less for their first search or proof
(`anygame.native.library`).
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

_SHEETS = [*sorted(Path("gdl").glob("*.kif")), *sorted(Path("docs").glob("*/*.md"))]
_ROOMS = ["search", "proving"]
# The path of the modules is given: the environment of a build may leave it out.
_LOWER = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from anygame.native.library import ship; [ship(room) for room in sys.argv[2:]]"
)


class BuildWithSheetsAndCode(build_py):
    """Puts sheets, chapters and native code beside the modules."""

    def run(self) -> None:
        """Copy modules, sheets and chapters, and lower native code; an editable package has no copies."""
        super().run()
        self._lower("src" if self.editable_mode else self.build_lib)
        if self.editable_mode:
            return
        for sheet, copy in zip(_SHEETS, self._copies(), strict=True):
            self.mkpath(str(Path(copy).parent))
            self.copy_file(str(sheet), copy, preserve_mode=False)

    def _lower(self, modules: str) -> None:
        """Lower the native functions of some modules, and write the text beside them."""
        command = [sys.executable, "-c", _LOWER, os.path.abspath(modules), *_ROOMS]
        done = subprocess.run(command, check=False)
        if done.returncode:
            self.warn("native functions could not be lowered: each machine does so when it first needs them")

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return all files that a build makes, the sheets among them."""
        made = map(str, Path(self.build_lib, "anygame", "native").glob("*.ll.gz"))
        return [*super().get_outputs(include_bytecode), *self._copies(), *made]

    def _copies(self) -> list[str]:
        return [str(Path(self.build_lib, "anygame", sheet)) for sheet in _SHEETS]


setup(cmdclass={"build_py": BuildWithSheetsAndCode})
