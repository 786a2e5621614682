"""Sheets grown from others by mutation, and the law that each must obey.

A mutated sheet is mostly nonsense as a game, and often no game at all; what loads must compile, or be given
up with a reason, and the reasoner, the plain evaluation of the gates and the kernels must agree on it.

Run as a program it tries many, and prints the sheets that break the law::

    python -m tests.network.mutations --count 10000 --seed 1
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from time import monotonic
from traceback import format_exc
from typing import TYPE_CHECKING, Final, TypedDict

from tests.conftest import find_corpus
from tests.datalog.ways import WAYS, loads
from tests.network.agreement import assert_agreement_of, assert_kernels_agree
from tests.network.random_rules import Writer
from tests.network.test_compiled_sheets import SHEETS

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.datalog.strategy import DEFAULT
from anygame.language.parser import parse_program
from anygame.language.rules import And, Atom, Distinct, Literal, Not, Or, Rule, atoms_in, map_atoms, map_terms
from anygame.language.terms import Compound, Constant, Term, Variable, variables_of
from anygame.network.compiled import compile_game
from anygame.network.grounding.grounder import GroundingLimits
from anygame.network.grounding.pipeline import OPTIONAL
from anygame.network.logic.rewrites import REWRITES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from anygame.language.rules import Formula

#: Small enough that a sheet which multiplies too much is given up in a fraction of a second.
LIMITS: Final = anygame.Limits(facts=3_000, terms=10_000, depth=12, steps=20_000_000)
_GROUNDING: Final = GroundingLimits(instances=20_000, join=200_000, steps=50_000_000)
_LEFT_OUT: Final = (*OPTIONAL, *(name for name, _ in REWRITES))
_GDL: Final = Path(__file__).parents[2] / "gdl"

Rules = list[Rule]


def seeds(most: int, *, public: bool = False) -> list[Rules]:
    """Return the sheets that mutations begin with: those of the tests, of the repository, and public ones.

    Args:
        most: rules of the largest sheet; larger ones take longer, and have few other shapes.
        public: whether to take those of the corpus too, where there is one.
    """
    texts = [*SHEETS.values(), *(path.read_text() for path in sorted(_GDL.glob("*.kif")))]
    corpus = find_corpus() if public else None
    if corpus is not None:
        texts += [path.read_text() for path in sorted((corpus / "rules").glob("*.kif"))]
    # A rule has about fifty characters; comments aside, so that reading is not in vain.
    sheets = [list(parse_program(text).rules) for text in texts if len(text) <= 200 * most]
    return [rules for rules in sheets if len(rules) <= most]


def grown(seed: int, sheets: Sequence[Rules]) -> str:
    """Return a sheet: one of some, or random rules about moves, with a few mutations."""
    random = Random(seed)
    if random.random() < 0.25:
        rules = list(parse_program(Writer(seed).sheet()).rules)
    else:
        rules = list(random.choice(sheets))
    for _ in range(random.choice([1, 1, 2, 2, 3, 4, 6])):
        random.choice(MUTATIONS)(rules, random)
    return "".join(f"{rule}\n" for rule in rules)


def tried(
    text: str, seed: int, *, kernels: bool = False, way: str | None = None, without: Collection[str] = ()
) -> str:
    """Try the law on a sheet; return what became of it.

    Args:
        text: the sheet.
        seed: of the playouts.
        kernels: whether machine code is made and asked too.
        way: how the reasoner is made to compute, of ``tests.datalog.ways``.
        without: passes to be left out.

    Returns:
        ``refused`` by the reader, ``limited by`` a bound, or ``agreed``.
    """
    strategy = WAYS[way] if way else DEFAULT
    try:
        game = loads(text, strategy, limits=LIMITS)
    except anygame.RuleSheetError:
        return "refused"
    try:
        compiled = compile_game(Reasoner(game.program, LIMITS, strategy), _GROUNDING, without=without)
    except anygame.LimitError as error:
        return f"limited by {error.limit}"
    try:
        assert_agreement_of(game, compiled, playouts=2, seed=seed, longest=6)
        if kernels:
            assert_kernels_agree(compiled.network, seed)
    except anygame.LimitError as error:
        return f"limited by {error.limit}"
    return "agreed"


class Ways(TypedDict):
    """How a sheet is tried: arguments of `tried`."""

    kernels: bool
    way: str | None
    without: Sequence[str]


def ways(seed: int, every: int) -> Ways:
    """Return how a sheet is tried, by its seed: with kernels now and then, in each way, without each pass."""
    left_out = _LEFT_OUT[seed // 3 % len(_LEFT_OUT)]
    return {
        "kernels": seed % every == 0,
        "way": list(WAYS)[seed // 3 % len(WAYS)] if seed % 3 == 1 else None,
        "without": [left_out] if seed % 3 == 0 else [],
    }


# -- mutations: each changes a list of rules in place --------------------------------------------------------


def _delete_rule(rules: Rules, random: Random) -> None:
    if len(rules) > 1:
        del rules[random.randrange(len(rules))]


def _delete_literal(rules: Rules, random: Random) -> None:
    def delete(body: list[Formula]) -> None:
        del body[random.randrange(len(body))]

    _change_body(rules, random, delete)


def _duplicate_literal(rules: Rules, random: Random) -> None:
    _change_body(
        rules, random, lambda body: body.insert(random.randrange(len(body) + 1), random.choice(body))
    )


def _move_literal(rules: Rules, random: Random) -> None:
    """Put a literal of one rule into another."""
    found = _with_body(rules)
    if found:
        literal = random.choice(rules[random.choice(found)].body)
        _change_body(rules, random, lambda body: body.insert(random.randrange(len(body) + 1), literal))


def _wrap(rules: Rules, random: Random) -> None:
    """Put a literal into an ``or``, an ``and`` or a ``not``, perhaps with others."""

    def wrap(body: list[Formula]) -> None:
        index = random.randrange(len(body))
        one, other = body[index], random.choice(body)
        body[index] = random.choice(
            [
                Or((one, other)),
                Or((one, Not(other))),
                Or((one, And((other, one)))),
                Or((And((one, other)), Or((other, one)))),
                Or((one,)),
                Not(one),
                Not(Not(one)),
                Not(Or((one, other))),
                Not(And((one, other))),
            ]
        )

    _change_body(rules, random, wrap)


def _repeat_or(rules: Rules, random: Random) -> None:
    """Repeat one disjunction many times, each with its formulas in an order of its own."""

    def repeat(body: list[Formula]) -> None:
        parts = random.sample(body, min(len(body), 2))
        found = [formula for formula in body if isinstance(formula, Or)]
        if found and random.random() < 0.5:
            parts = list(random.choice(found).formulas)
        times = random.choice([2, 5, 6, 7])
        body += [Or(tuple(random.sample(parts, len(parts)))) for _ in range(times)]

    _change_body(rules, random, repeat)


def _swap_arguments(rules: Rules, random: Random) -> None:
    def swap(atom: Atom) -> Atom:
        arguments = list(atom.arguments)
        if len(arguments) == 1 and isinstance(arguments[0], Compound):
            inner = arguments[0]
            return Atom(atom.predicate, (Compound(inner.functor, _shuffled(inner.arguments, random)),))
        return Atom(atom.predicate, _shuffled(arguments, random))

    _change_atoms(rules, random, swap)


def _shuffled(terms: Sequence[Term], random: Random) -> tuple[Term, ...]:
    return tuple(random.sample(list(terms), len(terms)))


def _constants_to_variables(rules: Rules, random: Random) -> None:
    """Replace a constant of a rule by a variable of it, everywhere in there or in one atom."""

    def pick(constants: list[Term], variables: list[Term]) -> tuple[Term, Term] | None:
        return (random.choice(constants), random.choice(variables)) if constants and variables else None

    _replace(rules, random, pick)


def _variables_to_constants(rules: Rules, random: Random) -> None:
    everywhere = [term for rule in rules for term in _terms(rule) if isinstance(term, Constant)]

    def pick(_: list[Term], variables: list[Term]) -> tuple[Term, Term] | None:
        return (random.choice(variables), random.choice(everywhere)) if variables and everywhere else None

    _replace(rules, random, pick)


def _join_variables(rules: Rules, random: Random) -> None:
    def pick(_: list[Term], variables: list[Term]) -> tuple[Term, Term] | None:
        return (random.choice(variables), random.choice(variables)) if len(variables) > 1 else None

    _replace(rules, random, pick)


def _part_variables(rules: Rules, random: Random) -> None:
    """Rename a variable in one literal alone."""

    def part(atom: Atom) -> Atom:
        found = [v for argument in atom.arguments for v in variables_of(argument)]
        if not found:
            return atom
        old, new = random.choice(found), Variable(random.choice(["fresh", "x", "y"]))
        return _mapped(atom, lambda term: new if term == old else term)

    _change_atoms(rules, random, part)


def _nest(rules: Rules, random: Random) -> None:
    """Put a function around a term, or take one away."""

    def nest(atom: Atom) -> Atom:
        terms = sorted({str(t): t for a in atom.arguments for t in _subterms(a)}.items())
        if not terms:
            return atom
        old = random.choice(terms)[1]
        new = old.arguments[0] if isinstance(old, Compound) else Compound("f", (old,))
        return _mapped(atom, lambda term: new if term == old else term)

    _change_atoms(rules, random, nest)


def _rename(rules: Rules, random: Random) -> None:
    """Give a relation or a constant the name of another, in the whole sheet or in one atom."""
    if random.random() < 0.5:
        names = sorted({rule.head.predicate for rule in rules})
        old, new = random.choice(names), random.choice(names)

        def rename(atom: Atom) -> Atom:
            return Atom(new, atom.arguments) if atom.predicate == old else atom

    else:
        found = sorted({str(t) for rule in rules for t in _terms(rule) if isinstance(t, Constant)}) or ["a"]
        before, after = Constant(random.choice(found)), Constant(random.choice(found))

        def rename(atom: Atom) -> Atom:
            return _mapped(atom, lambda term: after if term == before else term)

    if random.random() < 0.5:
        _change_atoms(rules, random, rename)
    else:
        rules[:] = [
            Rule(rename(rule.head), tuple(map_atoms(formula, rename) for formula in rule.body))
            for rule in rules
        ]


def _duplicate_rule(rules: Rules, random: Random) -> None:
    """Add a rule again, and change one of the two."""
    index = random.randrange(len(rules))
    one = [rules[index]]
    random.choice([_delete_literal, _wrap, _swap_arguments, _nest, _rename])(one, random)
    rules[index + 1 : index + 1] = one


def _turn_positive(rules: Rules, random: Random) -> None:
    """Take a negation away."""

    def turn(body: list[Formula]) -> None:
        found = [index for index, formula in enumerate(body) if isinstance(formula, Not)]
        if found:
            index = random.choice(found)
            negated = body[index]
            assert isinstance(negated, Not)
            body[index] = negated.formula

    _change_body(rules, random, turn)


def _give_view(rules: Rules, random: Random) -> None:
    """Move some literals of a rule into a new relation over some of the rule's variables."""
    found = _with_body(rules)
    if not found:
        return
    index = random.choice(found)
    rule = rules[index]
    taken = random.sample(range(len(rule.body)), random.randint(1, len(rule.body)))
    inside = tuple(rule.body[n] for n in sorted(taken))
    names = sorted({variable.name for formula in inside for variable in formula.variables()})
    head = Atom(f"view{len(rules)}", tuple(Variable(name) for name in names if random.random() < 0.9))
    rest = tuple(formula for n, formula in enumerate(rule.body) if n not in taken)
    rules[index] = Rule(rule.head, (*rest, Literal(head)))
    rules.append(Rule(head, inside))


