"""What a sheet needs and lacks: moves, goals, an end; and what it has that nothing needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.doctor.code import PLAY, PRACTICE, VALIDATOR, Code, check
from anygame.doctor.sheet import key_of, named, pattern, span_of
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


@check(_UNUSED_RELATION)
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


@check(_UNREAD_FLUENT)
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


@check(_UNREAD_MOVE)
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


_NO_LEGAL: Final = Code(
    "no-legal",
    Severity.ERROR,
    "a role without any legal move",
    demand="Every role has rules that give it legal moves.",
    why="All roles move at every step; a role without any move stops the game before it starts.",
    source=PLAY,
    bad="(role white)\n(role black)\n(<= (legal white go) (true on))\n(init on)",
    good="(role white)\n(role black)\n(<= (legal ?r go) (role ?r) (true on))\n(init on)",
)


@check(_NO_LEGAL)
def _no_legal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report roles to which no rule can give a move: nobody could make a first step."""
    for role in sheet.roles_without(("legal", 2)):
        yield _NO_LEGAL.found(
            f"no rule ever gives {role} a legal move",
            sheet.role_span(role),
            hint=f"(<= (legal {role} ...) ...)",
        )


_NO_GOAL: Final = Code(
    "no-goal",
    Severity.WARNING,
    "a role without any goal",
    demand="Every role has rules that give it goals.",
    why="Goals are what players play for; without one the end means nothing to them.",
    source=PLAY,
    bad="(role white)\n(role black)\n(goal white 100)",
    good="(role white)\n(role black)\n(goal white 100)\n(goal black 0)",
)


@check(_NO_GOAL)
def _no_goal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report roles to which no rule can give a goal."""
    for role in sheet.roles_without(("goal", 2)):
        if str(role) != "random":
            yield _NO_GOAL.found(
                f"no rule ever gives {role} a goal",
                sheet.role_span(role),
                hint=f"(<= (goal {role} 100) ...)",
            )


_NO_TERMINAL: Final = Code(
    "no-terminal",
    Severity.WARNING,
    "a game without an end",
    demand="Some rule says when the game is over.",
    why="Games of GDL end after finitely many steps.",
    source=PLAY,
    bad="(role white)",
    good="(role white)\n(<= terminal (true over))",
)


@check(_NO_TERMINAL)
def _no_terminal(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a sheet without a rule for `terminal`."""
    if ("terminal", 0) not in sheet.heads and sheet.program.rules:
        yield _NO_TERMINAL.found(
            "no rule says when the game is over: no match of it ever ends",
            sheet.start,
            hint="(<= terminal ...)",
        )
