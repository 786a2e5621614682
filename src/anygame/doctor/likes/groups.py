"""Rules in groups whose relations depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.analysis.dependencies import components
from anygame.language.rules import atoms_in

if TYPE_CHECKING:
    from anygame.analysis.dependencies import Component
    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.rules import Atom


@dataclass(frozen=True, slots=True)
class _Read:
    """An atom that a rule reads, as `components` wants it."""

    atom: Atom
    positive: bool

    @property
    def relation(self) -> Key:
        """Name and arity."""
        return self.atom.key


def reads_of(part: NormalRule) -> list[_Read]:
    """Return what a normal rule reads."""
    return [_Read(atom, positive) for atom, positive in atoms_in(part.body)]


def groups_by_name(sheet: Sheet) -> list[Component[NormalRule]]:
    """Return the rules in groups whose relations depend on each other, by negations or not."""
    parts = [part for part in sheet.normal if part.body]
    groups, _ = components(parts, lambda part: part.head.key, _all_reads, lambda *_: True)
    return groups


def _all_reads(part: NormalRule) -> list[_Read]:
    return [_Read(atom, True) for atom, _ in atoms_in(part.body)]
