"""Which finding names the cause, and which follow from it.

A slip has echoes: a misspelt head leaves rules that never fire, roles without a goal. Where a finding says
what was meant (a name that is nearly right), the sheet is examined once more with that put right: what is
then no longer found followed from the slip. This is diagnosis by repair, as in Lerner, Flower, Grossman and
Chambers, "Searching for type-error messages" (2007), with the doctor's findings in the place of a type
checker's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.doctor.codes import play, reading
from anygame.language.diagnostics import Diagnostic, Note, Severity, shown
from anygame.language.source import Source

if TYPE_CHECKING:
    from anygame.doctor.causes.suspects import Change
    from anygame.language.source import Span

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
#: The nearer to a slip of the author's, the earlier; all codes that are not named stand before those of play.
_ORDER: Final = (
    (
        "likely-typo", "case-differs", "relation-arity", "function-arity", "stray-text", "unknown-role",
        "arithmetic",
    ),
    ("never-starts",),  # what can never hold keeps no fluent either
    (
        "undefined-relation", "unwritten-fluent", "unknown-move", "lost-fluent", "odd-goal", "missing-link",
        "unsafe-variable", "swapped-arguments", "odd-fact", "growing-recursion", "unstratified",
        "lacking-condition",
    ),
    (
        "repeated-literal", "odd-sibling", "never-fires", "dead-alternative", "idle-negation",
        "undeclared-fluent", "undeclared-move", "undeclared-percept",
    ),
    ("odd-counterpart", "missing-counterpart", "missing-sibling"),
    ("fluent-outside-base", "move-outside-input"),
    ("lost-value",),
    ("double-value",),
)  # fmt: skip
_NEARNESS: Final = {code: number for number, codes in enumerate(_ORDER, 1) for code in codes}
#: What most often only follows.
_LAST: Final = frozenset(("idle-declaration", "no-legal", "no-goal", "no-terminal"))
_OF_READING: Final = 0
_OTHERS: Final = len(_ORDER) + 1
_OF_PLAY: Final = _OTHERS + 1
#: Slips that are put right for a trial, and seconds for all of them: a sheet seldom has more than one or two.
_MOST_TRIALS: Final = 12
_SECONDS: Final = 1.5
#: Seconds for changes that no finding names: sheets with faults of their own are to be checked fast, too.
_SECONDS_OF_SUSPECTS: Final = 0.4
#: Findings about two rules, of which either may be the odd one.
_OF_TWO: Final = frozenset(("odd-counterpart", "odd-sibling"))
#: What a slip elsewhere may be the cause of.
_ECHOES: Final = frozenset(
    (
        "never-fires", "idle-negation", "dead-alternative", "unwritten-fluent", "unknown-move",
        "never-starts", "undefined-relation", "no-legal", "no-goal", "no-terminal",
    )
)  # fmt: skip
_DEAD: Final = frozenset(("never-fires", "never-starts"))
#: What is never true, or no more after a move, shows in play.
_SHOWN_IN_PLAY: Final = frozenset(("lost-fluent", "never-starts"))


@dataclass(frozen=True, slots=True)
class _Repair:
    """A text in the place of others of one length.

    Attributes:
        starts: offsets of those, sorted.
        length: their length.
        text: what is written there.
    """

    starts: tuple[int, ...]
    length: int
    text: str

    def of(self, source: Source) -> Source:
        """Return the sheet with the text in all places."""
        parts, before = [], 0
        for start in self.starts:
            parts += [source.text[before:start], self.text]
            before = start + self.length
        return Source(source.name, "".join(parts) + source.text[before:])

    def before(self, offset: int) -> int:
        """Return where a place of the repaired sheet was."""
        more = len(self.text) - self.length
        ends = (start + number * more + len(self.text) for number, start in enumerate(self.starts))
        passed = sum(offset >= end for end in ends)
        return offset - passed * more


Examine = Callable[[Source], Iterable[Diagnostic]]


Suspect = Callable[[Sequence[Diagnostic]], "Iterable[Change]"]


def causes_first(
    source: Source | None,
    found: Iterable[Diagnostic],
    examine: Examine,
    play: Examine | None = None,
    suspect: Suspect | None = None,
) -> list[tuple[Diagnostic, Diagnostic]]:
    """Return all findings about a sheet, those that name a cause first, each with how it is told.

    What follows from others is marked, and what it follows from says how much that is.

    Args:
        source: the sheet.
        found: what was found in it, marked already where its check knows that it follows.
        examine: finds the same kinds of things in another sheet, but for what only play shows.
        play: finds that; None where nothing was played.
        suspect: yields changes of the sheet that may put right findings which name no cause.
    """
    every = sorted(found)
    causes: dict[Diagnostic, frozenset[Diagnostic]] = {}
    if source is not None and sum(each.severity > Severity.INFO for each in every) > 1:
        causes = _causes(source, every, examine, play)
    following = _following(every, causes)
    moved = _turned(every)
    if source is not None and suspect is not None:
        left = [each for each in every if each.code in _ECHOES and each not in following]
        change = _change_for(source, every, left, examine, suspect)
        if change is not None:
            first = min(left, key=lambda each: (each.span != change.span, _rank(each, causes)))
            moved[first] = _moved(first, change)
            causes[first] = frozenset(left) - {first}
            following |= causes[first]
    every.sort(key=lambda each: (each in following, *_rank(each, causes)))
    told = _told([moved.get(each, each) for each in every], causes, following)
    return list(zip(every, told, strict=True))


def _turned(every: Sequence[Diagnostic]) -> dict[Diagnostic, Diagnostic]:
    """Return how findings are told that name the odd one of two rules, where others doubt the other one."""
    result = {}
    for each in every:
        if each.code in _OF_TWO and each.span and each.notes and (like := each.notes[0].span):
            others = [other for other in every if other is not each and other.severity > Severity.INFO]
            doubted = [any(_stands_in(other, [span]) for other in others) for span in (each.span, like)]
            if doubted == [False, True]:
                note = replace(each.notes[0], span=each.span)
                result[each] = replace(each, span=like, notes=(note,), hint="")
    return result


def _change_for(
    source: Source,
    every: Sequence[Diagnostic],
    left: Sequence[Diagnostic],
    examine: Examine,
    suspect: Suspect,
) -> Change | None:
    """Return a change of the sheet with which none of some findings is left, and nothing else is wrong."""
    until = monotonic() + _SECONDS_OF_SUSPECTS
    without_play = [each for each in every if not _is_of_play(each)]
    wanted = {each for each in left if not _is_of_play(each)}
    for change in islice(suspect(left), _MOST_TRIALS) if wanted else ():
        if monotonic() > until or change.span.source is not source:
            break
        repair = _Repair((change.span.start,), change.span.end - change.span.start, change.meant)
        gone, is_worse = _changed(None, repair, without_play, examine(repair.of(source)))
        if gone >= wanted and not is_worse:
            return change
    return None


def _moved(finding: Diagnostic, change: Change) -> Diagnostic:
    """Return a finding at the place of what makes it vanish."""
    meant = shown(change.meant)
    if finding.span == change.span:
        return replace(finding, hint=meant)
    message = f"{finding.message}; with {meant} here, that does not happen"
    notes = (Note("that is where it shows", finding.span), *finding.notes)
    return replace(finding, message=message, span=change.span, notes=notes, hint=meant)


def _following(
    every: Sequence[Diagnostic], causes: dict[Diagnostic, frozenset[Diagnostic]]
) -> set[Diagnostic]:
    """Return the findings that follow from others."""
    echoes = {echo for gone in causes.values() for echo in gone} - causes.keys()
    following = {each for each in every if each.follows or each in echoes}
    codes = {each.code for each in every}
    if "arithmetic" in codes:  # what is meant as a number grows
        following |= {each for each in every if each.code in {"growing-recursion", "limit-reached"}}
    elif "limit-reached" in codes:
        following |= {each for each in every if each.code == "growing-recursion"}  # told with its end
    if _SHOWN_IN_PLAY & codes:
        following |= {each for each in every if _is_of_play(each)}
    strays = [each.span for each in every if each.code == "stray-text" and each.span]
    following |= {each for each in every if each.code != "stray-text" and _stands_in(each, strays)}
    if not any(_is_near(each) for each in every if each not in following):
        following -= {each for each in following if _is_near(each)}  # they follow from each other
    return following


def _is_of_play(finding: Diagnostic) -> bool:
    return finding.code in _PLAY_CODES


def _is_near(finding: Diagnostic) -> bool:
    """Return whether a finding can name a cause: no style, and not only what is missing in the end."""
    is_near = _nearness(finding) < _OF_PLAY and not _is_of_play(finding)
    return finding.severity > Severity.INFO and is_near


def _stands_in(finding: Diagnostic, spans: Iterable[Span]) -> bool:
    place = finding.span
    return place is not None and any(span.start <= place.start < span.end for span in spans)


def _rank(finding: Diagnostic, causes: dict[Diagnostic, frozenset[Diagnostic]]) -> tuple[object, ...]:
    """Return what sorts findings: errors and proven slips, what is near to a slip, and play."""
    nearness = _nearness(finding)
    is_info = finding.severity is Severity.INFO
    is_error = finding.severity is Severity.ERROR and nearness < _OF_PLAY
    return (is_info, not (is_error or finding in causes), nearness, -finding.severity, finding)


def _nearness(finding: Diagnostic) -> int:
    if finding.code == "fluent-outside-base" and finding.span and _INIT.match(finding.span.text):
        return _OF_START
    if finding.code in _LAST:
        return _OF_PLAY + 1
    if finding.code in _PLAY_CODES and finding.code not in _NEARNESS:
        return _OF_PLAY
    return _OF_READING if finding.code in _READING_CODES else _NEARNESS.get(finding.code, _OTHERS)


#: What is so from the start, against what is declared, is written there.
_OF_START: Final = 3
_INIT: Final = re.compile(r"\(\s*(<=\s*\(\s*)?init\b")
_READING_CODES: Final = frozenset(code.name for code in reading.CODES)
_PLAY_CODES: Final = frozenset(code.name for code in play.CODES)


# -- slips put right ----------------------------------------------------------------------------------


def _causes(
    source: Source, every: Sequence[Diagnostic], examine: Examine, play: Examine | None
) -> dict[Diagnostic, frozenset[Diagnostic]]:
    """Return the findings that name a slip, each with what is no longer found where it is put right."""
    until = monotonic() + _SECONDS
    causes: dict[Diagnostic, frozenset[Diagnostic]] = {}
    slips = [each for each in every if _meant(each) and each.span and each.span.source is source]
    without_play = [each for each in every if not _is_of_play(each)]
    for slip in slips[:_MOST_TRIALS]:
        if monotonic() > until:
            break
        repair = _repair(source, slip)
        left = list(examine(repair.of(source)))
        gone, is_worse = _changed(slip, repair, without_play, left)
        if is_worse:
            continue
        shown = [each for each in every if _is_of_play(each)]
        if play and shown and not any(each.severity is Severity.ERROR for each in left):
            played, is_worse = _changed(slip, repair, shown, play(repair.of(source)))
            gone |= played if not is_worse else frozenset()
        if gone:
            causes[slip] = gone
    return causes


def _repair(source: Source, slip: Diagnostic) -> _Repair:
    """Return how a slip is put right, a name in all places."""
    assert slip.span is not None
    start, end, wrong = slip.span.start, slip.span.end, slip.span.text
    starts = [start]
    if slip.code in _OF_NAMES and not wrong.startswith("?"):
        name = rf"(?<![^\s()]){re.escape(wrong)}(?![^\s();])"
        starts = [found.start() for found in re.finditer(name, source.text)]
    return _Repair(tuple(starts), end - start, _meant(slip))


def _changed(
    slip: Diagnostic | None, repair: _Repair, every: Sequence[Diagnostic], left: Iterable[Diagnostic]
) -> tuple[frozenset[Diagnostic], bool]:
    """Return what is no longer found where a slip is put right, and whether something wrong is found anew."""
    after = Counter(_identity(each, repair) for each in left)
    before = Counter(map(_identity, every))
    gone = frozenset(
        each
        for each in every
        if each is not slip and each.severity > Severity.INFO and not after[_identity(each)]
    )
    return gone, any(identity[0] > Severity.INFO for identity in after - before)


def _meant(finding: Diagnostic) -> str:
    """Return what was meant in the place of a finding; nothing where that is not said."""
    if finding.code == "wrong-arrow":
        return "<="
    before = _SAYS_WHAT.get(finding.code)
    if before is None or not finding.hint.startswith(before):
        return ""
    return finding.hint.removeprefix(before.removesuffix("(")) if before else finding.hint.partition(",")[0]


def _identity(finding: Diagnostic, repair: _Repair | None = None) -> tuple[Severity, str, int]:
    """Return what makes findings of a sheet and of the repaired one the same."""
    start = finding.span.start if finding.span else -1
    return finding.severity, finding.code, repair.before(start) if repair else start


# -- what is told -------------------------------------------------------------------------------------


def _told(
    every: Sequence[Diagnostic],
    causes: dict[Diagnostic, frozenset[Diagnostic]],
    following: set[Diagnostic],
) -> list[Diagnostic]:
    """Say of each cause how much follows from it; of what is left over, the first one says it."""
    left = {each for each in following if each.severity > Severity.INFO}
    told: list[Diagnostic] = []
    for each in every:
        gone = causes.get(each, frozenset()) & left if each not in following else frozenset()
        left -= gone
        told.append(_with_echoes(replace(each, follows=each in following), gone))
    if told and not told[0].follows:
        told[0] = _with_echoes(told[0], frozenset(left))
    return told


def _with_echoes(finding: Diagnostic, echoes: frozenset[Diagnostic]) -> Diagnostic:
    if not echoes:
        return finding
    dead = sum(each.code in _DEAD for each in echoes)
    others = len(echoes) - dead
    parts = [f"{dead} rule{'s' * (dead > 1)} never fire{'s' * (dead == 1)}"] if dead else []
    if others:
        more = " more" if dead else ""
        parts.append(f"{others}{more} finding{'s' * (others > 1)} follow{'s' * (others == 1)}")
    note = Note(f"because of that, {' and '.join(parts)} (`--all` lists them)")
    return replace(finding, notes=(*finding.notes, note))
