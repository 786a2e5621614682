"""The normal rules of a program, or an error that names all unsafe rules.

GDL requires that rules are safe: positive literals of the body bind all variables of the rule. A safe rule
derives finitely many facts from finitely many facts, and its negated atoms are ground when they are tested.
See Love, Hinrichs, Haley, Schkufza and Genesereth, "General game playing: game description language
specification" (2008).
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
from anygame.language.rules import Atom, Distinct, Literal, Not, Rule, atoms_in, atoms_of, walk
from anygame.language.sentences import variable_in_fact
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.language.rules import Formula, Program
    from anygame.language.terms import Variable


def normal_rules(program: Program, warnings: list[Diagnostic] | None = None) -> list[NormalRule]:
    """Return the rules of a program in normal form.

    A variable ``?_name`` that occurs only in one negated literal means "for no value". The negated literal
    ``(not (p ?x ?_y))`` becomes ``(not (some_p ?x))``, and a new rule derives ``(some_p ?x)`` from
    ``(p ?x ?_y)``. The list ``warnings`` receives a warning about each such variable.

    Raises:
        RuleSheetError: some rules are unsafe or have too many disjunctions; the error names all of them.
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
                break  # one error is enough: all later rules would fail, too
            continue
        if anonymous := _anonymous(rule):
            unbound = {variable for part in normal for variable, _ in unsafe_variables(part)}
            normal = [made for part in normal for made in projections.of(part, anonymous)]
            for variable in sorted(anonymous & unbound):
                message = f"nothing binds {variable}, so the negation holds if no value of {variable} fits; "
                message += "other systems may ignore the negation"
                diagnostics.append(_unbound(rule, variable, Severity.WARNING, message))
        result += normal
        diagnostics += _unsafe(rule, normal)
    sorted_diagnostics = raise_if_errors(diagnostics)
    if warnings is not None:
        warnings += sorted_diagnostics
    return result


def _anonymous(rule: Rule) -> frozenset[Variable]:
    """Return the variables ``?_name`` that occur in only one literal of a rule."""
    literals = [formula for formula, _ in walk(rule.body) if not formula.parts]
    counts = Counter(
        variable for part in (Literal(rule.head), *literals) for variable in set(part.variables())
    )
    return frozenset(variable for variable, count in counts.items() if count == 1 and variable.name[0] == "_")


class _Projections:
    """Relations that project negated atoms to their named variables, dropping the anonymous variables."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._heads: dict[tuple[str, tuple[Variable, ...]], Atom] = {}

    def of(self, rule: NormalRule, anonymous: frozenset[Variable]) -> Iterator[NormalRule]:
        """Yield the rules that define new projections, then the rule with projections in its body."""
        body: list[Formula] = []
        for item in rule.body:
            free = anonymous.intersection(item.variables())
            if free and isinstance(item, Not):
                outer = tuple([v for v in dict.fromkeys(item.variables()) if v not in free])
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
        return next(new for new in chain((name,), (f"{name}{n}" for n in count(2))) if new not in taken)


def name_of(formula: Formula) -> str:
    """Return the name of the fluent, move or relation in the first literal of a formula."""
    atom = next((atom for atom, _ in atoms_in([formula])), None)
    if atom is None:
        return "values"
    about = atom.arguments[-1] if atom.predicate in {"true", "does"} else None
    if isinstance(about, Compound):
        return about.functor
    return about.name if isinstance(about, Constant) else atom.predicate


def _excess(rule: Rule, excess: TooManyAlternatives, *, alone: bool) -> Diagnostic:
    rules = "this rule" if alone else "this rule and the rules before it"
    if isinstance(excess, TermsTooLarge):
        code = "terms-too-large"
        message = f"the equations (not (distinct ...)) of {rules} build terms that are too large"
        hint = "use the same variable for equal terms, instead of (not (distinct ...))"
    else:
        code = "too-many-alternatives"
        most = MOST_OF_A_RULE if alone else Allowance().rules
        message = f"the disjunctions of {rules} expand to more than {most:,} rules"
        hint = "define relations for the larger disjunctions: (<= (either ?x) (or ...))"
    return Diagnostic(code, Severity.ERROR, message, rule.span, hint=hint)


def unsafe_variables(rule: NormalRule) -> Iterator[tuple[Variable, str]]:
    """Yield each variable that no positive literal binds, and a phrase for the place of the variable."""
    bound = bound_by_literals(rule.body)
    phrases: dict[type[Formula], str] = {Distinct: "a distinct", Not: "a negation"}
    tests = [item for item in rule.body if not isinstance(item, Literal)]
    parts = [("the head", rule.head.variables())]
    parts += [(phrases.get(type(item), "an or"), item.variables()) for item in tests]
    for phrase, variables in parts:
        for variable in dict.fromkeys(variables):
            if variable not in bound:
                yield variable, phrase


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


def _unbound(rule: Rule, variable: Variable, severity: Severity, message: str) -> Diagnostic:
    leaves = list(rule.node.leaves()) if rule.node else []
    # A reader that ignores case has converted all variables of the rule to lower case.
    places = [leaf.span for leaf in leaves if leaf.text == str(variable)]
    places = places or [leaf.span for leaf in leaves if leaf.text.lower() == str(variable)]
    notes = tuple(Note("and here", place) for place in places[1:])
    place = places[0] if places else rule.span
    return Diagnostic("unsafe-variable", severity, message, place, notes, _advice(rule, variable))


def _advice(rule: Rule, variable: Variable) -> str:
    if (literal := _only_negated_literal(rule, variable)) is not None:
        is_infix = rule.node is not None and form_of(rule.node.source) == "infix"
        command = "anygame translate --lenient" if is_infix else "anygame mend"
        return f"negate a new relation that holds if {literal} holds for some {variable}; `{command}` does so"
    if rule.head.predicate in {"legal", "goal"} and rule.head.arguments[:1] == (variable,):
        return f"add (role {variable}) to the body"
    return f"add a positive literal that defines the values of {variable}"


def _only_negated_literal(rule: Rule, variable: Variable) -> Literal | None:
    """Return the only literal that contains a variable if this literal is negated, else None."""
    negated = [
        formula.formula
        for formula, _ in walk(rule.body)
        if isinstance(formula, Not) and isinstance(formula.formula, Literal)
    ]
    with_variable = [literal for literal in negated if variable in literal.variables()]
    all_variables = [*rule.head.variables(), *(v for formula in rule.body for v in formula.variables())]
    if len(with_variable) != 1:
        return None
    (literal,) = with_variable
    return literal if all_variables.count(variable) == list(literal.variables()).count(variable) else None
