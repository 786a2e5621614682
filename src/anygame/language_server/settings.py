"""The settings of editors, in the section ``anygame``, and the limits of the server."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

from anygame.language.limits import Limits, ReadingLimits


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an editor.

    Attributes:
        lenient: whether to allow variables that no positive literal binds.
        infos: whether to report matters of style as well.
        play: whether to play a few random games if the rules have no error.
    """

    lenient: bool = False
    infos: bool = True
    play: bool = False

    def changed(self, values: object) -> Settings:
        """Return the settings with the values that an editor sent, inside ``{"anygame": {...}}`` or directly.

        >>> Settings().changed({"anygame": {"lenient": True, "colour": "red"}})
        Settings(lenient=True, infos=True, play=False)
        """
        if isinstance(values, dict) and isinstance(values.get("anygame"), dict):
            values = values["anygame"]
        if not isinstance(values, dict):
            return self
        names = [field.name for field in fields(self) if isinstance(values.get(field.name), bool)]
        known: dict[str, Any] = {name: values[name] for name in names}
        return replace(self, **known)


#: Limits of a sheet. The largest public sheets have half a megabyte and 150,000 tokens.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=10.0,
    reading=ReadingLimits(bytes=2 * 2**20, tokens=500_000, problems=200, seconds=10.0),
)