MUTATIONS: Final[list[Callable[[Rules, Random], None]]] = [
    _delete_rule,
    _delete_literal,
    _duplicate_literal,
    _move_literal,
    _wrap,
    _wrap,
    _repeat_or,
    _swap_arguments,
    _constants_to_variables,
    _variables_to_constants,
    _join_variables,
    _part_variables,
    _nest,
    _rename,
    _duplicate_rule,
    _turn_positive,
    _give_view,
]


# -- parts of rules ------------------------------------------------------------------------------------------


def _with_body(rules: Rules) -> list[int]:
    return [index for index, rule in enumerate(rules) if rule.body]


def _change_body(rules: Rules, random: Random, change: Callable[[list[Formula]], None]) -> None:
    found = _with_body(rules)
    if found:
        index = random.choice(found)
        body = list(rules[index].body)
        change(body)
        rules[index] = Rule(rules[index].head, tuple(body))


def _change_atoms(rules: Rules, random: Random, change: Callable[[Atom], Atom]) -> None:
    """Change the head of a rule, or the atoms of one literal."""
    index = random.randrange(len(rules))
    rule = rules[index]
    if not rule.body or random.random() < 0.3:
        rules[index] = replace(rule, head=change(rule.head))
        return
    number = random.randrange(len(rule.body))
    changed = map_atoms(rule.body[number], change)
    rules[index] = Rule(rule.head, (*rule.body[:number], changed, *rule.body[number + 1 :]))


