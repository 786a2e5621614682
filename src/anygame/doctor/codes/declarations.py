"""Declarations and definitions that a sheet lacks, or that have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import reached
from anygame.doctor.code import CODES, check
from anygame.doctor.codes.foreign import COMPARISONS, SUMS
from anygame.doctor.sheet import key_of, keys_of, named, pattern, span_of
from anygame.doctor.spelling import nearest
from anygame.language.diagnostics import Note, counted, shown
from anygame.language.rules import KEYWORDS, Atom, atoms_in
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule


@check("no-declarations")
def _no_declarations(sheet: Sheet) -> Iterator[Diagnostic]:
    missing = [key[0] for key in (("base", 1), ("input", 2)) if key not in sheet.heads]
    if missing and sheet.program.rules:
        yield CODES["no-declarations"].found(
            f"the sheet has no {' and no '.join(missing)}; systems that compile rules need base and input",
            sheet.start,
            hint="declare each possible fluent and move: (base (control white)), (input white noop)",
        )


@check("undeclared-fluent", "undeclared-move", "undeclared-percept")
def _undeclared(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.is_safe:
        return
    for declaration, written, code, hint in (
        (("base", 1), sheet.writers, "undeclared-fluent", "(base {})"),
        (("input", 2), sheet.moves, "undeclared-move", "(input ?role {})"),
        (("percept", 2), sheet.percepts, "undeclared-percept", "(percept ?role {})"),
    ):
        declared = keys_of(sheet.domains.tops(*declaration, declaration[1] - 1))
        for key, heads in written.items() if declaration in sheet.heads else ():
            if key not in declared:
                first = sheet.heads[declaration][0]
                same_arity = [name for name, arity in declared if arity == key[1]]
                yield CODES[code].found(
                    f"`{declaration[0]}` does not declare {named(key)}",
                    heads[0].span,
                    Note(f"the first `{declaration[0]}`", span_of(first.head, first)),
                    hint=nearest(key[0], same_arity) or hint.format(pattern(key)),
                )


#: Each declaring keyword, with the keyword that reads the declared items, and the reason in the message.
_READ: Final = (
    (("base", 1), ("true", 1), "no `init` and no `next` makes it true"),
    (("input", 2), ("does", 2), "no `legal` allows it"),
)


@check("idle-declaration")
def _idle_declaration(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.is_safe:
        return
    for declaration, read, reason in _READ:
        for rule in sheet.heads.get(declaration, ()):
            term = rule.head.arguments[-1]
            if _never_is(sheet, rule, read):
                message = f"`{declaration[0]}` declares {shown(str(term))}, but {reason}"
                hint = f"add a rule for {shown(str(term))}, or delete the declaration"
                yield CODES["idle-declaration"].found(message, rule.head.span, hint=hint)


def _never_is(sheet: Sheet, rule: Rule, read: Key) -> bool:
    """Return whether a declared fluent or move has an argument that no rule can give to it."""
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
        # Facts often declare more numbers than a game needs.
        and (rule.body or not each.name.isdecimal())
        for each, values in pairs
    )


@check("undefined-relation")
def _undefined_relation(sheet: Sheet) -> Iterator[Diagnostic]:
    for key, atoms in sheet.reads.items():
        if key not in sheet.heads and KEYWORDS.get(key[0]) != key[1]:
            more = len(atoms) - 1
            notes = [Note(f"and {counted(more, 'more time')}")] if more else []
            yield CODES["undefined-relation"].found(
                f"no fact or rule defines {named(key)}, so it is always false",
                atoms[0].span,
                *notes,
                hint=_advice(sheet, key, atoms[0]),
            )


def _advice(sheet: Sheet, key: Key, atom: Atom) -> str:
    name = key[0]
    if key in sheet.writers:
        return f"{AS_FLUENT}{shown(f'(true {atom})')}"
    if key in sheet.moves:
        return f"write it as a move: (does ?role {shown(str(atom))})"
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
    return f"the fluent (true ({shown(near)} ...))" if near else "define the relation, or delete the literal"


#: Beginning of the advice to write an atom as a fluent.
AS_FLUENT: Final = "write it as a fluent: "
#: Advice on operators of other languages.
_FORMULAS: Final = {
    **dict.fromkeys(("~", "!", "\\+", "-"), "write (not ...) around the negated formula"),
    **dict.fromkeys(("&", "&&", ",", "^"), "delete the operator: all formulas of a body must hold anyway"),
    **dict.fromkeys(("|", "||"), "write (or ...) around the alternatives"),
    **dict.fromkeys(("#|", "|#"), "delete the mark: GDL has no block comments; a comment starts with ;"),
    "exists": "delete `exists` and its variable: a body holds if it holds for some value of each variable",
    "forall": "define a relation for the values that violate the formula, and negate that relation",
}


def _advice_on_numbers(atom: Atom) -> str:
    name, terms = atom.predicate, " ".join(map(str, atom.arguments))
    if len(atom.arguments) == 2 and name in {"!=", "/="}:
        return shown(f"(distinct {terms})")
    if len(atom.arguments) == 2 and name in {"=", "=="}:
        return f"write one variable for both, or {shown(f'(not (distinct {terms}))')}"
    return f"GDL has no arithmetic: define {name} by facts or rules"


@check("unused-relation")
def _unused_relation(sheet: Sheet) -> Iterator[Diagnostic]:
    needed = reached((key for key in sheet.heads if KEYWORDS.get(key[0]) == key[1]), sheet.read_by)
    for key, rules in sheet.heads.items():
        if key not in needed:
            reader = "no rule reads it" if key not in sheet.reads else "only rules without effect read it"
            yield CODES["unused-relation"].found(
                f"{named(key)} has no effect on the game: {reader}",
                span_of(rules[0].head, rules[0]),
                hint=f"delete its {'rule' if len(rules) == 1 else f'{len(rules)} rules'}",
            )


@check("unread-fluent")
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
            yield CODES["unread-fluent"].found(
                f"no rule reads the fluent {named(key)}, except to keep it",
                heads[0].span,
                hint="delete the fluent, unless it is meant for human readers",
            )


#: Names of moves without an effect.
IDLE_MOVES: Final = frozenset(("noop", "pass", "wait"))


@check("unread-move")
def _unread_move(sheet: Sheet) -> Iterator[Diagnostic]:
    if None in sheet.moves_asked:
        return
    for key, heads in sheet.moves.items():
        if key not in sheet.moves_asked and key[0] not in IDLE_MOVES:
            yield CODES["unread-move"].found(
                f"no rule reads the move {named(key)}, so it changes nothing",
                heads[0].span,
                hint=f"add a rule that reads (does ?role {pattern(key)}), or name the move noop",
            )


@check("no-legal", "no-goal", "no-terminal")
def _missing_keywords(sheet: Sheet) -> Iterator[Diagnostic]:
    for role in sheet.roles_without(("legal", 2)):
        message, hint = f"no rule gives {role} a legal move", f"(<= (legal {role} ...) ...)"
        yield CODES["no-legal"].found(message, sheet.role_span(role), hint=hint)
    for role in sheet.roles_without(("goal", 2)):
        if role in sheet.players:
            message, hint = f"no rule gives {role} a goal", f"(<= (goal {role} 100) ...)"
            yield CODES["no-goal"].found(message, sheet.role_span(role), hint=hint)
    if ("terminal", 0) not in sheet.heads and sheet.program.rules:
        yield CODES["no-terminal"].found(
            "no rule defines when the game is over, so no match ends", sheet.start, hint="(<= terminal ...)"
        )
