"""From a program to rules that can be evaluated, or to all the reasons why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.analysis.normal import NormalRule, TooManyAlternatives, atoms_of, binders, normalise
from anygame.language.diagnostics import Diagnostic, Note, Severity, raise_if_errors, register_codes
from anygame.language.rules import Distinct, Literal, Not, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.rules import Formula, Program
    from anygame.language.source import Node, Span
    from anygame.language.terms import Variable

__all__ = ["normal_rules", "unsafe_variables"]

register_codes(
    {
        "unsafe-variable": "no positive literal of the body binds a variable",
        "too-many-alternatives": "the disjunctions of a rule multiply beyond the limit",
    }
)


def normal_rules(program: Program) -> list[NormalRule]:
    """Return the rules of a program in normal form.

    Raises:
        RuleSheetError: some rule is unsafe, or its disjunctions explode; names them all.
    """
    result: list[NormalRule] = []
    diagnostics: list[Diagnostic] = []
    for rule in program.rules:
        try:
            normal = normalise(rule)
        except TooManyAlternatives:
            diagnostics.append(
                Diagnostic(
                    "too-many-alternatives",
                    Severity.ERROR,
                    "the disjunctions of this rule stand for more than 4096 rules",
                    rule.span,
                    hint="give the larger disjunctions names of their own: (<= (either ?x) (or ...))",
                )
            )
            continue
        result += normal
        diagnostics += _unsafe(rule, normal)
    raise_if_errors(diagnostics)
    return result


def unsafe_variables(rule: NormalRule) -> Iterator[tuple[Variable, str]]:
    """Yield each variable that no positive literal binds, with what it is needed for."""
    bound = binders(rule.body)
    for variable in dict.fromkeys(rule.head.variables()):
        if variable not in bound:
            yield variable, "the head"
    for item in rule.body:
        if not isinstance(item, Literal):
            kind = (
                "a distinct"
                if isinstance(item, Distinct)
                else "a negation"
                if isinstance(item, Not)
                else "an or"
            )
            for variable in dict.fromkeys(item.variables()):
                if variable not in bound:
                    yield variable, kind


def _unsafe(rule: Rule, normal: Iterable[NormalRule]) -> Iterator[Diagnostic]:
    found: dict[Variable, str] = {}
    for part in normal:
        for variable, kind in unsafe_variables(part):
            found.setdefault(variable, kind)
    for variable, kind in found.items():
        places = list(_places(rule.node, str(variable)))
        yield Diagnostic(
            "unsafe-variable",
            Severity.ERROR,
            f"nothing binds {variable}: it stands in {kind} and in no positive literal of the body",
            places[0] if places else rule.span,
            tuple(Note("and here", place) for place in places[1:]),
            hint=_advice(rule, variable),
        )


def _advice(rule: Rule, variable: Variable) -> str:
    if rule.head.predicate in {"legal", "goal"} and rule.head.arguments[:1] == (variable,):
        return f"add (role {variable}) to the body"
    return f"add a positive literal that says what {variable} may be"


def _places(node: Node | None, text: str) -> Iterator[Span]:
    if node is None:
        return
    if node.children is None:
        if node.text.lower() == text.lower():
            yield node.span
    else:
        for child in node.children:
            yield from _places(child, text)


def reads_of(body: Iterable[Formula]) -> set[tuple[str, int]]:
    """Return the relations that a normal body reads."""
    return {atom.key for atom, _ in atoms_of(body)}
