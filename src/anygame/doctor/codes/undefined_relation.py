"""A relation that no rule defines."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.doctor.codes.arithmetic import COMPARISONS, SUMS
from anygame.doctor.wording import named
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import KEYWORDS, Atom
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.terms import Term

_CODE: Final = Code(
    "undefined-relation",
    Severity.WARNING,
    "a relation that no rule defines",
    demand="Every relation in a body has facts or rules.",
    why=(
        "What nobody makes is false. The name is misspelt, has another number of arguments, or `true` is "
        "missing."
    ),
    source=VALIDATOR,
    bad="(succ 1 2)\n(<= (p ?x ?y) (suc ?x ?y))",
    good="(succ 1 2)\n(<= (p ?x ?y) (succ ?x ?y))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report each relation that bodies read and nothing makes."""
    for key, atoms in sheet.reads.items():
        if key not in sheet.heads and KEYWORDS.get(key[0]) != key[1]:
            more = len(atoms) - 1
            notes = [Note(f"and {more} more time{'s' * (more > 1)}")] if more else []
            yield _CODE.found(
                f"no fact and no rule makes {named(key)}: it is always false",
                atoms[0].span,
                *notes,
                hint=_advice(sheet, key, atoms[0]),
            )


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
    if name in SUMS | COMPARISONS:
        return _advice_on_numbers(atom)
    near = get_close_matches(name, sorted({other for other, _ in sheet.writers}), n=1, cutoff=0.8)
    return f"the fluent (true ({shown(near[0])} ...))" if near else "define it, or leave it out"


def _advice_on_numbers(atom: Atom) -> str:
    """Return how to say what other languages work out or compare."""
    name, terms = atom.predicate, " ".join(map(str, atom.arguments))
    if len(atom.arguments) == 2 and name in {"!=", "/="}:
        return shown(f"(distinct {terms})")
    if len(atom.arguments) == 2 and name in {"=", "=="}:
        return f"one name for both, or {shown(f'(not (distinct {terms}))')}"
    return f"GDL has no arithmetic: facts or rules must say what {name} holds for"


def _as_term(atom: Atom) -> Term:
    return Compound(atom.predicate, atom.arguments) if atom.arguments else Constant(atom.predicate)


CHECK: Final = Check(
    (_CODE,),
    _check,
)
