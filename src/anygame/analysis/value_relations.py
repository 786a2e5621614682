"""Relations of one argument that hold of just some constants: those of a sheet that fit, or new ones."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from anygame.language.rules import Atom, Rule, atoms_in
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from anygame.language.rules import Program
    from anygame.language.terms import Term


class ValueRelations:
    """Relations for sets of constants.

    Args:
        program: the sheet; facts of its own relations are used where they are just a set that is asked for.
    """

    def __init__(self, program: Program) -> None:
        self._names = {rule.head.predicate.lower() for rule in program.rules}
        self._names |= {atom.predicate.lower() for rule in program.rules for atom, _ in atoms_in(rule.body)}
        self._facts: list[Rule] = []
        self._of: dict[frozenset[Constant], str] = {}
        extents: dict[str, set[Term]] = defaultdict(set)
        derived = set()
        for rule in program.rules:
            if len(rule.head.arguments) == 1 and rule.head.predicate not in {"init", "next", "base"}:
                extents[rule.head.predicate].add(rule.head.arguments[0])
                if rule.body:
                    derived.add(rule.head.predicate)
        for name, extent in extents.items():
            constants = frozenset([term for term in extent if isinstance(term, Constant)])
            if name not in derived and len(constants) == len(extent):
                self._of.setdefault(constants, name)

    def relation(self, constants: frozenset[Constant]) -> str:
        """Return the name of a relation that holds of some constants; a new one gets facts."""
        if constants in self._of:
            return self._of[constants]
        name = self._of[constants] = self.new_name("domain1")
        ordered = sorted(constants, key=lambda constant: (len(str(constant)), str(constant)))
        self._facts += [Rule(Atom(name, (constant,))) for constant in ordered]
        return name

    def new_name(self, wanted: str) -> str:
        """Return a name that no relation has: the one wanted, or the next one with another number."""
        stem = wanted.rstrip("0123456789")
        name, number = wanted, 2
        while name.lower() in self._names:
            name, number = f"{stem}{number}", number + 1
        self._names.add(name.lower())
        return name

    def take_facts(self) -> list[Rule]:
        """Return the facts of relations made since this was last asked."""
        facts, self._facts = self._facts, []
        return facts
