"""Parser for formulas of temporal logic, with warnings about formulas that can never hold.

::

    property = (always PHI) | (never PHI) | (reachable PHI) | (until PHI PSI)
    PHI      = an atom of the sheet | (distinct TERM TERM)
             | (not PHI) | (and PHI ...) | (or PHI ...) | (implies PHI PHI) | (iff PHI PHI)
             | (exists (?x ...) PHI) | (forall (?x ...) PHI)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Literal, get_args

from anygame.analysis.domains import Domains
from anygame.errors import QueryError
from anygame.language.diagnostics import Severity, format_excerpt, shown
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_nodes
from anygame.language.rules import KEYWORDS, Atom, Distinct, map_terms
from anygame.language.rules import Literal as Positive
from anygame.language.sentences import Reader
from anygame.language.source import Span
from anygame.language.terms import Compound, Constant, Term, Variable, substitute

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.analysis.domains import Path, Top
    from anygame.game.game import Game
    from anygame.language.source import Node

#: How a property quantifies over the states of a match.
TemporalOperator = Literal["always", "never", "reachable", "until"]
TEMPORAL_OPERATORS: Final[tuple[TemporalOperator, ...]] = get_args(TemporalOperator)
Operator = Literal["atom", "distinct", "not", "and", "or", "iff", "exists"]

#: The number of operands of each operator; None means one or more.
_OPERANDS: Final[dict[Operator, int | None]] = {"not": 1, "iff": 2, "and": None, "or": None}
#: Maximum number of characters of a property.
_LONGEST: Final = 10_000
#: The limit on problems is so high that the parser reports all problems of a property.
_LIMITS: Final = ReadingLimits(bytes=4 * _LONGEST, depth=50, problems=_LONGEST)
_EXAMPLES: Final = {
    "not": "(not terminal)",
    "and": "(and terminal (goal ?r 100))",
    "or": "(or terminal (true (control ?r)))",
    "implies": "(implies terminal (goal ?r 100))",
    "iff": "(iff terminal (not (open)))",
    "exists": "(exists (?r) (goal ?r 100))",
    "forall": "(forall (?r) (implies (role ?r) (goal ?r 50)))",
    "distinct": "(distinct ?x ?y)",
    "always": "(always (implies terminal (exists (?r) (goal ?r 100))))",
    "never": "(never (and (goal ?r 100) (goal ?s 100) (distinct ?r ?s)))",
    "reachable": "(reachable (goal ?r 100))",
    "until": "(until (not (goal ?r 100)) terminal)",
}
#: Relations that count as dependent on joint moves, even if their rules do not read moves.
_OF_MOVES: Final = frozenset((("does", 2), ("next", 1), ("sees", 2)))
#: Maximum number of values listed in a warning.
_LISTED: Final = 8


@dataclass(frozen=True, eq=False)
class Expression:
    """A formula of first-order logic, in which each variable has a unique name.

    The parser rewrites ``implies`` and ``forall``. Only an ``atom`` or a ``distinct`` has a literal. ``free``
    has the variables that no quantifier of the formula binds.
    """

    operator: Operator
    node: Node
    parts: tuple[Expression, ...]
    literal: Positive | Distinct | None
    free: frozenset[Variable]

    @classmethod
    def joining(cls, operator: Operator, node: Node, *parts: Expression) -> Expression:
        """Return an expression with an operator."""
        return cls(operator, node, parts, None, frozenset().union(*(part.free for part in parts)))

    @classmethod
    def saying(cls, literal: Positive | Distinct, node: Node) -> Expression:
        """Return an ``atom`` or a ``distinct``."""
        operator: Operator = "distinct" if isinstance(literal, Distinct) else "atom"
        return cls(operator, node, (), literal, frozenset(literal.variables()))


@dataclass(frozen=True)
class Name:
    """A variable as written by the author: name, first occurrence, and the operator that binds it.

    ``relation`` is a unary relation that holds for exactly the variable's values (default: ``role``).
    """

    text: str
    node: Node
    binder: str
    relation: str = "role"


class Ranges:
    """The values of each argument in a game, and unary relations that hold for exactly these values."""

    def __init__(self, game: Game) -> None:
        self.domains = Domains(game.backends.reasoner.reasoner.rules)
        facts = {
            rule.head.predicate
            for rule in game.program.rules
            if not rule.body and len(rule.head.arguments) == 1
        }
        #: Unary relations with facts. Of relations with the same values, ``role`` is preferred.
        self._relations = ["role", *sorted(facts - KEYWORDS.keys())]

    def relation(self, tops: frozenset[Top]) -> str | None:
        """Return a unary relation that holds for exactly these values, or None."""
        matching = (name for name in self._relations if self.domains.tops(name, 1, 0) == tops)
        return next(matching, None)


class PropertyText:
    """A parsed property. Raises QueryError or TermSyntaxError if the text is not a property of this game.

    ``text`` is the property on one line, without comments. ``expressions`` has the formula, or both formulas
    of ``until``. ``of_moves`` says whether some atom depends on the joint move. ``doubts`` has warnings.
    """

    def __init__(self, text: str, game: Game, ranges: Ranges) -> None:
        if len(text) > _LONGEST:
            raise QueryError(f"a property has at most {_LONGEST:,} characters, this one has {len(text):,}")
        self._reasoner, self._ranges, self._domains = game.backends.reasoner, ranges, ranges.domains
        self._reader = Reader(_LIMITS, game.case_sensitive)
        self.names: dict[Variable, Name] = {}
        self._relation_of: dict[str, str] = {}
        self.of_moves = False
        self.doubts: list[str] = []
        self.node, self.kind = _opened(parse_nodes(text, limits=_LIMITS), text)
        self.text = _on_one_line(self.node)
        self._free: dict[Variable, Variable] = {}
        self.expressions = self._parts(self.node, self.kind, 2 if self.kind == "until" else 1, {})
        self.free = list(self._free.values())
        for variable, name in self.names.items():
            self.names[variable] = replace(name, relation=self._relation_of.get(name.text, name.relation))

    def _parts(
        self, node: Node, operator: str, count: int | None, scope: Mapping[Variable, Variable]
    ) -> tuple[Expression, ...]:
        """Return the formulas of a list: exactly ``count`` formulas, or at least one if ``count`` is None."""
        parts = (node.children or (node,))[1:]
        if len(parts) != count if count else not parts:
            wanted = {1: "one formula", 2: "two formulas"}.get(count or 0, "at least one formula")
            raise fault(f"`{operator}` takes {wanted}, found {len(parts)}", node, _EXAMPLES[operator])
        return tuple(self._expression(part, scope) for part in parts)

    def _expression(self, node: Node, scope: Mapping[Variable, Variable]) -> Expression:
        head = _head(node)
        if head == "implies":
            one, other = self._parts(node, head, 2, scope)
            return Expression.joining("or", node, Expression.joining("not", node, one), other)
        for operator, count in _OPERANDS.items():
            if head == operator:
                return Expression.joining(operator, node, *self._parts(node, head, count, scope))
        if head in {"exists", "forall"}:
            return self._quantified(node, head, scope)
        return self._literal(node, head, scope)

    def _quantified(self, node: Node, head: str, scope: Mapping[Variable, Variable]) -> Expression:
        children = node.children or ()
        if len(children) != 3:
            count = len(children[1:])
            message = f"`{head}` takes variables in parentheses and one formula, found {count} parts"
            raise fault(message, node, _EXAMPLES[head])
        inner = dict(scope)
        if not children[1].children:
            raise fault(f"`{head}` needs variables in parentheses", children[1], _EXAMPLES[head])
        for token in children[1].children:
            if token.children is not None or token.text[0] != "?" or token.text == "?":
                raise fault(f"`{head}` expects a variable here", token, "?x")
            self._name(token, head, inner)
        bound = {inner[self._variable(token)] for token in children[1].children}
        within = self._expression(children[2], inner)
        for unread in sorted(bound - within.free):
            message = f"`{head}` binds {self.names[unread].text}, which does not occur in its formula"
            self._doubt(message, children[1])
        free = within.free - bound
        if head == "exists":
            return Expression("exists", node, (within,), None, free)
        exception = Expression("exists", node, (Expression.joining("not", node, within),), None, free)
        return Expression.joining("not", node, exception)

    def _variable(self, node: Node) -> Variable:
        variable = self._reader.term(node)
        assert isinstance(variable, Variable)
        return variable

    def _name(self, node: Node, binder: str, scope: dict[Variable, Variable]) -> None:
        variable = self._variable(node)
        scope[variable] = named = Variable(f"{variable.name}_{len(self.names) + 1}")
        self.names[named] = Name(node.text, node, binder)

    def _literal(self, node: Node, head: str, scope: Mapping[Variable, Variable]) -> Expression:
        if (
            head in TEMPORAL_OPERATORS
            and (head, len(node.children or (0,)) - 1) not in self._reasoner.reasoner.known_relations
        ):
            message = f"`{head}` must be the outermost operator, because it is about all states"
            raise fault(message, node, "a separate property")
        if head == "distinct":
            children = node.children or (node,)
            if len(children) != 3:
                raise fault(f"`distinct` takes two terms, found {len(children) - 1}", node, _EXAMPLES[head])
            left, right = map(self._reader.term, children[1:])
            literal: Positive | Distinct = Distinct(left, right, node)
        else:
            literal = Positive(self._reader.atom(node))
        for problem in self._reader.problems:
            if problem.severity is Severity.ERROR:
                raise fault(problem.message, problem.span or node, problem.hint)
        if isinstance(literal, Positive):
            self._check(literal.atom, node)
            key = literal.atom.key
            self.of_moves |= key in _OF_MOVES or self._reasoner.reasoner.depends_on_moves(key)
        for token in _variables(node):
            variable = self._variable(token)
            if variable not in scope and variable not in self._free:
                self._name(token, self.kind, self._free)
        bindings = {**self._free, **scope}
        renamed = map_terms(literal, lambda term: substitute(term, bindings))
        assert isinstance(renamed, Positive | Distinct)
        return Expression.saying(renamed, node)

    # -- checks of atoms ---------------------------------------------------------------------------

    def _check(self, atom: Atom, node: Node) -> None:
        try:
            self._reasoner.check_known(atom, ())
        except QueryError as error:
            raise fault(str(error), node) from None
        if atom.predicate == "next" and isinstance(atom.arguments[0], Variable):
            message = "`next` needs the name of a fluent, not a variable"
            raise fault(message, node, "(next (control ?r)), with a fluent of the game")
        arity = len(atom.arguments)
        tops = [self._domains.tops(*atom.key, number) for number in range(arity)]
        if not all(tops):
            self._doubt(f"`{atom.predicate}` never holds in this game", node)
            return
        for number, (term, possible) in enumerate(zip(atom.arguments, tops, strict=True)):
            place = node.argument(number) if len(node.children or ()) == arity + 1 else node
            self._check_term(term, possible, (*atom.key, number), place, atom)

    def _check_term(self, term: Term, tops: frozenset[Top], path: Path, node: Node, atom: Atom) -> None:
        if isinstance(term, Variable):
            if relation := self._ranges.relation(tops):
                self._relation_of[str(term)] = relation
            return
        assert isinstance(term, Compound | Constant)
        top: Top = (term.functor, len(term.arguments)) if isinstance(term, Compound) else term
        if top not in tops:
            listed = sorted(map(_shape, tops))
            near = get_close_matches(_shape(top), listed, n=_LISTED, cutoff=0.5)
            near += [shape for shape in listed if shape not in near]
            more = " ..." if len(near) > _LISTED else ""
            possible = " ".join(near[:_LISTED]) + more
            message = f"{shown(str(atom))} never holds: no rule or fact has {_shape(top)} here"
            self._doubt(f"{message}; possible terms: {possible}", node)
        elif isinstance(term, Compound):
            for number, part in enumerate(term.arguments):
                below = self._domains.below(path, (term.functor, len(term.arguments)), number)
                deeper = (*path, (term.functor, len(term.arguments)), number)
                self._check_term(part, below, deeper, node.argument(number), atom)

    def _doubt(self, message: str, node: Node) -> None:
        self.doubts.append(str(fault(message, node)))


def fault(message: str, place: Node | Span, hint: str = "") -> QueryError:
    """Return the error for an unusable formula."""
    excerpt = format_excerpt(place if isinstance(place, Span) else place.span)
    return QueryError(f"{message}\n{excerpt}" + (f"\n  try: {hint}" if hint else ""))


def _opened(nodes: Sequence[Node], text: str) -> tuple[Node, TemporalOperator]:
    if not nodes:
        raise QueryError(f"expected a property, such as {_EXAMPLES['always']}; found nothing")
    head = _head(nodes[0])
    if len(nodes) == 1 and nodes[0].children:
        for kind in TEMPORAL_OPERATORS:
            if head == kind:
                return nodes[0], kind
    expected = "expected one property, (always ...), (never ...), (reachable ...) or (until ... ...)"
    if len(nodes) > 1 and head in TEMPORAL_OPERATORS and nodes[0].children:
        raise fault(f"{expected}; found a second property", nodes[1], "one argument for each property")
    if head in TEMPORAL_OPERATORS:
        raise fault(expected, nodes[0], f"({shown(text)})")
    near = get_close_matches(head, TEMPORAL_OPERATORS, n=1) if nodes[0].children else []
    raise fault(expected, nodes[0], _EXAMPLES[near[0] if near else "always"])


def _on_one_line(node: Node) -> str:
    return node.text if node.children is None else f"({' '.join(map(_on_one_line, node.children))})"


def _head(node: Node) -> str:
    """Return the first token of a list, or the token itself, in lower case because keywords ignore case."""
    first = node.children[0] if node.children else node
    return first.text.lower()


def _variables(node: Node) -> Iterator[Node]:
    if node.children is None:
        if node.text[0] == "?":
            yield node
    else:
        for child in node.children:
            yield from _variables(child)


def _shape(top: Top) -> str:
    return f"({top[0]}{' ?' * top[1]})" if isinstance(top, tuple) else str(top)
