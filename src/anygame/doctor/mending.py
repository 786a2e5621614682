"""Mends of sheets as edits of the text, the diagnostics that mends resolve, and fixes for editors."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from anygame.analysis.normal import binding_order
from anygame.analysis.safety import normal_rules
from anygame.doctor import CODES, check_program
from anygame.doctor.finding import Finding
from anygame.errors import AnygameError, RuleSheetError
from anygame.language.diagnostics import Severity, shown
from anygame.language.forms import COMMENT_MARKS, form_of, places_of_comments
from anygame.language.parser import parse_items, parse_program
from anygame.language.rules import Literal, walk
from anygame.language.sentences import OPERATORS, fold_head
from anygame.language.source import Source
from anygame.sheets.declarations import declarations
from anygame.sheets.edits import Edit, Mend, apply_edits, end_of_line
from anygame.sheets.layout import format_rules
from anygame.sheets.lenient import (
    LENIENT_MENDS,
    lenient_mends,
    read_leniently,
    role_mend,
    unbound_role,
    with_readings,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Formula, Program, Rule
    from anygame.language.source import Node, Span
    from anygame.language.terms import Variable


#: All kinds of mends.
EVERY_MEND: Final = ("order", "case", "parentheses", "role", *LENIENT_MENDS, "base", "input")
#: Kinds of mends that can change the game, because only the author knows what a variable means.
UNSAFE_MENDS: Final = frozenset(("any",))
#: The default mends.
MENDS: Final = tuple(kind for kind in EVERY_MEND if kind not in UNSAFE_MENDS)

#: Codes of diagnostics that prevent declarations, because the rules may not be what the author means.
_DOUBTS: Final = frozenset(
    (
        "likely-typo", "case-differs", "function-arity", "unknown-role", "unwritten-fluent",
        "unknown-move", "never-starts", "lost-fluent", "odd-fact", "stray-text",
        "swapped-arguments", "wrong-arrow",
    )
)  # fmt: skip

_CLOSING: Final = re.compile(r"\)|;[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Mended:
    """A sheet after mending: its text, the mends in order, and the reasons why other mends are impossible."""

    text: str
    mends: tuple[Mend, ...]
    notes: tuple[str, ...]


def mend_sheet(source: Source, kinds: Collection[str] = MENDS) -> Mended:
    """Mend a sheet.

    A second parse checks that the new rules differ from the old rules only in the order of literals, and in
    added roles and declarations.

    >>> sheet = Source("sheet", "(ROLE x) (<= (goal ?r 100) (not (true (lost ?r))))")
    >>> print(mend_sheet(sheet, ["case", "role"]).text)
    (role x) (<= (goal ?r 100) (role ?r) (not (true (lost ?r))))

    Raises:
        RuleSheetError: the sheet cannot be read; the error lists all faults.
    """
    program = parse_program(source, open_facts=bool(set(kinds) & set(LENIENT_MENDS)))
    mends = _plain_mends(program, kinds)
    text = apply_edits(source.text, [edit for mend in mends for edit in mend.edits])
    mended, readings = with_readings(_verified(program, text), kinds)
    if any(not rule.body and any(rule.head.variables()) for rule in mended.rules):
        parse_program(source)  # raises an error with places in the unmended text
    assert mended.source is not None
    text = mended.source.text
    mends += readings
    added, notes = _missing_declarations(mended, kinds)
    if added:
        rules = [rule for _, new_rules in added for rule in new_rules]
        names = " and ".join(name for name, _ in added)
        title = f"{COMMENT_MARKS[form_of(source)] * 3} {names}: all possible fluents and moves"
        text = _appended(text, source, f"{title}\n\n{format_rules(rules, form_of(source))}")
        _verified(mended, text, len(rules))
        mends += [Mend(name, f"{name} is declared", None) for name, _ in added]
    return Mended(text, tuple(mends), tuple(notes))


def _plain_mends(program: Program, kinds: Collection[str]) -> list[Mend]:
    """Return mends that keep the meaning of rules, and mends that add roles, in the order of the sheet."""
    source = program.source
    assert source is not None
    comments = places_of_comments(source)
    mends: list[Mend] = []
    for rule in program.rules:
        if rule.node is None:
            continue
        role = unbound_role(rule) if "role" in kinds else None
        if "case" in kinds:
            mends += _case(rule)
        if "parentheses" in kinds:
            mends += _without_parentheses(rule.node)
        if role is not None:
            mends.append(role_mend(rule, role, comments))
        if "order" in kinds:
            mends += _order(rule, role, comments)
    return sorted(mends, key=_start_of)


def _start_of(mend: Mend) -> int:
    return mend.span.start if mend.span else 0


def _appended(text: str, source: Source, more: str) -> str:
    """Append an addition to a text. A parenthesis around the whole sheet is closed after the addition."""
    nodes, _ = parse_items(Source(source.name, text))
    last = max(node.end for node in nodes)
    closing = [match for match in _CLOSING.finditer(text, last) if match[0] == ")"]
    end = closing[0].start() if closing and form_of(source) == "kif" else len(text)
    return f"{text[:end].rstrip()}\n\n{more}{text[end:]}"


def _verified(program: Program, text: str, added: int = 0) -> Program:
    """Return the program of a mended text. Raises RuleSheetError if mending damaged a rule."""
    source = program.source
    assert source is not None
    again = parse_program(Source(source.name, text), open_facts=True)
    same = len(again.rules) == len(program.rules) + added and all(
        old.head == new.head and _only_adds_roles(Counter(new.body), Counter(old.body))
        for old, new in zip(program.rules, again.rules, strict=False)
    )
    if not same:
        message = f"mending {source.name} would change its rules, so the sheet stays as it is"
        raise RuleSheetError(f"{message}; this is a bug in anygame, please report it with the sheet")
    return again


def _only_adds_roles(new: Counter[Formula], old: Counter[Formula]) -> bool:
    return old <= new and all(isinstance(f, Literal) and f.atom.key == ("role", 1) for f in new - old)


# -- the kinds ----------------------------------------------------------------------------------------


def _case(rule: Rule) -> Iterator[Mend]:
    for node in filter(None, [rule.head.node, *(formula.node for formula, _ in walk(rule.body))]):
        token = node.children[0] if node.children else node
        folded = fold_head(token.text)
        if folded != token.text:
            edit = Edit(token.start, token.end, (folded,))
            yield Mend("case", f"{token.text} becomes {folded}", token.span, (edit,))


def _missing_declarations(
    program: Program, kinds: Collection[str]
) -> tuple[list[tuple[str, list[Rule]]], list[str]]:
    """Return the declarations that a program lacks, and the reasons why other declarations are impossible."""
    declared = {rule.head.key for rule in program.rules}
    keys = [("base", 1), ("input", 2)]
    missing = [name for name, arity in keys if name in kinds and (name, arity) not in declared]
    if not missing:
        return [], []
    names = " and no ".join(missing)
    try:
        rules = normal_rules(program)
    except RuleSheetError:
        return [], [f"no {names} can be added while variables are unbound; see `anygame check`"]
    if doubt := next((each for each in check_program(program) if each.code in _DOUBTS), None):
        place = f" at {doubt.span.place}" if doubt.span else ""
        return [], [f"no {names} is added while `anygame check` reports {doubt.code}{place}"]
    return declarations(program, rules, missing)


#: Codes of diagnostics about unbound variables.
_UNBOUND: Final = frozenset(("unsafe-variable", "variable-in-fact"))


def with_edits(program: Program, diagnostics: Iterable[Diagnostic]) -> list[Finding]:
    """Return diagnostics of a program as findings, with the edits that `anygame mend` would make."""
    every = list(diagnostics)
    source = program.source
    wanted = {kind for each in every for kind in CODES[each.code].mends}
    if not wanted or source is None:
        return [Finding(each) for each in every]
    mends = sorted(_plain_mends(program, wanted) + lenient_mends(program, wanted), key=_start_of)
    # Lenient reading has edits only for KIF. For an infix sheet, `anygame translate` binds the variables.
    has_unbound = any(each.code in _UNBOUND for each in every)
    is_translated = has_unbound and form_of(source) == "infix" and _binds_all(program)
    return [_with_edits(each, mends, is_translated) for each in every]


def _with_edits(diagnostic: Diagnostic, mends: Iterable[Mend], is_translated: bool) -> Finding:
    kinds = CODES[diagnostic.code].mends
    if diagnostic.code == "no-declarations":
        return Finding(diagnostic, None, tuple(kind for kind in kinds if f"no {kind}" in diagnostic.message))
    is_unbound = diagnostic.code in _UNBOUND
    mend = next((mend for mend in mends if mend.kind in kinds and _concerns(mend, diagnostic.span)), None)
    if mend is not None:
        return Finding(diagnostic, None, (mend.kind,) if is_unbound else kinds, mend.edits)
    return Finding(diagnostic, None, () if is_translated and is_unbound else None)


def as_read_leniently(program: Program, diagnostics: Iterable[Diagnostic]) -> dict[Diagnostic, None]:
    """Return the diagnostics of a program; errors that lenient reading resolves become warnings."""
    every = list(diagnostics)
    resolved = frozenset(each for each in every if each.code in _UNBOUND)
    if not resolved or not _binds_all(program):
        lenient = {"role", *LENIENT_MENDS}
        mended = (each for each in with_edits(program, every) if each.kinds is not None)
        resolved = frozenset(each.diagnostic for each in mended if lenient.issuperset(each.kinds or ()))
    return dict.fromkeys(replace(d, severity=Severity.WARNING) if d in resolved else d for d in every)


def _binds_all(program: Program) -> bool:
    try:
        source, mends = read_leniently(program)
        return bool(mends and normal_rules(parse_program(source)))
    except AnygameError:
        return False


def _concerns(mend: Mend, span: Span | None) -> bool:
    if span is None:
        return False
    ranges = [(edit.start, edit.end) for edit in mend.edits]
    if mend.span is not None:
        ranges.append((mend.span.start, mend.span.end))
    return any(start <= span.start and span.end <= end for start, end in ranges)


def _order(rule: Rule, role: Variable | None, comments: Sequence[tuple[int, int]]) -> Iterator[Mend]:
    """Yield the mend that reorders the literals of a rule, if any. Another mend binds ``role``."""
    order = binding_order(rule.body, {role} if role else ())
    nodes = [formula.node for formula in rule.body if formula.node is not None]
    if order == list(range(len(order))) or len(nodes) < len(rule.body):
        return
    assert rule.node is not None
    moved = nodes[next(number for place, number in enumerate(order) if place != number)]
    message = f"{moved.span.text} moves before the literals that need its variables"
    inside = [c for c in comments if rule.node.start < c[0] < rule.node.end]
    if inside and form_of(rule.node.source) == "kif":
        edit = _moved_with_comments(rule, nodes, order, inside)
    else:
        edit = _moved(nodes, order)
    yield Mend("order", " ".join(message.split()), moved.span, (edit,))


def _moved(nodes: Sequence[Node], order: Sequence[int]) -> Edit:
    text = nodes[0].source.text
    pieces: list[str | tuple[int, int]] = []
    for place, number in enumerate(order):
        if place:
            pieces.append(text[nodes[place - 1].end : nodes[place].start])
        pieces.append((nodes[number].start, nodes[number].end))
    return Edit(nodes[0].start, nodes[-1].end, tuple(pieces))


def _moved_with_comments(
    rule: Rule, nodes: Sequence[Node], order: Sequence[int], comments: Sequence[tuple[int, int]]
) -> Edit:
    """Return the edit that moves literals, with the comments before the literals and on the same lines."""
    assert rule.head.node is not None
    text = nodes[0].source.text
    start = end_of_line(text, rule.head.node.end, comments)
    chunks: list[tuple[int, int]] = []
    for node in nodes:
        end = end_of_line(text, node.end, comments)
        chunks.append((start if not chunks else chunks[-1][1], end))
    pieces: list[str | tuple[int, int]] = []
    in_comment = start > rule.head.node.end
    for number in order:
        low, high = chunks[number]
        if in_comment and not text[low:high].lstrip(" \t").startswith(("\r", "\n")):
            pieces.append("\n    ")
        elif not text[low].isspace():
            pieces.append(" ")
        pieces.append((low, high))
        in_comment = high > nodes[number].end
    if in_comment and not text[chunks[-1][1] :].lstrip(" \t").startswith(("\r", "\n")):
        pieces.append("\n")
    return Edit(start, chunks[-1][1], tuple(pieces))


def _without_parentheses(node: Node) -> Iterator[Mend]:
    pending = [node]
    while pending:
        node = pending.pop()
        children = node.children or ()
        pending += children
        if len(children) != 1 or children[0].children is not None:
            continue
        name = children[0]
        text = node.source.text
        before, after = text[node.start : name.start], text[name.end : node.end]
        if fold_head(name.text) in OPERATORS or (before + after).strip("() \t\r\n"):
            continue
        # A name that loses its parentheses may need a blank on both sides.
        left = "" if not before or text[max(node.start - 1, 0) : node.start] in {"", *"( \t\r\n"} else " "
        right = "" if not before or text[node.end : node.end + 1] in {"", *") \t\r\n"} else " "
        edits = Edit(node.start, name.start, (left,)), Edit(name.end, node.end, (right,))
        kept = tuple(edit for edit in edits if edit.start < edit.end)
        message = f"{node.span.text} becomes {text[name.start : name.end]}"
        yield Mend("parentheses", " ".join(message.split()), node.span, kept)


# -- fixes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that correct a finding."""

    title: str
    #: The edits; empty if only `mend_sheet` makes the fix.
    edits: tuple[Edit, ...]
    #: The kinds of mends that make the fix, as in ``anygame mend --select``.
    kinds: tuple[str, ...] = ()
    #: Whether the fix certainly restores the intended text.
    sure: bool = True


