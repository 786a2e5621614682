"""From a program to rules that can be evaluated, or to all reasons why not.

A rule is safe if a positive literal of its body binds each of its variables, as GDL requires. Then it derives
finitely many facts from finitely many, and negated atoms are ground when they are tested. See Love, Hinrichs,
Haley, Schkufza and Genesereth, "General game playing: game description language specification" (2008).
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, count
from typing import TYPE_CHECKING

from anygame.analysis.normal import (
    MOST_OF_A_RULE,
    Allowance,
    NormalRule,
    TermsTooLarge,
    TooManyAlternatives,
    bound_by_literals,
    is_ground_fact,
    normalise,
)
from anygame.language.diagnostics import Diagnostic, Note, Severity, raise_if_errors
from anygame.language.forms import form_of
from anygame.language.rules import Atom, Distinct, Literal, Not, Rule, atoms_of, walk
from anygame.language.sentences import variable_in_fact
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.rules import Formula, Program
    from anygame.language.terms import Variable


def normal_rules(program: Program, warnings: list[Diagnostic] | None = None) -> list[NormalRule]:
    """Return the rules of a program in normal form.

    A variable ``?_name`` that occurs in one negated literal only means "for no value": ``(not (p ?x ?_y))``
    denies a relation of its own, which holds if there is some ``?_y``.

    Args:
        program: the rules.
        warnings: receives a warning for each such variable.

    Raises:
        RuleSheetError: some rules are unsafe or have too many disjunctions; it names all of them.
    """
    result: list[NormalRule] = []
    diagnostics: list[Diagnostic] = []
    allowance = Allowance()
    projections = _Projections(program)
    for rule in program.rules:
        if is_ground_fact(rule):
            result.append(NormalRule(rule.head, (), rule))
            continue
        is_first = allowance == Allowance()
        try:
            normal = normalise(rule, allowance)
        except TooManyAlternatives as excess:
            diagnostics.append(_excess(rule, excess, alone=is_first or not allowance.is_spent))
            if allowance.is_spent:
                break  # further rules like it would fail, too
            continue
        if anonymous := _anonymous(rule):
            unbound = {variable for part in normal for variable, _ in unsafe_variables(part)}
            normal = [made for part in normal for made in projections.of(part, anonymous)]
            diagnostics += [_read_for_none(rule, each) for each in sorted(anonymous & unbound)]
        result += normal
        diagnostics += _unsafe(rule, normal)
    sorted_diagnostics = raise_if_errors(diagnostics)
    if warnings is not None:
        warnings += sorted_diagnostics
    return result


def _anonymous(rule: Rule) -> frozenset[Variable]:
    """Return the variables of a rule that start with an underscore and occur in one literal only."""
    literals = [formula for formula, _ in walk(rule.body) if not formula.parts]
    holders = Counter(
        variable for part in (Literal(rule.head), *literals) for variable in set(part.variables())
    )
    return frozenset(
        variable for variable, times in holders.items() if times == 1 and variable.name[0] == "_"
    )


class _Projections:
    """Relations for "there is a value" of the anonymous variables of negated literals."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._heads: dict[tuple[str, tuple[Variable, ...]], Atom] = {}

    def of(self, rule: NormalRule, anonymous: frozenset[Variable]) -> Iterator[NormalRule]:
        """Yield a rule that denies such relations, preceded by the rules of new ones."""
        body: list[Formula] = []
        for item in rule.body:
            free = anonymous.intersection(item.variables())
            if free and isinstance(item, Not):
                outer = tuple([each for each in dict.fromkeys(item.variables()) if each not in free])
                if (head := self._heads.get((str(item), outer))) is None:
                    head = self._heads[str(item), outer] = Atom(self._new_name(item), outer)
                    origin = Rule(head, (item.formula,), rule.origin.node)
                    yield NormalRule(head, origin.body, origin)
                item = Not(Literal(head), item.node)
            body.append(item)
        yield NormalRule(rule.head, tuple(body), rule.origin)

    def _new_name(self, formula: Formula) -> str:
        taken = {atom.predicate for rule in self._program.rules for atom in atoms_of(rule)}
        taken.update(head.predicate for head in self._heads.values())
        name = f"some_{name_of(formula)}"
        return next(each for each in chain((name,), (f"{name}{n}" for n in count(2))) if each not in taken)


