"""Lenient reading: unbound variables, which GDL forbids, get the meaning that they have in Prolog.

If ?x occurs only in negated formulas, ``(not (true (board ?p ?x)))`` means "for no ?x", as in negation as
failure (Clark, "Negation as failure", 1978). If nothing binds a variable of a head, a literal is added after
the head. This literal reads ``role``, ``base``, ``input``, or a relation of all possible values of the
variable. Lenient reading edits the text, so the result is plain GDL.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import TooManyAlternatives, is_ground_fact, normalise
from anygame.analysis.safety import name_of, unsafe_variables
from anygame.language.forms import form_of, infix_variable, places_of_comments
from anygame.language.parser import parse_program
from anygame.language.rules import (
    And,
    Atom,
    Distinct,
    Literal,
    Not,
    Or,
    Rule,
    format_program,
    map_terms,
    walk,
)
from anygame.language.source import Source
from anygame.language.terms import Compound, Constant, Variable, substitute
from anygame.sheets.declarations import ValueRelations
from anygame.sheets.edits import Edit, Mend, apply_edits, end_of_line, wrapped
from anygame.sheets.sorts import ROLE, Sorts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from anygame.language.rules import Formula, Program
    from anygame.language.terms import Term
    from anygame.sheets.sorts import Place


#: Relation that declares the last argument of a head, by the keyword of the head.
_DECLARES: Final = {"next": "base", "init": "base", "legal": "input"}
#: Keywords of heads in which only the sort of the roles can bind variables.
_TELLS: Final = frozenset(("next", "legal", "goal", "sees", "percept", "role"))
#: Keywords of heads that determine the reachable states and the goals.
_STATES: Final = frozenset(("next", "legal", "goal"))
#: Maximum length of a line of added facts.
_LINE: Final = 110


def _functor(term: Term) -> object:
    if isinstance(term, Compound):
        return term.functor, len(term.arguments)
    return term.name if isinstance(term, Constant) else None


def role_mends(program: Program) -> list[Mend]:
    """Return the mends that bind the unbound roles in heads; the program must have a source."""
    source = program.source
    assert source is not None
    comments = places_of_comments(source)
    roles = [(rule, unbound_role(rule)) for rule in program.rules if rule.node is not None]
    return [role_mend(rule, role, comments) for rule, role in roles if role is not None]


def unbound_role(rule: Rule) -> Variable | None:
    """Return the role of a `legal` or `goal` head if this role is an unbound variable."""
    if rule.head.key not in {("legal", 2), ("goal", 2)} or not rule.body:
        return None
    role = rule.head.arguments[0]
    return role if isinstance(role, Variable) and role in _unbound(rule) else None


def role_mend(rule: Rule, role: Variable, comments: Sequence[tuple[int, int]]) -> Mend:
    """Return the mend that adds a role literal for a variable."""
    node = rule.head.node
    first = rule.body[0].node
    assert node is not None
    assert first is not None
    text = node.source.text
    start = first.start
    between = text[node.end : start]
    if "(" in between and not {"%", ";"} & set(between):  # parentheses around an infix literal
        start = node.end + between.index("(")
    line = max(text.rfind("\n", node.end, start), text.rfind("\r", node.end, start)) + 1
    gap = f"\n{text[line:start]}" if line else " "
    message = f"nothing binds {role}: (role {role}) is added"
    if form_of(node.source) == "kif":
        position = end_of_line(text, node.end, comments)
        if position > node.end:
            gap = gap if line else "\n    "
        edit = Edit(position, position, (f"{gap}(role {role})",))
    else:
        edit = Edit(start, start, (f"role({infix_variable(role.name)}) &{gap}",))
    return Mend("role", message, node.span, (edit,))


def _local(
    conjuncts: Sequence[Formula], outside: set[Variable], unbound: frozenset[Variable]
) -> Iterator[tuple[Not | Distinct, frozenset[Variable]]]:
    """Yield each negation or ``distinct``, and its unbound variables that no other formula binds."""
    positive = [_positive(formula) for formula in conjuncts]
    for number, formula in enumerate(conjuncts):
        bound = outside.union(*positive[:number], *positive[number + 1 :])
        if isinstance(formula, Or):
            for part in formula.formulas:
                # Removing a `distinct` here would remove an alternative.
                inner = _local((part,), bound, unbound)
                yield from (local for local in inner if isinstance(local[0], Not))
        elif isinstance(formula, And):
            yield from _local(formula.formulas, bound, unbound)
        elif isinstance(formula, Not) and isinstance(formula.formula, Not):
            yield from _local((formula.formula.formula,), bound, unbound)
        elif isinstance(formula, Not) and isinstance(formula.formula, Distinct):
            continue  # an equation, which binds variables
        elif isinstance(formula, Not | Distinct):
            free = unbound.difference(bound).intersection(formula.variables())
            if free:
                yield formula, free


def _positive(formula: Formula) -> set[Variable]:
    return {
        variable
        for part, positive in walk([formula])
        if positive and isinstance(part, Literal)
        for variable in part.variables()
    }


def _shape_of(formula: Formula, outer: Sequence[Variable]) -> str:
    """Return a formula as text in which variables have the names ``outer`` or ``inner`` and a number."""
    names: dict[Variable, Term] = {}
    for number, variable in enumerate(dict.fromkeys(formula.variables())):
        names[variable] = Variable(f"{'outer' if variable in outer else 'inner'}{number}")
    return str(map_terms(formula, lambda term: substitute(term, names)))


#: The kinds of mends that lenient reading makes.
LENIENT_MENDS: Final = ("negation", "distinct", "binding", "domain", "any")


def lenient_mends(program: Program, kinds: Iterable[str] = LENIENT_MENDS) -> list[Mend]:
    """Return the readings of variables that GDL leaves unbound, as edits of the KIF text.

    The edited rules may again contain unbound variables, so call this function until it returns no mends.
    """
    source = program.source
    wanted = frozenset(kinds) & set(LENIENT_MENDS)
    if source is None or form_of(source) != "kif" or not wanted:
        return []
    unbound = [(rule, variables) for rule in program.rules if (variables := _unbound(rule))]
    if not unbound:
        return []
    readings = _Readings(program)
    return [mend for each in unbound for mend in readings.mends(*each) if mend.kind in wanted]


def _unbound(rule: Rule) -> frozenset[Variable]:
    """Return the unbound variables of a rule; empty for rules without a place in the text."""
    if rule.node is None or is_ground_fact(rule):
        return frozenset()
    try:
        return frozenset(variable for part in normalise(rule) for variable, _ in unsafe_variables(part))
    except TooManyAlternatives:
        return frozenset()


class _Readings:
    """Reads the rules of a program one by one; equal negations share a relation."""

    def __init__(self, program: Program) -> None:
        assert program.source is not None
        self._rules = program.rules
        self._comments = places_of_comments(program.source)
        self._relations = ValueRelations(program)
        self._sorts = Sorts(program.rules)
        self._made: dict[Place, str] = {}
        self._new: list[Rule] = []
        self._helpers: dict[str, str] = {}

    def mends(self, rule: Rule, unbound: frozenset[Variable]) -> Iterator[Mend]:
        binding = self._binding(rule, unbound)
        if binding is not None:
            yield binding
        # `_binding` binds the variables of the head.
        for formula, free in _local(rule.body, set(), unbound.difference(rule.head.variables())):
            if isinstance(formula, Not):
                yield self._negation(rule, formula.formula, free)
            else:
                yield _without(formula, free)

    def _binding(self, rule: Rule, unbound: frozenset[Variable]) -> Mend | None:
        """Return the mend that binds all unbound variables of a head; None if there is none."""
        head = rule.head
        has_role = head.predicate in {"legal", "goal"}
        variables = [variable for variable in dict.fromkeys(head.variables()) if variable in unbound]
        if has_role and rule.body and variables and variables[0] is head.arguments[0]:
            del variables[0]  # `role_mend` binds the role
        if not variables:
            return None
        # A role literal changes nothing, because players ask only for moves and goals of roles. A variable
        # that also occurs in a negation takes each value for which the negation holds.
        is_of_roles = has_role and variables == [head.arguments[0]]
        body_variables = {variable for formula in rule.body for variable in formula.variables()}
        is_any = head.predicate in _STATES and not is_of_roles and not body_variables.issuperset(variables)
        declared = self._declared(head, variables)
        atoms = [declared] if declared else []
        variables = [v for v in variables if declared is None or v not in declared.variables()]
        kind = "any" if is_any else "binding"
        if any(self._sorts.of_variable(rule, variable) != self._sorts.of(ROLE) for variable in variables):
            if head.predicate in _TELLS:
                return None
            kind = "domain"
        for variable in variables:
            name = self._relation(self._sorts.of_variable(rule, variable))
            atoms.append(Atom(name, (variable,)))
        return self._mend(rule, kind, atoms)

    def _declared(self, head: Atom, variables: Sequence[Variable]) -> Atom | None:
        """Return the `base` or `input` atom that binds a variable of a head, if the sheet defines it."""
        name = _DECLARES.get(head.predicate)
        if name is None or not set(variables).intersection(Atom("", head.arguments[-1:]).variables()):
            return None
        atom = Atom(name, head.arguments)
        wanted = _functor(atom.arguments[-1])
        heads = [rule.head for rule in self._rules if rule.head.key == atom.key]
        return atom if any(_functor(each.arguments[-1]) in {wanted, None} for each in heads) else None

    def _relation(self, sort: Place) -> str:
        """Return the name of a relation of all terms of a sort.

        If the terms nest without end, as lists do, another literal must bind the argument of the relation.
        """
        new = [each for each in self._sorts.inside(sort) if each not in self._made]
        for each in new:
            self._made[each] = self._new_relation(each)
        for each in new:
            self._new += self._compound_rules(each)
        return self._made[sort]

    def _new_relation(self, sort: Place) -> str:
        """Return the name of a relation of the terms of a sort, with facts for its constants."""
        if sort == self._sorts.of(ROLE):
            return "role"
        constants = self._sorts.constants(sort)
        if not self._sorts.functors(sort):
            name = self._relations.relation(constants)
            self._new += self._relations.take_facts()
            return name
        name = self._relations.new_name("domain1")
        self._new += [Rule(Atom(name, (constant,))) for constant in sorted(constants)]
        return name

    def _compound_rules(self, sort: Place) -> Iterator[Rule]:
        if sort == self._sorts.of(ROLE):
            return
        for functor in sorted(self._sorts.functors(sort)):
            inner = [self._made[each] for each in self._sorts.of_arguments(functor)]
            variables = tuple([Variable(f"x{number}") for number in range(1, len(inner) + 1)])
            body = [Literal(Atom(name, (x,))) for name, x in zip(inner, variables, strict=True)]
            yield Rule(Atom(self._made[sort], (Compound(functor[0], variables),)), tuple(body))

    def _mend(self, rule: Rule, kind: str, atoms: Sequence[Atom]) -> Mend:
        node, head = rule.node, rule.head.node
        assert node is not None
        assert head is not None
        text = node.source.text
        more = " ".join(map(str, atoms))
        if head is node:  # a fact
            edits = [Edit(node.start, node.start, ("(<= ",)), Edit(node.end, node.end, (f" {more})",))]
        else:
            place = end_of_line(text, head.end, self._comments)
            gap = "\n    " if place > head.end else " "
            edits = [Edit(place, place, (f"{gap}{more}",))]
        if self._new:
            place = end_of_line(text, node.end, self._comments)
            edits.append(Edit(place, place, tuple(f"\n{line}" for line in wrapped(self._new, _LINE))))
            self._new = []
        names = " and ".join(str(variable) for atom in atoms for variable in dict.fromkeys(atom.variables()))
        message = f"nothing binds {names}: {more} {'is' if len(atoms) == 1 else 'are'} added"
        return Mend(kind, message, head.span, tuple(edits))

    def _negation(self, rule: Rule, formula: Formula, free: frozenset[Variable]) -> Mend:
        """Return the mend that replaces a negated formula by a new atom with its bound variables."""
        node = formula.node
        assert rule.node is not None
        assert node is not None
        outer = [variable for variable in dict.fromkeys(formula.variables()) if variable not in free]
        shape = _shape_of(formula, outer)
        edits = []
        name = self._helpers.get(shape)
        if name is None:
            name = self._helpers[shape] = self._relations.new_name(f"some_{name_of(formula)}")
            text = node.span.text
            has_comment = any(node.start <= start < node.end for start, _ in self._comments)
            line = f"\n(<= {Atom(name, tuple(outer))} {text if has_comment else formula})"
            place = end_of_line(node.source.text, rule.node.end, self._comments)
            edits = [Edit(place, place, (line,))]
        helper = Atom(name, tuple(outer))
        edits.insert(0, Edit(node.start, node.end, (str(helper),)))
        message = (
            f"the negation of {formula} means 'for no {_listed(free, ' and no ')}': "
            f"the added relation {helper} holds if {formula} holds for some {_listed(free, ' and some ')}"
        )
        return Mend("negation", message, node.span, tuple(edits))


def _without(formula: Distinct, free: frozenset[Variable]) -> Mend:
    """Return the mend that removes a `distinct` with an unbound variable; such a `distinct` always holds."""
    node = formula.node
    assert node is not None
    text = node.source.text
    start = node.start
    while text[start - 1] in " \t" and text[node.end : node.end + 1] in {")", "\n", "\r", " ", ""}:
        start -= 1
    message = f"{formula} is removed: nothing binds {_listed(free, ' or ')}, so the formula always holds"
    return Mend("distinct", message, node.span, (Edit(start, node.end, ("",)),))


def _listed(variables: Iterable[Variable], joined_by: str) -> str:
    return joined_by.join(sorted(map(str, variables)))


#: Maximum number of passes over the rules. One pass adds roles; every further pass resolves one level of
#: nested negations.
_ROUNDS: Final = 7


def read_leniently(program: Program, *, case_sensitive: bool = True) -> tuple[Source, list[Mend]]:
    """Bind unbound variables as in Prolog; return the KIF text of the new program, and the readings.

    The text keeps the name of the source; ``.kif`` is appended to the name of an infix sheet.
    """
    source = program.source
    assert source is not None
    if form_of(source) != "kif":
        kif = Source(f"{source.name}.kif", format_program(program))
        program = parse_program(kif, open_facts=True)
    mended, mends = with_readings(program, ("role", *LENIENT_MENDS), case_sensitive)
    assert mended.source is not None
    return mended.source, mends


def with_readings(
    program: Program, kinds: Collection[str], case_sensitive: bool = True
) -> tuple[Program, list[Mend]]:
    """Apply readings to a program until none remains; return the new program and all readings.

    Roles come first, so the result is the same if the author already added roles.
    """
    done: list[Mend] = []
    for _ in range(_ROUNDS):
        mends = (role_mends(program) if "role" in kinds else []) or lenient_mends(program, kinds)
        if not mends:
            break
        done += mends
        assert program.source is not None
        text = apply_edits(program.source.text, [edit for mend in mends for edit in mend.edits])
        again = Source(program.source.name, text)
        program = parse_program(again, case_sensitive=case_sensitive, open_facts=True)
    return program, done


def in_places_of(written: Program, plain: Program) -> Program:
    """Return a leniently read program with the places of the author's rules.

    Lenient reading keeps the order of rules. Each added rule, which defines a new relation, gets the place of
    the rule before it. If the rules do not correspond, the program is returned unchanged.
    """
    known = {rule.head.key for rule in written.rules}
    if sum(rule.head.key in known for rule in plain.rules) != len(written.rules):
        return plain
    placed: list[Rule] = []
    places = iter(written.rules)
    place: Rule | None = None
    for rule in plain.rules:
        is_written = rule.head.key in known
        place = next(places) if is_written or place is None else place
        node = place.head.node if is_written else place.node
        placed.append(replace(rule, head=replace(rule.head, node=node), node=place.node))
    return replace(plain, rules=tuple(placed))
