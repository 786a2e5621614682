"""Analyses of a program for the checks: names, readers and writers of relations, and domains."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.analysis.domains import Domains
from anygame.analysis.groups import grouped, reached
from anygame.analysis.normal import Allowance, NormalRule, TooManyAlternatives, bound_by_literals, normalise
from anygame.language.diagnostics import counted, shown
from anygame.language.rules import KEYWORDS, READ_AS, Atom, Distinct, Literal, atoms_in, walk
from anygame.language.source import Span
from anygame.language.terms import Compound, Constant, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.analysis.domains import Functor, Path, Top
    from anygame.language.rules import Formula, Program, Rule
    from anygame.language.source import Node


#: The name and arity of a relation or function, or of a constant (with arity 0).
Key = tuple[str, int]
#: Maximum length of an examined path to an argument, as in `Domains`.
DEEPEST: Final = 9
_FLUENT_WRITERS: Final = ("init", "next")
_ROLE_FIRST: Final = ("legal", "goal")
#: The keywords whose last argument is a fluent or move, each with the keyword that bodies use instead.
STATE: Final = {**READ_AS, "true": "true", "does": "does"}
_OF_STATE: Final[tuple[Key, ...]] = (("true", 1), ("does", 2))


@dataclass(frozen=True, slots=True)
class Name:
    """One occurrence of a name."""

    #: ``relation``, ``function``, ``constant`` or ``variable``.
    kind: str
    #: The name, without the question mark of a variable.
    text: str
    arity: int
    #: The token; for a relation or function with arguments, the whole list.
    node: Node
    rule: Rule

    @property
    def span(self) -> Span:
        """The place of the name itself."""
        return (self.node.children[0] if self.node.children else self.node).span

    @property
    def is_unused(self) -> bool:
        """Whether an underscore marks a variable as unused."""
        return self.span.text.removeprefix("?").startswith("_")


class Subterm(NamedTuple):
    """A term in an atom."""

    term: Term
    #: The possible values at this place of the atom.
    tops: frozenset[Top]
    #: The place, in the form of `Domains`.
    path: Path
    node: Node | None
    #: The relation or function that has the term as an argument.
    name: str
    #: The index of that argument.
    number: int


class Sheet:
    """Analyses of a program for the checks; each is computed on first use."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._left_out: list[Rule] = []

    @cached_property
    def normal(self) -> list[NormalRule]:
        """The rules in normal form, except rules with too many alternatives."""
        result: list[NormalRule] = []
        allowance = Allowance()
        for rule in self.program.rules:
            try:
                result += normalise(rule, allowance)
            except TooManyAlternatives:
                self._left_out.append(rule)
        return result

    @cached_property
    def parts(self) -> dict[int, list[NormalRule]]:
        """The normal forms of each rule, by the number of the rule in the program."""
        place = {id(rule): number for number, rule in enumerate(self.program.rules)}
        return grouped((place[id(part.origin)], part) for part in self.normal)

    @cached_property
    def is_safe(self) -> bool:
        """Whether domains are reliable: all rules have normal forms, which bind the variables of heads."""
        bound = all(
            variable in bound_by_literals(part.body)
            for part in self._with_roles
            for variable in part.head.variables()
        )
        return bound and not self._left_out

    @cached_property
    def domains(self) -> Domains:
        """The possible values of each argument."""
        return Domains(self._with_roles)

    @cached_property
    def _with_roles(self) -> list[NormalRule]:
        """The normal rules; an unbound first argument of `legal` and `goal` is bound by `role`."""
        return [_with_role(part) for part in self.normal]

    def subterms(self, atom: Atom) -> Iterator[Subterm]:
        """Yield the terms in an atom, outer terms first, except terms that are nested too deeply."""
        pending: list[tuple[Functor, Sequence[Term], Path, Node | None]] = [
            ((atom.predicate, len(atom.arguments)), atom.arguments, (), atom.node)
        ]
        while pending:
            functor, terms, path, node = pending.pop()
            nodes = (node.children or ())[1:] if node else ()
            for number, term in enumerate(terms):
                tops = (
                    self.domains.below(path, functor, number) if path else self.domains.tops(*functor, number)
                )
                here = (*path, functor, number) if path else (*functor, number)
                child = nodes[number] if number < len(nodes) else None
                yield Subterm(term, tops, here, child, functor[0], number)
                if isinstance(term, Compound) and len(here) <= DEEPEST:
                    pending.append(((term.functor, len(term.arguments)), term.arguments, here, child))

    @cached_property
    def heads(self) -> dict[Key, list[Rule]]:
        """The rules and facts of each relation."""
        return grouped((rule.head.key, rule) for rule in self.program.rules)

    @cached_property
    def facts(self) -> dict[tuple[str, object], list[tuple[Atom, tuple[Term, ...]]]]:
        """The facts with their arguments, by keyword, and by relation, fluent or move; see `asked_of`."""
        facts = [(rule.head, *asked_of(rule.head)) for rule in self.program.rules if not rule.body]
        return grouped(((head.predicate, what), (head, terms)) for head, what, terms in facts)

    @cached_property
    def reads(self) -> dict[Key, list[Atom]]:
        """The atoms in bodies, by relation."""
        return grouped((atom.key, atom) for rule in self.program.rules for atom, _ in atoms_in(rule.body))

    def read_by(self, relation: Key) -> Iterator[Key]:
        """Yield the relations that the rules of a relation read."""
        return (atom.key for rule in self.heads.get(relation, ()) for atom, _ in atoms_in(rule.body))

    @cached_property
    def formulas(self) -> list[tuple[Formula, Rule]]:
        """The formulas of bodies, including nested ones, each with its rule."""
        return [(formula, rule) for rule in self.program.rules for formula, _ in walk(rule.body)]

    @cached_property
    def roles(self) -> list[Term]:
        """The roles that facts declare, in order."""
        return list(
            dict.fromkeys(rule.head.arguments[0] for rule in self.heads.get(("role", 1), ()) if not rule.body)
        )

    @property
    def players(self) -> list[Term]:
        """All roles but ``random``."""
        return [role for role in self.roles if str(role) != "random"]

    def roles_without(self, relation: Key) -> list[Term]:
        """Return the roles that can never be the first argument of a relation."""
        known = keys_of(self.domains.tops(*relation, 0))
        return [role for role in self.roles if self.is_safe and key_of(role) not in known]

    @cached_property
    def start(self) -> Span | None:
        """The place of diagnostics about the whole sheet: the first character."""
        first = self.program.rules[0].node
        return Span(first.source, first.start, first.start + 1) if first else None

    def role_span(self, role: Term) -> Span | None:
        """Return the place of the fact that declares a role."""
        rules = self.heads.get(("role", 1), ())
        return next((rule.span for rule in rules if rule.head.arguments[0] is role), None)

    @cached_property
    def writers(self) -> dict[Key, list[Atom]]:
        """The heads of `init` and `next` for each fluent; heads with variables as fluents are omitted."""
        return self._heads_by_last(_FLUENT_WRITERS)

    @cached_property
    def moves(self) -> dict[Key, list[Atom]]:
        """The heads of `legal` for each move."""
        return self._heads_by_last(("legal",))

    @cached_property
    def moves_asked(self) -> frozenset[Key | None]:
        """The moves that rules read, with None if a rule reads a variable as a move."""
        return frozenset(key_of(atom.arguments[1]) for atom in self.reads.get(("does", 2), ()))

    @cached_property
    def moves_by_relation(self) -> dict[Key, list[Atom]]:
        """The moves that `legal` rules take from relations, each with the heads that contain the move."""
        result: dict[Key, list[Atom]] = defaultdict(list)
        pending = [(rule, rule.head.arguments[-1]) for rule in self.heads.get(("legal", 2), ())]
        seen: set[tuple[Key, int]] = set()
        while pending:
            rule, move = pending.pop()
            for atom, positive in atoms_in(rule.body):
                places = [n for n, term in enumerate(atom.arguments) if term is move and positive]
                for place in places if isinstance(move, Variable) and atom.predicate not in KEYWORDS else ():
                    if (atom.key, place) in seen:
                        continue
                    seen.add((atom.key, place))
                    for other in self.heads.get(atom.key, ()):
                        pending.append((other, other.head.arguments[place]))
                        if key := key_of(other.head.arguments[place]):
                            result[key].append(other.head)
        return dict(result)

    @cached_property
    def percepts(self) -> dict[Key, list[Atom]]:
        """The heads of `sees` for each percept."""
        return self._heads_by_last(("sees",))

    def _heads_by_last(self, predicates: Iterable[str]) -> dict[Key, list[Atom]]:
        heads = [rule.head for rule in self.program.rules if rule.head.predicate in predicates]
        return grouped((key, head) for head in heads if (key := key_of(head.arguments[-1])))

    @cached_property
    def varying(self) -> frozenset[Key]:
        """The relations that depend on the state or on moves."""
        rules = self.program.rules
        readers = grouped((atom.key, rule.head.key) for rule in rules for atom, _ in atoms_in(rule.body))
        return frozenset(reached(_OF_STATE, lambda key: readers.get(key, ())))

    @cached_property
    def names(self) -> list[Name]:
        """Every occurrence of every name, rule by rule."""
        return [name for names in self.names_by_rule for name in names]

    @cached_property
    def names_by_rule(self) -> list[list[Name]]:
        """The occurrences of names in each rule."""
        return [list(names_of_rule(rule)) for rule in self.program.rules]

    @cached_property
    def rules_of_variables(self) -> Counter[str]:
        """The number of rules with a variable of each name."""
        rules = self.names_by_rule
        return Counter(text for names in rules for text in {n.text for n in names if n.kind == "variable"})


