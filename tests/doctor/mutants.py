"""Mutants of sound sheets, with one typical human mistake each.

Each kind of mistake is a function that parses a sheet, samples a place and yields the text with the fault and
the place of the cause. An omission has no place, so its cause is given by names: the relation, fluent or move
that the missing rule defined.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from anygame.doctor.sheet import names_of_rule
from anygame.language.parser import parse_program
from anygame.language.rules import KEYWORDS, Literal, Not, walk
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

    from anygame.language.rules import Rule
    from anygame.language.source import Node, Source

#: A slip in a shorter name most often makes another name of the sheet.
_SHORTEST_NAME: Final = 3
_STRAY: Final = (
    "// what follows is about the end",
    "{index 1}",
    "todo",
    "(=> terminal (true over))",
    '"quoted"',
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A sheet with one fault.

    Attributes:
        kind: of the fault, a key of `KINDS`.
        text: the sheet.
        start: offset of the first character of the item (rule, fact) that has the fault.
        end: offset after its last; the same as ``start`` where something is missing.
        names: words one of which names what is missing; none where the cause has a place.
        change: what was done, for people.
    """

    kind: str
    text: str
    start: int
    end: int
    names: frozenset[str]
    change: str


@dataclass(frozen=True)
class _Name:
    """A name in a rule: its token, what it is, and the rule."""

    token: Node
    kind: str
    rule: Rule


class _Sheet:
    """A sheet taken apart."""

    def __init__(self, source: Source) -> None:
        self.text = source.text
        self.rules = [rule for rule in parse_program(source).rules if rule.node]

    @cached_property
    def names(self) -> list[_Name]:
        return [name for rule in self.rules for name in _names(rule)]

    @cached_property
    def literals(self) -> list[tuple[Node, Rule]]:
        """The formulas of bodies that stand there alone."""
        return [(part.node, rule) for rule in self.rules for part in rule.body if part.node]

    def replaced(self, kind: str, rule: Rule, place: tuple[int, int], new: str) -> Mutant:
        """Return the sheet with other text at a place in a rule."""
        assert rule.node is not None
        start, end = place
        text = self.text[:start] + new + self.text[end:]
        more = len(text) - len(self.text)
        change = f"{self.text[start:end][:60]!r} became {new[:60]!r}"
        return Mutant(kind, text, rule.node.start, rule.node.end + more, frozenset(), change)

    def without(self, kind: str, rules: Sequence[Rule]) -> Mutant:
        """Return the sheet without some rules."""
        text = self.text
        nodes = [rule.node for rule in rules if rule.node]
        for node in sorted(nodes, key=lambda node: -node.start):
            text = text[: node.start] + text[node.end :]
        names = frozenset(name for rule in rules for name in _head_names(rule))
        start = nodes[0].start
        change = f"left out: {' '.join(nodes[0].span.text.split())[:80]}"
        return Mutant(kind, text, start, start, names, change)


def _names(rule: Rule) -> Iterator[_Name]:
    for name in names_of_rule(rule):
        node = name.node
        is_keyword = name.kind == "relation" and KEYWORDS.get(name.text) == name.arity
        yield _Name(node.children[0] if node.children else node, "keyword" if is_keyword else name.kind, rule)


def _head_names(rule: Rule) -> Iterator[str]:
    """Yield the words that name what a rule makes."""
    head = rule.head
    if head.predicate in {"init", "next", "base", "true", "legal", "input"}:
        term = head.arguments[-1]
        if isinstance(term, Compound):
            yield term.functor
        elif isinstance(term, Constant):
            yield term.name
        if head.predicate in {"legal", "next"} and not isinstance(term, Constant | Compound):
            yield head.predicate
        if head.predicate == "legal":
            yield "legal"
    else:
        yield head.predicate


# -- the kinds ----------------------------------------------------------------------------------------


def _delete_rule(sheet: _Sheet, random: Random) -> Mutant:
    return sheet.without("delete rule", [random.choice([rule for rule in sheet.rules if rule.body])])


