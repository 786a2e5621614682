"""Lenient reading: what sheets written for Prolog-like reasoners mean where GDL leaves a variable unbound.

A variable that stands in one negated literal only, as in ``(not (true (board ?p ?x)))``, is read "for no
?x", as by negation as failure (Clark, "Negation as failure", 1978). GDL asks that it be bound, so a relation
is written beside the rule that says "for some ?x", and that is denied. A variable of a head that only
``role``, ``base`` or ``input`` can bind is bound by it. All of this is written out as edits of the text, so
that the result is plain GDL.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from anygame.analysis.edits import Edit, Mend, end_of_line
from anygame.analysis.normal import TooManyAlternatives, is_ground_fact, normalise
from anygame.analysis.safety import unsafe_variables
from anygame.language.comments import comments_of
from anygame.language.forms import form_of
from anygame.language.rules import Atom, Distinct, Literal, Not, Rule, walk
from anygame.language.terms import Compound, Constant, Variable, substitute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.language.rules import Program
    from anygame.language.terms import Term

__all__ = ["LENIENT_MENDS", "lenient_mends"]

#: The kinds of mends of this module.
LENIENT_MENDS: Final = ("negation", "binding")
#: Relations whose first argument is a role.
_ROLE_FIRST: Final = frozenset(("legal", "does", "goal", "input", "sees", "percept"))
#: What declares the last argument of a head.
_DECLARES: Final = {"next": "base", "init": "base", "legal": "input"}


def lenient_mends(program: Program, kinds: Iterable[str] = LENIENT_MENDS) -> list[Mend]:
    """Return how the variables of a program that GDL leaves unbound are read, as edits of its KIF text."""
    source = program.source
    wanted = frozenset(kinds) & set(LENIENT_MENDS)
    if source is None or form_of(source) != "kif" or not wanted:
        return []
    comments = [(comment.start, comment.end) for comment in comments_of(source, "kif")]
    reading = _Reading(program, comments)
    found = [mend for rule in program.rules for mend in reading.mends(rule)]
    return [mend for mend in found if mend.kind in wanted]


@dataclass
class _Reading:
    """Reads the rules of a program one after the other.

    Attributes:
        program: the rules.
        comments: where the comments of the text stand.
    """

    program: Program
    comments: Sequence[tuple[int, int]]
    _helpers: dict[str, str] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for rule in self.program.rules:
            self._names |= {atom.predicate.lower() for atom in _atoms(rule)}

    def mends(self, rule: Rule) -> Iterator[Mend]:
        """Yield how the unbound variables of a rule are read."""
        if rule.node is None or is_ground_fact(rule) or not rule.body:
            return
        unbound = _unbound(rule)
        if not unbound:
            return
        counts = Counter(_variables(rule))
        denied = {}
        for formula, _ in walk(rule.body):
            if isinstance(formula, Not) and isinstance(formula.formula, Literal):
                inside = Counter(formula.variables())
                if free := {v for v in inside if v in unbound and counts[v] == inside[v]}:
                    denied[formula.formula.atom] = free
        for atom in self._bindings(rule, unbound.difference(*denied.values())):
            yield self._binding(rule, atom)
        for atom, free in denied.items():
            yield self._negation(rule, atom, free)

    # -- what only role, base or input can bind

    def _bindings(self, rule: Rule, unbound: set[Variable]) -> Iterator[Atom]:
        """Yield the literals that bind variables of a rule, beside those of a role at the head's start."""
        head = rule.head
        left = {variable for variable in unbound if variable in set(head.variables())}
        declaration = _DECLARES.get(head.predicate)
        if declaration and left & set(Atom("", head.arguments[-1:]).variables()):
            atom = Atom(declaration, head.arguments)
            if self._declares(atom):
                yield atom
                return
        for atom in _atoms(rule):
            if atom.predicate in _ROLE_FIRST and atom.arguments and atom.arguments[0] in unbound:
                variable = atom.arguments[0]
                is_told = atom is head and head.predicate in {"legal", "goal"}
                if not is_told:
                    yield Atom("role", (variable,))
                unbound = unbound - {variable}

    def _declares(self, atom: Atom) -> bool:
        """Return whether `base` or `input` declare terms like the last argument of an atom."""
        wanted = _functor(atom.arguments[-1])
        declared = [rule.head for rule in self.program.rules if rule.head.key == atom.key]
        return any(_functor(head.arguments[-1]) in {wanted, None} for head in declared)

    def _binding(self, rule: Rule, atom: Atom) -> Mend:
        assert rule.head.node is not None
        text = rule.head.node.source.text
        place = end_of_line(text, rule.head.node.end, self.comments)
        gap = "\n    " if place > rule.head.node.end else " "
        message = f"nothing binds {' and '.join(map(str, dict.fromkeys(atom.variables())))}: {atom} is added"
        return Mend("binding", message, rule.head.node.span, (Edit(place, place, (f"{gap}{atom}",)),))

    # -- what holds for no value

    def _negation(self, rule: Rule, atom: Atom, free: set[Variable]) -> Mend:
        """Return the mend that denies a relation of the bound variables instead of a literal."""
        assert rule.node is not None
        assert atom.node is not None
        outer = [variable for variable in dict.fromkeys(atom.variables()) if variable not in free]
        shape = _shape(atom, outer)
        name = self._helpers.get(shape)
        edits = []
        if name is None:
            name = self._helpers[shape] = self._name(atom)
            place = end_of_line(rule.node.source.text, rule.node.end, self.comments)
            edits = [Edit(place, place, (f"\n(<= {Atom(name, tuple(outer))} {atom})",))]
        helper = Atom(name, tuple(outer))
        edits.insert(0, Edit(atom.node.start, atom.node.end, (str(helper),)))
        variables = " and no ".join(sorted(map(str, free)))
        message = f"{atom} is read for no {variables}: {helper} says that there is one"
        return Mend("negation", message, atom.node.span, tuple(edits))

    def _name(self, atom: Atom) -> str:
        """Return a free name for the relation that says of a literal that it holds for some value."""
        about = atom.arguments[-1] if atom.predicate in {"true", "does"} else None
        name = about.functor if isinstance(about, Compound) else atom.predicate
        made, number = f"some_{name}", 2
        while made.lower() in self._names:
            made, number = f"some_{name}{number}", number + 1
        self._names.add(made.lower())
        return made