def _with_role(part: NormalRule) -> NormalRule:
    head = part.head
    if head.predicate in _ROLE_FIRST and part.body and isinstance(head.arguments[0], Variable):
        missing = Literal(Atom("role", (head.arguments[0],)))
        if head.arguments[0] not in bound_by_literals(part.body):
            return NormalRule(head, (*part.body, missing), part.origin)
    return part


def key_of(term: Term) -> Key | None:
    """Return name and arity of a term; None for a variable."""
    if isinstance(term, Compound):
        return term.functor, len(term.arguments)
    return (term.name, 0) if isinstance(term, Constant) else None


def keys_of(tops: Iterable[Top]) -> set[Key]:
    """Return the names and arities of possible values."""
    return {top if isinstance(top, tuple) else (top.name, 0) for top in tops}


def by_fluent(rules: Iterable[Rule]) -> dict[Key, list[Rule]]:
    """Return rules of `init` or `next` by their fluents; rules with variables as fluents are omitted."""
    return grouped((key, rule) for rule in rules if (key := key_of(rule.head.arguments[0])))


def asked_of(atom: Atom) -> tuple[object, tuple[Term, ...]]:
    """Return the fluent or move of an atom with its arguments; for other atoms, relation and arguments.

    A fluent has the same key in `next`, `init` and `true`.
    """
    last = atom.arguments[-1] if atom.arguments else None
    if atom.predicate in STATE and isinstance(last, Compound):
        return (STATE[atom.predicate], key_of(last)), last.arguments
    return atom.key, atom.arguments


