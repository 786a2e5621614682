"""Rules and alternatives that can never hold, and negations that always hold."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import CODES, check
from anygame.doctor.sheet import named, pattern, span_of
from anygame.doctor.spelling import nearest
from anygame.doctor.unfounded import item_of, starts_all, unfounded
from anygame.language.diagnostics import Note, counted, shown
from anygame.language.rules import Atom, Distinct, Literal, Not, Or, atoms_in
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.analysis.domains import Top
    from anygame.analysis.normal import NormalRule
    from anygame.doctor.sheet import Key, Sheet, Subterm
    from anygame.doctor.unfounded import Item, Unfounded
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.source import Span


#: Maximum number of values that a message lists.
_SHOWN: Final = 6
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
#: Minimum length of names for which a hint suggests a similar name.
_SHORTEST: Final = 3
#: The atoms that read each variable, each with the values that the atom allows.
Uses = dict[Variable, list[tuple[frozenset["Top"], Atom]]]
_OF_NAMES: Final = ("unwritten-fluent", "unknown-move")


@dataclass(frozen=True, slots=True)
class _Reason:
    """The reason why an atom or a body can never hold."""

    #: The code to report; an empty string if the cause is in another rule.
    code: str
    message: str
    span: Span | None
    notes: tuple[Note, ...] = ()
    hint: str = ""
    #: The atoms that cannot hold, alone or together.
    atoms: tuple[Atom, ...] = ()


@check("never-fires", "never-starts", "dead-alternative", "unwritten-fluent", "unknown-move", "idle-negation")
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.is_safe:
        return
    reasons = {id(part): _reason(sheet, part) for part in sheet.normal}
    coded = {part for part, reason in reasons.items() if reason is not None and reason.code}
    unstarted = unfounded(sheet, lambda part: id(part) in coded)
    for number, rule in enumerate(sheet.program.rules):
        if rule.body and number not in sheet.parts:
            message = "this rule can never fire: it requires different terms to be equal"
            yield CODES["never-fires"].found(message, rule.span, hint="correct or delete the rule")
    diagnostics: list[Diagnostic] = []
    for number, parts in sheet.parts.items():
        rule = sheet.program.rules[number]
        diagnostics += _of_rule(rule, [reasons[id(part)] for part in parts], unstarted)
        diagnostics += _of_tests(sheet, parts, unstarted)
    yield from _once(diagnostics)
    for group in unstarted.roots:
        if _is_read_elsewhere(sheet, group):
            yield _never_starts(sheet, group)


def _diagnostic(code: str, message: str, reason: _Reason, rule: Rule, unstarted: Unfounded) -> Diagnostic:
    """Return a diagnostic, marked as a consequence if another rule for one of the atoms cannot fire."""
    diagnostic = CODES[code].found(message, reason.span or rule.span, *reason.notes, hint=reason.hint)
    stalled = [unstarted.stalled.get(item_of(atom), set()) - {id(rule)} for atom in reason.atoms]
    return replace(diagnostic, follows=any(stalled))


def _once(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield one diagnostic per place, and only one per wrong name, with the number of further places."""
    groups: dict[object, dict[Span | None, Diagnostic]] = defaultdict(dict)
    for diagnostic in diagnostics:
        key = diagnostic.code, diagnostic.message if diagnostic.code in _OF_NAMES else diagnostic.span
        groups[key].setdefault(diagnostic.span, diagnostic)
    for group in groups.values():
        first, *others = group.values()
        more = Note(f"and {counted(len(others), 'more time')}")
        yield replace(first, notes=(*first.notes, more)) if others else first


def _of_rule(rule: Rule, reasons: list[_Reason | None], unstarted: Unfounded) -> Iterator[Diagnostic]:
    known = [reason for reason in reasons if reason is not None]
    for reason in known:
        if reason.code in _OF_NAMES:
            yield _diagnostic(reason.code, reason.message, reason, rule, unstarted)
    dead = [reason for reason in known if reason.code == "never-fires"]
    if dead and len(known) == len(reasons):
        message = f"this rule can never fire: {dead[0].message}"
        yield _diagnostic("never-fires", message, dead[0], rule, unstarted)
    else:
        for reason in dead:
            message = f"this alternative can never hold: {reason.message}"
            yield _diagnostic("dead-alternative", message, reason, rule, unstarted)