def _unbound(rule: Rule) -> set[Variable]:
    try:
        return {variable for part in normalise(rule) for variable, _ in unsafe_variables(part)}
    except TooManyAlternatives:
        return set()


def _atoms(rule: Rule) -> Iterator[Atom]:
    yield rule.head
    for formula, _ in walk(rule.body):
        if isinstance(formula, Literal):
            yield formula.atom


def _variables(rule: Rule) -> Iterator[Variable]:
    """Yield every variable of a rule as often as it stands there."""
    for atom in _atoms(rule):
        yield from atom.variables()
    for formula, _ in walk(rule.body):
        if isinstance(formula, Distinct):
            yield from formula.variables()


def _functor(term: Term) -> object:
    """Return name and arity of a term, None of a variable."""
    if isinstance(term, Compound):
        return term.functor, len(term.arguments)
    return term.name if isinstance(term, Constant) else None


def _shape(atom: Atom, outer: Sequence[Variable]) -> str:
    """Return an atom as text in which the names of variables do not count, but which are outer ones do."""
    names: dict[Variable, Term] = {}
    for number, variable in enumerate(dict.fromkeys(atom.variables())):
        names[variable] = Variable(f"{'outer' if variable in outer else 'inner'}{number}")
    return str(Atom(atom.predicate, tuple([substitute(term, names) for term in atom.arguments])))
