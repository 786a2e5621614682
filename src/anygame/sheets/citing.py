"""The numbered lines of rules that an explanation cites."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from anygame.language.rules import Program
    from anygame.language.source import Source

#: Maximum number of cited lines.
_MOST_LINES: Final = 60
#: Maximum number of cited lines of one rule.
_LONGEST_RULE: Final = 12
_PLACE: Final = re.compile(r":(\d+):\d+")


def goal_lines(program: Program) -> list[tuple[int, str]]:
    """Return the numbered lines of the rules that give goals."""
    spans = [rule.node.span for rule in program.rules if rule.node and rule.head.key[0] == "goal"]
    return cited_lines(program, " ".join(f":{span.source.position(span.start)[0]}:1" for span in spans))


def cited_lines(program: Program, text: str) -> list[tuple[int, str]]:
    """Return the numbered lines of the rules at places ``:LINE:COLUMN`` in a text."""
    # After lenient reading, the nodes of rules belong to the author's text, unlike `program.source`.
    source = next((rule.node.source for rule in program.rules if rule.node), None)
    if source is None:
        return []
    last = source.position(len(source.text))[0]
    starts = [start for place in _PLACE.finditer(text) if (start := int(place[1])) <= last]
    numbers = {number for start in starts for number in _rule(source, start, last)}
    return [(number, source.line(number)[:300]) for number in sorted(numbers)[:_MOST_LINES]]


def _rule(source: Source, start: int, last: int) -> list[int]:
    """Return the numbers of the first line of a rule and of the indented lines below this line."""
    below = range(start + 1, min(start + _LONGEST_RULE, last + 1))
    return [start, *takewhile(lambda number: re.match(r"\s+\S", source.line(number)), below)]