def _of_tests(sheet: Sheet, parts: Iterable[NormalRule], unstarted: Unfounded) -> Iterator[Diagnostic]:
    """Report negations that always hold, and alternatives inside negations that never hold."""
    for part in parts:
        for item in part.body:
            if isinstance(item, Not | Or):
                for atom, positive in atoms_in((item,)):
                    reason = _reason_of_atom(sheet, atom, {})
                    if reason is None or not reason.code:
                        continue
                    code, message = reason.code, reason.message
                    if code == "never-fires" and positive:
                        code, message = "dead-alternative", f"this alternative can never hold: {message}"
                    elif code == "never-fires":
                        code, message = "idle-negation", f"this negation always holds: {message}"
                    yield _diagnostic(code, message, reason, part.origin, unstarted)


def _never_starts(sheet: Sheet, group: Sequence[Item]) -> Diagnostic:
    # If a group has a fluent, the fault is usually a missing `init` of the fluent, so fluents come first.
    fluents = [item for item in group if item[0] == "true"]
    fluents.sort(key=lambda item: not starts_all(sheet, item, group))
    moves = [item for item in group if item[0] == "does"]
    group = [*fluents, *(item for item in group if item not in fluents)]
    (kind, key), first = group[0], _first_head(sheet, group[0])
    assert key is not None
    needs = "it" if len(group) == 1 else "a fluent, move or relation that in turn needs it"
    message = f"{named(key)} can never hold: each of its rules needs {needs}"
    hint = "add a fact, or a rule that does not need the relation"
    if kind == "true":
        message = f"{named(key)} never becomes true: it has no `init`, and each `next` for it needs {needs}"
        starting = [other for other in fluents if starts_all(sheet, other, group)] or fluents[:1]
        hint = " or ".join(f"(init {pattern(other)})" for _, other in starting[:3] if other)
    elif kind == "does":
        message = f"{named(key)} is never legal: each rule that allows it needs {needs}"
    if fluents and moves and moves[0][1]:
        first = _asked_at(sheet, fluents[0], group) or _first_head(sheet, moves[0])
        move = pattern(moves[0][1])
        message = f"{move} is legal only if {named(key)} is true, and only {move} makes it true"
        hint = f"(init {pattern(key)}), or a legal move that does not need the fluent"
    heads = [_first_head(sheet, item) for item in group]
    notes = [Note("this rule needs it, too", head.span) for head in heads if head is not first][:3]
    return CODES["never-starts"].found(message, first.span, *notes, hint=hint)


def _asked_at(sheet: Sheet, fluent: Item, group: Sequence[Item]) -> Atom | None:
    """Return the first atom that reads a fluent in rules for the other items of the fluent's group."""
    # Rules with one condition are skipped, because they only rename the fluent.
    rules = [rule for rule in sheet.program.rules if item_of(rule.head) in group and len(rule.body) > 1]
    atoms = [atom for rule in rules if item_of(rule.head) != fluent for atom, _ in atoms_in(rule.body)]
    return next((atom for atom in atoms if item_of(atom) == fluent), None)


def _is_read_elsewhere(sheet: Sheet, group: Sequence[Item]) -> bool:
    return any(
        item_of(rule.head) not in group and any(item_of(atom) in group for atom, _ in atoms_in(rule.body))
        for rule in sheet.program.rules
    )


def _first_head(sheet: Sheet, item: Item) -> Atom:
    heads = [rule.head for rule in sheet.program.rules if item_of(rule.head) == item]
    return heads[0] if heads or item[1] is None else sheet.moves_by_relation[item[1]][0]


def _reason(sheet: Sheet, part: NormalRule) -> _Reason | None:
    uses: Uses = {}
    indirect: _Reason | None = None
    for item in part.body:
        if isinstance(item, Literal):
            reason = _reason_of_atom(sheet, item.atom, uses)
            if reason and reason.code:
                return reason
            indirect = indirect or reason
    return indirect or _contradiction(part) or _disjoint(uses)


