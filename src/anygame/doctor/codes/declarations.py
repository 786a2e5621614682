"""What `base`, `input` and `percept` declare, and what is asked and nobody defines."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import GDL2, PRACTICE, VALIDATOR, Code, check
from anygame.doctor.codes.foreign import COMPARISONS, SUMS
from anygame.doctor.likes.nearness import nearest
from anygame.doctor.sheet import key_of, named, pattern, span_of
from anygame.language.diagnostics import Note, Severity, shown
from anygame.language.rules import KEYWORDS, Atom
from anygame.language.terms import Compound, Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.sheet import Key, Sheet
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.source import Span
    from anygame.language.terms import Term

_NO_DECLARATIONS: Final = Code(
    "no-declarations",
    Severity.INFO,
    "no base or no input",
    demand="The sheet declares with `base` what can be true, and with `input` what can be done.",
    why="Both can be worked out here. Systems that turn rules into networks cannot do without.",
    source=VALIDATOR,
    bad="(init (lamp on))",
    good="(base (lamp on))\n(base (lamp off))\n(input white switch)\n(init (lamp on))",
    mends=("base", "input"),
)


@check(_NO_DECLARATIONS)
def _no_declarations(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report a sheet that leaves out `base` or `input`."""
    missing = [
        word for word, key in (("base", ("base", 1)), ("input", ("input", 2))) if key not in sheet.heads
    ]
    if missing and sheet.program.rules:
        yield _NO_DECLARATIONS.found(
            f"the sheet does not declare {' and '.join(missing)}: systems that build networks need it",
            sheet.start,
            hint="(base (control white)), (input white noop): what can be true, what can be done",
        )


_UNDECLARED_FLUENT: Final = Code(
    "undeclared-fluent",
    Severity.WARNING,
    "a fluent that base does not declare",
    demand="If there is a `base`, it declares every fluent.",
    why="Systems that trust `base` never see the others.",
    source=VALIDATOR,
    bad="(base (lamp on))\n(init (lamp on))\n(init (step 1))",
    good="(base (lamp on))\n(base (step 1))\n(init (lamp on))\n(init (step 1))",
)
_UNDECLARED_MOVE: Final = Code(
    "undeclared-move",
    Severity.WARNING,
    "a move that input does not declare",
    demand="If there is an `input`, it declares every move.",
    why="Systems that trust `input` never make the others.",
    source=VALIDATOR,
    bad="(role x)\n(input x go)\n(legal x go)\n(legal x stop)",
    good="(role x)\n(input x go)\n(input x stop)\n(legal x go)\n(legal x stop)",
)
_UNDECLARED_PERCEPT: Final = Code(
    "undeclared-percept",
    Severity.WARNING,
    "a percept that percept does not declare",
    demand="If there is a `percept`, it declares every percept.",
    why="A player that trusts `percept` does not know what the others mean; most often a name is misspelt.",
    source=GDL2,
    bad="(role x)\n(init dark)\n(percept x bell)\n(<= (sees x bel) (true dark))",
    good="(role x)\n(init dark)\n(percept x bell)\n(<= (sees x bell) (true dark))",
)


@check(_UNDECLARED_FLUENT, _UNDECLARED_MOVE, _UNDECLARED_PERCEPT)
def _undeclared(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report what is written, can be legal or is seen, where none of its kind is declared."""
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
    """Return the declared name that one is nearly, with as many arguments; nothing if there is none."""
    return nearest(key[0], [name for name, arity in declared if arity == key[1]]) or ""


def _first(sheet: Sheet, key: Key) -> Span | None:
    rule = sheet.heads[key][0]
    return span_of(rule.head, rule)


_IDLE_DECLARATION: Final = Code(
    "idle-declaration",
    Severity.WARNING,
    "a declaration by name of what never becomes true, or is never legal",
    demand="What `base` or `input` names, some `init`, `next` or `legal` can make.",
    why="Who names a value means it to be there: the rule that makes it is missing, or says another one.",
    source=PRACTICE,
    bad="(base (lamp on))\n(base (lamp off))\n(init (lamp off))\n(<= (next (lamp off)) (true (lamp off)))",
    good="(base (lamp on))\n(base (lamp off))\n(init (lamp off))\n(<= (next (lamp on)) (true (lamp off)))",
)
#: What declares, what that is read by, and how it comes to be.
_READ: Final = (
    (("base", 1), ("true", 1), "no `init` and no `next` makes it true"),
    (("input", 2), ("does", 2), "no `legal` allows it"),
)


@check(_IDLE_DECLARATION)
def _idle_declaration(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report declared fluents and moves with a constant that never stands there."""
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
    """Return whether a declaration names what never is true, or done, where others of its kind are.

    Numbers that facts declare are more than may be needed.
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


_UNDEFINED_RELATION: Final = Code(
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


@check(_UNDEFINED_RELATION)
def _undefined_relation(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report each relation that bodies read and nothing makes."""
    for key, atoms in sheet.reads.items():
        if key not in sheet.heads and KEYWORDS.get(key[0]) != key[1]:
            more = len(atoms) - 1
            notes = [Note(f"and {more} more time{'s' * (more > 1)}")] if more else []
            yield _UNDEFINED_RELATION.found(
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