def _delete_frame(sheet: _Sheet, random: Random) -> Mutant:
    """Leave out a rule that keeps a fluent as it is."""
    frames = [
        rule
        for rule in sheet.rules
        if rule.head.predicate == "next"
        and any(
            isinstance(f, Literal) and f.atom.predicate == "true" and f.atom.arguments == rule.head.arguments
            for f in rule.body
        )
    ]
    return sheet.without("delete frame", [random.choice(frames)])


def _delete_next(sheet: _Sheet, random: Random) -> Mutant:
    """Leave out all rules of one fluent's next."""
    return sheet.without("delete next", _all_of_one(sheet, "next", random))


def _delete_init(sheet: _Sheet, random: Random) -> Mutant:
    """Leave out all of one fluent's init."""
    return sheet.without("delete init", _all_of_one(sheet, "init", random))


def _all_of_one(sheet: _Sheet, predicate: str, random: Random) -> list[Rule]:
    rules = [rule for rule in sheet.rules if rule.head.predicate == predicate]
    chosen = random.choice([str(rule.head.arguments[0]).strip("()").split()[0] for rule in rules])
    return [rule for rule in rules if str(rule.head.arguments[0]).strip("()").split()[0] == chosen]


def _delete_noop(sheet: _Sheet, random: Random) -> Mutant:
    """Leave out a rule that lets a role wait."""
    rules = [
        rule
        for rule in sheet.rules
        if rule.head.predicate == "legal" and isinstance(rule.head.arguments[1], Constant)
    ]
    return sheet.without("delete noop", [random.choice(rules)])


def _misspell(kind: str) -> Callable[[_Sheet, Random], Mutant]:
    def mutate(sheet: _Sheet, random: Random) -> Mutant:
        names = [n for n in sheet.names if n.kind == kind and len(_bare(n.token.text)) >= _SHORTEST_NAME]
        words = [n for n in names if _bare(n.token.text).isalpha()]
        name = random.choice(words or names)
        new = _misspelt(name.token.text, random)
        return sheet.replaced(f"misspell {kind}", name.rule, (name.token.start, name.token.end), new)

    return mutate


def _bare(text: str) -> str:
    return text.removeprefix("?")


def _misspelt(text: str, random: Random) -> str:
    """Return a name with a letter left out, doubled, changed, or two neighbours changed round."""
    start = text.startswith("?")
    place = random.randrange(start, len(text))
    ways = [
        text[:place] + text[place + 1 :],
        text[:place] + text[place] + text[place:],
        text[:place] + random.choice(_LETTERS) + text[place + 1 :],
    ]
    if place + 1 < len(text):
        ways += [text[:place] + text[place + 1] + text[place] + text[place + 2 :]] * 2
    found = [way for way in ways if way != text]
    return random.choice(found)


def _swap(sheet: _Sheet, random: Random) -> Mutant:
    lists = [
        (node, rule)
        for node, rule in _lists(sheet)
        if len({child.span.text for child in (node.children or ())[1:]}) > 1
    ]
    node, rule = random.choice(lists)
    children = (node.children or ())[1:]
    pairs = [(a, b) for a, b in pairwise(children) if a.span.text != b.span.text]
    first, second = random.choice(pairs)
    middle = sheet.text[first.end : second.start]
    return sheet.replaced(
        "swap arguments", rule, (first.start, second.end), second.span.text + middle + first.span.text
    )


def _lists(sheet: _Sheet) -> list[tuple[Node, Rule]]:
    """Return the lists of atoms and terms, with their rules."""
    found = []
    for rule in sheet.rules:
        atoms = [rule.head, *(f.atom for f, _ in walk(rule.body) if isinstance(f, Literal))]
        pending = [atom.node for atom in atoms if atom.node]
        while pending:
            node = pending.pop()
            if node.children and len(node.children) > 1:
                found.append((node, rule))
                pending += node.children[1:]
    return found


def _drop_true(sheet: _Sheet, random: Random) -> Mutant:
    found = [
        (f.atom.node, rule)
        for rule in sheet.rules
        for f, _ in walk(rule.body)
        if isinstance(f, Literal) and f.atom.predicate == "true" and f.atom.node
    ]
    node, rule = random.choice(found)
    return sheet.replaced("drop true", rule, (node.start, node.end), node.argument(0).span.text)


