"""Rules, alternatives and negations that can never hold, by the possible values of arguments."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import Code, check, codes_of
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
    from anygame.doctor.sheet import Key, Sheet
    from anygame.doctor.unfounded import Item, Unfounded
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule
    from anygame.language.source import Node, Span
    from anygame.language.terms import Term

_CODES: Final = codes_of(__name__)

_SHOWN: Final = 6
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
#: Minimum letters of a name that does not fit its place, so that even short names are compared.
_SHORTEST: Final = 3
Places = dict[Variable, list[tuple[frozenset["Top"], Atom]]]

_NEVER_FIRES: Final = _CODES["never-fires"]
_DEAD_ALTERNATIVE: Final = _CODES["dead-alternative"]
_UNWRITTEN_FLUENT: Final = _CODES["unwritten-fluent"]
_UNKNOWN_MOVE: Final = _CODES["unknown-move"]
_IDLE_NEGATION: Final = _CODES["idle-negation"]
_NEVER_STARTS: Final = _CODES["never-starts"]

#: Relations without which no fluent is ever true.
_WRITERS: Final = (("init", 1), ("next", 1))
_OF_NAMES: Final = (_UNWRITTEN_FLUENT, _UNKNOWN_MOVE)


@dataclass(frozen=True, slots=True)
class _Reason:
    """The reason why an atom or a body can never hold.

    Attributes:
        code: the code to report; None if the cause is elsewhere.
        message: the end of the message.
        span: the place of the cause.
        hint: a possible correction.
        atoms: the atoms that cannot hold, or cannot hold together.
    """

    code: Code | None
    message: str
    span: Span | None
    notes: tuple[Note, ...] = ()
    hint: str = ""
    atoms: tuple[Atom, ...] = ()


@check(_NEVER_FIRES, _NEVER_STARTS, _DEAD_ALTERNATIVE, _UNWRITTEN_FLUENT, _UNKNOWN_MOVE, _IDLE_NEGATION)
def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    if not sheet.is_safe:
        return
    reasons = {id(part): _reason(sheet, part) for part in sheet.normal}
    coded = {part for part, reason in reasons.items() if reason is not None and reason.code is not None}
    unstarted = unfounded(sheet, lambda part: id(part) in coded)
    for number, rule in enumerate(sheet.program.rules):
        if rule.body and number not in sheet.parts:
            message = "this rule can never fire: it requires different terms to be equal"
            yield _NEVER_FIRES.found(message, rule.span, hint="mend or delete it")
    yield from _once([*_in_rules(sheet, reasons, unstarted)])
    for group in unstarted.roots:
        if _is_asked(sheet, group):
            yield _never_starts(sheet, group)


def _in_rules(sheet: Sheet, reasons: dict[int, _Reason | None], unstarted: Unfounded) -> Iterator[Diagnostic]:
    for number, parts in sheet.parts.items():
        rule = sheet.program.rules[number]
        yield from _of_rule(rule, [reasons[id(part)] for part in parts], unstarted)
        yield from _of_tests(sheet, parts, unstarted)


def _found(code: Code, message: str, reason: _Reason, rule: Rule, unstarted: Unfounded) -> Diagnostic:
    """Return a diagnostic, which follows from others if the missing relation has rules that cannot fire."""
    found = code.found(message, reason.span or rule.span, *reason.notes, hint=reason.hint)
    stalled = [unstarted.stalled.get(item_of(atom), set()) - {id(rule)} for atom in reason.atoms]
    return replace(found, follows=any(stalled))


def _once(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield each diagnostic once; for a name that is always wrong, the first with a count of the others."""
    groups: dict[object, dict[Span | None, Diagnostic]] = defaultdict(dict)
    for diagnostic in diagnostics:
        of_name = diagnostic.code in {code.name for code in _OF_NAMES}
        key = diagnostic.code, diagnostic.message if of_name else diagnostic.span
        groups[key].setdefault(diagnostic.span, diagnostic)
    for group in groups.values():
        first, *others = group.values()
        more = Note(f"and {counted(len(others), 'more time')}")
        yield replace(first, notes=(*first.notes, more)) if others else first


