"""Rules that are the same but for numbers and names: one is missing, or breaks a count."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain, combinations, pairwise, permutations, product
from math import prod
from typing import TYPE_CHECKING, Final, TypeVar

from anygame.analysis.groups import grouped
from anygame.doctor.code import check, codes_of
from anygame.doctor.comparison import (
    by_frame,
    families,
    frame_of,
    number_of,
    odd_place,
    text_of,
    with_values,
    words_of,
)
from anygame.doctor.sheet import asked_of, by_fluent, spoken_of
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import KEYWORDS, Literal, Rule
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from anygame.doctor.comparison import Values, Words
    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.terms import Term

_CODES: Final = codes_of(__name__)


#: A relation, and the number of an argument.
_Argument = tuple["Key", int]
#: Rules that are the same but for numbers: fewer leave out a number by chance.
_FEWEST_IN_ROW: Final = 4
_FEWEST_APART: Final = 6

_MISSING_CASE: Final = _CODES["missing-case"]


@check(_MISSING_CASE, once=True)
def _missing_case(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a hole in a row of rules, and the one rule that lacks a condition of all others of its kind."""
    yield from _of_values(sheet)
    rules = by_frame(sheet.program.rules)
    heads = {words_of(rule.head) for alike in rules.values() for _, rule in alike}
    for family in rules.values():
        values, like = family[0]
        # What is a goal goes by any steps.
        if values and len(family) >= _FEWEST_IN_ROW and like.head.predicate != "goal":
            shorter = [(rule, n) for n, each in _without_one(like) for _, rule in rules.get(each, ())]
            if len(shorter) == 1 and like.head.predicate == "next":
                ((rule, lacking),) = shorter
                message = f"this rule lacks a condition that {len(family)} rules of its kind have"
                hint = f"a condition such as {shown(str(like.body[lacking]))}"
                yield _MISSING_CASE.found(message, rule.span, Note("as here", like.span), hint=hint)
            elif not shorter:
                yield from _of_rows(family, heads)


