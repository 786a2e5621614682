"""Checks of what is written and what is read: relations, fluents, moves, declarations."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from anygame.analysis.doctor.registry import check, found
from anygame.analysis.doctor.sheet import key_of, span_of
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import KEYWORDS, Atom, atoms_in
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.analysis.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.source import Span
    from anygame.language.terms import Term

#: Moves that are there to do nothing.
_IDLE_MOVES: Final = frozenset(("noop", "pass", "wait"))


@check("undefined-relation", Severity.WARNING, "a relation that no rule defines")
def undefined_relation(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report each relation that bodies read and nothing makes."""
    for key, atoms in sheet.reads.items():
        if key not in sheet.heads and KEYWORDS.get(key[0]) != key[1]:
            more = len(atoms) - 1
            notes = [Note(f"and {more} more time{'s' * (more > 1)}")] if more else []
            yield found(
                "undefined-relation",
                f"no fact and no rule makes {_named(key)}: it is always false",
                atoms[0].span,
                *notes,
                hint=_advice(sheet, key, atoms[0]),
            )


def _named(key: Key) -> str:
    name, arity = key
    if not arity:
        return shown(name)
    return f"{shown(name)} with {arity} argument{'s' * (arity > 1)}"


def _advice(sheet: Sheet, key: Key, atom: Atom) -> str:
    name = key[0]
    if key in sheet.writers:
        return f"it is a fluent: {shown(str(Atom('true', (_as_term(atom),))))}"
    if key in sheet.moves:
        return f"it is a move: (does ?role {shown(str(atom))})"
    arities = sorted({arity for other, arity in sheet.heads if other == name})
    if arities:
        return f"{shown(name)} is defined with {' or '.join(map(str, arities))} arguments"
    near = get_close_matches(
        name, sorted({other for other, _ in sheet.heads} | KEYWORDS.keys()), n=1, cutoff=0.7
    )
    if near:
        return shown(near[0])
    near = get_close_matches(name, sorted({other for other, _ in sheet.writers}), n=1, cutoff=0.8)
    return f"the fluent (true ({shown(near[0])} ...))" if near else "define it, or leave it out"


def _as_term(atom: Atom) -> Term:
    return Compound(atom.predicate, atom.arguments) if atom.arguments else Constant(atom.predicate)


@check("unused-relation", Severity.INFO, "a relation that nothing needs")
def unused_relation(sheet: Sheet) -> Iterator[Diagnostic]:
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
            yield found(
                "unused-relation",
                f"{_named(key)} has no part in the game: {reader}",
                span_of(rules[0].head, rules[0]),
                hint=f"leave out its {_count(rules)}",
            )


def _count(rules: Iterable[Rule]) -> str:
    count = len(list(rules))
    return "rule" if count == 1 else f"{count} rules"


@check("unread-fluent", Severity.INFO, "a fluent that no rule asks about")
def unread_fluent(sheet: Sheet) -> Iterator[Diagnostic]:
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
            yield found(
                "unread-fluent",
                f"no rule asks whether {_named(key)} is true, but for rules that keep it",
                heads[0].span,
                hint="leave it out, unless it is there for people to see",
            )


@check("unread-move", Severity.INFO, "a move that changes nothing")
def unread_move(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report legal moves that no rule asks about."""
    done = [atom.arguments[1] for atom in sheet.reads.get(("does", 2), ())]
    read = {key_of(move) for move in done}
    if None in read:
        return
    for key, heads in sheet.moves.items():
        if key not in read and key[0] not in _IDLE_MOVES:
            yield found(
                "unread-move",
                f"no rule asks whether a role does {_named(key)}: the move changes nothing",
                heads[0].span,
                hint=f"a rule that reads (does ?role {_pattern(key)}), or the name noop",
            )


def _pattern(key: Key) -> str:
    return f"({shown(key[0])} ...)" if key[1] else shown(key[0])


@check("undeclared-fluent", Severity.WARNING, "a fluent that base does not declare")
def undeclared_fluent(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report fluents that are written, of whose kind `base` has none."""
    yield from _undeclared(sheet, ("base", 1), sheet.writers, "undeclared-fluent", "(base {})")


@check("undeclared-move", Severity.WARNING, "a move that input does not declare")
def undeclared_move(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report moves that can be legal, of whose kind `input` has none."""
    yield from _undeclared(sheet, ("input", 2), sheet.moves, "undeclared-move", "(input ?role {})")


def _undeclared(
    sheet: Sheet, declaration: Key, written: dict[Key, list[Atom]], code: str, hint: str
) -> Iterator[Diagnostic]:
    if declaration not in sheet.heads or not sheet.is_safe:
        return
    tops = sheet.domains.tops(*declaration, declaration[1] - 1)
    declared = {top if isinstance(top, tuple) else (top.name, 0) for top in tops}
    for key, heads in written.items():
        if key not in declared:
            yield found(
                code,
                f"`{declaration[0]}` is declared, but not for {_named(key)}",
                heads[0].span,
                Note(f"`{declaration[0]}` is declared here", _first(sheet, declaration)),
                hint=hint.format(_pattern(key)),
            )


def _first(sheet: Sheet, key: Key) -> Span | None:
    rule = sheet.heads[key][0]
    return span_of(rule.head, rule)
