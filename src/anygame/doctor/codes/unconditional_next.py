"""What is so after every move, or always legal, though nothing was said of it at the start or of waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.likes.words import numbered, words_of
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import atoms_in
from anygame.language.terms import Compound, Constant
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

_NEXT: Final = Code(
    "unconditional-next",
    Severity.WARNING,
    "a rule that makes the same true after every move",
    demand="A `next` asks what is true or what is done, unless it keeps what `init` set up.",
    why="What depends on nothing is so after every move, whatever it was before: a condition was left out.",
    source=PRACTICE,
    bad="(other x o)\n(other o x)\n(init (turn x))\n(<= (next (turn ?q)) (other ?p ?q))",
    good="(other x o)\n(other o x)\n(init (turn x))\n(<= (next (turn ?q)) (true (turn ?p)) (other ?p ?q))",
)
_MOVE: Final = Code(
    "unconditional-move",
    Severity.WARNING,
    "a move that is always legal, for a role that may wait only at times",
    demand="Where a role waits on a condition, its moves have one, too.",
    why="To wait is for when there is nothing else to do: a role that always has moves need not wait.",
    source=PRACTICE,
    bad="(index 1)\n(<= (legal x (go ?n)) (index ?n))\n(<= (legal x noop) (not (true open)))",
    good="(index 1)\n(<= (legal x (go ?n)) (index ?n) (true open))\n(<= (legal x noop) (not (true open)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report rules for what is next, or legal, in which nothing depends on the state or the moves."""
    starts = {numbered(words_of(rule.head)[2:]) for rule in sheet.heads.get(("init", 1), ())}
    for rule in sheet.heads.get(("next", 1), ()):
        if rule.body and not _varies(sheet, rule) and numbered(words_of(rule.head)[2:]) not in starts:
            fluent = shown(str(rule.head.arguments[0]))
            message = f"nothing here depends on the state or on moves: {fluent} is so after every move"
            yield _NEXT.found(message, rule.head.span, hint="a condition with `true` or `does`")
    legal = sheet.heads.get(("legal", 2), ())
    waits = [rule for rule in legal if _is_to_wait(sheet, rule) and _varies(sheet, rule)]
    for rule in legal:
        role, move = rule.head.arguments
        if rule.body and isinstance(move, Compound) and not _varies(sheet, rule):
            own = [wait for wait in waits if unify(wait.head.arguments[0], role, {}) is not None]
            if own:
                wait = own[0].head.arguments[1]
                message = f"{shown(str(move))} is always legal here, but {wait} only at times"
                note = Note(f"{wait} has a condition", own[0].span)
                yield _MOVE.found(message, rule.head.span, note, hint="a condition for this move, too")


def _varies(sheet: Sheet, rule: Rule) -> bool:
    """Return whether a rule depends on the state or the moves, or may do so: what nobody defines."""
    return any(atom.key in sheet.varying or atom.key not in sheet.heads for atom, _ in atoms_in(rule.body))


def _is_to_wait(sheet: Sheet, rule: Rule) -> bool:
    """Return whether a rule is for a move without arguments that no rule asks about."""
    move = rule.head.arguments[1]
    return isinstance(move, Constant) and sheet.is_never_asked(move)


CHECK: Final = Check((_NEXT, _MOVE), _check)
