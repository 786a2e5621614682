"""Rules and states in controlled English, with one sentence for each rule or fact.

The sentences can be parsed again. Terms are in infix form without blanks, so a sentence is unambiguous.

>>> from anygame.language.parser import parse_program
>>> for rule in parse_program("(role x) (<= (legal ?r (mark ?n)) (role ?r) (not (true (marked ?n))))").rules:
...     print(prose_rule(rule))
x is a role.
If R is a role, and it is not so that marked(N) is true, then R may do mark(N).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.language.forms import infix_constant, infix_variable
from anygame.language.rules import And, Distinct, Literal, Not, Or
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from anygame.language.rules import Formula, Rule
    from anygame.language.terms import Term

#: The sentences of the relations of GDL.
SENTENCES: Final = {
    ("role", 1): "{} is a role",
    ("init", 1): "{} is true at the start",
    ("true", 1): "{} is true",
    ("next", 1): "{} is true in the next state",
    ("does", 2): "{} does {}",
    ("legal", 2): "{} may do {}",
    ("goal", 2): "the goal of {} is {}",
    ("terminal", 0): "the match is over",
    ("base", 1): "{} can ever be true",
    ("input", 2): "{} can ever do {}",
    ("sees", 2): "{} sees {}",
    ("percept", 2): "{} can ever see {}",
    ("distinct", 2): "{} differs from {}",
}
_NOT: Final = "it is not so that "
_READERS: Final = [
    (name, re.compile(re.escape(text).replace(r"\{\}", r"(\S+)"), re.IGNORECASE))
    for (name, _), text in SENTENCES.items()
]
_HOLDS: Final = re.compile(r"(\S+) holds", re.IGNORECASE)


def infix_term(term: Term) -> str:
    """Return a term in the infix form."""
    if isinstance(term, Compound):
        return f"{infix_constant(term.functor)}({','.join(map(infix_term, term.arguments))})"
    return infix_variable(term.name) if isinstance(term, Variable) else infix_constant(str(term))


def infix_formula(formula: Formula) -> str:
    """Return a literal, or a comparison, in the infix form."""
    if isinstance(formula, Not):
        return f"~{infix_formula(formula.formula)}"
    if isinstance(formula, Distinct):
        return f"distinct({infix_term(formula.left)},{infix_term(formula.right)})"
    assert isinstance(formula, Literal)
    arguments = ",".join(map(infix_term, formula.atom.arguments))
    name = infix_constant(formula.atom.predicate)
    return f"{name}({arguments})" if arguments else name


def prose_rule(rule: Rule) -> str:
    """Return a rule or fact as a sentence."""
    head = prose_formula(Literal(rule.head))
    if not rule.body:
        return f"{head}."
    return f"If {', and '.join(map(prose_formula, rule.body))}, then {head}."


def prose_formula(formula: Formula) -> str:
    """Return a formula as a clause."""
    if isinstance(formula, Literal):
        sentence = SENTENCES.get(formula.atom.key)
        if sentence is None:
            return f"{infix_formula(formula)} holds"
        return sentence.format(*map(infix_term, formula.atom.arguments))
    if isinstance(formula, Distinct):
        return SENTENCES["distinct", 2].format(infix_term(formula.left), infix_term(formula.right))
    if isinstance(formula, Not):
        return f"{_NOT}{prose_formula(formula.formula)}"
    assert isinstance(formula, Or | And)
    if not formula.formulas:
        return "[always]" if isinstance(formula, And) else "[never]"
    joined = f" {type(formula).__name__.lower()} "
    return f"[{joined.join(map(prose_formula, formula.formulas))}]"


def infix_of_sentence(text: str) -> str | None:
    """Return the infix form of a clause that this module has written; None for other text.

    >>> infix_of_sentence("it is not so that cell(1,1) is true."), infix_of_sentence("Hello")
    ('~true(cell(1,1))', None)
    """
    text = text.strip().rstrip(".,;").strip()
    negated = text.lower().startswith(_NOT)
    text = text[len(_NOT) :] if negated else text
    for name, reader in _READERS:
        if match := reader.fullmatch(text):
            arguments = ",".join(match.groups())
            found = f"{name}({arguments})" if arguments else name
            break
    else:
        match = _HOLDS.fullmatch(text)
        if match is None:
            return None
        found = match[1]
    return f"~{found}" if negated else found
