"""Export of games as answer set programs for clingo: each answer set is a match.

The translation follows Thielscher (2009, "Answer set programming for single-player games in general game
playing"). For clingo, see Gebser, Kaminski, Kaufmann and Schaub (2019, "Multi-shot ASP solving with clingo").
"""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import MOST_OF_A_RULE
from anygame.analysis.safety import normal_rules
from anygame.errors import LimitError
from anygame.language.rules import And, Distinct, Formula, Literal, Not, Or, atoms_in
from anygame.language.terms import Compound, Term, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anygame.analysis.normal import NormalRule
    from anygame.language.rules import Atom, Program

    Key = tuple[str, int]

#: Relations that depend on the state.
_OF_STATES: Final = frozenset({("true", 1), ("legal", 2), ("terminal", 0), ("goal", 2)})
#: Relations that depend on the state and on moves.
_OF_STEPS: Final = frozenset({("does", 2), ("next", 1), ("sees", 2)})
_PLAIN: Final = re.compile(r"(?!not$)[a-z][A-Za-z0-9_]*")
_NUMBER: Final = re.compile(r"(0|-?[1-9][0-9]{0,8})")
_VARIABLE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def asp_text(program: Program, depth: int, role: Term, goal: int | None) -> str:
    """Return a program whose answer sets are the matches of at most ``depth`` joint moves.

    With a ``goal``, each match must end with at least this goal for the role. Relations that depend on the
    state or on moves get an additional argument, the number of earlier joint moves.
    """
    rules = normal_rules(program)
    writer = _Writer(rules)
    lines = [
        f"#const _depth = {depth}.",
        "_reached(0).",
        "_reached(T+1) :- _moved(T).",
        "_moved(T) :- _reached(T), not terminal(T), T < _depth.",
        "true(F,0) :- init(F).",
        "true(F,T+1) :- next(F,T), _moved(T).",
        "1 { does(R,M,T) : legal(R,M,T) } 1 :- role(R), _moved(T).",
        *map(writer.rule, rules),
    ]
    if goal is not None:
        lines.append(f"_won :- terminal(T), goal({writer.term(role, {})},{goal}..100,T).")
        lines.append(":- not _won.")
    # Clingo warns about relations without rules unless they are declared.
    lines += [f"#defined {name}." for name in ("init/1", "next/2", "terminal/1", "legal/3")]
    lines.append("#show does/3.")
    names = [f"% {name} is {text}" for text, name in writer.odd.items()]
    return "".join(f"{line}\n" for line in [*names, *lines])


class _Writer:
    """Writes rules. ``odd`` maps each name that clingo cannot read to a substitute."""

    def __init__(self, rules: Sequence[NormalRule]) -> None:
        self.odd: dict[str, str] = {}
        bodies = [(rule.head.key, {atom.key for atom, _ in atoms_in(rule.body)}) for rule in rules]
        self._steps = _closure(_OF_STEPS, bodies)
        self._states = _closure(_OF_STATES, bodies) - self._steps
        #: Names and arities (with the additional argument) of relations that depend on states or moves.
        self._taken = {(name, arity + 1) for name, arity in self._states | self._steps}

    def rule(self, rule: NormalRule) -> str:
        names = _variables(rule)
        body = [self._formula(formula, names) for formula in rule.body]
        if rule.head.key in self._steps:
            body.append("_moved(T)")
        elif rule.head.key in self._states:
            body.append("_reached(T)")
        head = self._atom(rule.head, names)
        return f"{head} :- {', '.join(body)}." if body else f"{head}."

    def term(self, term: Term, names: dict[Variable, str]) -> str:
        if isinstance(term, Variable):
            return names[term]
        if isinstance(term, Compound):
            parts = [self.term(part, names) for part in term.arguments]
            return f"{self._name(term.functor)}({','.join(parts)})"
        text = str(term)
        return text if _NUMBER.fullmatch(text) else self._name(text)

    def _formula(self, formula: Formula, names: dict[Variable, str]) -> str:
        if isinstance(formula, Or):
            # Other literals of the rule bind all variables of the disjunction.
            cases = []
            for number, literals in enumerate(_alternatives(formula)):
                condition = ", ".join(self._formula(literal, names) for literal in literals)
                cases.append(f"{number} : {condition}" if condition else str(number))
            return f"1 <= #count {{ {'; '.join(cases)} }}"
        if isinstance(formula, Not):
            inner = formula.formula
            if isinstance(inner, Distinct):
                return f"{self.term(inner.left, names)} = {self.term(inner.right, names)}"
            return f"not {self._formula(inner, names)}"
        if isinstance(formula, Distinct):
            return f"{self.term(formula.left, names)} != {self.term(formula.right, names)}"
        assert isinstance(formula, Literal), "a normal form has no conjunction within a conjunction"
        return self._atom(formula.atom, names)

    def _atom(self, atom: Atom, names: dict[Variable, str]) -> str:
        name, terms = self._name(atom.predicate), [self.term(argument, names) for argument in atom.arguments]
        if atom.key in self._states or atom.key in self._steps:
            terms.append("T")
        elif atom.key in self._taken:
            name += "'"
        return f"{name}({','.join(terms)})" if terms else name

    def _name(self, text: str) -> str:
        """Return a name that clingo can read: a substitute has ``'HEX'`` for each special character."""
        if _PLAIN.fullmatch(text):
            return text
        if text not in self.odd:
            self.odd[text] = "n'" + re.sub(
                r"[^A-Za-z0-9_]", lambda character: f"'{ord(character[0]):x}'", text
            )
        return self.odd[text]


def _closure(first: frozenset[Key], bodies: Sequence[tuple[Key, set[Key]]]) -> set[Key]:
    closure, before = set(first), 0
    while len(closure) > before:
        before = len(closure)
        closure.update(head for head, body in bodies if not closure.isdisjoint(body))
    return closure


def _variables(rule: NormalRule) -> dict[Variable, str]:
    """Return a name for each variable of a rule. ``T`` is reserved for the number of earlier joint moves."""
    names: dict[Variable, str] = {}
    taken = {"T"}
    for variable in [*rule.head.variables(), *(each for part in rule.body for each in part.variables())]:
        if variable not in names:
            text = variable.name
            name = text[0].upper() + text[1:] if _VARIABLE.fullmatch(text) else "V"
            while name in taken:
                name += f"_{len(taken)}"
            taken.add(name)
            names[variable] = name
    return names


def _alternatives(formula: Formula) -> list[tuple[Formula, ...]]:
    if isinstance(formula, Or):
        return _bounded(alternative for part in formula.formulas for alternative in _alternatives(part))
    if isinstance(formula, And):
        return _bounded(sum(parts, ()) for parts in product(*map(_alternatives, formula.formulas)))
    return [(formula,)]


def _bounded(alternatives: Iterable[tuple[Formula, ...]]) -> list[tuple[Formula, ...]]:
    bounded = list(islice(alternatives, MOST_OF_A_RULE + 1))
    if len(bounded) > MOST_OF_A_RULE:
        message = f"a disjunction expands to more than {MOST_OF_A_RULE:,} rules"
        raise LimitError(message, "rules", MOST_OF_A_RULE)
    return bounded