def _of_rule(rule: Rule, causes: list[_Reason | None], unstarted: Unfounded) -> Iterator[Diagnostic]:
    found_causes = [cause for cause in causes if cause is not None]
    for cause in found_causes:
        if cause.code in _OF_NAMES:
            yield _found(cause.code, cause.message, cause, rule, unstarted)
    plain = [cause for cause in found_causes if cause.code is _NEVER_FIRES]
    if plain and len(found_causes) == len(causes):
        message = f"this rule can never fire: {plain[0].message}"
        yield _found(_NEVER_FIRES, message, plain[0], rule, unstarted)
    elif plain:
        for cause in plain:
            message = f"this alternative can never hold: {cause.message}"
            yield _found(_DEAD_ALTERNATIVE, message, cause, rule, unstarted)


def _of_tests(sheet: Sheet, parts: Iterable[NormalRule], unstarted: Unfounded) -> Iterator[Diagnostic]:
    """Report faults of negations, and of disjunctions that only test."""
    for part in parts:
        for item in part.body:
            if isinstance(item, Not | Or):
                for atom, positive in atoms_in((item,)):
                    reason = _reason_of_atom(sheet, atom, part.origin, defaultdict(list))
                    if reason is None or not reason.code:
                        continue
                    code, message = reason.code, reason.message
                    if code is _NEVER_FIRES and positive:
                        code, message = _DEAD_ALTERNATIVE, f"this alternative can never hold: {message}"
                    elif code is _NEVER_FIRES:
                        code, message = _IDLE_NEGATION, f"this negation always holds: {message}"
                    yield _found(code, message, reason, part.origin, unstarted)


def _never_starts(sheet: Sheet, group: Sequence[Item]) -> Diagnostic:
    """Report relations, fluents and moves whose rules all wait for each other."""
    # A fluent lacks an `init`; moves and relations only wait for the fluent.
    fluents = [item for item in group if item[0] == "true"]
    fluents.sort(key=lambda item: not starts_all(sheet, item, group))
    moves = [item for item in group if item[0] == "does"]
    group = [*fluents, *(item for item in group if item not in fluents)]
    (kind, key), first = group[0], _first_head(sheet, group[0])
    assert key is not None
    needs = "itself" if len(group) == 1 else "something that in turn needs it"
    message = f"{named(key)} can never hold: each of its rules needs {needs}"
    hint = "a fact, or a rule that starts it"
    if kind == "true":
        message = f"{named(key)} never becomes true: no `init` starts it, and each `next` of it needs {needs}"
        starting = [other for other in fluents if starts_all(sheet, other, group)] or fluents[:1]
        hint = " or ".join(f"(init {pattern(other)})" for _, other in starting[:3] if other)
    elif kind == "does":
        message = f"{named(key)} is never legal: each rule that allows it needs {needs}"
    if fluents and moves and moves[0][1]:
        first = _asked_at(sheet, fluents[0], group) or _first_head(sheet, moves[0])
        move = pattern(moves[0][1])
        message = (
            f"{move} is legal only where {named(key)} is true, which only {move} makes it: neither starts"
        )
        hint = f"(init {pattern(key)}), or a way to move without it"
    others = [_first_head(sheet, item) for item in group]
    notes = [Note("this needs it, too", head.span) for head in others if head is not first][:3]
    return _NEVER_STARTS.found(message, first.span, *notes, hint=hint)


def _asked_at(sheet: Sheet, fluent: Item, group: Sequence[Item]) -> Atom | None:
    """Return an atom that reads a fluent outside the rules of the fluent, in a rule that waits for it.

    A rule that reads nothing else only renames the fluent.
    """
    rules = [rule for rule in sheet.program.rules if item_of(rule.head) in group and len(rule.body) > 1]
    atoms = [atom for rule in rules if item_of(rule.head) != fluent for atom, _ in atoms_in(rule.body)]
    return next((atom for atom in atoms if item_of(atom) == fluent), None)


def _is_asked(sheet: Sheet, group: Sequence[Item]) -> bool:
    """Return whether rules outside the group read an item of it."""
    return any(
        item_of(rule.head) not in group and any(item_of(atom) in group for atom, _ in atoms_in(rule.body))
        for rule in sheet.program.rules
    )


def _first_head(sheet: Sheet, item: Item) -> Atom:
    heads = [rule.head for rule in sheet.program.rules if item_of(rule.head) == item]
    return heads[0] if heads or item[1] is None else sheet.moves_by_relation[item[1]][0]