def _replace(
    rules: Rules,
    random: Random,
    pick: Callable[[list[Term], list[Term]], tuple[Term, Term] | None],
) -> None:
    """Replace one term by another in a rule, or in one of its literals."""
    index = random.randrange(len(rules))
    rule = rules[index]
    terms = list(dict.fromkeys(_terms(rule)))
    picked = pick(
        [term for term in terms if isinstance(term, Constant)],
        [term for term in terms if isinstance(term, Variable)],
    )
    if picked is None:
        return
    old, new = picked

    def change(term: Term) -> Term:
        if term == old:
            return new
        return (
            Compound(term.functor, tuple(map(change, term.arguments))) if isinstance(term, Compound) else term
        )

    if random.random() < 0.5:
        _change_atoms(rules, random, lambda atom: Atom(atom.predicate, tuple(map(change, atom.arguments))))
        return
    body = tuple(map_terms(formula, change) for formula in rule.body)
    rules[index] = Rule(Atom(rule.head.predicate, tuple(map(change, rule.head.arguments))), body)


def _mapped(atom: Atom, change: Callable[[Term], Term]) -> Atom:
    """Return an atom with its terms changed, from the outside in."""

    def mapped(term: Term) -> Term:
        changed = change(term)
        if changed is not term or not isinstance(term, Compound):
            return changed
        return Compound(term.functor, tuple(map(mapped, term.arguments)))

    return Atom(atom.predicate, tuple(map(mapped, atom.arguments)))


