"""Translation of formulas of temporal logic to rules.

::

    (always (forall (?r) (implies (role ?r) (exists (?v) (goal ?r ?v)))))

becomes these rules, where ``bad`` holds in states in which the formula does not hold::

    (<= bad (role ?r) (not (part ?r)))
    (<= (part ?r) (goal ?r ?v))

The formulas that can be translated are the safe-range formulas (Abiteboul, Hull and Vianu 1995, "Foundations
of databases", chapter 5): positive atoms limit each variable to finitely many values. Negation is pushed
inwards through conjunctions. Compound formulas except conjunctions become relations over their free
variables. If a formula does not bind a variable, its rules repeat an outer atom that binds the variable.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from anygame.language.rules import And, Atom, Distinct, Formula, Literal, Not, Or, Rule, atoms_in
from anygame.language.terms import Variable, variables_of
from anygame.proving.formula_text import Expression, fault

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from anygame.errors import QueryError
    from anygame.language.rules import Program
    from anygame.language.source import Node
    from anygame.language.terms import Term
    from anygame.proving.formula_text import Name

#: An expression, and whether it must hold (True) or must not hold (False).
Signed = tuple[Expression, bool]
_NOTHING: frozenset[Variable] = frozenset()


class RuleWriter:
    """Writes the rules of formulas. Names of new relations start with ``prefix``."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._parts = 0
        self._names: Mapping[Variable, Name] = {}
        self._bound: dict[Signed, frozenset[Variable]] = {}
        self.rules: list[Rule] = []

    def write(
        self, heads: Iterable[Atom], expressions: Sequence[Signed], names: Mapping[Variable, Name], node: Node
    ) -> None:
        """Write rules for heads that hold if all signed expressions hold.

        The variables of the heads must be free in the expressions. ``names`` has the name of each variable.
        Raises QueryError if a variable is unbound.
        """
        self._names = names
        body = self._body([leaf for signed in expressions for leaf in _leaves(*signed)], (), _NOTHING)
        self.rules += [Rule(head, body, node) for head in heads]

    def named(self, expression: Expression, names: Mapping[Variable, Name]) -> Expression:
        """Return an atom equivalent to an expression; a compound expression gets a new relation with rules.

        Raises QueryError if the expression does not bind all of its variables.
        """
        self._names = names
        return self._named(expression, ())

    # -- variables that an expression binds ----------------------------------------------------------

    def _binds(self, signed: Signed) -> frozenset[Variable]:
        """Return the variables that a signed expression limits to finitely many values."""
        bound = self._bound.get(signed)
        if bound is None:
            expression, positive = signed
            if expression.operator == "atom":
                bound = expression.free if positive else _NOTHING
            elif expression.operator == "iff" and not positive:
                bound = frozenset.intersection(*map(self._binds_all, expression.parts))
            elif _is_choice(signed) and expression.operator != "iff":
                bound = frozenset.intersection(*map(self._binds_together, self._alternatives(signed)))
            else:
                bound = _NOTHING
            self._bound[signed] = bound
        return bound

    def _binds_all(self, side: Expression) -> frozenset[Variable]:
        return side.free if side.free <= self._binds_together(list(_leaves(side, True))) else _NOTHING

    def _binds_together(self, leaves: Sequence[Signed]) -> frozenset[Variable]:
        bound = frozenset().union(*map(self._binds, leaves))
        while more := frozenset().union(*(_equal_to(bound, leaf) for leaf in leaves)) - bound:
            bound |= more
        return bound

    def _alternatives(self, signed: Signed) -> list[list[Signed]]:
        expression, positive = signed
        return [list(_leaves(part, positive)) for part in expression.parts]

    # -- rules -------------------------------------------------------------------------------------

    def _body(
        self, leaves: Sequence[Signed], context: Sequence[Signed], wanted: Collection[Variable]
    ) -> tuple[Formula, ...]:
        """Return a body that is equivalent to a conjunction and binds the variables in ``wanted``.

        The atoms and equations in ``context`` hold whenever the conjunction is needed, so the body can repeat
        them.
        """
        binders = [leaf for leaf in leaves if leaf[0].operator == "atom" and leaf[1]]
        wanted = frozenset(wanted).union(*(leaf.free for leaf, _ in leaves))
        bound = frozenset[Variable]().union(*(leaf.free for leaf, _ in binders))
        waiting = [leaf for leaf in leaves if _is_choice(leaf) or _is_equation(leaf)]
        while waiting or not wanted <= bound:
            ready = [
                leaf for leaf in waiting if leaf[0].free <= bound | self._binds(leaf) | _equal_to(bound, leaf)
            ]
            if not ready:
                guard = self._guard(wanted - bound, [leaf for leaf in context if leaf not in waiting])
                wanted |= guard[0].free
                if _is_equation(guard):
                    waiting.append(guard)
                else:
                    binders.append(guard)
                    bound |= guard[0].free
            for leaf in ready:
                waiting.remove(leaf)
                bound |= leaf[0].free
                equation = _is_equation(leaf)
                binders.append(leaf if equation else self._choice(leaf, [*binders, *context]))
        body = [_said(*leaf) for leaf in binders]
        for expression, positive in leaves:
            if expression.operator == "exists" and not positive:
                body.append(_said(self._named(expression, [*binders, *context]), False))
            elif expression.operator == ("distinct" if positive else "atom"):
                body.append(_said(expression, positive))
        return tuple(body)

    def _guard(self, unbound: Collection[Variable], context: Sequence[Signed]) -> Signed:
        for leaf in context:
            if not leaf[0].free.isdisjoint(unbound):
                return leaf
        raise self._unbound(min(unbound))

    def _choice(self, leaf: Signed, context: Sequence[Signed]) -> Signed:
        expression, _ = leaf
        if expression.operator == "iff":
            alternatives = self._agreeing(leaf, context)
        else:
            alternatives = self._alternatives(leaf)
        head = self._new_atom(expression)
        for conjunction in alternatives:
            self.rules.append(Rule(head, self._body(conjunction, context, expression.free), expression.node))
        return Expression.saying(Literal(head), expression.node), True

    def _agreeing(self, leaf: Signed, context: Sequence[Signed]) -> list[list[Signed]]:
        """Return the cases in which the sides of an ``iff`` agree or, for a negated ``iff``, differ."""
        expression, positive = leaf
        one, other = [
            self._named(side, () if self._binds_all(side) else context) for side in expression.parts
        ]
        return [[(one, True), (other, positive)], [(one, False), (other, not positive)]]

    def _named(self, expression: Expression, context: Sequence[Signed]) -> Expression:
        if expression.operator == "atom":
            return expression
        head = self._new_atom(expression)
        body = self._body(list(_leaves(expression, True)), context, expression.free)
        self.rules.append(Rule(head, body, expression.node))
        return Expression.saying(Literal(head), expression.node)

    def _new_atom(self, expression: Expression) -> Atom:
        self._parts += 1
        return Atom(f"{self._prefix}_part_{self._parts}", tuple(sorted(expression.free)))

    def _unbound(self, variable: Variable) -> QueryError:
        name = self._names[variable]
        said = f"({name.relation} {name.text}) ...), or use another relation that lists its values"
        where, hint = {
            "always": ("in a counterexample of `always`", f"(implies {said}"),
            "forall": ("in a counterexample of `forall`", f"(implies {said}"),
            "until": (
                "in a counterexample or end of `until`",
                f"(implies {said}; `and` in the second formula",
            ),
        }.get(name.binder, (f"for `{name.binder}`", f"(and {said}"))
        message = f"no atom limits the values of {name.text} {where}"
        return fault(message, name.node, hint)


