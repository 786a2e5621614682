"""Moves that are always legal, are never made, or are called as something else is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import check, codes_of
from anygame.doctor.codes.declarations import IDLE_MOVES
from anygame.doctor.comparison import numbered, words_of
from anygame.language.diagnostics import Note, shown
from anygame.language.rules import KEYWORDS, Literal, atoms_in, atoms_of
from anygame.language.terms import Compound, Constant
from anygame.language.unification import unify
from anygame.sheets.sorts import Sorts, constants_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom, Rule
    from anygame.language.source import Node
    from anygame.language.terms import Term

_CODES: Final = codes_of(__name__)
_UNCONDITIONAL_NEXT: Final = _CODES["unconditional-next"]
_UNCONDITIONAL_MOVE: Final = _CODES["unconditional-move"]


@check(_UNCONDITIONAL_NEXT, _UNCONDITIONAL_MOVE)
def _unconditional_next(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report rules for what is next, or legal, in which nothing depends on the state or the moves."""
    starts = {numbered(words_of(rule.head)[2:]) for rule in sheet.heads.get(("init", 1), ())}
    for rule in sheet.heads.get(("next", 1), ()):
        if rule.body and not _varies(sheet, rule) and numbered(words_of(rule.head)[2:]) not in starts:
            fluent = shown(str(rule.head.arguments[0]))
            message = f"nothing here depends on the state or on moves: {fluent} is so after every move"
            yield _UNCONDITIONAL_NEXT.found(message, rule.head.span, hint="a condition with `true` or `does`")
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
                yield _UNCONDITIONAL_MOVE.found(
                    message, rule.head.span, note, hint="a condition for this move, too"
                )


def _varies(sheet: Sheet, rule: Rule) -> bool:
    """Return whether a rule depends on the state or the moves, or may do so: what nobody defines."""
    return any(atom.key in sheet.varying or atom.key not in sheet.heads for atom, _ in atoms_in(rule.body))


def _is_to_wait(sheet: Sheet, rule: Rule) -> bool:
    """Return whether a rule is for a move without arguments that no rule asks about."""
    move = rule.head.arguments[1]
    return isinstance(move, Constant) and sheet.is_never_asked(move)


_NEEDLESS_WAIT: Final = _CODES["needless-wait"]


@check(_NEEDLESS_WAIT)
def _needless_wait(sheet: Sheet) -> Iterator[Diagnostic]:
    legal = sheet.heads.get(("legal", 2), ())
    allowing: set[Key] = {("legal", 2)}
    for rule in legal:
        if isinstance(rule.head.arguments[1], Compound):
            allowing |= _asked(sheet, rule)
    for rule in legal:
        move = rule.head.arguments[1]
        if _is_to_wait(sheet, rule):
            for formula in rule.body:
                if isinstance(formula, Literal) and _says_that_one_can(sheet, formula.atom.key, allowing):
                    what = shown(str(formula.atom))
                    message = f"{move} is legal where {what} says that there is a move, which no rule denies"
                    yield _NEEDLESS_WAIT.found(message, formula.atom.span, hint=f"(not {what})")


def _says_that_one_can(sheet: Sheet, key: Key, allowing: set[Key]) -> bool:
    """Return whether a relation holds where what a move asks for does, and is never denied."""
    rules = sheet.heads.get(key, ())
    if not rules or key[0] in KEYWORDS or key in allowing or key in sheet.denied:
        return False
    return all(_asked(sheet, rule) & allowing for rule in rules)


def _asked(sheet: Sheet, rule: Rule) -> set[Key]:
    """Return the relations other than the state's that a rule asks for, and that change."""
    keys = {formula.atom.key for formula in rule.body if isinstance(formula, Literal)}
    return {key for key in keys if key in sheet.varying and (key[0] not in KEYWORDS or key[0] == "legal")}


_OF_MOVES: Final = ("legal", "input", "does")

_ODD_MOVE: Final = _CODES["odd-move"]


@check(_ODD_MOVE)
def _odd_move(sheet: Sheet) -> Iterator[Diagnostic]:
    for (name, arity), heads in sheet.moves.items():
        if not arity and sheet.is_never_asked(Constant(name)):
            other = _other_use(sheet, Constant(name))
            if other:
                message = (
                    f"{shown(name)} is a move here that no rule asks about, and something else elsewhere"
                )
                yield _ODD_MOVE.found(message, heads[0].span, Note("as here", other.span))


def _other_use(sheet: Sheet, name: Constant) -> Atom | None:
    """Return an atom in which a name stands, not as a move or a value of a goal."""
    for rule in sheet.program.rules:
        for atom in atoms_of(rule):
            terms = atom.arguments[:-1] if atom.predicate in _OF_MOVES else atom.arguments
            is_keyword = KEYWORDS.get(atom.predicate) == len(atom.arguments) and atom.predicate != "role"
            if any(name in _inside(term, is_keyword) for term in terms):
                return atom
    return None


def _inside(term: Term, is_keyword: bool) -> tuple[Term, ...]:
    """Return the arguments of a fluent, and what stands at the place of a relation's."""
    return term.arguments if isinstance(term, Compound) else () if is_keyword else (term,)


#: What stands where a whole move does.
_MOVE: Final = ("does", 2, 1)
#: Of so many moves one may be missing; of fewer there may be another reason.
_FEWEST: Final = 3

_UNMADE_MOVE: Final = _CODES["unmade-move"]


@check(_UNMADE_MOVE)
def _unmade_move(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.is_safe:
        return
    legal = {top for top in sheet.domains.tops("legal", 2, 1) if isinstance(top, Constant)}
    # All moves of a table are legal but one.
    spoken = _spoken_of(sheet) if len(legal) >= _FEWEST - 1 else {}
    unmade = [move for move in spoken if move not in legal]
    if len(unmade) != 1 or len(spoken) < _FEWEST:
        return
    (move,) = unmade
    node, name = spoken[move], shown(str(move))
    silent = [head for head in _constant_moves(sheet) if head.arguments[1] not in spoken]
    if len(silent) == 1:
        odd = shown(str(silent[0].arguments[1]))
        message = f"{odd} is legal, and nothing speaks of it; facts speak of {name}, which is never legal"
        yield _UNMADE_MOVE.found(message, silent[0].span, Note("spoken of here", node.span), hint=name)
    else:
        others = ", ".join(sorted(shown(str(each)) for each in spoken if each is not move))
        hint = f"a rule such as (legal ?role {move}), as {others} have"
        yield _UNMADE_MOVE.found(
            f"{name} is never legal, so that nobody makes that move", node.span, hint=hint
        )


def _constant_moves(sheet: Sheet) -> list[Atom]:
    """Return heads of moves without arguments that are not there to wait, and that no rule names."""
    return [
        head
        for (name, arity), heads in sheet.moves.items()
        for head in heads
        if not arity and name not in IDLE_MOVES and (name, arity) not in sheet.moves_asked
    ]


def _spoken_of(sheet: Sheet) -> dict[Constant, Node]:
    """Return the constants that facts of relations have where rules look moves up, and where each stands."""
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