def name_of(formula: Formula) -> str:
    """Return the topic of a formula: the name of the fluent, move or relation of its first literal."""
    atoms = (part.atom for part, _ in walk([formula]) if isinstance(part, Literal))
    atom = next(atoms, None)
    if atom is None:
        return "values"
    about = atom.arguments[-1] if atom.predicate in {"true", "does"} else None
    if isinstance(about, Compound):
        return about.functor
    return about.name if isinstance(about, Constant) else atom.predicate


def _excess(rule: Rule, excess: TooManyAlternatives, *, alone: bool) -> Diagnostic:
    rules = "this rule" if alone else "the rules up to this one"
    if isinstance(excess, TermsTooLarge):
        code = "terms-too-large"
        message = f"the equations of {rules} make terms that are too large"
        hint = "write what is equal by one name, without (not (distinct ...))"
    else:
        code = "too-many-alternatives"
        most = MOST_OF_A_RULE if alone else Allowance().rules
        message = f"the disjunctions of {rules} expand to more than {most:,} rules"
        hint = "give the larger disjunctions names of their own: (<= (either ?x) (or ...))"
    return Diagnostic(code, Severity.ERROR, message, rule.span, hint=hint)


def unsafe_variables(rule: NormalRule) -> Iterator[tuple[Variable, str]]:
    """Yield each variable that no positive literal binds, with the part that needs it."""
    bound = bound_by_literals(rule.body)
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
    if not rule.body and rule.head.node is not None:
        yield variable_in_fact(rule)
        return
    needed_by: dict[Variable, str] = {}
    for part in normal:
        for variable, kind in unsafe_variables(part):
            needed_by.setdefault(variable, kind)
    for variable, kind in needed_by.items():
        message = f"nothing binds {variable}: it occurs in {kind} and in no positive literal of the body"
        yield _unbound(rule, variable, Severity.ERROR, message)


def _read_for_none(rule: Rule, variable: Variable) -> Diagnostic:
    message = f"nothing binds {variable}: the negation is read for no value of it; other systems may drop it"
    return _unbound(rule, variable, Severity.WARNING, message)


def _unbound(rule: Rule, variable: Variable, severity: Severity, message: str) -> Diagnostic:
    leaves = list(rule.node.leaves()) if rule.node else []
    # Variables are in lower case if case was ignored.
    places = [leaf.span for leaf in leaves if leaf.text == str(variable)]
    places = places or [leaf.span for leaf in leaves if leaf.text.lower() == str(variable)]
    notes = tuple(Note("and here", place) for place in places[1:])
    place = places[0] if places else rule.span
    return Diagnostic("unsafe-variable", severity, message, place, notes, _advice(rule, variable))


def _advice(rule: Rule, variable: Variable) -> str:
    if (literal := _only_denied_by(rule, variable)) is not None:
        is_infix = rule.node is not None and form_of(rule.node.source) == "infix"
        command = "anygame translate --lenient" if is_infix else "anygame mend"
        return f"a relation that says {literal} for some {variable}, and deny that: `{command}` writes it"
    if rule.head.predicate in {"legal", "goal"} and rule.head.arguments[:1] == (variable,):
        return f"add (role {variable}) to the body"
    return f"add a positive literal that says what {variable} may be"


def _only_denied_by(rule: Rule, variable: Variable) -> Literal | None:
    """Return the only literal with a variable, if it is negated."""
    denied = [
        formula.formula
        for formula, _ in walk(rule.body)
        if isinstance(formula, Not) and isinstance(formula.formula, Literal)
    ]
    holders = [literal for literal in denied if variable in literal.variables()]
    everywhere = [*rule.head.variables(), *(v for formula in rule.body for v in formula.variables())]
    if len(holders) != 1 or everywhere.count(variable) != list(holders[0].variables()).count(variable):
        return None
    return holders[0]
