"""Declarations and definitions that a sheet lacks, or that have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import reached
from anygame.doctor.code import Code, check, codes_of
from anygame.doctor.codes.foreign import COMPARISONS, SUMS
from anygame.doctor.sheet import key_of, named, pattern, span_of
from anygame.doctor.spelling import nearest
from anygame.language.diagnostics import Note, counted, shown
from anygame.language.rules import KEYWORDS, Atom, atoms_in
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.source import Span

_CODES: Final = codes_of(__name__)
_NO_DECLARATIONS: Final = _CODES["no-declarations"]


@check(_NO_DECLARATIONS)
def _no_declarations(sheet: Sheet) -> Iterator[Diagnostic]:
    missing = [
        word for word, key in (("base", ("base", 1)), ("input", ("input", 2))) if key not in sheet.heads
    ]
    if missing and sheet.program.rules:
        yield _NO_DECLARATIONS.found(
            f"the sheet does not declare {' and '.join(missing)}: systems that build networks need it",
            sheet.start,
            hint="(base (control white)), (input white noop): what can be true, what can be done",
        )


_UNDECLARED_FLUENT: Final = _CODES["undeclared-fluent"]
_UNDECLARED_MOVE: Final = _CODES["undeclared-move"]
_UNDECLARED_PERCEPT: Final = _CODES["undeclared-percept"]


@check(_UNDECLARED_FLUENT, _UNDECLARED_MOVE, _UNDECLARED_PERCEPT)
def _undeclared(sheet: Sheet) -> Iterator[Diagnostic]:
    yield from _undeclared_of(sheet, ("base", 1), sheet.writers, _UNDECLARED_FLUENT, "(base {})")
    yield from _undeclared_of(sheet, ("input", 2), sheet.moves, _UNDECLARED_MOVE, "(input ?role {})")
    yield from _undeclared_of(
        sheet, ("percept", 2), sheet.percepts, _UNDECLARED_PERCEPT, "(percept ?role {})"
    )


def _undeclared_of(
    sheet: Sheet, declaration: Key, written: dict[Key, list[Atom]], code: Code, hint: str
) -> Iterator[Diagnostic]:
    if declaration not in sheet.heads or not sheet.is_safe:
        return
    tops = sheet.domains.tops(*declaration, declaration[1] - 1)
    declared = {top if isinstance(top, tuple) else (top.name, 0) for top in tops}
    for key, heads in written.items():
        if key not in declared:
            yield code.found(
                f"`{declaration[0]}` is declared, but not for {named(key)}",
                heads[0].span,
                Note(f"`{declaration[0]}` is declared here", _first(sheet, declaration)),
                hint=_near(key, declared) or hint.format(pattern(key)),
            )


def _near(key: Key, declared: set[Key]) -> str:
    """Return a similar declared name with the same number of arguments, as text; empty if there is none."""
    return nearest(key[0], [name for name, arity in declared if arity == key[1]]) or ""


def _first(sheet: Sheet, key: Key) -> Span | None:
    rule = sheet.heads[key][0]
    return span_of(rule.head, rule)


_IDLE_DECLARATION: Final = _CODES["idle-declaration"]
#: Relations of declarations, the relations that read them, and the reason why an item has no effect.
_READ: Final = (
    (("base", 1), ("true", 1), "no `init` and no `next` makes it true"),
    (("input", 2), ("does", 2), "no `legal` allows it"),
)


@check(_IDLE_DECLARATION)
def _idle_declaration(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.is_safe:
        return
    for declaration, read, reason in _READ:
        for rule in sheet.heads.get(declaration, ()):
            term = rule.head.arguments[-1]
            if _never_is(sheet, rule, read):
                what = f"{declaration[0]} declares {shown(str(term))}"
                hint = "a rule that makes it so, or leave it out"
                yield _IDLE_DECLARATION.found(f"{what}, but {reason}", rule.head.span, hint=hint)


def _never_is(sheet: Sheet, rule: Rule, read: Key) -> bool:
    """Return whether a declared fluent or move never occurs although others of its kind do.

    Facts may declare more numbers than needed.
    """
    term = rule.head.arguments[-1]
    key = key_of(term)
    place = (*read, read[1] - 1)
    if not isinstance(term, Compound) or key not in sheet.domains.tops(*place):
        return False
    columns = [sheet.domains.below(place, key, number) for number in range(len(term.arguments))]
    pairs = zip(term.arguments, columns, strict=True)
    return any(
        isinstance(each, Constant)
        and values
        and each not in values
        and (rule.body or not each.name.isdecimal())
        for each, values in pairs
    )


_UNDEFINED_RELATION: Final = _CODES["undefined-relation"]


@check(_UNDEFINED_RELATION)
def _undefined_relation(sheet: Sheet) -> Iterator[Diagnostic]:
    for key, atoms in sheet.reads.items():
        if key not in sheet.heads and KEYWORDS.get(key[0]) != key[1]:
            more = len(atoms) - 1
            notes = [Note(f"and {counted(more, 'more time')}")] if more else []
            yield _UNDEFINED_RELATION.found(
                f"no fact and no rule makes {named(key)}: it is always false",
                atoms[0].span,
                *notes,
                hint=_advice(sheet, key, atoms[0]),
            )


def _advice(sheet: Sheet, key: Key, atom: Atom) -> str:
    name = key[0]
    if key in sheet.writers:
        return f"it is a fluent: {shown(f'(true {atom})')}"
    if key in sheet.moves:
        return f"it is a move: (does ?role {shown(str(atom))})"
    arities = sorted({arity for other, arity in sheet.heads if other == name})
    if arities:
        return f"{shown(name)} is defined with {' or '.join(map(str, arities))} arguments"
    if near := nearest(name, {other for other, _ in sheet.heads} | KEYWORDS.keys(), is_stray=True):
        return shown(near)
    if meant := _FORMULAS.get(name):
        return meant
    if name in SUMS | COMPARISONS:
        return _advice_on_numbers(atom)
    near = nearest(name, {other for other, _ in sheet.writers}, is_stray=True)
    return f"the fluent (true ({shown(near)} ...))" if near else "define it, or leave it out"


#: The GDL form of formulas of other languages.
_FORMULAS: Final = {
    **dict.fromkeys(("~", "!", "\\+", "-"), "(not ...), round what it denies"),
    **dict.fromkeys(("&", "&&", ",", "^"), "leave it out: all formulas of a body must hold"),
    **dict.fromkeys(("|", "||"), "(or ...), round the alternatives"),
    **dict.fromkeys(("#|", "|#"), "leave it out: GDL has no block comments, a comment starts with ;"),
    "exists": "leave the word and its variable out: a body asks for some value of each variable",
    "forall": "a relation that says where it fails, and (not ...) round that",
}


def _advice_on_numbers(atom: Atom) -> str:
    """Return the GDL form of arithmetic and comparisons of other languages."""
    name, terms = atom.predicate, " ".join(map(str, atom.arguments))
    if len(atom.arguments) == 2 and name in {"!=", "/="}:
        return shown(f"(distinct {terms})")
    if len(atom.arguments) == 2 and name in {"=", "=="}:
        return f"give both the same name, or write {shown(f'(not (distinct {terms}))')}"
    return f"GDL has no arithmetic: define {name} by facts or rules"


_UNUSED_RELATION: Final = _CODES["unused-relation"]


@check(_UNUSED_RELATION)
def _unused_relation(sheet: Sheet) -> Iterator[Diagnostic]:
    needed = reached((key for key in sheet.heads if KEYWORDS.get(key[0]) == key[1]), sheet.read_by)
    for key, rules in sheet.heads.items():
        if key not in needed:
            reader = "nothing reads it" if key not in sheet.reads else "only rules without effect read it"
            yield _UNUSED_RELATION.found(
                f"{named(key)} has no effect on the game: {reader}",
                span_of(rules[0].head, rules[0]),
                hint=f"leave out its {_count(rules)}",
            )


def _count(rules: Iterable[Rule]) -> str:
    count = len(list(rules))
    return "rule" if count == 1 else f"{count} rules"


_UNREAD_FLUENT: Final = _CODES["unread-fluent"]


@check(_UNREAD_FLUENT)
def _unread_fluent(sheet: Sheet) -> Iterator[Diagnostic]:
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


#: Names of moves without effect.
IDLE_MOVES: Final = frozenset(("noop", "pass", "wait"))

_UNREAD_MOVE: Final = _CODES["unread-move"]


@check(_UNREAD_MOVE)
def _unread_move(sheet: Sheet) -> Iterator[Diagnostic]:
    if None in sheet.moves_asked:
        return
    for key, heads in sheet.moves.items():
        if key not in sheet.moves_asked and key[0] not in IDLE_MOVES:
            yield _UNREAD_MOVE.found(
                f"no rule asks whether a role does {named(key)}: the move changes nothing",
                heads[0].span,
                hint=f"a rule that reads (does ?role {pattern(key)}), or the name noop",
            )


_NO_LEGAL: Final = _CODES["no-legal"]


@check(_NO_LEGAL)
def _no_legal(sheet: Sheet) -> Iterator[Diagnostic]:
    for role in sheet.roles_without(("legal", 2)):
        message, hint = f"no rule ever gives {role} a legal move", f"(<= (legal {role} ...) ...)"
        yield _NO_LEGAL.found(message, sheet.role_span(role), hint=hint)


_NO_GOAL: Final = _CODES["no-goal"]


@check(_NO_GOAL)
def _no_goal(sheet: Sheet) -> Iterator[Diagnostic]:
    for role in sheet.roles_without(("goal", 2)):
        if role in sheet.players:
            message, hint = f"no rule ever gives {role} a goal", f"(<= (goal {role} 100) ...)"
            yield _NO_GOAL.found(message, sheet.role_span(role), hint=hint)


_NO_TERMINAL: Final = _CODES["no-terminal"]


@check(_NO_TERMINAL)
def _no_terminal(sheet: Sheet) -> Iterator[Diagnostic]:
    if ("terminal", 0) not in sheet.heads and sheet.program.rules:
        yield _NO_TERMINAL.found(
            "no rule says when the game is over: no match of it ever ends",
            sheet.start,
            hint="(<= terminal ...)",
        )
