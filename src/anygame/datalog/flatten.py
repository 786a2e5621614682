"""Flattening: chooses a layout of relations, and translates normal rules to flat rules."""

from __future__ import annotations

from itertools import product
from math import inf, prod
from typing import TYPE_CHECKING, Final

from anygame.analysis.domains import ATOM, Domains
from anygame.analysis.normal import substitute_atom, substitute_formula
from anygame.datalog.relations import Alternatives, FlatAtom, FlatRule, IsConstant, Negated, Relation, Unequal
from anygame.datalog.strategy import DEFAULT
from anygame.errors import LimitError
from anygame.language.rules import KEYWORDS, READ_AS, And, Atom, Distinct, Formula, Literal, Not, Or, atoms_in
from anygame.language.terms import Compound, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.analysis.domains import Top
    from anygame.analysis.normal import NormalRule
    from anygame.datalog.relations import Condition
    from anygame.datalog.strategy import Strategy

#: Relations of fluents, moves and percepts: their arguments are split even if no other arguments are.
_PROTOCOL: Final = {"true", "does", "next", "init", "base", "legal", "input", "sees", "percept"}
#: For each relation of fluents or moves, the relation with the same layout: ``true`` or ``does``.
_LAID_OUT_AS: Final = {(name, KEYWORDS[name]): (read, KEYWORDS[read]) for name, read in READ_AS.items()}
#: Relations whose first argument is a role; this argument is never split.
_OF_ROLES: Final = {"does", "legal", "input", "goal", "sees", "percept"}


class Layout:
    """Decides which arguments of relations are split, and into which shapes.

    All relations of fluents share one layout, so that rows of ``next`` are rows of ``true``. All relations of
    moves share another layout.
    """

    def __init__(self, rules: Sequence[NormalRule], strategy: Strategy = DEFAULT, split: str = "all") -> None:
        self._most_variants = strategy.shapes
        domains = self.domains = Domains(
            rules,
            kinds_only=True,
            declared=True,
            most_positions=strategy.domain_positions,
            most_steps=strategy.domain_steps,
        )
        self._shapes: dict[tuple[str, int], list[tuple[Top, ...] | None]] = {}
        keys = {rule.head.key for rule in rules}
        keys.update(atom.key for rule in rules if rule.body for atom, _ in atoms_in(rule.body))
        for key in sorted(keys | set(_LAID_OUT_AS.values())):
            self._shapes[key] = self._choose(domains, _LAID_OUT_AS.get(key, key), split)
        self._whole = {
            key: Relation(key[0], (None,) * key[1]) for key, shapes in self._shapes.items() if not any(shapes)
        }

    def _choose(self, domains: Domains, key: tuple[str, int], split: str) -> list[tuple[Top, ...] | None]:
        predicate, arity = key
        chosen: list[tuple[Top, ...] | None] = []
        variants = 1
        for argument in range(arity):
            tops = sorted(domains.tops(predicate, arity, argument), key=_shape_order)
            wanted = split == "all" or (split == "protocol" and predicate in _PROTOCOL)
            if argument == 0 and arity == 2 and predicate in _OF_ROLES:
                wanted = False
            nested = any(isinstance(top, tuple) for top in tops)
            is_split = wanted and nested and variants * len(tops) <= self._most_variants
            variants *= len(tops) if is_split else 1
            chosen.append(tuple(tops) if is_split else None)
        return chosen

    def keys(self) -> list[tuple[str, int]]:
        """Return name and arity of all relations in the rules, sorted."""
        return list(self._shapes)

    def splits(self, key: tuple[str, int], argument: int) -> tuple[Top, ...] | None:
        """Return the shapes into which an argument is split; None if it is not split."""
        shapes = self._shapes.get(key)
        return shapes[argument] if shapes else None

    def variants(self, key: tuple[str, int]) -> list[Relation]:
        """Return all flat relations of a relation, always in the same order."""
        options = [(None,) if shapes is None else shapes for shapes in self._shapes.get(key, [None] * key[1])]
        return [Relation(key[0], shapes) for shapes in product(*options)]

    def relation(self, atom: Atom) -> Relation | None:
        """Return the flat relation of an atom; None if an argument has an impossible shape."""
        whole = self._whole.get(atom.key)
        if whole is not None:
            return whole
        shapes: list[Top | None] = []
        for number, term in enumerate(atom.arguments):
            options = self.splits(atom.key, number)
            if options is None:
                shapes.append(None)
                continue
            shape = (term.functor, len(term.arguments)) if isinstance(term, Compound) else ATOM
            if shape not in options:
                return None
            shapes.append(shape)
        return Relation(atom.predicate, tuple(shapes))

    def flat_atom(self, atom: Atom) -> FlatAtom | None:
        """Return an atom over its flat relation; None if an argument has an impossible shape."""
        if (whole := self._whole.get(atom.key)) is not None:
            return FlatAtom(whole, atom.arguments)
        relation = self.relation(atom)
        return None if relation is None else FlatAtom(relation, relation.columns(atom.arguments))


