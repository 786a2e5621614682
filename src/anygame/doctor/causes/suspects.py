"""Small changes that may put right what findings are about, though nothing else tells of them.

A name of three letters is near many others, and a constant may be any other of its place: alone that says
nothing. But where one such change makes all findings vanish, it names their cause.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from anygame.doctor.likes.nearness import slips
from anygame.doctor.likes.sorts import Sorts, constants_in
from anygame.language.rules import atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.doctor.likes.sorts import Place
    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.source import Span
    from anygame.language.terms import Constant

#: Findings that ask for a constant that never stands there.
_OF_VALUES: Final = frozenset(("never-fires", "idle-negation", "dead-alternative"))
#: Values of a place that are tried; where there are more, they are numbers.
_MOST_VALUES: Final = 4
_MOST_COMPARED: Final = 200
_SHORTEST: Final = 2
_WORDS: Final = re.compile(r"[^\s()`,:;]+")


@dataclass(frozen=True, slots=True)
class Change:
    """A text that may be meant in the place of another one."""

    span: Span
    meant: str


def changes_for(sheet: Sheet, findings: Sequence[Diagnostic]) -> Iterator[Change]:
    """Yield the changes that may put right all of some findings, the likelier first."""
    yield from _of_near_names(sheet, findings)
    yield from _of_values(sheet, findings)


def _of_near_names(sheet: Sheet, findings: Sequence[Diagnostic]) -> Iterator[Change]:
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
                    yield Change(name.span, other)


def _words_of(finding: Diagnostic) -> Iterator[str]:
    for text in (finding.message, *(note.message for note in finding.notes)):
        yield from _WORDS.findall(text)


def _of_values(sheet: Sheet, findings: Sequence[Diagnostic]) -> Iterator[Change]:
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
                yield from (Change(span, value.name) for value in values if sorts.knows(place, value))
    for place, term in asked:
        heads = [(value, span) for value, span in written[place] if value is not term]
        if len({value for value, _ in heads}) > _MOST_VALUES:
            continue
        heads = [each for each in heads if not sorts.knows(place, each[0])]
        if len(findings) == 1 and not sorts.knows(place, term):
            continue
        heads.sort(key=lambda each: (place, each[0]) in known)  # first those that nobody asks for
        yield from (Change(span, term.name) for _, span in islice(heads, _MOST_VALUES))


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
