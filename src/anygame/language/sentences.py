"""Nodes become terms, formulas and rules; everything odd on the way is collected, not raised.

What is read as the same thing: ``(f)`` and ``f``; ``(<= h)`` and ``h``; a keyword in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import Diagnostic, Note, Severity, shown
from anygame.language.rules import KEYWORDS, And, Atom, Distinct, Literal, Not, Or, Rule
from anygame.language.terms import Compound, Constant, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.language.rules import Formula
    from anygame.language.source import Node, Span
    from anygame.language.text import Limits

__all__ = ["Reader", "TooManyProblemsError", "fold", "fold_head"]

#: The constants that the reference implementation reads in lower case wherever they stand.
_FOLDED: Final = frozenset(
    ("role", "init", "true", "does", "next", "legal", "goal", "terminal", "base", "input")
)
_OPERATORS: Final = frozenset(("<=", "not", "and", "or", "distinct"))
_FOLDED_HEADS: Final = _FOLDED | _OPERATORS | {"sees", "percept"}
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
}


def fold(name: str, case_sensitive: bool = True) -> str:
    """Return a name as programs spell it: what is folded to lower case, and what is kept.

    The ten constants ``role init true does next legal goal terminal base input`` are read in lower case
    wherever they stand, also as object or function constants, as the reference implementation does; so
    ``(cell 1 Goal)`` and ``(cell 1 goal)`` are the same fact. Everything else keeps its case, unless
    ``case_sensitive`` is false: then all is read in lower case, the Dresden tradition.

    >>> fold("TRUE"), fold("King"), fold("King", case_sensitive=False)
    ('true', 'King', 'king')
    """
    lower = name.lower()
    return name if case_sensitive and lower not in _FOLDED else lower


def fold_head(name: str, case_sensitive: bool = True) -> str:
    """Return the name at the head of a sentence or formula: as `fold`, and there all keywords are folded.

    >>> fold_head("SEES"), fold_head("Or"), fold_head("Cell")
    ('sees', 'or', 'Cell')
    """
    lower = name.lower()
    return name if case_sensitive and lower not in _FOLDED_HEADS else lower


class TooManyProblemsError(Exception):
    """Reading stops: the reader's bound on problems is reached. Never leaves this stage."""