def _reason(sheet: Sheet, part: NormalRule) -> _Reason | None:
    """Return why the body of a normal rule can never hold; None if it may hold."""
    places: Places = defaultdict(list)
    indirect: _Reason | None = None
    for item in part.body:
        if isinstance(item, Literal):
            reason = _reason_of_atom(sheet, item.atom, part.origin, places)
            if reason and reason.code:
                return reason
            indirect = indirect or reason
    if indirect:
        return indirect
    return _contradiction(part) or _disjoint(places)


def _contradiction(part: NormalRule) -> _Reason | None:
    held = {item.atom: item.atom for item in part.body if isinstance(item, Literal)}
    for item in part.body:
        if isinstance(item, Not) and isinstance(item.formula, Literal) and item.formula.atom in held:
            atom = item.formula.atom
            note = Note("it must hold here", held[atom].span)
            message = f"{shown(str(atom))} must hold and not hold"
            return _Reason(_NEVER_FIRES, message, atom.span, (note,))
        if isinstance(item, Distinct) and item.left is item.right:
            message = f"{item.left} is never distinct from itself"
            return _Reason(_NEVER_FIRES, message, span_of(item, part.origin))
    return None


def _disjoint(places: Places) -> _Reason | None:
    for variable, uses in places.items():
        common = uses[0][0]
        for tops, atom in uses[1:]:
            common &= tops
            if not common:
                first = next((use for use in uses if not use[0] & tops), uses[0])
                message = f"no value fits {variable} everywhere: here it is {_listed(tops)}"
                note = Note(f"and here it is {_listed(first[0])}", first[1].span)
                return _Reason(_NEVER_FIRES, message, atom.span, (note,), atoms=(atom, first[1]))
    return None


def _reason_of_atom(sheet: Sheet, atom: Atom, rule: Rule, places: Places) -> _Reason | None:
    """Return why an atom can never hold; add the possible values of its variables to ``places``."""
    has_facts = atom.key != ("true", 1) or not sheet.heads.keys().isdisjoint(_WRITERS)
    for term, tops, path, node, name, number in sheet.subterms(atom):
        if len(path) == 3 and not tops and has_facts:
            return _Reason(None, "", None)
        ordinal = _ORDINALS[number] if number < len(_ORDINALS) else f"{number + 1}th"
        where = f"the {ordinal} argument of {shown(name)}"
        if reason := _reason_of_term(sheet, atom, term, tops, (node, where)):
            return reason
        if isinstance(term, Variable):
            places.setdefault(term, []).append((tops, atom))
    return None


def _reason_of_term(
    sheet: Sheet, atom: Atom, term: Term, tops: frozenset[Top], place: tuple[Node | None, str]
) -> _Reason | None:
    if isinstance(term, Variable):
        return None
    top: Top = (term.functor, len(term.arguments)) if isinstance(term, Compound) else term  # type: ignore[assignment]
    if top in tops:
        return None
    node, where = place
    span = node.span if node else atom.span
    key = top if isinstance(top, tuple) else (top.name, 0)
    if where.endswith(" of true") and atom.predicate == "true":
        if key in sheet.writers:
            return _Reason(None, "", span)
        message = f"nothing ever makes the fluent {_kind(top)} true: no init, no next writes it"
        hint = _near_key(key, sheet.writers)
        if key in sheet.heads:
            hint = f"it is a relation, not a fluent: {shown(str(atom.arguments[0]))} without `true`"
        return _Reason(_UNWRITTEN_FLUENT, message, span, hint=hint, atoms=(atom,))
    if where.endswith(" of does") and where.startswith("the second") and atom.predicate == "does":
        if key in sheet.moves or key in sheet.moves_by_relation:
            return _Reason(None, "", span)
        message = f"{_kind(top)} is never legal, so that nobody ever does it"
        return _Reason(_UNKNOWN_MOVE, message, span, hint=_near_key(key, sheet.moves), atoms=(atom,))
    keys = [each if isinstance(each, tuple) else (each.name, 0) for each in tops]
    hint = _near_key(key, [each for each in keys if each[1] == key[1]])
    message = f"{where} is never {_kind(top)}, but {_listed(tops)}"
    return _Reason(_NEVER_FIRES, message, span, hint=hint, atoms=(atom,))


def _near_key(key: Key, known: Iterable[Key]) -> str:
    """Return, as a pattern, a key whose name differs in capitals or by a slip; empty if there is none."""
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
