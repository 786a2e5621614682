"""Explanations: derivations of atoms that hold, and failed attempts to derive atoms that do not hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anygame.analysis.groups import grouped
from anygame.analysis.normal import bound_by_literals, substitute_atom
from anygame.datalog.derivations import Attempt, Derivation, Failure
from anygame.errors import LimitError
from anygame.language.rules import And, Atom, Distinct, Literal, Not, Or, atoms_in, map_terms
from anygame.language.terms import Variable, substitute
from anygame.language.unification import apply, match_all, measure, unify_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.analysis.normal import NormalRule
    from anygame.datalog.reasoner import Move, Reasoner
    from anygame.datalog.schema import Frame
    from anygame.language.rules import Formula
    from anygame.language.terms import Term

Bindings = dict["Variable", "Term"]
#: Parts of a body that hold together; each comes with the bindings of all parts so far.
Held = tuple[tuple["Formula", Bindings], ...]
#: The numbers of the recursive component and of the round that derive an atom; None without recursion.
Stage = tuple[int, int] | None
#: The stage of facts, before all rounds.
_GIVEN = (-1, 0)


@dataclass(slots=True)
class _Level:
    """A level of a depth-first search: a part of a body, its candidate bindings, and the remaining parts."""

    item: Formula
    rest: list[Formula]
    bindings: Bindings
    held: Held
    candidates: Iterator[Bindings]
    held_once: bool = False


class Explainer:
    """Explains atoms in one state, optionally with a joint move."""

    def __init__(self, reasoner: Reasoner, frame: Frame, joint: Sequence[Move] | None) -> None:
        self._reasoner = reasoner
        self._frame = frame if joint is None else reasoner.action_frame(frame, joint)
        self._found: dict[Atom, list[tuple[Term, ...]]] = {}
        # Facts come before rules, so that no derivation depends on itself.
        facts_first = sorted(reasoner.rules, key=lambda rule: bool(rule.body))
        self._by_head = grouped((rule.head.key, rule) for rule in facts_first)
        self._rounds: dict[int, dict[Atom, int]] = {}
        self._bounds = reasoner.strategy
        self._steps_left = self._bounds.explanation_steps
        self._text_left = self._bounds.explanation_characters

    def derive(self, atom: Atom) -> Derivation:
        """Return a derivation of an atom that holds; of several matches, the first match in text order."""
        return self._derive(Atom(atom.predicate, next(self._facts_like(atom))), set(), 0)

    def _derive(self, atom: Atom, shown: set[Atom], depth: int) -> Derivation:
        text = self._text(Literal(atom), {})
        if atom.predicate == "true":
            return Derivation(text, "state")
        if atom.predicate == "does":
            return Derivation(text, "move")
        if atom in shown:
            return Derivation(text, "shown")
        if depth > self._bounds.explanation_depth:
            return Derivation(text, "deeper")
        shown.add(atom)
        before = self._stage(atom)
        for rule in self._by_head.get(atom.key, []):
            place = rule.origin.span.place if rule.origin.span else ""
            bindings: Bindings = {}
            if not match_all(rule.head.arguments, atom.arguments, bindings):
                continue
            if not rule.body:
                return Derivation(text, "fact", place)
            levels = self._search(list(rule.body), bindings, before)
            solution = next((found for level, found in levels if not level.rest and found is not None), None)
            if solution is not None:
                premises = [self._premise(item, solution, before, shown, depth) for item in rule.body]
                return Derivation(text, "rule", place, tuple(premises))
        raise LimitError(
            f"no derivation of {text} found within {self._bounds.explanation_steps} steps",
            limit="steps",
            bound=self._bounds.explanation_steps,
        )

    def _premise(
        self, item: Formula, bindings: Bindings, before: Stage, shown: set[Atom], depth: int
    ) -> Derivation:
        if isinstance(item, Literal):
            return self._derive(substitute_atom(item.atom, bindings), shown, depth + 1)
        if isinstance(item, Or):
            # Alternatives without relations give the shortest derivation.
            for part in sorted(item.formulas, key=lambda part: any(True for _ in atoms_in([part]))):
                if self._test(part, bindings, before):
                    return self._premise(part, bindings, before, shown, depth)
        if isinstance(item, And):
            parts = tuple(self._premise(part, bindings, before, shown, depth) for part in item.formulas)
            return Derivation(self._text(item, bindings), "rule", "", parts)
        reason = "distinct" if isinstance(item, Distinct) else "absent"
        return Derivation(self._text(item, bindings), reason)

    def _text(self, item: Formula, bindings: Bindings) -> str:
        """Return a formula as text; raise LimitError if the whole explanation has too many characters."""

        def bound(term: Term) -> Term:
            value = apply(term, bindings)
            self._text_left -= len(str(value))
            if self._text_left < 0:
                raise _too_much("the explanation", self._bounds.explanation_characters)
            return value

        return str(map_terms(item, bound))

    def fail(self, atom: Atom) -> Failure | None:
        """Return why no rule or fact derives an atom; None if the atom holds."""
        if next(self._facts_like(atom), None) is not None:
            return None
        attempts = []
        for rule in self._by_head.get(atom.key, []):
            own = set(rule.head.variables()) | bound_by_literals(rule.body)
            apart = {v: Variable(f"{v.name} '") for v in atom.variables() if v in own}
            asked = [substitute(term, apart) for term in atom.arguments]
            unified = unify_all(zip(rule.head.arguments, asked, strict=True), {})
            if unified is not None and rule.body:
                measured = measure(unified, unified)
                most = self._bounds.instance_characters
                if measured is None or measured[0] > most:
                    raise _too_much(f"an instance of a rule for {atom.predicate}", most)
                attempts.append(self._attempt(rule, unified))
        return Failure(str(atom), tuple(attempts))

    def _attempt(self, rule: NormalRule, bindings: Bindings) -> Attempt:
        best: _Level | None = None
        for level, extended in self._search(list(rule.body), bindings):
            if self._steps_left <= 0:
                break
            is_stuck = extended is None and not level.held_once
            if is_stuck and (best is None or len(level.held) > len(best.held)):
                best = level
        if best is None:
            most = self._bounds.explanation_steps
            raise LimitError(
                f"explaining why {rule.head} fails takes more than {most} steps", limit="steps", bound=most
            )
        place = rule.origin.span.place if rule.origin.span else ""
        shown = tuple([self._text(item, known) for item, known in best.held])
        text = str(rule.origin)
        self._text_left -= len(text)
        return Attempt(text, place, shown, self._text(best.item, best.bindings))

    def _search(
        self, items: list[Formula], bindings: Bindings, before: Stage = None
    ) -> Iterator[tuple[_Level, Bindings | None]]:
        """Search depth first for bindings of a body.

        Yields pairs of a level and bindings for which all parts up to the level hold. The last pair of each
        level contains None instead of bindings.
        """
        # Iterative, because the number of parts can exceed the recursion limit of CPython.
        stack = [self._level(items, bindings, (), before)]
        while stack:
            level = stack[-1]
            extended = next(level.candidates, None)
            if extended is None:
                stack.pop()
            else:
                level.held_once = True
                if level.rest:
                    held = (*level.held, (level.item, extended))
                    stack.append(self._level(level.rest, extended, held, before))
            yield level, extended

    def _level(self, items: list[Formula], bindings: Bindings, held: Held, before: Stage) -> _Level:
        item, rest = self._choose(items, bindings)
        return _Level(item, rest, bindings, held, self._candidates(item, bindings, before))

    def _choose(self, items: list[Formula], bindings: Bindings) -> tuple[Formula, list[Formula]]:
        """Return the part that is cheapest to search next, and all other parts.

        Parts without unbound variables come first, then literals of small relations, then tests.
        """

        def rank(item: Formula) -> tuple[int, int]:
            unbound = sum(1 for variable in set(item.variables()) if not apply(variable, bindings).is_ground)
            if unbound == 0:
                return 0, 0
            if not isinstance(item, Literal):
                return 3, 0
            touched = unbound < len(set(item.variables())) or not item.atom.arguments
            return (1 if touched else 2), self._reasoner.size(self._frame, item.atom.key)

        best = min(items, key=rank)
        return best, [item for item in items if item is not best]

    def _candidates(self, item: Formula, bindings: Bindings, before: Stage) -> Iterator[Bindings]:
        self._steps_left -= 1
        if self._steps_left <= 0:
            return
        if not isinstance(item, Literal):
            if self._test(item, bindings, before):
                yield bindings
            return
        atom = substitute_atom(item.atom, bindings)
        for arguments in self._facts_like(atom):
            extended = dict(bindings)
            self._steps_left -= 1
            fits = match_all(atom.arguments, arguments, extended)
            if fits and self._is_earlier(Atom(atom.predicate, arguments), before):
                yield extended

    def _test(
        self, item: Formula, bindings: Bindings, before: Stage = None, *, is_negated: bool = False
    ) -> bool:
        """Return whether a formula holds; positive atoms must be derived before ``stage``."""
        if isinstance(item, Literal):
            atom = substitute_atom(item.atom, bindings)
            holds = next(self._facts_like(atom), None) is not None
            return holds and (is_negated or self._is_earlier(atom, before))
        if isinstance(item, Not):
            return not self._test(item.formula, bindings, before, is_negated=not is_negated)
        if isinstance(item, Distinct):
            return apply(item.left, bindings) is not apply(item.right, bindings)
        assert isinstance(item, (And, Or))
        parts = (self._test(part, bindings, before, is_negated=is_negated) for part in item.formulas)
        return any(parts) if isinstance(item, Or) else all(parts)

    def _facts_like(self, atom: Atom) -> Iterator[tuple[Term, ...]]:
        """Yield the arguments of all facts that match an atom, sorted by text."""
        facts = self._found.get(atom)
        if facts is None:
            matching = [
                arguments
                for arguments in self._reasoner.matching(self._frame, atom)
                if match_all(atom.arguments, arguments, {})
            ]
            facts = self._found[atom] = sorted(matching, key=lambda row: tuple(map(str, row)))
        return iter(facts)

    def _is_earlier(self, atom: Atom, before: Stage) -> bool:
        """Return whether an atom was derived before a stage, so that its derivation cannot be circular."""
        stage = None if before is None else self._stage(atom)
        return before is None or stage is None or stage < before

    def _stage(self, atom: Atom) -> Stage:
        """Return the recursive component and the round that derive an atom; None without recursion."""
        makers = self._reasoner.makers(atom)
        for component in makers:
            if component.number not in self._rounds:
                self._rounds[component.number] = self._reasoner.rounds(self._frame, component)
            round_number = self._rounds[component.number].get(atom)
            if round_number is not None:
                return component.number, round_number
        return _GIVEN if makers else None


def _too_much(what: str, most: int) -> LimitError:
    return LimitError(f"{what} takes more than {most:,} characters", limit="text", bound=most)