def _subterms(term: Term) -> Iterator[Term]:
    yield term
    if isinstance(term, Compound):
        for argument in term.arguments:
            yield from _subterms(argument)


def _terms(rule: Rule) -> Iterator[Term]:
    """Yield the constants and variables of a rule, as often as they occur."""
    atoms = [rule.head, *(atom for atom, _ in atoms_in(rule.body))]
    for atom in atoms:
        for argument in atom.arguments:
            yield from (term for term in _subterms(argument) if not isinstance(term, Compound))
    for formula in rule.body:
        if isinstance(formula, Distinct):
            yield from (t for side in (formula.left, formula.right) for t in _subterms(side))


# -- many ----------------------------------------------------------------------------------------------------


def main() -> int:
    """Try the law on many sheets, and print those that break it."""
    parser = ArgumentParser(description=main.__doc__)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first sheet; the others follow")
    options = parser.parse_args()
    sheets = seeds(150, public=True)
    outcomes: Counter[str] = Counter()
    began = monotonic()
    for seed in range(options.seed, options.seed + options.count):
        text = grown(seed, sheets)
        try:
            outcomes[tried(text, seed, **ways(seed, every=5))] += 1
        except Exception:
            outcomes["broken"] += 1
            print(f"; seed {seed}\n{text}; {format_exc()}", flush=True)
        if (seed + 1) % 100 == 0:
            told = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
            print(f"; {told} in {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return int(outcomes["broken"] > 0)


if __name__ == "__main__":
    sys.exit(main())