def _leaves(expression: Expression, positive: bool) -> Iterator[Signed]:
    """Yield the conjuncts of a signed expression."""
    if expression.operator == "not":
        yield from _leaves(expression.parts[0], not positive)
    elif expression.operator == ("and" if positive else "or"):
        for part in expression.parts:
            yield from _leaves(part, positive)
    elif expression.operator == "exists" and positive:
        yield from _leaves(expression.parts[0], True)
    else:
        yield expression, positive


def _is_choice(leaf: Signed) -> bool:
    return leaf[0].operator == "iff" or leaf[0].operator == ("or" if leaf[1] else "and")


def _is_equation(leaf: Signed) -> bool:
    return leaf[0].operator == "distinct" and not leaf[1]


def _equal_to(bound: Collection[Variable], leaf: Signed) -> frozenset[Variable]:
    """Return the variables of an equation if all variables of one side are bound."""
    said = leaf[0].literal
    if _is_equation(leaf) and isinstance(said, Distinct):
        for side in (said.left, said.right):
            if set(variables_of(side)) <= set(bound):
                return leaf[0].free
    return _NOTHING


def _said(expression: Expression, positive: bool) -> Formula:
    assert expression.literal is not None
    return expression.literal if positive else Not(expression.literal)


def free_prefix(program: Program, *texts: str) -> str:
    """Return a prefix that occurs in no name of a program or of the texts."""
    runs = re.findall("anygame(_*)", " ".join([str(program), *texts]).lower())
    return "anygame" + "_" * max((len(run) + 1 for run in runs), default=0)


def sparing(rules: Iterable[Rule], fluents: Iterable[Term], name: str) -> tuple[Rule, ...]:
    """Return rules in which no variable for a fluent, as in ``(true ?f)``, matches one of the given fluents.

    The given fluents can contain variables. Names of new relations start with ``name``.
    """
    guarded = []
    for rule in rules:
        body = tuple(_guarded(formula, name) for formula in rule.body)
        guarded.append(Rule(rule.head, body, rule.node))
    read = {atom.predicate for rule in guarded for atom, _ in atoms_in(rule.body)}
    for predicate in ("true", "next"):
        if f"{name}_{predicate}" in read:
            guarded += [
                Rule(Atom(f"{name}_{predicate}", (fluent,)), (Literal(Atom(predicate, (fluent,))),))
                for fluent in fluents
            ]
    return tuple(guarded)


def _guarded(formula: Formula, name: str) -> Formula:
    if isinstance(formula, And | Or):
        return type(formula)(tuple(_guarded(part, name) for part in formula.formulas), formula.node)
    if isinstance(formula, Literal) and formula.atom.key in {("true", 1), ("next", 1)}:
        (argument,) = formula.atom.arguments
        if isinstance(argument, Variable):
            own = Atom(f"{name}_{formula.atom.predicate}", (argument,))
            return And((formula, Not(Literal(own))), formula.node)
    return formula
