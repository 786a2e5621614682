"""Mends of a whole sheet."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.analysis.declarations import declarations
from anygame.analysis.edits import Edit, Mend, apply_edits
from anygame.analysis.lenient import LENIENT_MENDS, lenient_mends
from anygame.analysis.lenient.reading import with_readings
from anygame.analysis.lenient.roles import role_mend, unbound_role
from anygame.analysis.safety import normal_rules
from anygame.doctor import check_program
from anygame.doctor.mending.ordering import in_order
from anygame.doctor.mending.parentheses import without_parentheses
from anygame.errors import RuleSheetError
from anygame.language.forms import COMMENT_MARKS, comments_of, form_of
from anygame.language.layout import format_rules
from anygame.language.parser import parse_items, parse_program
from anygame.language.rules import Literal, walk
from anygame.language.sentences import fold_head
from anygame.language.source import Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from anygame.language.rules import Formula, Program, Rule
    from anygame.language.source import Node

#: The kinds of mends.
MENDS: Final = ("order", "case", "parentheses", "role", *LENIENT_MENDS, "base", "input")

#: Findings of `anygame check` after which what the rules make true and legal is not what was meant.
_DOUBTS: Final = frozenset(
    (
        "likely-typo", "case-differs", "function-arity", "unknown-role", "unwritten-fluent",
        "unknown-move", "never-starts", "lost-fluent", "missing-link", "odd-fact", "stray-text",
        "swapped-arguments", "wrong-arrow",
    )
)  # fmt: skip

_CLOSING: Final = re.compile(r"\)|;[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Mended:
    """A sheet after mending.

    Attributes:
        text: the new text; the old one if there was nothing to mend.
        mends: what was done, in the order of the sheet.
        notes: what could not be done, and why.
    """

    text: str
    mends: tuple[Mend, ...]
    notes: tuple[str, ...]


def mend_sheet(source: Source, kinds: Collection[str] = MENDS) -> Mended:
    """Mend a sheet.

    The result is read again: rules stay what they are, but for the order of their literals and the roles
    and declarations that were added.

    >>> sheet = Source("sheet", "(ROLE x) (<= (goal ?r 100) (not (true (lost ?r))))")
    >>> print(mend_sheet(sheet, ["case", "role"]).text)
    (role x) (<= (goal ?r 100) (role ?r) (not (true (lost ?r))))

    Raises:
        RuleSheetError: the sheet cannot be read; the error has all its faults.
    """
    program = parse_program(source, open_facts=bool(set(kinds) & set(LENIENT_MENDS)))
    mends = _plain_mends(program, kinds)
    text = apply_edits(source.text, [edit for mend in mends for edit in mend.edits])
    mended, readings = with_readings(_verified(program, text), kinds)
    if any(not rule.body and any(rule.head.variables()) for rule in mended.rules):
        parse_program(source)  # whose places are those of the author's text
    assert mended.source is not None
    text = mended.source.text
    mends += readings
    added, notes = _missing_declarations(mended, kinds)
    if added:
        rules = [rule for _, found in added for rule in found]
        names = " and ".join(name for name, _ in added)
        title = f"{COMMENT_MARKS[form_of(source)] * 3} {names}: what the rules can make true and legal"
        text = _appended(text, source, f"{title}\n\n{format_rules(rules, form_of(source))}")
        _verified(mended, text, len(rules))
        mends += [Mend(name, f"{name} is declared", None) for name, _ in added]
    return Mended(text, tuple(mends), tuple(notes))


def find_mends(program: Program, kinds: Collection[str] = MENDS) -> list[Mend]:
    """Return the mends of a program's rules, in the order of the sheet, without `base` and `input`.

    The program must have been read from a text.
    """
    found = _plain_mends(program, kinds) + lenient_mends(program, kinds)
    return sorted(found, key=lambda mend: mend.span.start if mend.span else 0)


def _plain_mends(program: Program, kinds: Collection[str]) -> list[Mend]:
    """Return the mends that leave rules what they are, but for roles that are added."""
    source = program.source
    assert source is not None
    comments = [(comment.start, comment.end) for comment in comments_of(source, form_of(source))]
    found: list[Mend] = []
    for rule in program.rules:
        if rule.node is None:
            continue
        role = unbound_role(rule) if "role" in kinds else None
        if "case" in kinds:
            found += _case(rule)
        if "parentheses" in kinds:
            found += without_parentheses(rule.node)
        if role is not None:
            found.append(role_mend(rule, role, comments))
        if "order" in kinds:
            found += in_order(rule, role, comments)
    return sorted(found, key=lambda mend: mend.span.start if mend.span else 0)


def _appended(text: str, source: Source, more: str) -> str:
    """Return the text with more at its end: inside the parentheses round the whole sheet, if it has them."""
    nodes, _ = parse_items(Source(source.name, text))
    last = max(node.end for node in nodes)
    closing = [match for match in _CLOSING.finditer(text, last) if match[0] == ")"]
    end = closing[0].start() if closing and form_of(source) == "kif" else len(text)
    return f"{text[:end].rstrip()}\n\n{more}{text[end:]}"


def _verified(program: Program, text: str, added: int = 0) -> Program:
    """Return the program of a mended text, if it is the one that was meant."""
    source = program.source
    assert source is not None
    again = parse_program(Source(source.name, text), open_facts=True)
    same = len(again.rules) == len(program.rules) + added and all(
        old.head == new.head and _only_roles(Counter(new.body), Counter(old.body))
        for old, new in zip(program.rules, again.rules, strict=False)
    )
    if not same:
        message = f"mending {source.name} would change its rules, so nothing is changed"
        raise RuleSheetError(f"{message}; this is a fault of anygame, please report it with the sheet")
    return again


def _only_roles(new: Counter[Formula], old: Counter[Formula]) -> bool:
    more = new - old
    return old <= new and all(
        isinstance(formula, Literal) and formula.atom.key == ("role", 1) for formula in more
    )


# -- the kinds ----------------------------------------------------------------------------------------


def _case(rule: Rule) -> Iterator[Mend]:
    for node in _heads(rule):
        token = node.children[0] if node.children else node
        folded = fold_head(token.text)
        if folded != token.text:
            edit = Edit(token.start, token.end, (folded,))
            yield Mend("case", f"{token.text} becomes {folded}", token.span, (edit,))


def _heads(rule: Rule) -> Iterator[Node]:
    """Yield the nodes of a rule's sentences and formulas."""
    nodes = [rule.head.node, *(formula.node for formula, _ in walk(rule.body))]
    yield from filter(None, nodes)


def _missing_declarations(
    program: Program, kinds: Collection[str]
) -> tuple[list[tuple[str, list[Rule]]], list[str]]:
    """Return the declarations that a program lacks, and why others could not be made."""
    declared = {rule.head.key for rule in program.rules}
    keys = [("base", 1), ("input", 2)]
    missing = [name for name, arity in keys if name in kinds and (name, arity) not in declared]
    if not missing:
        return [], []
    names = " and no ".join(missing)
    try:
        rules = normal_rules(program)
    except RuleSheetError:
        return [], [f"no {names} can be told while variables are unbound; see `anygame check`"]
    if doubt := next((found for found in check_program(program) if found.code in _DOUBTS), None):
        place = f" at {doubt.span.place}" if doubt.span else ""
        return [], [f"no {names} is added while `anygame check` doubts the rules: {doubt.code}{place}"]
    return declarations(program, rules, missing)