def _contradiction(part: NormalRule) -> _Reason | None:
    held = {item.atom: item.atom for item in part.body if isinstance(item, Literal)}
    for item in part.body:
        if isinstance(item, Not) and isinstance(item.formula, Literal) and item.formula.atom in held:
            atom = item.formula.atom
            note = Note("here it must hold", held[atom].span)
            message = f"{shown(str(atom))} must both hold and not hold"
            return _Reason("never-fires", message, atom.span, (note,))
        if isinstance(item, Distinct) and item.left is item.right:
            message = f"{item.left} is never distinct from itself"
            return _Reason("never-fires", message, span_of(item, part.origin))
    return None


def _disjoint(uses_of: Uses) -> _Reason | None:
    """Return a reason if a variable has no value that all atoms with the variable allow."""
    for variable, uses in uses_of.items():
        common = uses[0][0]
        for tops, atom in uses[1:]:
            common &= tops
            if not common:
                first = next((use for use in uses if not use[0] & tops), uses[0])
                message = f"no value of {variable} fits all literals: here it can only be {_listed(tops)}"
                note = Note(f"here {variable} can only be {_listed(first[0])}", first[1].span)
                return _Reason("never-fires", message, atom.span, (note,), atoms=(atom, first[1]))
    return None


def _reason_of_atom(sheet: Sheet, atom: Atom, uses: Uses) -> _Reason | None:
    """Return why an atom can never hold, or None; add the atom to the uses of its variables."""
    has_facts = atom.key != ("true", 1) or bool(sheet.writers)
    for subterm in sheet.subterms(atom):
        if len(subterm.path) == 3 and not subterm.tops and has_facts:
            return _Reason("", "", None)
        if isinstance(subterm.term, Variable):
            uses.setdefault(subterm.term, []).append((subterm.tops, atom))
        elif reason := _reason_of_subterm(sheet, atom, subterm):
            return reason
    return None


def _reason_of_subterm(sheet: Sheet, atom: Atom, subterm: Subterm) -> _Reason | None:
    """Return why an atom with this subterm can never hold, or None; the subterm is no variable."""
    term, tops, _, node, name, number = subterm
    top: Top = (term.functor, len(term.arguments)) if isinstance(term, Compound) else term  # type: ignore[assignment]
    if top in tops:
        return None
    span = node.span if node else atom.span
    key = top if isinstance(top, tuple) else (top.name, 0)
    if name == atom.predicate == "true":
        if key in sheet.writers:
            return _Reason("", "", span)
        message = f"the fluent {_kind(top)} never becomes true: no `init` or `next` defines it"
        hint = _near_key(key, sheet.writers)
        if key in sheet.heads:
            hint = f"this is a relation, not a fluent: write {shown(str(atom.arguments[0]))} without `true`"
        return _Reason("unwritten-fluent", message, span, hint=hint, atoms=(atom,))
    if name == atom.predicate == "does" and number == 1:
        if key in sheet.moves or key in sheet.moves_by_relation:
            return _Reason("", "", span)
        message = f"the move {_kind(top)} is never legal"
        return _Reason("unknown-move", message, span, hint=_near_key(key, sheet.moves), atoms=(atom,))
    keys = [each if isinstance(each, tuple) else (each.name, 0) for each in tops]
    hint = _near_key(key, [each for each in keys if each[1] == key[1]])
    ordinal = _ORDINALS[number] if number < len(_ORDINALS) else f"{number + 1}th"
    message = f"the {ordinal} argument of {shown(name)} is never {_kind(top)}; it can only be {_listed(tops)}"
    return _Reason("never-fires", message, span, hint=hint, atoms=(atom,))


def _near_key(key: Key, known: Iterable[Key]) -> str:
    """Return the pattern of a known key with a similar name; an empty string if there is none."""
    by_name = {other[0]: other for other in known}
    same = sorted((name != key[0], name) for name in by_name if name.lower() == key[0].lower())
    near = same[0][1] if same else nearest(key[0], by_name, _SHORTEST, is_stray=True)
    return _kind(by_name[near] if by_name[near][1] else Constant(near)) if near else ""


def _kind(top: Top) -> str:
    return f"({shown(top[0])}{' ?' * top[1]})" if isinstance(top, tuple) else shown(str(top))


def _listed(tops: Iterable[Top]) -> str:
    names = sorted(map(_kind, tops), key=lambda text: (not text.isdigit(), len(text) * text.isdigit(), text))
    if len(names) > _SHOWN:
        return f"one of {', '.join(names[:_SHOWN])} ... ({len(names)} in all)"
    return " or ".join(names) if names else "nothing"
