"""What a single change makes right that only play shows: a negation that is missing, two arguments exchanged.

What goes wrong in play shows far from its cause: a `not` left out where the game ends makes a goal missing.
So the rules that have a part in it are changed one literal at a time, nearest first, and played again. This
is fault localisation by mutation, as in Papadakis and Le Traon, "Metallaxis-FL: mutation-based fault
localization" (2015).
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, replace
from itertools import pairwise
from time import process_time
from typing import TYPE_CHECKING, Final

from anygame.doctor.play.checking import BRIEF, PlayCheck
from anygame.doctor.play.lost_values import functor_of, keeps
from anygame.errors import AnygameError
from anygame.game.loading import game_of
from anygame.language.diagnostics import Diagnostic, Note, Severity, shown
from anygame.language.rules import Atom, Distinct, Literal, Not, Program, Rule, atoms_in
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from anygame.language.rules import Formula
    from anygame.language.source import Span
    from anygame.language.terms import Term

#: What play shows, with the keywords whose rules it comes from.
REPAIRED: Final = {
    "lost-value": ("next",),
    "double-value": ("next",),
    "over-at-start": ("terminal",),
    "goal-missing": ("goal", "terminal"),
    "goal-conflict": ("goal", "terminal"),
    "no-move": ("legal", "next", "terminal"),
    "standstill": ("next", "legal", "terminal"),
}
#: Of them, those that show while the game goes on.
_OF_VALUES: Final = frozenset(("lost-value", "double-value"))
_OF_STATE: Final = frozenset(("init", "next", "true", "base", "legal", "does", "input"))
#: Processor seconds for all trials about a sheet, and what is played in one of them.
_SECONDS: Final = 2.0
_A_TRIAL: Final = replace(BRIEF, playouts=4, states=40)
#: Other constants that are tried in the place of one.
_MOST_CONSTANTS: Final = 4


@dataclass(frozen=True, slots=True)
class _Change:
    """A rule with one part changed.

    Attributes:
        rule: as it stands in the sheet.
        changed: the rule in its place.
        span: of the part.
        meant: what would be right there.
    """

    rule: Rule
    changed: Rule
    span: Span
    meant: Formula | Atom


def name_the_cause(
    program: Program, found: Sequence[Diagnostic], examine: Callable[[Program], Iterable[Diagnostic]]
) -> dict[Diagnostic, Diagnostic]:
    """Return findings of play with the place that a change of one literal shows to be their cause.

    Args:
        program: the sheet.
        found: what play showed.
        examine: finds what is wrong in rules without playing.
    """
    shown_by_play = [each for each in found if each.code in REPAIRED]
    if not shown_by_play:
        return {}
    first = shown_by_play[0]
    change = _repair(program, REPAIRED[first.code], examine, {each.code for each in shown_by_play})
    if change is None:
        return {}
    return {first: _at(first, change)} | {each: replace(each, follows=True) for each in shown_by_play[1:]}


def _repair(
    program: Program,
    keywords: Sequence[str],
    examine: Callable[[Program], Iterable[Diagnostic]],
    codes: Collection[str],
) -> _Change | None:
    """Return a change with which nothing goes wrong in play, and nothing else is found."""
    until = process_time() + _SECONDS
    known = _wrong(examine(program))
    before = _trial(program)
    for change in _changes(program, keywords):
        if process_time() > until:
            break
        rules = tuple(change.changed if rule is change.rule else rule for rule in program.rules)
        repaired = Program(rules, program.source)
        check = _played_well(repaired, before.boards)
        if check and not _is_cut_short(check, before, codes) and _wrong(examine(repaired)) <= known:
            return change
    return None


def _wrong(found: Iterable[Diagnostic]) -> set[tuple[str, Span | None]]:
    return {(each.code, each.span) for each in found if each.severity > Severity.INFO}


def _played_well(program: Program, boards: int) -> PlayCheck | None:
    """Return a little play, if nothing goes wrong in it and as many boards stay boards."""
    try:
        check = _trial(program)
    except AnygameError:
        return None
    is_wrong = any(each.diagnostic.severity > Severity.INFO for each in check.findings())
    return check if check.played > 0 and check.boards >= boards and not is_wrong else None


def _is_cut_short(check: PlayCheck, before: PlayCheck, codes: Collection[str]) -> bool:
    """Return whether values are kept only since the game is over before they are lost."""
    if _OF_VALUES.isdisjoint(codes):
        return False
    return check.longest <= (before.longest if "no-move" in codes else before.longest // 2)


def _trial(program: Program) -> PlayCheck:
    check = PlayCheck(game_of(program), _A_TRIAL)
    check.run()
    return check


def _at(finding: Diagnostic, change: _Change) -> Diagnostic:
    what = shown(str(change.meant))
    note = Note("that is where play shows it", finding.span)
    message = f"{finding.message}; with {what} here, that does not happen"
    hint = f"{what}, or {finding.hint}" if finding.hint else what
    return replace(finding, message=message, span=change.span, notes=(note, *finding.notes), hint=hint)


def _changes(program: Program, keywords: Sequence[str]) -> Iterator[_Change]:
    """Yield what may have been meant, the likelier first, and of those the nearest to the keywords.

    A `not` is left out more often than written without need, and most easily where a fluent is kept: it is
    so where what changes it is not so. A relation that other rules ask for too, and
    none denies, is less likely to be denied.
    """
    near = list(_rules_near(program, keywords))
    uses = Counter((atom, positive) for rule in program.rules for atom, positive in atoms_in(rule.body))
    denied = list(_denied(program, near))
    otherwise = [each for each in denied if _keeps_otherwise(each, near)]
    common = _constants_by_place(program)
    yield from otherwise
    denied = [each for each in denied if each not in otherwise]
    yield from (each for each in denied if not _is_asked_elsewhere(each, uses))
    for variants in (_exchanged, lambda atom: _with_others(atom, common)):
        for rule in near:
            yield from _with_atoms(rule, variants)
    yield from (each for each in denied if _is_asked_elsewhere(each, uses))
    yield from _no_longer_denied(near)


def _denied(program: Program, rules: Iterable[Rule]) -> Iterator[_Change]:
    """Yield rules with a `not` before a literal that may hold at one time and not at another."""
    varying = _varying(program)
    near = list(rules)
    negative = {_kind(atom) for rule in near for atom, positive in atoms_in(rule.body) if not positive}
    for rule in near:
        for number, formula in enumerate(rule.body):
            if (
                isinstance(formula, Literal)
                and formula.node
                and formula.atom.key in varying
                and _may_be_denied(formula.atom, rule, negative)
            ):
                others = (each for each in rule.body if isinstance(each, Literal) and each is not formula)
                bound = {variable for each in others for variable in each.variables()}
                tests = [each for each in rule.body if isinstance(each, Not | Distinct)]
                needed = {each for part in (rule.head, formula, *tests) for each in part.variables()}
                if needed <= bound:
                    meant = Not(formula, formula.node)
                    yield _Change(rule, _with(rule, number, meant), formula.node.span, meant)


def _may_be_denied(atom: Atom, rule: Rule, negative: set[tuple[object, ...]]) -> bool:
    """Return whether a rule may well deny an atom.

    What becomes of a fluent is said by what it was, and a goal by what is so, unless others say it by what
    is not.
    """
    if rule.head.predicate == "next":
        is_same = bool(atom.arguments) and atom.predicate in _OF_STATE
        return not is_same or not _is_alike(atom.arguments[-1], rule.head.arguments[0])
    is_fluent = atom.predicate in _OF_STATE and bool(_terms(atom))
    return rule.head.predicate != "goal" or not is_fluent or _kind(atom) in negative


def _is_alike(one: Term, other: Term) -> bool:
    """Return whether two fluents are of one kind."""
    return functor_of(one) == functor_of(other) if isinstance(one, Compound) else one is other


def _no_longer_denied(rules: Iterable[Rule]) -> Iterator[_Change]:
    for rule in rules:
        for number, formula in enumerate(rule.body):
            if isinstance(formula, Not) and isinstance(formula.formula, Literal) and formula.node:
                meant = formula.formula
                yield _Change(rule, _with(rule, number, meant), formula.node.span, meant)


def _is_asked_elsewhere(change: _Change, uses: Counter[tuple[Atom, bool]]) -> bool:
    assert isinstance(change.meant, Not)
    assert isinstance(change.meant.formula, Literal)
    atom = change.meant.formula.atom
    return atom.predicate not in _OF_STATE and uses[atom, True] > 1 and not uses[atom, False]


def _keeps_otherwise(change: _Change, rules: Iterable[Rule]) -> bool:
    """Return whether a rule keeps a fluent where another that changes it asks for the same condition."""
    assert isinstance(change.meant, Not)
    assert isinstance(change.meant.formula, Literal)
    rule, atom = change.rule, change.meant.formula.atom
    if rule.head.predicate != "next" or not keeps(rule):
        return False
    fluent = rule.head.arguments[0]
    others = (each for each in rules if each is not rule and each.head.predicate == "next")
    same = [each for each in others if _is_alike(fluent, each.head.arguments[0])]
    return any(read.key == atom.key and _kind(read) == _kind(atom) for each in same for read in _asked(each))


def _asked(rule: Rule) -> Iterator[Atom]:
    """Yield the atoms that a rule asks for, beside its own fluent."""
    for atom, positive in atoms_in(rule.body):
        is_own = atom.predicate == "true" and _is_alike(atom.arguments[0], rule.head.arguments[0])
        if positive and not is_own:
            yield atom


def _varying(program: Program) -> set[tuple[str, int]]:
    """Return the relations that depend on the state or the moves."""
    found: set[tuple[str, int]] = {("true", 1), ("does", 2)}
    grown = True
    while grown:
        heads = {rule.head.key for rule in program.rules if _reads_any(rule, found)} - found
        found |= heads
        grown = bool(heads)
    return found


def _reads_any(rule: Rule, relations: set[tuple[str, int]]) -> bool:
    return any(atom.key in relations for atom, _ in atoms_in(rule.body))


def _with_atoms(rule: Rule, variants: Callable[[Atom], Iterable[Atom]]) -> Iterator[_Change]:
    """Yield the changes of a rule in which another atom stands in the place of one."""
    if rule.head.node is not None:
        for atom in variants(rule.head):
            yield _Change(rule, Rule(atom, rule.body, rule.node), rule.head.node.span, atom)
    for number, formula in enumerate(rule.body):
        inner = formula.formula if isinstance(formula, Not) else formula
        if isinstance(inner, Literal) and inner.node is not None:
            for atom in variants(inner.atom):
                changed: Formula = Literal(atom)
                changed = Not(changed, formula.node) if isinstance(formula, Not) else changed
                yield _Change(rule, _with(rule, number, changed), inner.node.span, atom)


def _with(rule: Rule, number: int, formula: Formula) -> Rule:
    return Rule(rule.head, (*rule.body[:number], formula, *rule.body[number + 1 :]), rule.node)


def _exchanged(atom: Atom) -> Iterator[Atom]:
    """Yield an atom with two neighbouring arguments exchanged."""
    for terms in _turned(_terms(atom)):
        yield _with_terms(atom, terms)


def _with_others(atom: Atom, common: dict[tuple[object, ...], Counter[Term]]) -> Iterator[Atom]:
    """Yield an atom with another constant, one that stands there in other rules."""
    terms = _terms(atom)
    for number, term in enumerate(terms):
        if isinstance(term, Constant):
            for other, _ in common[*_kind(atom), number].most_common(_MOST_CONSTANTS):
                if other is not term:
                    yield _with_terms(atom, (*terms[:number], other, *terms[number + 1 :]))


def _constants_by_place(program: Program) -> dict[tuple[object, ...], Counter[Term]]:
    """Return the constants that rules write, by where they stand, with how often they do."""
    found: dict[tuple[object, ...], Counter[Term]] = defaultdict(Counter)
    for rule in program.rules:
        if rule.body:
            for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body))):
                for number, term in enumerate(_terms(atom)):
                    if isinstance(term, Constant):
                        found[*_kind(atom), number][term] += 1
    return found


def _kind(atom: Atom) -> tuple[object, ...]:
    last = atom.arguments[-1] if atom.predicate in _OF_STATE else None
    return (functor_of(last),) if isinstance(last, Compound) else atom.key


def _terms(atom: Atom) -> tuple[Term, ...]:
    """Return the arguments of a relation; of a fluent or a move, its own."""
    last = atom.arguments[-1] if atom.predicate in _OF_STATE else None
    return last.arguments if isinstance(last, Compound) else () if last else atom.arguments


def _with_terms(atom: Atom, terms: tuple[Term, ...]) -> Atom:
    """Return an atom with others of the arguments that `_terms` gives."""
    last = atom.arguments[-1]
    if atom.predicate in _OF_STATE and isinstance(last, Compound):
        return Atom(atom.predicate, (*atom.arguments[:-1], Compound(last.functor, terms)), atom.node)
    return Atom(atom.predicate, terms, atom.node)


def _turned(terms: tuple[Term, ...]) -> Iterator[tuple[Term, ...]]:
    for number, (one, other) in enumerate(pairwise(terms)):
        if one is not other:
            yield (*terms[:number], other, one, *terms[number + 2 :])


def _rules_near(program: Program, keywords: Iterable[str]) -> Iterator[Rule]:
    """Yield the rules of some keywords, then those of what these read, and so on."""
    waiting = deque(
        rule
        for word in keywords
        for rule in sorted(program.rules, key=_value_of_goal)
        if rule.head.predicate == word
    )
    seen = {id(rule) for rule in waiting}
    while waiting:
        rule = waiting.popleft()
        yield rule
        read = {atom.key for atom, _ in atoms_in(rule.body)}
        for other in program.rules:
            if other.head.key in read and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)


def _value_of_goal(rule: Rule) -> int:
    """Return a goal's value: what is won is said outright, what is left over by denials."""
    value = str(rule.head.arguments[-1]) if rule.head.key == ("goal", 2) else ""
    return int(value) if value.isdecimal() else 0