def flatten(rules: Sequence[NormalRule], strategy: Strategy = DEFAULT) -> tuple[Layout, list[FlatRule]]:
    """Return a layout and the flat rules, including facts.

    The layout splits the arguments of all relations. If too many copies of rules are necessary, the layout
    splits only fluents, moves and percepts or, as a last resort, nothing.
    """
    for split in ("all", "protocol", "none"):
        layout = Layout(rules, strategy, split)
        result: list[FlatRule] = []
        room = inf if split == "none" else strategy.rule_columns
        for rule in rules:
            copies = _copies(rule, layout, strategy.rule_copies, room)
            if copies is None or len(result) + len(copies) > strategy.rule_copies + len(rules):
                break
            result += copies
            if rule.body:
                room -= sum(map(_width, copies))
        else:
            return layout, result
    raise LimitError(
        f"splitting terms of rules into columns needs more than {strategy.rule_copies} copies of rules",
        limit="copies",
        bound=strategy.rule_copies,
    )


def _shape_order(top: Top) -> tuple[str, int]:
    return top if isinstance(top, tuple) else ("", 0)


def _copies(rule: NormalRule, layout: Layout, most: int, room: float) -> list[FlatRule] | None:
    """Return a copy of a rule for each combination of shapes of the variables in split arguments.

    Returns None if the rule needs more than ``most`` copies, or if the copies have more than ``room``
    columns.
    """
    if not rule.body:
        fact = layout.flat_atom(rule.head)
        return [] if fact is None else [FlatRule(fact, (), (), rule.origin)]
    choices: dict[Variable, list[Top]] = {}
    for item in rule.body:
        if isinstance(item, Literal):
            for number, term in enumerate(item.atom.arguments):
                shapes = layout.splits(item.atom.key, number)
                if shapes is not None and isinstance(term, Variable):
                    earlier_shapes = choices.get(term)
                    choices[term] = [
                        shape for shape in shapes if earlier_shapes is None or shape in earlier_shapes
                    ]
    # A variable in a split argument of the head or of a test also needs a shape.
    atoms = [rule.head, *(atom for atom, _ in atoms_in(rule.body))]
    elsewhere = [
        term
        for atom in atoms
        for number, term in enumerate(atom.arguments)
        if isinstance(term, Variable) and term not in choices and layout.splits(atom.key, number) is not None
    ]
    possible = layout.domains.of_variables(rule) if elsewhere else {}
    choices.update({term: sorted(possible.get(term) or [ATOM], key=_shape_order) for term in elsewhere})
    mixed = frozenset(term for term in elsewhere if len(choices[term]) > 1)
    if prod(map(len, choices.values())) > most or _most_columns(atoms, choices) > room:
        return None
    result = []
    for shapes in product(*choices.values()):
        flat = _copy(rule, layout, dict(zip(choices, shapes, strict=True)), mixed)
        if flat is not None:
            result.append(flat)
            room -= _width(flat)
            if room < 0:
                return None
    return result


