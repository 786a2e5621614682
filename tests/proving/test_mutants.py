"""Mutants of the sheets of the package: each is told apart by a match, or is the same game."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import anygame
from anygame.errors import AnygameError
from anygame.language.rules import Atom, Not, Rule
from anygame.language.terms import Compound, Constant
from anygame.proving import equal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game import Game, State
    from anygame.language.terms import Term

#: Sheets of which a mutant is decided in some seconds, and how many of each are tried.
_SHEETS = (
    "capture_chess", "connect_four", "copolymer", "dark_hex", "hex_pie", "knights_tour", "kuhn_poker",
    "leduc_poker", "liars_dice", "lights_out", "line_chess", "monty_hall", "phantom_tic_tac_toe", "pig",
    "rock_paper_scissors", "six_in_a_row", "three_player_chomp", "tic_tac_toe",
)  # fmt: skip
_EACH, _SECONDS = 12, 10
_MATCHES, _STEPS = 20, 60


def _mutations(rules: tuple[Rule, ...], drawn: random.Random) -> Iterator[tuple[str, list[Rule]]]:
    """Yield changed sheets with what was changed."""
    constants = sorted({str(term) for rule in rules for term in _constants(rule.head)})
    while True:
        place = drawn.randrange(len(rules))
        rule, kind = rules[place], drawn.choice(["rule", "literal", "negated", "constant", "goal"])
        changed: list[Rule] = []
        if kind == "literal" and len(rule.body) > 1:
            left = drawn.randrange(len(rule.body))
            changed = [replace(rule, body=rule.body[:left] + rule.body[left + 1 :])]
        elif kind == "negated" and rule.body:
            turned = drawn.randrange(len(rule.body))
            formula = rule.body[turned]
            other = formula.formula if isinstance(formula, Not) else Not(formula)
            changed = [replace(rule, body=(*rule.body[:turned], other, *rule.body[turned + 1 :]))]
        elif kind == "constant":
            arguments = rule.head.arguments
            places = [n for n, each in enumerate(arguments) if isinstance(each, Constant)]
            if not places or rule.head.predicate == "role":
                continue
            chosen = drawn.choice(places)
            term = Constant(drawn.choice(constants))
            head = Atom(rule.head.predicate, (*arguments[:chosen], term, *arguments[chosen + 1 :]))
            changed = [replace(rule, head=head)]
        elif kind == "goal" and rule.head.predicate == "goal":
            changed = [rule, replace(rule, head=Atom("goal", (rule.head.arguments[0], Constant("7"))))]
        elif kind != "rule" or rule.head.predicate == "role":
            continue
        yield f"{kind} of {rule}", [*rules[:place], *changed, *rules[place + 1 :]]


def _constants(head: Atom) -> Iterator[Term]:
    pending = list(head.arguments)
    while pending:
        term = pending.pop()
        if isinstance(term, Constant):
            yield term
        elif isinstance(term, Compound):
            pending += term.arguments


def _mutants(name: str, count: int) -> Iterator[tuple[str, Game]]:
    """Yield mutants of a sheet that can be loaded and compiled, each with what was changed."""
    drawn = random.Random(name)
    found = 0
    for what, rules in _mutations(anygame.load(name).program.rules, drawn):
        try:
            game = anygame.loads("\n".join(map(str, rules)))
            if not game.compile(seconds=20):
                continue
        except AnygameError:
            continue
        yield what, game
        found += 1
        if found == count:
            return


def _shows(state: State) -> list[object]:
    """Return all of a state that games are compared by."""
    legal = [] if state.is_terminal else [sorted(map(str, state.legal_moves(r))) for r in state.game.roles]
    goals = [sorted(str(each["g"]) for each in state.query(f"(goal {role} ?g)")) for role in state.game.roles]
    return [state.is_terminal, legal, goals]


def _seen(state: State, joint: Sequence[object]) -> list[object]:
    """Return the percepts of each role."""
    if not state.game.is_gdl2:
        return [[] for _ in state.game.roles]
    seen = state.percepts([str(move) for move in joint])
    return [sorted(map(str, seen.get(str(role), ()))) for role in state.game.roles]


def _check(original: Game, what: str, mutant: Game, seconds: float) -> str:
    """Return what a mutant came to; play by the reasoner has to agree."""
    verdict = equal(original, mutant, seconds=seconds)
    games = [anygame.loads(str(game.program), machine="reasoner") for game in (original, mutant)]
    if verdict.outcome == "refuted":
        assert verdict.match is not None
        states = [game.initial_state() for game in games]
        seen: list[list[object]] = [[], []]
        for joint in verdict.match:
            is_same = seen[0] == seen[1] and _shows(states[0]) == _shows(states[1])
            assert not verdict.is_shortest or is_same, what
            seen = [_seen(state, joint) for state in states]
            states = [state.next(list(joint)) for state in states]
        assert seen[0] != seen[1] or _shows(states[0]) != _shows(states[1]), what
    elif verdict.outcome == "proved":
        drawn = random.Random(what)
        for _ in range(_MATCHES):
            states = [game.initial_state() for game in games]
            for _ in range(_STEPS):
                assert _shows(states[0]) == _shows(states[1]), what
                if states[0].is_terminal or states[0].stuck_role is not None:
                    break
                chosen = [drawn.choice(states[0].legal_moves(role)) for role in games[0].roles]
                assert _seen(states[0], chosen) == _seen(states[1], chosen), what
                states = [state.next(chosen) for state in states]
    return verdict.outcome


@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
@pytest.mark.parametrize("name", ["tic_tac_toe", "three_player_chomp", "monty_hall"])
def test_mutants_are_proved_equal_or_refuted(name: str) -> None:
    original = anygame.load(name)
    outcomes = [_check(original, what, mutant, 60) for what, mutant in _mutants(name, 4)]
    assert "refuted" in outcomes
    assert "open" not in outcomes


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
@pytest.mark.parametrize("name", _SHEETS)
def test_verdicts_on_many_mutants_agree_with_enumeration(name: str) -> None:
    original = anygame.load(name)
    outcomes = [_check(original, what, mutant, _SECONDS) for what, mutant in _mutants(name, _EACH)]
    print(name, *(f"{outcomes.count(each)} {each}" for each in ("refuted", "proved", "open")))
    assert len(outcomes) == _EACH
    assert "refuted" in outcomes