def fixes_of(finding: Finding, source: Source) -> Iterator[Fix]:
    """Yield the fixes of a finding."""
    found = finding.diagnostic
    if finding.kinds or finding.edits:
        kinds = finding.kinds or ()
        title = f"Mend {found.code}" if finding.edits else f"Declare {' and '.join(kinds)}"
        yield Fix(title, _plain(finding.edits, source), kinds, UNSAFE_MENDS.isdisjoint(kinds))
    if found.span is None:
        return
    start, end = found.span.start, found.span.end
    if finding.meant:
        edits = _plain(finding.meant, source)
        yield Fix(f"Change to {shown(edits[0].text)}", edits, sure=False)
    elif found.code == "single-variable" and found.hint:
        meant = found.hint.partition(",")[0]
        yield Fix(f"Change to {shown(meant)}", (Edit(start, end, (meant,)),), sure=False)
    elif found.code == "unexpected-close":
        yield Fix("Delete this parenthesis", (Edit(start, end, ("",)),), sure=False)
    elif found.code == "unclosed-list":
        place = next((note.span.start for note in found.notes if note.span), len(source.text))
        place = len(source.text[:place].rstrip())
        yield Fix("Close this list before the next item", (Edit(place, place, (")",)),), sure=False)


def _plain(edits: Iterable[Edit], source: Source) -> tuple[Edit, ...]:
    return tuple(Edit(each.start, each.end, (each.written(source.text),)) for each in edits)