def _of_values(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one value for which a relation has no rule, where it has one for all others of a table."""
    values = {(key, n): column for key, rules in sheet.heads.items() for n, column in _named(rules)}
    for rule in sheet.program.rules:
        places: dict[Variable, list[_Argument]] = defaultdict(list)
        for formula in rule.body:
            if isinstance(formula, Literal):
                for n, term in enumerate(formula.atom.arguments):
                    if isinstance(term, Variable) and (formula.atom.key, n) in values:
                        places[term].append((formula.atom.key, n))
        for one, other in chain.from_iterable(permutations(each, 2) for each in places.values()):
            missing = values[one].keys() - values[other].keys()
            if len(missing) == 1 and len(values[one]) >= _FEWEST_IN_ROW and one[0] != other[0]:
                (value,) = missing
                like = next(iter(values[other].values()))
                if like.body:
                    given = values[one][value]
                    message = (
                        f"no rule of {shown(other[0][0])} is for {value}, as there is for the others of "
                        f"{shown(one[0][0])}: what asks for both never fires for {value}"
                    )
                    note = Note(f"{value} is given here", given.head.span)
                    yield _MISSING_CASE.found(message, like.head.span, note, hint=f"a rule for {value}")


def _named(rules: Sequence[Rule]) -> Iterator[tuple[int, dict[Constant, Rule]]]:
    """Yield the places at which the heads of a relation of its own all have constants, with these."""
    head = rules[0].head
    columns = zip(*(rule.head.arguments for rule in rules), strict=True)
    for n, column in enumerate(columns if head.predicate not in KEYWORDS else ()):
        named = {term: rule for term, rule in zip(column, rules, strict=True) if isinstance(term, Constant)}
        if all(isinstance(term, Constant) for term in column):
            yield n, named


def _of_rows(family: Sequence[tuple[Values, Rule]], heads: Container[Words]) -> Iterator[Diagnostic]:
    """Report the hole in a row of rules, all of them or those with the same names, that no rule fills."""
    by_names = grouped((tuple(v for v in each[0] if isinstance(v, str)), each) for each in family)
    for row in (family, *by_names.values()) if len(by_names) > 1 else (family,):
        hole = _hole([values for values, _ in row]) if len(row) >= _FEWEST_IN_ROW else None
        if hole is not None:
            place, number = hole
            near, like = min(row, key=lambda each: abs((number_of(each[0][place]) or 0) - number))
            moved = _moved([values for values, _ in row], near, place, number)
            wanted = with_values(like, moved)
            if wanted[0] == words_of(like.head) or wanted[0] not in heads:
                message = f"there are {len(row)} rules like this one in a row, but none for {moved[place]}"
                yield _MISSING_CASE.found(message, like.span, hint=f"such as {text_of(wanted)}")
                return


def _hole(rows: Sequence[Values]) -> tuple[int, int] | None:
    """Return the place of a number that goes on by a step from rule to rule but once, and who is left out."""
    for place, column in enumerate(zip(*rows, strict=True)):
        letters = all(isinstance(value, str) for value in column)
        numbers = sorted({number_of(value) or 0 for value in column if letters or isinstance(value, int)})
        if len(numbers) == len(rows):
            steps = [after - before for before, after in pairwise(numbers)]
            step = min(steps)
            fewest = _FEWEST_IN_ROW if step == 1 and not letters else _FEWEST_APART
            if len(rows) >= fewest and sorted(steps) == [*[step] * (len(steps) - 1), 2 * step]:
                return place, numbers[steps.index(2 * step)] + step
    return None


def _moved(rows: Sequence[Values], near: Values, place: int, number: int) -> Values:
    """Return the values of a rule moved to another number, with those that go along with it."""
    if isinstance(near[place], str):
        return (*near[:place], chr(number), *near[place + 1 :])
    step = number - int(near[place])
    goes_along = [
        all(isinstance(values[other], int) for values in rows)
        and len({int(values[other]) - int(values[place]) for values in rows}) == 1
        for other in range(len(near))
    ]
    pairs = zip(near, goes_along, strict=True)
    return tuple(int(value) + step if goes else value for value, goes in pairs)


def _without_one(rule: Rule) -> Iterator[tuple[int, Words]]:
    """Yield what a rule has in common with others of its kind, with one condition less, and its number."""
    for number in range(len(rule.body)):
        yield number, frame_of(Rule(rule.head, rule.body[:number] + rule.body[number + 1 :]))[0]


T = TypeVar("T")
#: Combinations of values: of fewer, one may well be left out.
_FEWEST_COMBINATIONS: Final = 8
#: Values of each argument, where rules are compared: of two, one may have a meaning of its own.
_FEWEST_OF_RULES: Final = 3
_MOST: Final = 5_000
#: What is written for single cells; who may do what, and what it brings, differs from one to the other.
_OF_CELLS: Final = frozenset(("init", "next"))

_MISSING_COMBINATION: Final = _CODES["missing-combination"]


@check(_MISSING_COMBINATION)
def _missing_combination(sheet: Sheet) -> Iterator[Diagnostic]:
    groups: dict[object, dict[tuple[Term, ...], Rule]] = defaultdict(dict)
    for rule in sheet.program.rules:
        head = rule.head
        if head.predicate in _OF_CELLS or KEYWORDS.get(head.predicate) != len(head.arguments):
            terms = asked_of(head)[1]
            shape = tuple(isinstance(term, Constant) for term in terms)
            if sum(shape) > 1 and not any(isinstance(term, Compound) for term in terms):
                name = head.predicate, spoken_of(head), shape, bool(rule.body)
                groups[name].setdefault(tuple(term for term in terms if isinstance(term, Constant)), rule)
    for group in groups.values():
        missing = _missing(list(group))
        if missing is not None:
            yield from _of_heads(sheet, group, missing)
    for family in families(sheet.program.rules):
        row = _missing([values for values, _ in family], _FEWEST_OF_RULES)
        if row is not None:
            _, rule = max(family, key=lambda each: _alike(each[0], row))
            hint = f"such as {text_of(with_values(rule, row))}"
            yield _MISSING_COMBINATION.found(_message("rules", " ".join(map(str, row))), rule.span, hint=hint)


def _missing(rows: Sequence[tuple[T, ...]], fewest: int = 2) -> tuple[T, ...] | None:
    """Return the one combination of the columns' values that is no row; None if more are missing, or none.

    Columns that vary have so many values at least.
    """
    columns = [list(dict.fromkeys(column)) for column in zip(*rows, strict=True)]
    count = prod(map(len, columns))
    several = [len(column) for column in columns if len(column) > 1]
    if (
        count != len(rows) + 1
        or len(several) < 2
        or min(several) < fewest
        or not _FEWEST_COMBINATIONS <= count <= _MOST
    ):
        return None
    there = set(rows)
    return next(row for row in product(*columns) if row not in there)


def _of_heads(
    sheet: Sheet, group: Mapping[tuple[Term, ...], Rule], missing: tuple[Term, ...]
) -> Iterator[Diagnostic]:
    rule = group[max(group, key=lambda row: _alike(row, missing))]
    values = iter(missing)
    terms = asked_of(rule.head)[1]
    wanted = " ".join(str(next(values) if isinstance(term, Constant) else term) for term in terms)
    if not _stands_elsewhere(sheet, rule.head.predicate, tuple(map(str, missing))):
        what = "rules" if rule.body else "facts"
        like = str(rule.head).replace(" ".join(map(str, terms)), wanted)
        yield _MISSING_COMBINATION.found(_message(what, wanted), rule.span, hint=f"such as {shown(like)}")


def _message(what: str, missing: str) -> str:
    return f"there are {what} like this one for all combinations of their values but {shown(missing)}"


def _alike(one: Sequence[object], other: Sequence[object]) -> int:
    return sum(a == b for a, b in zip(one, other, strict=True))


def _stands_elsewhere(sheet: Sheet, predicate: str, values: tuple[str, ...]) -> bool:
    """Return whether another head speaks of just these values: the one place that is not like the others."""
    count = len(values)
    heads = (words_of(rule.head) for rule in sheet.program.rules if rule.head.predicate == predicate)
    return any(head[n : n + count] == values for head in heads for n in range(len(head) - count + 1))


#: Conditions, and rules, that are compared: fewer agree by chance.
_FEWEST_CONDITIONS: Final = 4
_FEWEST_RULES: Final = 5

_ODD_NUMBER: Final = _CODES["odd-number"]


@check(_ODD_NUMBER, once=True)
def _odd_number(sheet: Sheet) -> Iterator[Diagnostic]:
    for rule in sheet.program.rules:
        yield from _in_rule(rule)
    # What is a goal goes by any steps.
    for family in families(rule for rule in sheet.program.rules if rule.head.predicate != "goal"):
        if len(family) >= _FEWEST_RULES:
            yield from _in_family([rule for _, rule in family], [numbers for numbers, _ in family])


def _in_rule(rule: Rule) -> Iterator[Diagnostic]:
    """Report a condition that breaks the step of one argument, where another argument goes on by a step."""
    groups: dict[object, list[tuple[Atom, list[int]]]] = defaultdict(list)
    for formula in rule.body:
        if isinstance(formula, Literal):
            _, terms = asked_of(formula.atom)
            places = tuple(place for place, term in enumerate(terms) if str(term).isdecimal())
            functor = getattr(formula.atom.arguments[-1], "functor", "") if terms else ""
            numbers = [int(str(terms[place])) for place in places]
            groups[formula.atom.key, functor, places].append((formula.atom, numbers))
    for group in groups.values():
        if len(group) < _FEWEST_CONDITIONS:
            continue
        columns = list(zip(*(numbers for _, numbers in group), strict=True))
        if not any(_goes_on(column) for column in columns):
            continue
        for column in columns:
            odd = _breaks_count(column)
            if odd is not None:
                atom = group[odd][0]
                yield _found(str(atom), atom, group[odd - 1 if odd else 1][0], "the other conditions")


def _in_family(rules: Sequence[Rule], numbers: Sequence[Sequence[int | str]]) -> Iterator[Diagnostic]:
    """Report the one rule in which two numbers do not differ as they do in all others."""
    columns = [column for column in zip(*numbers, strict=True) if all(isinstance(n, int) for n in column)]
    for one, other in combinations(columns, 2):
        steps = [int(b) - int(a) for a, b in zip(one, other, strict=True)]
        odd = odd_place(steps)
        if odd is None:
            continue
        values = {n for number, n in enumerate(one) if number != odd}
        # Who is at the end stays there.
        if len(values) >= _FEWEST_RULES - 1 and steps[odd]:
            near = rules[odd - 1 if odd else 1]
            yield _found("this rule", rules[odd].head, near.head, "rules that are the same otherwise")


def _found(what: str, atom: Atom, other: Atom, others: str) -> Diagnostic:
    message = f"{shown(what)} breaks the count of {others}"
    return _ODD_NUMBER.found(message, atom.span, Note("as here", other.span))


def _goes_on(column: Sequence[int]) -> bool:
    return {after - before for before, after in pairwise(column)} in ({1}, {-1})


def _breaks_count(column: Sequence[int]) -> int | None:
    """Return the place of the one number that breaks a count by one, up or down."""
    starts = ([number - step * place for place, number in enumerate(column)] for step in (1, -1))
    return next((odd for each in starts if (odd := odd_place(each)) is not None), None)


#: Facts that agree: fewer may count by chance.
_FEWEST_COUNTED: Final = 3
#: Facts of a table in which one may be odd, in which a fact that is odd in one place alone is, and at most.
_FEWEST_IN_TABLE: Final = 8
_LARGE: Final = 40
_MOST_IN_TABLE: Final = 5_000

_ODD_FACT: Final = _CODES["odd-fact"]


@check(_ODD_FACT, once=True)
def _odd_fact(sheet: Sheet) -> Iterator[Diagnostic]:
    yield from _in_counts(sheet)
    yield from _in_tables(sheet)


def _in_tables(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a fact that gives a second value to what has one in all other facts.

    It does so in the places of two arguments; of a large table one is enough.
    """
    for group in _tables(sheet):
        breaks: Counter[Atom] = Counter()
        other: dict[Atom, Atom] = {}
        for place in range(len(group[0][1])):
            by_rest = grouped(((*terms[:place], *terms[place + 1 :]), atom) for atom, terms in group)
            double = [atoms for atoms in by_rest.values() if len(atoms) > 1]
            if len(double) == 1 and len(double[0]) == 2:
                breaks.update(double[0])
                other |= {double[0][0]: double[0][1], double[0][1]: double[0][0]}
        if not breaks:
            continue
        (odd, most), *more = breaks.most_common(2)
        values = Counter(term for _, terms in group for term in terms)
        if more and more[0][1] == most:
            if len(group) < _LARGE:
                continue
            odd = min(odd, more[0][0], key=lambda atom: _how_common(atom, values))
        elif most < 2:
            continue
        message = f"{shown(str(odd))} gives a second value to what has one in all other facts"
        yield _ODD_FACT.found(message, odd.span, Note("the other one", other[odd].span))


def _how_common(atom: Atom, values: Counter[Term]) -> int:
    last = atom.arguments[-1]
    return min(values[term] for term in (last.arguments if isinstance(last, Compound) else atom.arguments))


def _tables(sheet: Sheet) -> Iterator[list[tuple[Atom, tuple[Term, ...]]]]:
    """Yield the facts of each relation, and those that `init` makes of each fluent, each once."""
    for (predicate, _), facts in sheet.facts.items():
        group = {terms: atom for atom, terms in reversed(facts)}
        first, arity = facts[0][0], len(facts[0][1])
        is_compared = predicate == "init" or KEYWORDS.get(predicate) != len(first.arguments)
        if is_compared and arity > 1 and _FEWEST_IN_TABLE <= len(group) <= _MOST_IN_TABLE:
            yield [(atom, terms) for atom, terms in facts if group[terms] is atom]


def _in_counts(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one fact of two numbers (or letters) that does not go on by one as all its others do."""
    for facts in sheet.facts.values():
        if len(facts) > _FEWEST_COUNTED and len(facts[0][0].arguments) == 2:
            yield from _odd_one([atom for atom, _ in facts])


def _odd_one(group: Sequence[Atom]) -> Iterator[Diagnostic]:
    pairs = [(number_of(atom.arguments[0]), number_of(atom.arguments[1])) for atom in group]
    steps = [None if a is None or b is None else b - a for a, b in pairs]
    place = odd_place(steps)
    if place is None:
        return
    first, second = pairs[place]
    near = place - 1 if place else 1
    step = steps[near]
    if first is None or step not in (1, -1):
        return
    others = [a for n, (a, _) in enumerate(pairs) if n != place and a is not None]
    # At its end a count may go round, stop, or leave out something; but it does not turn.
    is_inside = min(others) <= first <= max(others)
    if is_inside or (second is not None and second - first == -step and second != min(others)):
        atom, name = group[place], shown(group[place].predicate)
        message = f"{shown(str(atom))} breaks the count of the other {len(others)} facts of {name}"
        yield _ODD_FACT.found(message, atom.span, Note("as here", group[near].span))


#: Of two roles, one may well begin alone.
_FEWEST_ROLES: Final = 3

_MISSING_ROLE: Final = _CODES["missing-role"]


@check(_MISSING_ROLE)
def _missing_role(sheet: Sheet) -> Iterator[Diagnostic]:
    roles = {*sheet.players}
    if len(roles) < _FEWEST_ROLES:
        return
    for rules in by_fluent(sheet.heads.get(("init", 1), ())).values():
        for place in range(len(asked_of(rules[0].head)[1])):
            yield from _left_out(roles, rules, place)


def _left_out(roles: set[Term], rules: Sequence[Rule], place: int) -> Iterator[Diagnostic]:
    values = [asked_of(rule.head)[1][place] for rule in rules]
    missing = roles - set(values)
    others = [rule for rule, value in zip(rules, values, strict=True) if value not in roles]
    if len(missing) != 1 or any(isinstance(value, Variable) for value in values):
        return
    # Each of the others once: pieces on a board belong to roles, too, but more of them.
    if len(values) - len(others) != len(roles) - 1 or len(others) > 1:
        return
    (role,) = missing
    odd_term = asked_of(others[0].head)[1][place] if others else None
    if isinstance(odd_term, Constant):
        odd = shown(str(odd_term))
        message = f"{odd} stands where all others of these facts have a role, and {shown(str(role))} has none"
        yield _MISSING_ROLE.found(message, others[0].span, hint=shown(str(role)))
    elif not others:
        fluent = rules[0].head.arguments[0]
        message = f"all roles but {shown(str(role))} begin with a fact such as {shown(str(fluent))}"
        yield _MISSING_ROLE.found(message, rules[0].span, hint=f"the same for {shown(str(role))}")
