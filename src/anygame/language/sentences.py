"""Reads nodes as terms, formulas and rules, and collects errors and warnings instead of raising them.

The reader accepts ``(f)`` for ``f``, ``(<= h)`` for ``h``, and keywords in any case.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from anygame.errors import LimitError
from anygame.language.diagnostics import Diagnostic, Note, Severity, shown
from anygame.language.forms import form_of
from anygame.language.limits import Deadline
from anygame.language.rules import KEYWORDS, And, Atom, Distinct, Literal, Not, Or, Rule
from anygame.language.source import Span
from anygame.language.terms import Compound, Constant, Term, Variable, are_ground

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.language.limits import ReadingLimits
    from anygame.language.rules import Formula
    from anygame.language.source import Node

#: Constants that the reference implementation reads in any case.
_FOLDED: Final = frozenset(
    ("role", "init", "true", "does", "next", "legal", "goal", "terminal", "base", "input")
)
OPERATORS: Final = frozenset(("<=", "not", "and", "or", "distinct"))
_FOLDED_HEADS: Final = _FOLDED | OPERATORS | {"sees", "percept"}
#: Arrows of other languages, and misspellings of ``<=``.
_ARROWS: Final = frozenset(("=>", "->", "<-", "=<", "<", ":-", "<==", "==>", "-->", "<--", "<=>", ":=", "="))
#: Words that can be arrows or names of relations.
_ARROWS_OR_NAMES: Final = frozenset(("if", "rule", "implies", "=", "<"))
#: Arrows that other languages write between a head and its body.
_ARROWS_BETWEEN: Final = frozenset(("<=", ":-", "<-", "=>"))
#: Number of items between two checks of the time limit.
_ITEMS_BETWEEN_CHECKS: Final = 1000
_EXAMPLES: Final = {
    "role": "(role white)",
    "init": "(init (cell 1 1 b))",
    "true": "(true (cell 1 1 b))",
    "does": "(does white noop)",
    "next": "(next (control white))",
    "legal": "(legal white noop)",
    "goal": "(goal white 100)",
    "terminal": "terminal",
    "base": "(base (control white))",
    "input": "(input white noop)",
    "sees": "(sees white (card 7))",
    "percept": "(percept white (card 7))",
    "not": "(not (true (cell 1 1 b)))",
    "and": "a body of several formulas",
    "or": "(or (role ?x) (open ?x))",
    "distinct": "(distinct ?x ?y)",
    "<=": "(<= head body ...)",
}

_INSTEAD_OF_HEADS: Final = {
    "not": "delete the rule: a sentence is false if no rule derives it",
    "and": "write a separate rule for each sentence",
}
#: Keywords whose extra arguments are further facts, not the conditions of a rule.
_LISTED: Final = frozenset(("role", "init", "base"))


def fold(name: str, case_sensitive: bool = True) -> str:
    """Return a name with the spelling in programs: folded to lower case, or unchanged.

    The ten constants ``role init true does next legal goal terminal base input`` are folded everywhere, also
    as object or function constants, as in the reference implementation. So ``(cell 1 Goal)`` and
    ``(cell 1 goal)`` are the same fact. Other names keep their case, unless ``case_sensitive`` is false: then
    all names are folded, as in the GGP systems from Dresden.

    >>> fold("TRUE"), fold("King"), fold("King", case_sensitive=False)
    ('true', 'King', 'king')
    """
    lower = name.lower()
    return name if case_sensitive and lower not in _FOLDED else lower


def fold_head(name: str, case_sensitive: bool = True) -> str:
    """Return the name at the head of a sentence or formula, folded if it is a keyword; see `fold`.

    >>> fold_head("SEES"), fold_head("Or"), fold_head("Cell")
    ('sees', 'or', 'Cell')
    """
    lower = name.lower()
    return name if case_sensitive and lower not in _FOLDED_HEADS else lower


class TooManyProblemsError(Exception):
    """The reader stops, because there are too many errors or a limit is exceeded."""


class Reader:
    """Reads the nodes of one text. A placeholder replaces a faulty part, and reading continues.

    Attributes:
        problems: the diagnostics in the order of reading, without warnings beyond the maximum number.
    """

    def __init__(
        self, limits: ReadingLimits, case_sensitive: bool = True, *, open_facts: bool = False
    ) -> None:
        self._open_facts = open_facts
        self.problems: list[Diagnostic] = []
        self._limits = limits
        self._deadline = Deadline(limits.seconds)
        self._case_sensitive = case_sensitive
        self._tokens: dict[str, Term] = {}
        self._names: dict[str, str] = {}
        self._counts: Counter[Severity] = Counter()
        self._item: Node | None = None
        self._varying: set[str] = set()

    def term(self, node: Node) -> Term:
        """Read a constant, a variable or a compound term."""
        if node.text:
            return self._tokens.get(node.text) or self._token(node)
        if flat := self._flat(node):
            return Compound(*flat)
        children = node.children or ()
        functor = fold(self._name(node, "a function"), self._case_sensitive)
        if functor.lower() in _FOLDED_HEADS:
            self._keyword_in_term(node, functor.lower())
        if len(children) < 2:
            if children:
                name = shown(functor)
                self._warn("zero-arity", f"({name}) is read as the constant {name}", node, name)
            return Constant(functor)
        self._check_arity(node, functor)
        return Compound(functor, tuple(map(self.term, children[1:])))

    def _flat(self, node: Node) -> tuple[str, tuple[Term, ...]] | None:
        """Return the name and the arguments of a list of tokens, without creating nodes.

        Returns None for nested lists, keywords and possible faults, which slower methods read.
        """
        tokens = node.tokens
        if tokens is None or not 1 < len(tokens) <= self._limits.arity:
            return None
        name = self._names.get(tokens[0]) or self._ordinary_name(tokens[0])
        if not name:
            return None
        cached_terms = self._tokens
        terms = []
        for text in tokens[1:]:
            term = cached_terms.get(text) or self._ordinary_token(text)
            if term is None:
                return None
            terms.append(term)
        return name, tuple(terms)

    def _ordinary_token(self, text: str) -> Term | None:
        """Return the term of a token; None for an invalid token."""
        if text in {"<=", "?"}:
            return None
        if text[0] == "?":
            term: Term = Variable(text[1:] if self._case_sensitive else text[1:].lower())
        else:
            term = Constant(fold(text, self._case_sensitive))
        return self._tokens.setdefault(text, term)

    def _ordinary_name(self, text: str) -> str:
        """Return a name with the spelling in programs; empty for a keyword or a variable."""
        name = fold(text, self._case_sensitive)
        if text[0] == "?" or name.lower() in _FOLDED_HEADS:
            return ""
        return self._names.setdefault(text, name)

    def _token(self, node: Node) -> Term:
        text = node.text
        if text == "<=":
            self._error("stray-rule", "`<=` starts a rule and cannot be part of a term", node)
        elif text == "?":
            self._error("empty-variable", "a variable needs a name after its question mark", node, "?x")
        return self._ordinary_token(text) or Constant(text)

    def _keyword_in_term(self, node: Node, functor: str) -> None:
        if functor in {"<=", "not", "or", "distinct"}:
            message = f"`{functor}` joins sentences and cannot occur inside a term"
            self._error("keyword-in-term", message, node, "move the operator out of the term")
        elif functor in _FOLDED:
            message = f"`{functor}` has no meaning inside a term: it is read as the name of a function"
            self._warn("keyword-in-term", message, node)

    def _name(self, node: Node, what: str) -> str:
        """Return the name at the start of a list; a placeholder after an error."""
        if not node.children:
            self._error("empty-list", f"expected the name of {what} and its arguments, found ()", node)
            return "nothing"
        first = node.children[0]
        if first.children is not None:
            message = f"expected the name of {what}, found the list {_excerpt(first)}"
            self._error("list-as-name", message, first, "is there one parenthesis too many?")
            return "list"
        if first.text[0] == "?":
            if first.text not in self._varying:  # in a rule, each variable gets one error
                message = f"expected the name of {what}, found the variable {shown(first.text)}"
                hint = "write a name; only arguments can be variables"
                self._error("variable-as-name", message, first, hint)
            self._varying.add(first.text)
            return "variable"
        return first.text

    def _check_arity(self, node: Node, name: str) -> None:
        arity = len(node.children or ()) - 1
        if arity > self._limits.arity:
            message = f"{shown(name)} has {arity:,} arguments; the limit is {self._limits.arity:,}"
            self._error("too-many-arguments", message, node)

    def atom(self, node: Node) -> Atom:
        """Read a sentence: a relation with its arguments, or the name of a relation without arguments."""
        if flat := self._flat(node):
            return Atom(flat[0], flat[1], node)
        atom = self._sentence(node)
        arity = KEYWORDS.get(atom.predicate)
        if atom.predicate in OPERATORS:
            is_word = node is self._item and node.text and form_of(node.source) == "kif"
            hint = "a comment starts with a semicolon" if is_word else ""
            self._error("bad-head", f"expected a sentence, found `{atom.predicate}`", node, hint)
        elif arity is not None and arity != len(atom.arguments):
            # GDL-I sheets can define relations `sees` and `percept`, and older sheets `base` and `input`.
            lenient = atom.predicate in {"sees", "percept", "base", "input"}
            message = f"`{atom.predicate}` takes {_arguments(arity)}, found {len(atom.arguments)}"
            message += ": it is read as an ordinary relation" if lenient else ""
            report = self._warn if lenient else self._error
            hint = _with_one_argument(node, arity) or _EXAMPLES[atom.predicate]
            report("keyword-arity", message, node, hint)
        elif node.children and not atom.arguments and node.children[0].text:
            name = shown(atom.predicate)
            self._warn("zero-arity", f"({name}) is read as {name}", node, name)
        return atom

    def _sentence(self, node: Node) -> Atom:
        if node.children is None:
            if node.text[0] == "?":
                message = f"expected a sentence, found the variable {shown(node.text)}"
                hint = "a sentence starts with the name of a relation: (true ?x), (next ?x)"
                self._error("variable-sentence", message, node, hint)
            return Atom(fold_head(node.text, self._case_sensitive), (), node)
        name = fold_head(self._name(node, "a relation"), self._case_sensitive)
        self._check_arity(node, name)
        return Atom(name, tuple(map(self.term, node.children[1:])), node)

    def _head_name(self, node: Node) -> str:
        """Return the name at the start of a sentence or formula; empty if there is none."""
        text = node.text
        if not text and (tokens := node.tokens):  # creates no nodes
            text = tokens[0]
        elif node.children:
            text = node.children[0].text
        return fold_head(text, self._case_sensitive)

    def formula(self, node: Node) -> Formula:
        """Read a literal, a negation, a disjunction, a conjunction or `distinct`."""
        operator = self._head_name(node)
        if operator not in OPERATORS:
            return Literal(self.atom(node))
        if node.children is None:
            message = f"`{operator}` and its formulas need parentheses around them"
            self._error("formula-arity", message, node, f"({operator} ...)")
            return Or(())
        parts = node.children[1:]
        if operator == "<=":
            return self._nested_rule(node)
        if operator == "not" and len(parts) > 1 and _is_name(parts[0]):
            return self._not_without_parentheses(node, parts)
        if operator == "distinct":
            terms = tuple(map(self.term, parts))
            self._check_parts(node, operator, len(parts), 2)
            return Distinct(terms[0], terms[1], node) if len(terms) == 2 else Or(())
        formulas = tuple(map(self.formula, parts))
        if operator == "not":
            self._check_parts(node, operator, len(parts), 1)
            return Not(formulas[0] if formulas else Or(()), node)
        if operator == "and":
            message = "`and` is not part of GDL: anygame reads it as a conjunction, other programs may not"
            self._warn("and-formula", message, node, "list its formulas in the body, one after the other")
            return And(formulas, node)
        if not formulas:
            self._warn("empty-or", "a disjunction without formulas is always false", node)
        return Or(formulas, node)

    def _not_without_parentheses(self, node: Node, parts: Sequence[Node]) -> Formula:
        """Report ``(not p ?x)``, and read it as ``(not (p ?x))``."""
        meant = node.source.text[parts[0].start : parts[-1].end]
        message = f"`not` takes one formula, found {len(parts)}"
        self._error("formula-arity", message, node, f"(not ({shown(meant)}))")
        name = fold_head(parts[0].text, self._case_sensitive)
        return Not(Literal(Atom(name, tuple(map(self.term, parts[1:])), node)), node)

    def _check_parts(self, node: Node, operator: str, found: int, expected: int) -> None:
        if found != expected:
            what = "one formula" if operator == "not" else "two terms"
            message = f"`{operator}` takes {what}, found {found}"
            self._error("formula-arity", message, node, _EXAMPLES[operator])

    def _nested_rule(self, node: Node) -> Formula:
        """Report a rule in a body: usually a closing parenthesis is missing before the rule."""
        if self._item is not None:
            outer = Note("the outer rule starts here", _opening(self._item))
            message = "a rule cannot be inside another rule"
            place, hint = _opening(node), "is a ) missing before it?"
            self._add(Diagnostic("stray-rule", Severity.ERROR, message, place, (outer,), hint))
            self._item = None  # one missing parenthesis puts all following rules inside this rule
        for part in (node.children or ())[2:]:
            self.formula(part)
        return Or(())

    def rules(self, nodes: Iterable[Node]) -> tuple[Rule, ...]:
        """Read the items of a sheet. Raises TooManyProblemsError if there are too many errors to continue."""
        arrows, items = arrows_and_others(tuple(nodes))
        for arrow in arrows:
            code = "stray-rule" if arrow.text == "<=" else "wrong-arrow"
            self._error(code, f"`{arrow.text}` is outside parentheses", arrow, _EXAMPLES["<="])
        rules = []
        for number, node in enumerate(items):
            try:
                if not number % _ITEMS_BETWEEN_CHECKS:
                    self._deadline.check()
                rule = self._fact(node) or self.rule(node)
            except LimitError as error:
                self._error("too-large", f"reading stopped here: {error}", node)
                raise TooManyProblemsError from None
            if rule is not None:
                rules.append(rule)
        return tuple(rules)

    def _fact(self, node: Node) -> Rule | None:
        """Read a ground fact without nested terms; return None for any other item."""
        flat = self._flat(node)
        if flat is None or flat[0] in _ARROWS or not are_ground(flat[1]):
            return None
        return Rule(Atom(flat[0], flat[1], node), (), node)

    def rule(self, node: Node) -> Rule | None:
        """Read a rule or a fact; return None for any other item."""
        self._item = node
        self._varying.clear()
        head_node = node
        body: tuple[Node, ...] = ()
        if self._head_name(node) == "<=":
            children = node.children or ()
            if len(children) < 2:
                self._error("formula-arity", "`<=` needs a head, found nothing", node, _EXAMPLES["<="])
                return None
            head_node, body = children[1], children[2:]
            if not body and _first_variable(head_node) is head_node:
                self._warn("empty-body", "a rule without a body is read as a fact", node, _excerpt(head_node))
        if self._is_old_declaration(head_node) or self._has_wrong_arrow(node) or self._lacks_arrow(node):
            return None
        errors = self._counts[Severity.ERROR]
        rule = Rule(self._head(head_node), tuple(map(self.formula, body)), node)
        if self._counts[Severity.ERROR] > errors:
            return rule
        if body and rule.head.key == ("role", 1):
            message = "only facts declare roles: nobody can play a role that a rule derives"
            self._warn("derived-role", message, head_node, _EXAMPLES["role"])
        elif not body and not self._open_facts and any(rule.head.variables()):
            self._add(variable_in_fact(rule))
        return rule

    def _head(self, node: Node) -> Atom:
        name = self._head_name(node)
        if name in {"true", "does"}:
            what, hint = (
                ("state", "use `next` in a rule, or `init` in a fact")
                if name == "true"
                else ("moves", "use `legal`, which defines the possible moves")
            )
            message = f"`{name}` reads the current {what}; no rule or fact can define it"
            self._error("state-in-head", message, node, hint)
            return self._sentence(node)
        if name in OPERATORS and node.children:
            message = f"expected a sentence, found a formula with `{name}`"
            self._error("bad-head", message, node, _INSTEAD_OF_HEADS.get(name, _EXAMPLES["<="]))
            return Atom("formula", (), node)
        return self.atom(node)

    def _is_old_declaration(self, node: Node) -> bool:
        name = self._head_name(node)
        arity = len(node.children or (node,)) - 1
        if name not in {"base", "input"} or arity == KEYWORDS[name]:
            return False
        message = f"`{name}` takes {_arguments(KEYWORDS[name])}, found {arity}: this item is ignored"
        self._warn("old-declaration", message, node, _EXAMPLES[name])
        return True

    def _has_wrong_arrow(self, node: Node) -> bool:
        """Report a rule whose arrow is not ``<=``; return whether the item is such a rule."""
        first, *parts = node.children or (node,)
        if first.text.lower() in _ARROWS_OR_NAMES:
            is_rule = any(map(self._is_of_rules, parts))
        else:
            is_rule = first.text in _ARROWS and any(
                child.children or fold_head(child.text) == "terminal" for child in parts
            )
        if not is_rule:
            return False
        message = f"`{first.text}` does not start a rule: in GDL, `<=` comes first, then the head"
        # Without variables, an item such as ``(if a b)`` can be a fact of a relation ``if``.
        is_ground = _first_variable(node) is node
        report = self._warn if is_ground else self._error
        report("wrong-arrow", message, first, "(<= head body ...)")
        return True

    def _lacks_arrow(self, node: Node) -> bool:
        """Report a rule without ``<=``, which looks like a fact; return whether the item is such a rule."""
        name, parts = self._head_name(node), (node.children or ())[1:]
        arity = KEYWORDS.get(name, len(parts))
        conditions = parts[arity:]
        if not conditions or name in _LISTED or not (arity == 0 or all(part.children for part in conditions)):
            return False
        head = f"({' '.join([name, *map(_kif, parts[:arity])])})" if arity else name
        hint = f"(<= {shown(' '.join([head, *map(_kif, conditions)]), 200)})"
        message = f"`{name}` takes {_arguments(arity)}, found {len(parts)}; a rule must start with <="
        self._error("keyword-arity", message, node, hint)
        return True

    def _is_of_rules(self, node: Node) -> bool:
        """Return whether a node is probably a sentence: it has variables or starts with a keyword."""
        if node.children is None:
            return fold_head(node.text) == "terminal"
        is_keyword = self._head_name(node) in KEYWORDS.keys() | OPERATORS
        return is_keyword or _first_variable(node) is not node

    def _error(self, code: str, message: str, node: Node, hint: str = "") -> None:
        self._add(Diagnostic(code, Severity.ERROR, message, node.span, hint=hint))

    def _warn(self, code: str, message: str, node: Node, hint: str = "") -> None:
        self._add(Diagnostic(code, Severity.WARNING, message, node.span, hint=hint))

    def _add(self, problem: Diagnostic) -> None:
        self._counts[problem.severity] += 1
        if self._counts[problem.severity] <= self._limits.problems:
            self.problems.append(problem)
        elif problem.severity is Severity.ERROR:
            message = f"reading stopped here, after {self._limits.problems:,} errors"
            self.problems.append(Diagnostic("too-many-problems", problem.severity, message, problem.span))
            raise TooManyProblemsError


def arrows_and_others(nodes: tuple[Node, ...]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Return the arrows between items, as in ``head :- body``, and the items on lines without an arrow."""
    arrows = tuple([node for node in nodes if node.text in _ARROWS_BETWEEN])
    if not arrows:
        return (), nodes
    position = nodes[0].source.position
    lines = {position(arrow.start)[0] for arrow in arrows}
    others = (n for n in nodes if lines.isdisjoint(range(position(n.start)[0], position(n.end)[0] + 1)))
    return arrows, tuple(others)