def _drop_literal(sheet: _Sheet, random: Random) -> Mutant:
    node, rule = random.choice([(n, r) for n, r in sheet.literals if len(r.body) > 1])
    return sheet.replaced("drop literal", rule, (node.start, node.end), "")


def _drop_not(sheet: _Sheet, random: Random) -> Mutant:
    found = [
        (f.node, f.formula.node, rule)
        for rule in sheet.rules
        for f, _ in walk(rule.body)
        if isinstance(f, Not) and f.node and f.formula.node
    ]
    node, inner, rule = random.choice(found)
    return sheet.replaced("drop not", rule, (node.start, node.end), inner.span.text)


def _wrong_constant(sheet: _Sheet, random: Random) -> Mutant:
    """Put another constant of the sheet, a number for a number, in the place of one in a rule."""
    constants = [n for n in sheet.names if n.kind == "constant" and n.rule.body]
    name = random.choice(constants)
    text = name.token.text
    others = sorted({n.token.text for n in sheet.names if n.kind == "constant"} - {text})
    new = random.choice([other for other in others if other.isdigit() == text.isdigit()] or others)
    return sheet.replaced("wrong constant", name.rule, (name.token.start, name.token.end), new)


def _wrong_arity(sheet: _Sheet, random: Random) -> Mutant:
    found = [(n, r) for n, r in _lists(sheet) if n.children and len(n.children) > 2]
    node, rule = random.choice(found)
    child = random.choice((node.children or ())[1:])
    new = "" if random.random() < 0.5 else f"{child.span.text} {child.span.text}"
    return sheet.replaced("wrong arity", rule, (child.start, child.end), new)


def _wrong_case(sheet: _Sheet, random: Random) -> Mutant:
    found = [n for n in sheet.names if n.kind != "keyword" and n.token.text.upper() != n.token.text]
    name = random.choice(found)
    text = name.token.text
    new = random.choice([text.upper(), "?" + text[1:].capitalize() if text[0] == "?" else text.capitalize()])
    return sheet.replaced("wrong case", name.rule, (name.token.start, name.token.end), new)


def _stray(sheet: _Sheet, random: Random) -> Mutant:
    """Write what is no rule, or of another language, between two rules."""
    node = random.choice(sheet.rules).node
    assert node is not None
    word = random.choice(_STRAY)
    text = sheet.text[: node.start] + word + "\n" + sheet.text[node.start :]
    return Mutant(
        "stray text", text, node.start, node.start + len(word), frozenset(), f"{word!r} stands between rules"
    )


def _wrong_arrow(sheet: _Sheet, random: Random) -> Mutant:
    rule = random.choice([rule for rule in sheet.rules if rule.body])
    assert rule.node is not None
    assert rule.node.children is not None
    arrow = rule.node.children[0]
    return sheet.replaced(
        "wrong arrow", rule, (arrow.start, arrow.end), random.choice(["=>", "<-", "<", "=<", ":-"])
    )


#: What can be done to a sheet.
KINDS: Final[dict[str, Callable[[_Sheet, Random], Mutant]]] = {
    "delete rule": _delete_rule,
    "delete frame": _delete_frame,
    "delete next": _delete_next,
    "delete init": _delete_init,
    "delete noop": _delete_noop,
    "misspell keyword": _misspell("keyword"),
    "misspell relation": _misspell("relation"),
    "misspell function": _misspell("function"),
    "misspell constant": _misspell("constant"),
    "misspell variable": _misspell("variable"),
    "swap arguments": _swap,
    "drop true": _drop_true,
    "drop literal": _drop_literal,
    "drop not": _drop_not,
    "wrong constant": _wrong_constant,
    "wrong arity": _wrong_arity,
    "wrong case": _wrong_case,
    "wrong arrow": _wrong_arrow,
    "stray text": _stray,
}


def mutants(source: Source, kind: str, random: Random, count: int) -> Iterator[Mutant]:
    """Yield up to ``count`` sheets with a fault of a kind; fewer where the sheet has no place for more."""
    sheet = _Sheet(source)
    seen = {source.text}
    for _ in range(2 * count):
        try:
            mutant = KINDS[kind](sheet, random)
        except IndexError:  # there is nothing to choose from
            return
        if mutant.text not in seen and len(seen) <= count:
            seen.add(mutant.text)
            yield mutant
