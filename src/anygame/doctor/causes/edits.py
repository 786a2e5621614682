"""Small edits that may correct a sheet.

Some findings name the intended text. A fault that only play shows may come from a missing `not`.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from anygame.doctor.codes.declarations import AS_FLUENT
from anygame.doctor.play.monitors import keeps
from anygame.doctor.sheet import STATE, Sheet, asked_of
from anygame.doctor.unfounded import item_of
from anygame.language.forms import form_of
from anygame.language.rules import Distinct, Literal, Not, atoms_in
from anygame.sheets.edits import Edit, Mend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Program, Rule
    from anygame.language.source import Source

#: Codes with hints that name the intended text, each with the first words of these hints.
_SAYS_WHAT: Final = {
    "likely-typo": "",
    "case-differs": "",
    "stray-text": "(",
    "undefined-relation": f"{AS_FLUENT}(",
    "swapped-arguments": "(",
}
#: Codes of findings about a name that is wrong wherever the name occurs.
_OF_NAMES: Final = frozenset(("likely-typo", "case-differs"))
#: Codes of faults in play, each with the keywords whose rules may cause the fault.
KEYWORDS: Final = {
    "lost-value": ("next",),
    "double-value": ("next",),
    "over-at-start": ("terminal",),
    "goal-missing": ("goal", "terminal"),
    "goal-conflict": ("goal", "terminal"),
    "no-move": ("legal", "next", "terminal"),
    "standstill": ("next", "legal", "terminal"),
}


# -- edits from findings ----------------------------------------------------------------------------------


def cause_in(finding: Diagnostic, source: Source) -> Mend | None:
    """Return the edit that a finding proposes, or None; a wrong name is edited wherever the name occurs."""
    meant, span = _meant(finding), finding.span
    if not meant or span is None or span.source is not source:
        return None
    starts = [span.start]
    if finding.code in _OF_NAMES and not span.text.startswith("?"):
        name = rf"(?<![^\s()]){re.escape(span.text)}(?![^\s();])"
        starts = [match.start() for match in re.finditer(name, source.text)]
    length = span.end - span.start
    return Mend("cause", meant, span, tuple(Edit(start, start + length, (meant,)) for start in starts))


def _meant(finding: Diagnostic) -> str:
    """Return the intended text at the place of a finding; an empty string if no text is named."""
    if finding.code == "wrong-arrow":
        return "<="
    before = _SAYS_WHAT.get(finding.code)
    if before is None or not finding.hint.startswith(before):
        return ""
    return finding.hint.removeprefix(before.removesuffix("(")) if before else finding.hint.partition(",")[0]


# -- literals -----------------------------------------------------------------------------------------


def causes_of_literals(program: Program, finding: Diagnostic) -> Iterator[Mend]:
    """Yield negations of literals that may correct a finding of play, the most likely first.

    Authors most often omit a `not` in a rule that keeps a fluent under a condition. A missing `not` is least
    likely before a literal that other rules read but never negate. Equally likely literals keep the order of
    `_rules_near`.
    """
    near = list(_rules_near(program, KEYWORDS[finding.code]))
    uses = Counter((atom, positive) for rule in program.rules for atom, positive in atoms_in(rule.body))

    def likeliness(rule: Rule, atom: Atom) -> int:
        if _keeps_otherwise(rule, atom, near):
            return 0
        is_asked_elsewhere = atom.predicate not in STATE and uses[atom, True] > 1 and not uses[atom, False]
        return 2 if is_asked_elsewhere else 1

    for _, atom in sorted(_candidates(program, near), key=lambda each: likeliness(*each)):
        assert atom.node is not None
        span = atom.node.span
        meant = f"~{span.text}" if form_of(span.source) == "infix" else f"(not {span.text})"
        yield Mend("cause", meant, span, (Edit(span.start, span.end, (meant,)),))


def _candidates(program: Program, near: Sequence[Rule]) -> Iterator[tuple[Rule, Atom]]:
    """Yield atoms that may lack a `not`, each with its rule: only atoms that depend on the state or on moves.

    `next` rules do not yield their head's fluent. Goal rules yield no fluent or move that no rule negates.
    """
    varying = Sheet(program).varying
    negative = {item_of(atom) for rule in near for atom, positive in atoms_in(rule.body) if not positive}
    for rule in near:
        literals = [each for each in rule.body if isinstance(each, Literal)]
        tests = [each for each in rule.body if isinstance(each, Not | Distinct)]
        for literal in literals:
            atom, head = literal.atom, rule.head
            bound = {variable for each in literals if each is not literal for variable in each.variables()}
            needed = {variable for part in (head, literal, *tests) for variable in part.variables()}
            is_own = head.predicate == "next" and item_of(atom) == item_of(head)
            is_of_state = asked_of(atom)[0] != atom.key
            is_likely = not is_own and (
                head.predicate != "goal" or not is_of_state or item_of(atom) in negative
            )
            if atom.node and is_likely and atom.key in varying and needed <= bound:
                yield rule, atom


def _keeps_otherwise(rule: Rule, atom: Atom, near: Iterable[Rule]) -> bool:
    """Return whether a rule keeps a fluent, and another rule for the fluent reads the given atom."""
    if rule.head.predicate != "next" or not keeps(rule):
        return False
    own = item_of(rule.head)
    same = [
        each
        for each in near
        if each is not rule and each.head.predicate == "next" and item_of(each.head) == own
    ]
    asked = {item_of(read) for each in same for read, positive in atoms_in(each.body) if positive}
    return item_of(atom) in asked - {own}


def _rules_near(program: Program, keywords: Iterable[str]) -> Iterator[Rule]:
    """Yield the rules of the keywords and, breadth first, the rules of all relations that they read."""
    # Rules for low goals come first, because they contain negations more often.
    by_goal = sorted(program.rules, key=_value_of_goal)
    waiting = deque(rule for word in keywords for rule in by_goal if rule.head.predicate == word)
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
    value = str(rule.head.arguments[-1]) if rule.head.key == ("goal", 2) else ""
    return int(value) if value.isdecimal() else 0