def _most_columns(atoms: Iterable[Atom], choices: dict[Variable, list[Top]]) -> int:
    """Return an upper bound on the columns of a copy, where each compound term counts as one column."""
    widest = {
        variable: max([shape[1] if isinstance(shape, tuple) else 1 for shape in shapes], default=1)
        for variable, shapes in choices.items()
    }
    return sum(
        widest.get(term, 1) if isinstance(term, Variable) else 1 for atom in atoms for term in atom.arguments
    )


def _width(flat: FlatRule) -> int:
    return len(flat.head.columns) + sum([len(read.atom.columns) for read in flat.reads])


def _copy(
    rule: NormalRule, layout: Layout, shapes: dict[Variable, Top], mixed: frozenset[Variable]
) -> FlatRule | None:
    bindings: dict[Variable, Term] = {
        # Names in a sheet contain no blanks, so the new variables differ from all others.
        variable: Compound(shape[0], tuple([Variable(f"{variable.name} {n}") for n in range(shape[1])]))
        for variable, shape in shapes.items()
        if isinstance(shape, tuple)
    }
    head = layout.flat_atom(substitute_atom(rule.head, bindings))
    if head is None:
        return None
    literals: list[FlatAtom] = []
    # The copy for constants needs this test, because no literal of the copy excludes compound terms.
    conditions: list[Condition] = [
        IsConstant(variable) for variable, shape in shapes.items() if shape is ATOM and variable in mixed
    ]
    for item in rule.body:
        formula = substitute_formula(item, bindings) if bindings else item
        if isinstance(formula, Literal):
            atom = layout.flat_atom(formula.atom)
            if atom is None:
                return None
            literals.append(atom)
        else:
            condition = _condition(formula, layout)
            if condition is False:
                return None
            if condition is not True:
                conditions.append(condition)
    return FlatRule(head, tuple(literals), tuple(conditions), rule.origin)


def _condition(formula: Formula, layout: Layout) -> Condition | bool:
    """Return a test as a condition; True or False if the layout determines the result."""
    if isinstance(formula, Literal):
        return layout.flat_atom(formula.atom) or False
    if isinstance(formula, Distinct):
        return _unequal(formula, negated=False)
    if isinstance(formula, Not):
        if isinstance(formula.formula, Distinct):
            return _unequal(formula.formula, negated=True)
        assert isinstance(formula.formula, Literal)
        atom = layout.flat_atom(formula.formula.atom)
        return True if atom is None else Negated(atom)
    assert isinstance(formula, Or | And)
    alternatives = formula.formulas if isinstance(formula, Or) else (formula,)
    choices = []
    for alternative in alternatives:
        parts = alternative.formulas if isinstance(alternative, And) else (alternative,)
        conditions = [_condition(part, layout) for part in parts]
        if False in conditions:
            continue
        choice = tuple(condition for condition in conditions if not isinstance(condition, bool))
        if not choice:
            return True
        choices.append(choice)
    return Alternatives(tuple(choices)) if choices else False


def _unequal(formula: Distinct, *, negated: bool) -> Condition | bool:
    left, right = formula.left, formula.right
    if left is right:
        return negated
    if isinstance(left, Variable) or isinstance(right, Variable):
        return Unequal(left, right, negated)
    if not (isinstance(left, Compound) and isinstance(right, Compound)):
        return not negated
    if (left.functor, len(left.arguments)) != (right.functor, len(right.arguments)):
        return not negated
    parts = [
        _unequal(Distinct(a, b), negated=negated)
        for a, b in zip(left.arguments, right.arguments, strict=True)
    ]
    if (not negated) in parts:  # one part decides the test
        return not negated
    undecided = [part for part in parts if not isinstance(part, bool)]
    if not undecided:
        return negated
    return Alternatives((tuple(undecided),) if negated else tuple((part,) for part in undecided))