def variable_in_fact(rule: Rule) -> Diagnostic:
    """Return the diagnostic of a fact with variables."""
    node, head = rule.head.node, rule.head
    assert node is not None
    place = _first_variable(node)
    message = "a rule without a body is a fact, and a" if node is not rule.node else "a"
    message += f" fact has no variables, found {shown(place.text)}"
    names = list(dict.fromkeys(map(str, head.variables())))
    is_of_role = names == [str(head.arguments[0])] and head.key in {("legal", 2), ("goal", 2)}
    body = f"(role {names[0]})" if is_of_role else "..."
    hint = f"(<= {shown(str(head), 100)} {body})"
    if body == "...":
        hint += f", with a body that binds {shown(' and '.join(names))}"
    return Diagnostic("variable-in-fact", Severity.ERROR, message, place.span, hint=hint)


def _with_one_argument(node: Node, arity: int) -> str:
    """Return, as a hint, a sentence with all arguments in one term, or one sentence for each argument."""
    name, *parts = node.children or (node,)
    if arity != 1 or len(parts) < 2:
        return ""
    texts = list(map(_kif, parts))
    if name.text.lower() == "role" or not _is_name(parts[0]):
        return shown(" ".join(f"({name.text} {text})" for text in texts), 200)
    return shown(f"({name.text} ({' '.join(texts)}))", 200)


def _kif(node: Node) -> str:
    return f"({' '.join(map(_kif, node.children))})" if node.children else node.text or "()"


def _arguments(count: int) -> str:
    return ("no arguments", "one argument", "two arguments")[count]


def _excerpt(node: Node) -> str:
    return shown(node.source.text[node.start : min(node.end, node.start + 200)])


def _is_name(node: Node) -> bool:
    return node.children is None and node.text[0] != "?"


def _opening(node: Node) -> Span:
    """Return the span of a rule's first characters, ``(<=``."""
    first = node.children[0] if node.children else node
    return Span(node.source, node.start, first.end)


def _first_variable(node: Node) -> Node:
    """Return the leftmost variable token; the node itself if there is none."""
    return next((leaf for leaf in node.leaves() if leaf.text[0] == "?"), node)