def span_of(formula: Formula | Atom, rule: Rule) -> Span | None:
    """Return the span of a formula, or of its rule if the formula has no span."""
    return formula.node.span if formula.node else rule.span


def names_of_rule(rule: Rule) -> Iterator[Name]:
    """Yield every occurrence of a name in a rule, from left to right."""
    yield from _names_of_atom(rule.head, rule)
    for formula, _ in walk(rule.body):
        if isinstance(formula, Literal):
            yield from _names_of_atom(formula.atom, rule)
        elif isinstance(formula, Distinct):
            yield from _names_of_terms((formula.left, formula.right), formula.node, rule)


def _names_of_atom(atom: Atom, rule: Rule) -> Iterator[Name]:
    if atom.node is not None:
        yield Name("relation", atom.predicate, len(atom.arguments), atom.node, rule)
        yield from _names_of_terms(atom.arguments, atom.node, rule)


_KINDS: Final[dict[type[Term], str]] = {Variable: "variable", Constant: "constant", Compound: "function"}


def _names_of_terms(terms: Iterable[Term], parent: Node | None, rule: Rule) -> Iterator[Name]:
    nodes = parent.children[1:] if parent and parent.children else ()
    for term, node in zip(terms, nodes, strict=False):
        yield Name(_KINDS[type(term)], term.name, len(term.args), node, rule)
        yield from _names_of_terms(term.args, node, rule)


def named(key: Key) -> str:
    """Return a name with the number of its arguments."""
    name, arity = key
    if not arity:
        return shown(name)
    return f"{shown(name)} with {counted(arity, 'argument')}"


def times(count: int) -> str:
    """Return a number of occurrences as words."""
    return "once" if count == 1 else f"{count} times"


def pattern(key: Key) -> str:
    """Return a name as a term with placeholders for arguments."""
    return f"({shown(key[0])} ...)" if key[1] else shown(key[0])
