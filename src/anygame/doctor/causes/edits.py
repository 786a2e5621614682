"""Small edits that may put right what is found in a sheet, the likelier first.

A finding may say what was meant. Where none does, a name that stands once may be one that is a letter away,
and a constant any other of its place: alone that says nothing. What only play shows may come from one
literal: a `not` that is missing, two arguments exchanged, another constant.
`anygame.doctor.causes.diagnosis` tries such edits to find out which one names the cause.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Final

from anygame.analysis.edits import Edit
from anygame.doctor.likes.nearness import slips
from anygame.doctor.likes.sorts import Sorts, constants_in
from anygame.doctor.play.lost_values import functor_of, keeps
from anygame.doctor.sheet import Sheet
from anygame.language.forms import form_of
from anygame.language.layout import format_rules
from anygame.language.rules import Atom, Distinct, Literal, Not, Program, Rule, atoms_in
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.doctor.likes.sorts import Place
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula
    from anygame.language.source import Source, Span
    from anygame.language.terms import Term

#: Codes whose hint is what was meant, to be written in the place of what is found, and how it then begins.
_SAYS_WHAT: Final = {
    "likely-typo": "",
    "case-differs": "",
    "stray-text": "(",
    "undefined-relation": "it is a fluent: (",
    "swapped-arguments": "(",
}
#: Codes of names that are wrong wherever they stand.
_OF_NAMES: Final = frozenset(("likely-typo", "case-differs"))
#: Findings that ask for a constant that never stands there.
_OF_VALUES: Final = frozenset(("never-fires", "idle-negation", "dead-alternative"))
#: Values of a place that are tried; where there are more, they are numbers.
_MOST_VALUES: Final = 4
_MOST_COMPARED: Final = 200
_SHORTEST: Final = 2
_WORDS: Final = re.compile(r"[^\s()`,:;]+")
#: What play shows, with the keywords whose rules it comes from.
KEYWORDS: Final = {
    "lost-value": ("next",),
    "double-value": ("next",),
    "over-at-start": ("terminal",),
    "goal-missing": ("goal", "terminal"),
    "goal-conflict": ("goal", "terminal"),
    "no-move": ("legal", "next", "terminal"),
    "standstill": ("next", "legal", "terminal"),
}
_OF_STATE: Final = frozenset(("init", "next", "true", "base", "legal", "does", "input"))


@dataclass(frozen=True, slots=True)
class Cause:
    """A part of a sheet that may be the cause of what is found, and what was meant there.

    Attributes:
        span: the part.
        meant: what was meant.
        edits: of the text, after which it stands there.
    """

    span: Span
    meant: str
    edits: tuple[Edit, ...]


# -- what findings say ----------------------------------------------------------------------------------


def cause_in(finding: Diagnostic, source: Source) -> Cause | None:
    """Return what a finding says was meant, a name in all places; None where it says nothing of the kind."""
    meant, span = _meant(finding), finding.span
    if not meant or span is None or span.source is not source:
        return None
    starts = [span.start]
    if finding.code in _OF_NAMES and not span.text.startswith("?"):
        name = rf"(?<![^\s()]){re.escape(span.text)}(?![^\s();])"
        starts = [found.start() for found in re.finditer(name, source.text)]
    length = span.end - span.start
    return Cause(span, meant, tuple(Edit(start, start + length, (meant,)) for start in starts))


def _meant(finding: Diagnostic) -> str:
    """Return what was meant in the place of a finding; nothing where that is not said."""
    if finding.code == "wrong-arrow":
        return "<="
    before = _SAYS_WHAT.get(finding.code)
    if before is None or not finding.hint.startswith(before):
        return ""
    return finding.hint.removeprefix(before.removesuffix("(")) if before else finding.hint.partition(",")[0]


# -- names and constants --------------------------------------------------------------------------------


def causes_of_names(program: Program, findings: Sequence[Diagnostic]) -> Iterator[Cause]:
    """Yield other names and constants with which all of some findings may vanish."""
    sheet = Sheet(program)
    for span, meant in chain(_near_names(sheet, findings), _values(sheet, findings)):
        yield Cause(span, meant, (Edit(span.start, span.end, (meant,)),))


def _near_names(sheet: Sheet, findings: Sequence[Diagnostic]) -> Iterator[tuple[Span, str]]:
    """Yield names used once of which findings speak, with those used more often that are a slip away."""
    said = {word for each in findings for word in _words_of(each)}
    names = [name for name in sheet.names if name.kind != "variable"]
    counts = Counter(name.text for name in names)
    common = [text for text, often in counts.most_common(_MOST_COMPARED) if often > 1]
    for name in names:
        if counts[name.text] == 1 and name.text in said and len(name.text) >= _SHORTEST:
            if name.text.isdecimal():
                continue
            for other in common:
                if slips(name.text.lower(), other.lower()) == 1 and not other.isdecimal():
                    yield name.span, other


def _words_of(finding: Diagnostic) -> Iterator[str]:
    for text in (finding.message, *(note.message for note in finding.notes)):
        yield from _WORDS.findall(text)


def _values(sheet: Sheet, findings: Sequence[Diagnostic]) -> Iterator[tuple[Span, str]]:
    """Yield other values for constants that findings ask for in vain, there and where they are written."""
    starts = {each.span.start for each in findings if each.span and each.code in _OF_VALUES}
    asked: dict[tuple[Place, Constant], Span] = {}
    known: set[tuple[Place, Constant]] = set()
    written: dict[Place, list[tuple[Constant, Span]]] = defaultdict(list)
    for rule in sheet.program.rules:
        for atom, _ in atoms_in(rule.body):
            for place, term, node in constants_in(atom):
                known.add((place, term))
                if node.start in starts:
                    asked.setdefault((place, term), node.span)
        for place, term, node in constants_in(rule.head):
            written[place].append((term, node.span))
    sorts = _SortedUses(sheet)
    if len(findings) > 1:  # a single one stands there already
        for (place, term), span in asked.items():
            values = dict.fromkeys(value for value, _ in written[place] if value is not term)
            if len(values) <= _MOST_VALUES:
                yield from ((span, value.name) for value in values if sorts.knows(place, value))
    for place, term in asked:
        heads = [(value, span) for value, span in written[place] if value is not term]
        if len({value for value, _ in heads}) > _MOST_VALUES:
            continue
        heads = [each for each in heads if not sorts.knows(place, each[0])]
        if len(findings) == 1 and not sorts.knows(place, term):
            continue
        heads.sort(key=lambda each: (place, each[0]) in known)  # first those that nobody asks for
        yield from ((span, term.name) for _, span in islice(heads, _MOST_VALUES))


class _SortedUses:
    """How often each constant stands at places of each sort."""

    def __init__(self, sheet: Sheet) -> None:
        self._sorts = Sorts(sheet.program.rules)
        atoms = (
            atom
            for rule in sheet.program.rules
            for atom in (rule.head, *(atom for atom, _ in atoms_in(rule.body)))
        )
        self._uses = Counter(
            (self._sorts.of(place), term) for atom in atoms for place, term, _ in constants_in(atom)
        )

    def knows(self, place: Place, term: Constant) -> bool:
        """Return whether a constant stands at several places of a sort."""
        return self._uses[self._sorts.of(place), term] > 1


# -- literals -----------------------------------------------------------------------------------------------


def causes_of_literals(program: Program, finding: Diagnostic) -> Iterator[Cause]:
    """Yield other literals with which what play shows may go right: the likelier first, then the nearer.

    A `not` is left out more often than written without need, and most easily where a fluent is kept: it is
    so where what changes it is not so. A relation that other rules ask for too, and
    none denies, is less likely to be denied.
    """
    for change in _changes(program, list(_rules_near(program, KEYWORDS[finding.code]))):
        yield change.cause


def _changes(program: Program, near: Sequence[Rule]) -> Iterator[_Change]:
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

    @property
    def cause(self) -> Cause:
        """The change as an edit of the text; of the whole rule in the infix form, which is spelled anew."""
        where, meant = self.span, str(self.meant)
        if form_of(self.span.source) == "infix" and self.rule.node is not None:
            where, text = self.rule.node.span, format_rules([self.changed], "infix").strip()
        else:
            text = meant
        return Cause(self.span, meant, (Edit(where.start, where.end, (text,)),))


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
            for other, _ in common[*_kind(atom), number].most_common(_MOST_VALUES):
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
