"""The settings of editors, under ``anygame``, and the bounds of the server."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Final

from anygame.language.limits import Limits, ReadingLimits


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of an editor.

    Attributes:
        lenient: whether to allow variables that no positive literal binds.
        infos: whether to report matters of style, too.
        play: whether to play a few random games if the rules have no error.
    """

    lenient: bool = False
    infos: bool = True
    play: bool = False

    def changed(self, said: object) -> Settings:
        """Return the settings with the values that an editor sent, inside ``{"anygame": {...}}`` or bare.

        >>> Settings().changed({"anygame": {"lenient": True, "colour": "red"}})
        Settings(lenient=True, infos=True, play=False)
        """
        if isinstance(said, dict) and isinstance(said.get("anygame"), dict):
            said = said["anygame"]
        if not isinstance(said, dict):
            return self
        known: dict[str, Any] = {
            each.name: said[each.name] for each in fields(self) if isinstance(said.get(each.name), bool)
        }
        return replace(self, **known)


#: Bounds of a sheet. The largest public sheets have half a megabyte and 150,000 tokens.
LIMITS: Final = Limits(
    facts=1_000_000,
    terms=1_000_000,
    seconds=10.0,
    reading=ReadingLimits(bytes=2 * 2**20, tokens=500_000, problems=200, seconds=10.0),
)
