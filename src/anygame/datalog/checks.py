"""What the levels and strata of a program must be for it to mean anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.datalog.schema import ACTION, STATE, STATIC
from anygame.language.diagnostics import Diagnostic, Note, Severity, raise_if_errors
from anygame.language.rules import Atom

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.datalog.relations import FlatRule
    from anygame.datalog.schema import Schema

_DEPENDENCIES: Final = {STATE: "the state (`true`)", ACTION: "the moves (`does`)"}
#: What may be read, by what may be depended on and what is.
_INSTEAD: Final = {
    (STATE, ACTION): "keep what was done in a fluent, by a `next`, and ask for that with `true`",
    (STATIC, STATE): "ask only for what never changes, such as facts and `init`",
    (STATIC, ACTION): "ask only for what never changes, such as facts and `init`",
}


def check_strata(schema: Schema) -> None:
    """Raise RuleSheetError where rules depend on each other through a negation."""
    diagnostics = []
    seen = set()
    for cycle in schema.cycles:
        rules = list(dict.fromkeys(rule.origin for rule in cycle.rules))
        key = tuple(map(id, rules))
        if key in seen:
            continue
        seen.add(key)
        reader, index = cycle.negations[0]
        atom = reader.reads[index].atom
        source = Atom(atom.relation.predicate, atom.relation.arguments(atom.columns))
        diagnostics.append(
            Diagnostic(
                "unstratified",
                Severity.ERROR,
                f"this rule needs (not {source}), which depends on the rule itself",
                reader.origin.span,
                tuple(
                    Note("the cycle passes here", rule.span) for rule in rules if rule is not reader.origin
                ),
                hint="a relation may not be defined through its own negation; break the cycle",
            )
        )
    raise_if_errors(diagnostics)


def check_levels(schema: Schema, rules: Iterable[FlatRule]) -> None:
    """Raise RuleSheetError where what holds once, or in each state, depends on the state or the moves."""
    diagnostics = []
    allowed = dict.fromkeys(["role", "init", "base", "input"], STATIC)
    allowed |= dict.fromkeys(["legal", "terminal", "goal"], STATE)
    for rule in rules:
        predicate = rule.head.relation.predicate
        for read in rule.reads:
            level = schema.level(read.relation)
            if level > allowed.get(predicate, ACTION):
                diagnostics.append(
                    Diagnostic(
                        "static-relation" if allowed[predicate] == STATIC else "action-dependent",
                        Severity.ERROR,
                        f"`{predicate}` may not depend on {_DEPENDENCIES[level]}, but this rule reads "
                        f"{_reading(read.relation.predicate)}",
                        rule.origin.span,
                        hint=_INSTEAD[allowed[predicate], level],
                    )
                )
    raise_if_errors(dict.fromkeys(diagnostics))


def _reading(predicate: str) -> str:
    """Return what a rule reads, in words: the moves or the state themselves, or what depends on them."""
    return f"`{predicate}`" if predicate in ("true", "does") else f"`{predicate}`, which does"
