"""The one step of the build that `pyproject.toml` cannot say: the rule sheets of `gdl/` go into the package.

They are installed as `anygame/gdl`. A checkout, and a package installed from it as editable, read them where
they stand (`anygame.language.installed`).
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

_SHEETS = sorted(Path("gdl").glob("*.kif"))


class BuildWithSheets(build_py):
    """Copies the sheets beside the modules."""

    def run(self) -> None:
        """Copy modules and sheets; an editable package has nothing copied."""
        super().run()
        if self.editable_mode:
            return
        for sheet, copy in zip(_SHEETS, self._copies(), strict=True):
            self.mkpath(str(Path(copy).parent))
            self.copy_file(str(sheet), copy, preserve_mode=False)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return all files that a build makes, the sheets among them."""
        return [*super().get_outputs(include_bytecode), *self._copies()]

    def _copies(self) -> list[str]:
        return [str(Path(self.build_lib, "anygame", sheet)) for sheet in _SHEETS]


setup(cmdclass={"build_py": BuildWithSheets})
