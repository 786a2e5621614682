"""What `pyproject.toml` cannot say of the build: rule sheets and the search's code go into the package.

The sheets of `gdl/` are installed as `anygame/gdl`, the chapters of `docs/` as `anygame/docs`. A checkout,
and a package installed from it as editable,
read them where they stand (`anygame.language.installed`,
`anygame.tool_server.server`). The functions of the search are lowered to LLVM's
text, which saves those who install the package most of the time of their first search
(`anygame.search.native.library`).
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

_SHEETS = [*sorted(Path("gdl").glob("*.kif")), *sorted(Path("docs").glob("*.md"))]
_CODE = Path("anygame", "search", "native", "search.ll.gz")
# By this path, whatever else the environment of the build leaves out of it.
_LOWER = (
    "import sys; sys.path.insert(0, sys.argv[2]); "
    "from anygame.search.native.library import ship; ship(sys.argv[1])"
)


class BuildWithSheetsAndCode(build_py):
    """Puts sheets, chapters and the search's code beside the modules."""

    def run(self) -> None:
        """Copy modules, sheets and chapters, and lower the search; an editable package has nothing copied."""
        super().run()
        self._lower("src" if self.editable_mode else self.build_lib)
        if self.editable_mode:
            return
        for sheet, copy in zip(_SHEETS, self._copies(), strict=True):
            self.mkpath(str(Path(copy).parent))
            self.copy_file(str(sheet), copy, preserve_mode=False)

    def _lower(self, modules: str) -> None:
        """Lower the search as it stands among some modules, and put the text beside it."""
        command = [sys.executable, "-c", _LOWER, str(Path(modules, _CODE)), os.path.abspath(modules)]
        done = subprocess.run(command, check=False)
        if done.returncode:
            self.warn("the search could not be lowered: each machine does so when it searches first")

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return all files that a build makes, the sheets among them."""
        code = Path(self.build_lib, _CODE)
        made = [str(code)] if code.exists() else []
        return [*super().get_outputs(include_bytecode), *self._copies(), *made]

    def _copies(self) -> list[str]:
        return [str(Path(self.build_lib, "anygame", sheet)) for sheet in _SHEETS]


setup(cmdclass={"build_py": BuildWithSheetsAndCode})
