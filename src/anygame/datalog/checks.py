"""What the levels and strata of a program must be for it to mean anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.datalog.schema import ACTION, STATE, STATIC
from anygame.language.diagnostics import Diagnostic, Note, Severity, raise_if_errors
from anygame.language.rules import Atom

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anygame.datalog.relations import FlatRule
    from anygame.datalog.schema import Schema

__all__ = ["check_levels", "check_strata"]


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
    words = {STATE: "the state (`true`)", ACTION: "the moves (`does`)"}
    for rule in rules:
        predicate = rule.head.relation.predicate
        for read in rule.reads:
            level = schema.level(read.relation)
            if level > allowed.get(predicate, ACTION):
                diagnostics.append(
                    Diagnostic(
                        "static-relation" if allowed[predicate] == STATIC else "action-dependent",
                        Severity.ERROR,
                        f"`{predicate}` may not depend on {words[level]}, but this rule reads "
                        f"`{read.relation.predicate}`, which does",
                        rule.origin.span,
                    )
                )
    raise_if_errors(dict.fromkeys(diagnostics))
