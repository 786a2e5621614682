"""A move of which facts speak, and which is never legal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, Check, Code
from anygame.doctor.codes.unread_move import IDLE_MOVES
from anygame.doctor.likes.sorts import Sorts, constants_in
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import KEYWORDS
from anygame.language.terms import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Atom
    from anygame.language.source import Node

#: What stands where a whole move does.
_MOVE: Final = ("does", 1)
#: Of so many moves one may be missing; of fewer there may be another reason.
_FEWEST: Final = 3

_CODE: Final = Code(
    "unmade-move",
    Severity.WARNING,
    "a move of which facts speak, and which is never legal",
    demand="A move of which facts speak as they do of others, somebody can make.",
    why="Facts about it say nothing: the rule that makes it legal is missing, or names another one.",
    source=PRACTICE,
    bad="""\
(role x) (legal x rock) (legal x scissors)
(beats rock scissors) (beats scissors paper) (beats paper rock)
(<= (next lost) (does x ?move) (beats paper ?move))
(<= (next won) (does x ?move) (beats ?move scissors))
""",
    good="""\
(role x) (legal x rock) (legal x scissors) (legal x paper)
(beats rock scissors) (beats scissors paper) (beats paper rock)
(<= (next lost) (does x ?move) (beats paper ?move))
(<= (next won) (does x ?move) (beats ?move scissors))
""",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report the one move of a table of moves that is never legal."""
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
        yield _CODE.found(message, silent[0].span, Note("spoken of here", node.span), hint=name)
    else:
        others = ", ".join(sorted(shown(str(each)) for each in spoken if each is not move))
        hint = f"a rule such as (legal ?role {move}), as {others} have"
        yield _CODE.found(f"{name} is never legal, so that nobody makes that move", node.span, hint=hint)


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


CHECK: Final = Check((_CODE,), _check)
