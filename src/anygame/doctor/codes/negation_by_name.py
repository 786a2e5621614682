"""A relation that depends on its own negation, though no rule does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.dependencies import components
from anygame.analysis.normal import substitute_atom
from anygame.doctor.code import STRATA, Check, Code
from anygame.doctor.likes.groups import groups_by_name, reads_of
from anygame.language.diagnostics import Severity
from anygame.language.rules import atoms_in
from anygame.language.terms import Variable
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.analysis.dependencies import Component
    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.terms import Term

#: Rules beyond which they are not compared one by one.
_MOST_COMPARED: Final = 500

_CODE: Final = Code(
    "negation-by-name",
    Severity.INFO,
    "a relation that depends on its own negation, though no rule does",
    demand="A relation does not depend on its own negation, even where no single rule does.",
    why="The definition looks at names: (goal ?r 0) that asks (not (goal ?r 100)) breaks it. No rule is "
    "caught in a circle, and it plays here; stricter systems refuse it.",
    source=STRATA,
    bad="(role x)\n(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))",
    good="(role x)\n(<= (goal ?r 0) (role ?r) (not (wins ?r)))\n(<= (goal ?r 100) (wins ?r))\n"
    "(<= (wins ?r) (true (won ?r)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report negative cycles between relations that are none between rules."""
    suspects = list(_negations_inside(sheet))
    parts = list(dict.fromkeys(part for group, _, _ in suspects for part in group.rules))
    if not parts or len(parts) > _MOST_COMPARED:
        return
    _, cycles = components(parts, lambda part: part.head.key, reads_of, _may_feed)
    real = {id(rule.origin) for cycle in cycles for rule in cycle.rules}
    seen = set()
    for _, reader, atom in suspects:
        place = atom.span or reader.origin.span
        if id(reader.origin) not in real and place not in seen:
            seen.add(place)
            yield _CODE.found(
                f"`{reader.head.predicate}` depends on the negation of `{atom.predicate}`, and that on "
                f"`{reader.head.predicate}` again, though no single rule on itself",
                place,
                hint="this plays here; systems that look at the names alone refuse it",
            )


def _negations_inside(sheet: Sheet) -> Iterator[tuple[Component[NormalRule], NormalRule, Atom]]:
    """Yield the atoms that a rule denies and whose relations depend on the rule's own."""
    for group in groups_by_name(sheet):
        inside = {rule.head.key for rule in group.rules}
        if group.recursive:
            for part in group.rules:
                for atom, positive in atoms_in(part.body):
                    if not positive and atom.key in inside:
                        yield group, part, atom


def _may_feed(feeder: NormalRule, reader: NormalRule, index: int) -> bool:
    atom = list(atoms_in(reader.body))[index][0]
    apart = {v: Variable(f"{v.name} other") for v in feeder.head.variables()}
    head = substitute_atom(feeder.head, apart)
    bindings: dict[Variable, Term] | None = {}
    for left, right in zip(head.arguments, atom.arguments, strict=True):
        bindings = unify(left, right, bindings or {})
        if bindings is None:
            return False
    return True


CHECK: Final = Check(
    (_CODE,),
    _check,
)
