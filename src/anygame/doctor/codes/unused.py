"""What nothing needs: relations, fluents and moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PRACTICE, VALIDATOR, Check, Code
from anygame.doctor.sheet import key_of, span_of
from anygame.doctor.wording import named, pattern
from anygame.language.diagnostics import Severity
from anygame.language.rules import KEYWORDS, atoms_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule

_UNUSED_RELATION: Final = Code(
    "unused-relation",
    Severity.INFO,
    "a relation that nothing needs",
    demand="Every relation has a part in what the game exchanges with its players.",
    why="Relations that no keyword depends on cost time to read and change nothing.",
    source=VALIDATOR,
    bad="(<= (line ?x) (true (row ?x)))\n(<= terminal (true over))",
    good="(<= (line ?x) (true (row ?x)))\n(<= terminal (line ?x))",
)


def _unused_relation(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report relations on which no keyword depends."""
    pending = [key for key in sheet.heads if KEYWORDS.get(key[0]) == key[1]]
    needed = set(pending)
    while pending:
        for rule in sheet.heads.get(pending.pop(), ()):
            for atom, _ in atoms_in(rule.body):
                if atom.key not in needed:
                    needed.add(atom.key)
                    pending.append(atom.key)
    for key, rules in sheet.heads.items():
        if key not in needed:
            reader = "nothing reads it" if key not in sheet.reads else "only what nothing needs reads it"
            yield _UNUSED_RELATION.found(
                f"{named(key)} has no part in the game: {reader}",
                span_of(rules[0].head, rules[0]),
                hint=f"leave out its {_count(rules)}",
            )


def _count(rules: Iterable[Rule]) -> str:
    count = len(list(rules))
    return "rule" if count == 1 else f"{count} rules"


_UNREAD_FLUENT: Final = Code(
    "unread-fluent",
    Severity.INFO,
    "a fluent that no rule asks about",
    demand="Some rule asks about every fluent, other than to keep it.",
    why="A fluent that nobody asks about changes nothing but the number of states.",
    source=PRACTICE,
    bad="(init (colour red))\n(<= (next (colour red)) (true (colour red)))",
    good="(init (colour red))\n(<= terminal (true (colour red)))",
)


def _unread_fluent(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report fluents that are written and read by nothing but the rules that keep them."""
    read: set[Key] = set()
    for rule in sheet.program.rules:
        kept = rule.head.arguments[0] if rule.head.predicate == "next" else None
        for atom, _ in atoms_in(rule.body):
            if atom.predicate != "true":
                continue
            key = key_of(atom.arguments[0])
            if key is None and atom.arguments[0] is not kept:
                return
            if key is not None and (kept is None or key != key_of(kept)):
                read.add(key)
    for key, heads in sheet.writers.items():
        if key not in read:
            yield _UNREAD_FLUENT.found(
                f"no rule asks whether {named(key)} is true, but for rules that keep it",
                heads[0].span,
                hint="leave it out, unless it is there for people to see",
            )


#: Moves that are there to do nothing.
IDLE_MOVES: Final = frozenset(("noop", "pass", "wait"))

_UNREAD_MOVE: Final = Code(
    "unread-move",
    Severity.INFO,
    "a move that changes nothing",
    demand="Some rule asks whether a move was made, unless it is noop.",
    why="A move that nobody asks about changes nothing; its effect may be misspelt.",
    source=PRACTICE,
    bad="(role x)\n(legal x (mark 1))\n(<= (next over) (does x (marks 1)))",
    good="(role x)\n(legal x (mark 1))\n(<= (next over) (does x (mark 1)))",
)


def _unread_move(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report legal moves that no rule asks about."""
    if None in sheet.moves_asked:
        return
    for key, heads in sheet.moves.items():
        if key not in sheet.moves_asked and key[0] not in IDLE_MOVES:
            yield _UNREAD_MOVE.found(
                f"no rule asks whether a role does {named(key)}: the move changes nothing",
                heads[0].span,
                hint=f"a rule that reads (does ?role {pattern(key)}), or the name noop",
            )


CHECKS: Final = (
    Check((_UNUSED_RELATION,), _unused_relation),
    Check((_UNREAD_FLUENT,), _unread_fluent),
    Check((_UNREAD_MOVE,), _unread_move),
)