class Reader:
    """Reads the nodes of one text. Where a part is wrong, a placeholder stands for it and reading goes on.

    Attributes:
        problems: the diagnostics so far, in order of reading.
    """

    def __init__(self, limits: Limits, case_sensitive: bool = True) -> None:
        self.problems: list[Diagnostic] = []
        self._limits = limits
        self._case_sensitive = case_sensitive
        self._tokens: dict[str, Term] = {}

    # terms

    def term(self, node: Node) -> Term:
        """Read a constant, a variable or a compound term."""
        if node.children is None:
            return self._tokens.get(node.text) or self._token(node)
        if len(node.children) < 2:
            return self._term_without_arguments(node)
        functor = self._name(node, "a function")
        if functor in KEYWORDS or functor in _OPERATORS:
            self._keyword_in_term(node.children[0], functor)
        self._check_arity(node, functor)
        return Compound(functor, tuple(map(self.term, node.children[1:])))

    def _token(self, node: Node) -> Term:
        text = node.text
        term: Term
        if text[0] == "?":
            term = Variable(text[1:] if self._case_sensitive else text[1:].lower())
            if len(text) == 1:
                self._error("empty-variable", "a variable needs a name after its question mark", node, "?x")
                return term
        else:
            term = Constant(fold(text, self._case_sensitive))
            if text == "<=":
                self._error("stray-rule", "`<=` starts a rule and cannot be part of a term", node)
                return term
        self._tokens[text] = term
        return term

    def _term_without_arguments(self, node: Node) -> Term:
        name = fold(self._name(node, "a function"), self._case_sensitive)
        if node.children:
            self._warn("zero-arity", f"({shown(name)}) is read as the constant {shown(name)}", node, name)
        return Constant(name)

    def _keyword_in_term(self, node: Node, functor: str) -> None:
        if functor in {"<=", "not", "or", "distinct"}:
            message = f"`{functor}` joins sentences and cannot stand inside a term"
            self._error("keyword-in-term", message, node, "take it out of the term")
        else:
            message = (
                f"the keyword `{functor}` has no meaning inside a term: it is read as a function of that name"
            )
            self._warn("keyword-in-term", message, node)

    def _name(self, node: Node, what: str) -> str:
        """Return the folded name at the start of a list; after an error an invented one."""
        children = node.children or ()
        if not children:
            self._error("empty-list", f"expected the name of {what} and its arguments, found ()", node)
            return "nothing"
        first = children[0]
        if first.children is not None:
            message = f"expected the name of {what}, found the list {shown(first.span.text)}"
            self._error("list-as-name", message, first, "a parenthesis too many?")
            return "list"
        if first.text[0] == "?":
            message = f"expected the name of {what}, found the variable {shown(first.text)}"
            self._error("variable-as-name", message, first, "names cannot be variables; spell the name out")
            return "variable"
        return (
            fold_head(first.text, self._case_sensitive)
            if what == "a relation"
            else fold(first.text, self._case_sensitive)
        )

    def _check_arity(self, node: Node, name: str) -> None:
        arity = len(node.children or ()) - 1
        if arity > self._limits.arity:
            message = f"{shown(name)} has {arity:,} arguments; the limit is {self._limits.arity:,}"
            self._error("too-many-arguments", message, (node.children or (node,))[0])

    # sentences

    def atom(self, node: Node) -> Atom:
        """Read a sentence: a relation and its arguments, or the name of a relation that has none."""
        if node.children is None:
            if node.text[0] == "?":
                message = f"expected a sentence, found the variable {shown(node.text)}"
                self._error(
                    "variable-sentence", message, node, f"(true {shown(node.text)}), if a fluent is meant"
                )
            atom = Atom(fold_head(node.text, self._case_sensitive), (), node)
        else:
            name = self._name(node, "a relation")
            if len(node.children) == 1 and name not in _OPERATORS:
                self._warn("zero-arity", f"({shown(name)}) is read as {shown(name)}", node, shown(name))
            self._check_arity(node, name)
            atom = Atom(name, tuple(map(self.term, node.children[1:])), node)
        self._check_keyword(atom, node)
        return atom

    def _check_keyword(self, atom: Atom, node: Node) -> None:
        arity = KEYWORDS.get(atom.predicate)
        if atom.predicate in _OPERATORS:
            self._error("bad-head", f"expected a sentence, found `{atom.predicate}`", node)
        elif arity is not None and arity != len(atom.arguments):
            message = f"`{atom.predicate}` takes {_arguments(arity)}, found {len(atom.arguments)}"
            # Sheets older than GDL-II use these names for relations of their own.
            report = self._warn if atom.predicate in {"sees", "percept", "base", "input"} else self._error
            report("keyword-arity", message, node, f"{_EXAMPLES[atom.predicate]}")

    # formulas

    def formula(self, node: Node) -> Formula:
        """Read a literal, a negation, a disjunction, a conjunction or `distinct`."""
        children = node.children
        head = (children[0] if children else node).text if children or children is None else ""
        operator = fold_head(head, self._case_sensitive)
        if operator not in _OPERATORS:
            return Literal(self.atom(node))
        if operator == "<=":
            return self._nested_rule(node)
        parts = children[1:] if children else ()
        if operator == "distinct":
            return self._distinct(node, parts)
        formulas = tuple(map(self.formula, parts))
        if operator == "not":
            if len(formulas) != 1:
                self._operator_arity(
                    node, "`not` takes one formula", len(formulas), "(not (true (cell 1 1 b)))"
                )
            return Not(formulas[0] if formulas else Or(()), node)
        return self._and(node, formulas) if operator == "and" else self._or(node, formulas)

    def _or(self, node: Node, formulas: tuple[Formula, ...]) -> Formula:
        if not formulas:
            self._warn("empty-or", "a disjunction of nothing is always false", node)
        return Or(formulas, node)

    def _and(self, node: Node, formulas: tuple[Formula, ...]) -> Formula:
        message = (
            "`and` is not part of GDL; it is read as a conjunction here, other systems read it as a relation"
        )
        self._warn("and-formula", message, node, "list the formulas one after the other in the body")
        return And(formulas, node)

    def _distinct(self, node: Node, parts: Sequence[Node]) -> Formula:
        terms = tuple(map(self.term, parts))
        if len(terms) != 2:
            self._operator_arity(node, "`distinct` takes two terms", len(terms), "(distinct ?x ?y)")
            return Or((), node)
        return Distinct(terms[0], terms[1], node)

    def _operator_arity(self, node: Node, message: str, found: int, hint: str) -> None:
        self._error("formula-arity", f"{message}, found {found}", node, hint)

    def _nested_rule(self, node: Node) -> Formula:
        message = "a rule cannot stand inside a rule"
        self._error("stray-rule", message, node, "is a ) missing before it?")
        return Or((), node)

    # rules

    def rules(self, nodes: Iterable[Node]) -> tuple[Rule, ...]:
        """Read a sheet's items. Raises TooManyProblemsError at the bound on problems."""
        return tuple(rule for node in nodes if (rule := self.rule(node)) is not None)

    def rule(self, node: Node) -> Rule | None:
        """Read a rule or a fact; None where it is wrong, or of an older style and ignored."""
        children = node.children
        if children and children[0].text == "<=":
            if len(children) == 1:
                self._operator_arity(node, "`<=` takes a head and a body", 0, "(<= head body ...)")
                return None
            head_node, body = children[1], children[2:]
            if not body:
                self._warn(
                    "empty-body", "a rule without a body is read as a fact", node, shown(head_node.span.text)
                )
        elif children is None and node.text == "<=":
            self._error("stray-rule", "`<=` stands outside parentheses", node, "(<= head body ...)")
            return None
        else:
            head_node, body = node, ()
        if self._is_old_declaration(head_node):
            return None
        head = self._head(head_node)
        rule = Rule(head, tuple(map(self.formula, body)), node)
        self._check_rule(rule)
        return rule

    def _head(self, node: Node) -> Atom:
        first = node.children[0] if node.children else node
        name = fold_head(first.text, self._case_sensitive)
        if name in {"true", "does"}:
            other = "next" if name == "true" else "legal"
            message = f"`{name}` describes the state and the moves; no rule or fact can make it so"
            self._error(
                "state-in-head", message, node, f"`{other}`" + (" or `init`" if name == "true" else "")
            )
        elif name in _OPERATORS and node.children is not None:
            message = f"expected a sentence, found a formula with `{name}`"
            hint = "a rule starts with <= and has one sentence as its head"
            self._error("bad-head", message, node, hint)
            return Atom("formula", (), node)
        return self.atom(node)

    def _is_old_declaration(self, node: Node) -> bool:
        children = node.children if node.children is not None else (node,)
        name = fold_head(children[0].text, self._case_sensitive) if children else ""
        if name not in {"base", "input"} or len(children) - 1 == KEYWORDS[name]:
            return False
        message = (
            f"`{name}` takes {_arguments(KEYWORDS[name])}, found {len(children) - 1}: this item is ignored"
        )
        self._warn("old-declaration", message, node, _EXAMPLES[name])
        return True

    def _check_rule(self, rule: Rule) -> None:
        if rule.body:
            if rule.head.key == ("role", 1):
                message = "roles are declared by facts; no player takes a role that a rule declares"
                self._report(Severity.WARNING, "derived-role", message, rule.head.span, hint="(role white)")
        elif rule.head.node and any(True for _ in rule.head.variables()):
            name = next(rule.head.variables())
            message = f"a fact has no variables, found {shown(str(name))}"
            span = _first_variable(rule.head.node).span
            self._report(Severity.ERROR, "variable-in-fact", message, span, hint="a rule starts with <=")

    # reporting

    def _error(self, code: str, message: str, node: Node, hint: str = "") -> None:
        self._report(Severity.ERROR, code, message, node.span, hint=hint)

    def _warn(self, code: str, message: str, node: Node, hint: str = "") -> None:
        self._report(Severity.WARNING, code, message, node.span, hint=hint)

    def _report(
        self,
        severity: Severity,
        code: str,
        message: str,
        span: Span | None,
        notes: tuple[Note, ...] = (),
        hint: str = "",
    ) -> None:
        self.problems.append(Diagnostic(code, severity, message, span, notes, hint))
        if len(self.problems) >= self._limits.problems:
            message = f"reading stopped after {len(self.problems):,} problems"
            self.problems.append(Diagnostic("too-many-problems", Severity.ERROR, message, span))
            raise TooManyProblemsError


def _arguments(count: int) -> str:
    return ("no arguments", "one argument", "two arguments")[count]


def _first_variable(node: Node) -> Node:
    """Return the first token, from left to right, that is a variable; the node itself if there is none."""
    stack = [node]
    while stack:
        found = stack.pop()
        if found.children is None and found.text[0] == "?":
            return found
        stack.extend(reversed(found.children or ()))
    return node
