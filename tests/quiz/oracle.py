"""A second reasoner: clingo answers questions from their rules, facts and moves alone."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tests.datalog.asp import model

from anygame.language.parser import parse_atom, parse_program, parse_term
from anygame.language.rules import Atom, Program

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.datalog.asp import Model

    from anygame.quiz import Question


class Oracle:
    """Answers questions about one sheet; what it was asked it remembers."""

    def __init__(self, rules: str) -> None:
        self.program = parse_program(rules)
        self.roles = [
            str(rule.head.arguments[0]) for rule in self.program.rules if rule.head.key == ("role", 1)
        ]
        self._models: dict[tuple[frozenset[str], tuple[str, ...]], Model] = {}
        self._values: dict[frozenset[str], dict[str, int]] = {}

    def model(self, facts: Iterable[str], moves: tuple[str, ...] = ()) -> Model:
        key = frozenset(facts), moves
        if key not in self._models:
            given = [Atom("true", (parse_term(fact),)) for fact in key[0]]
            made = zip(self.roles, moves, strict=False)
            given += [Atom("does", (parse_term(role), parse_term(move))) for role, move in made]
            self._models[key] = model(self.program, given)
        return self._models[key]

    def answer(self, question: Question) -> set[str]:
        """Return the answer of a question that has one."""
        found = self.model(question.facts, question.moves)
        if question.kind == "legal":
            return {move for role, move in found.get(("legal", 2), ()) if role == question.role}
        if question.kind == "next":
            return {fact for (fact,) in found.get(("next", 1), ())}
        if question.kind == "terminal":
            return {"yes" if found.get(("terminal", 0)) else "no"}
        if question.kind == "goal":
            return {goal for role, goal in found.get(("goal", 2), ()) if role == question.role} or {"none"}
        assert question.kind == "winner"
        return {str(self.value(frozenset(question.facts))[question.role])}

    def value(self, facts: frozenset[str]) -> dict[str, int]:
        """Return the goal of each role under best play, of games in which one role at a time has a choice."""
        if facts not in self._values:
            found = self.model(facts)
            if found.get(("terminal", 0)):
                self._values[facts] = {role: int(goal) for role, goal in found[("goal", 2)]}
            else:
                legal = [[move for who, move in found[("legal", 2)] if who == role] for role in self.roles]
                choosing = [role for role, moves in zip(self.roles, legal, strict=True) if len(moves) > 1]
                assert len(choosing) <= 1
                followers = [
                    frozenset(fact for (fact,) in self.model(facts, moves).get(("next", 1), ()))
                    for moves in product(*legal)
                ]
                mover = choosing[0] if choosing else self.roles[0]
                self._values[facts] = max(map(self.value, followers), key=lambda values: values[mover])
        return self._values[facts]

    def confirms(self, question: Question) -> bool:
        """Return whether the conditions of an answer hold, and with one rule give the atom that is asked."""
        found = self.model(question.facts, question.moves)
        head = parse_atom(question.atom)
        given = []
        for text in question.answer:
            if text.startswith("(not "):
                if _holds(found, parse_atom(text[5:-1])):
                    return False
            elif text.startswith("(distinct "):
                left, right = text[10:-1].split()
                assert left != right
            else:
                given.append(parse_atom(text))
                if not _holds(found, given[-1]):
                    return False
        # What is no condition is false here: the conditions are enough, and each negation is one of them.
        rules = Program(tuple(rule for rule in self.program.rules if rule.head.key == head.key and rule.body))
        return _holds(model(rules, given), head)


def _holds(found: Model, atom: Atom) -> bool:
    return tuple(map(str, atom.arguments)) in found.get(atom.key, ())
