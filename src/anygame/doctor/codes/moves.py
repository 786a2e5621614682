"""Moves that are always legal or never legal, and fluents that are true after every move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import check, codes_of
from anygame.doctor.codes.declarations import IDLE_MOVES
from anygame.doctor.comparison import numbered, words_of
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import KEYWORDS, atoms_in
from anygame.language.terms import Compound, Constant
from anygame.language.unification import unify
from anygame.sheets.sorts import Sorts, constants_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Rule
    from anygame.language.source import Node

_CODES: Final = codes_of(__name__)
_UNCONDITIONAL_NEXT: Final = _CODES["unconditional-next"]
_UNCONDITIONAL_MOVE: Final = _CODES["unconditional-move"]


@check(_UNCONDITIONAL_NEXT, _UNCONDITIONAL_MOVE)
def _unconditional_next(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report rules of `next` and `legal` that depend neither on the state nor on the moves."""
    starts = {numbered(words_of(rule.head)[2:]) for rule in sheet.heads.get(("init", 1), ())}
    for rule in sheet.heads.get(("next", 1), ()):
        if rule.body and not _varies(sheet, rule) and numbered(words_of(rule.head)[2:]) not in starts:
            fluent = shown(str(rule.head.arguments[0]))
            message = f"nothing here depends on the state or on moves: {fluent} is true after every move"
            yield _UNCONDITIONAL_NEXT.found(message, rule.head.span, hint="a condition with `true` or `does`")
    legal = sheet.heads.get(("legal", 2), ())
    waits = [rule for rule in legal if _is_to_wait(sheet, rule) and _varies(sheet, rule)]
    for rule in legal:
        role, move = rule.head.arguments
        if rule.body and isinstance(move, Compound) and not _varies(sheet, rule):
            own = [wait for wait in waits if unify(wait.head.arguments[0], role, {}) is not None]
            if own:
                wait = own[0].head.arguments[1]
                message = f"{shown(str(move))} is always legal here, but {wait} only under a condition"
                note = Note(f"{wait} has a condition", own[0].span)
                yield _UNCONDITIONAL_MOVE.found(
                    message, rule.head.span, note, hint="a condition for this move, too"
                )


def _varies(sheet: Sheet, rule: Rule) -> bool:
    """Return whether a rule depends on the state or the moves, or on an undefined relation."""
    return any(atom.key in sheet.varying or atom.key not in sheet.heads for atom, _ in atoms_in(rule.body))


def _is_to_wait(sheet: Sheet, rule: Rule) -> bool:
    """Return whether a rule allows a move without arguments that no rule asks about."""
    move = rule.head.arguments[1]
    return isinstance(move, Constant) and sheet.is_never_asked(move)


#: The place of a move in `does`.
_MOVE: Final = ("does", 2, 1)
#: Minimum number of moves in facts; with fewer, one may be missing for a reason.
_FEWEST: Final = 3

_UNMADE_MOVE: Final = _CODES["unmade-move"]


@check(_UNMADE_MOVE)
def _unmade_move(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.is_safe:
        return
    legal = {top for top in sheet.domains.tops("legal", 2, 1) if isinstance(top, Constant)}
    # All moves of a table but one are legal.
    spoken = _spoken_of(sheet) if len(legal) >= _FEWEST - 1 else {}
    unmade = [move for move in spoken if move not in legal]
    if len(unmade) != 1 or len(spoken) < _FEWEST:
        return
    (move,) = unmade
    node, name = spoken[move], shown(str(move))
    silent = [head for head in _constant_moves(sheet) if head.arguments[1] not in spoken]
    if len(silent) == 1:
        odd = shown(str(silent[0].arguments[1]))
        message = f"{odd} is legal, and nothing mentions it; facts mention {name}, which is never legal"
        yield _UNMADE_MOVE.found(message, silent[0].span, Note("mentioned here", node.span), hint=name)
    else:
        others = ", ".join(sorted(shown(str(each)) for each in spoken if each is not move))
        hint = f"a rule such as (legal ?role {move}), as {others} have"
        yield _UNMADE_MOVE.found(f"{name} is never legal, although facts mention it", node.span, hint=hint)


def _constant_moves(sheet: Sheet) -> list[Atom]:
    """Return the heads of moves without arguments that no rule reads, except moves such as noop."""
    return [
        head
        for (name, arity), heads in sheet.moves.items()
        for head in heads
        if not arity and name not in IDLE_MOVES and (name, arity) not in sheet.moves_asked
    ]


def _spoken_of(sheet: Sheet) -> dict[Constant, Node]:
    """Return the constants of facts in places where rules look up moves, with their nodes."""
    sorts = Sorts(sheet.program.rules)
    of_moves = sorts.of(_MOVE)
    found: dict[Constant, Node] = {}
    for rule in sheet.program.rules:
        head = rule.head
        if not rule.body and KEYWORDS.get(head.predicate) != len(head.arguments):
            for place, constant, node in constants_in(head):
                if sorts.of(place) == of_moves:
                    found.setdefault(constant, node)
    return found
