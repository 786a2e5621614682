"""Games as answer set programs: clingo finds the plays that the reasoner finds."""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING, Final

import pytest
from tests.examples import examples
from tests.network.random_rules import sheets_with_percepts
from tests.proving.sheets import GOALS, NAMES, NIM, ROADS, TRAP

import anygame
from anygame.proving.exports import export_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    import clingo
else:
    clingo = pytest.importorskip("clingo")

SHEETS: Final = {"nim": NIM, "trap": TRAP, "goals": GOALS, "names": NAMES, "roads": ROADS}
#: Relations with a name and one argument more, and what would be taken for variables or the number of steps.
CLASHES: Final = """
(role me) (init (at 1)) (p a b 0) (p a b 1) (<= (p ?t ?T) (true (at ?T)) (q ?t)) (q c) (depth) (init depth)
(<= (legal me (pick ?T ?t)) (p ?T ?t ?v_1) (p ?x ?y)) (<= (legal me (pick ?V ?v)) (p ?v ?V))
(<= (next (at 2)) (does me (pick ?a b))) (<= (next (at 1)) (does me (pick 1 c)) depth)
(<= terminal (true (at 2)) (not (p b))) (goal me 100)
"""


def plays(state: anygame.State, depth: int) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield the joint moves of each play of at most so many that does not get stuck."""
    if state.is_terminal or not depth:
        yield ()
        return
    for joint in product(*map(state.legal_moves, state.game.roles)):
        for rest in plays(state.next(joint), depth - 1):
            yield (tuple(map(str, joint)), *rest)


def read_back(text: str) -> dict[str, str]:
    """Return what the comments say of names that are written in another way."""
    return dict(re.findall(r"^% (\S+) is (.*)$", text, re.MULTILINE))


def kif(symbol: clingo.Symbol, names: dict[str, str]) -> str:
    if symbol.type == clingo.SymbolType.Number:
        return str(symbol.number)
    name = names.get(symbol.name, symbol.name)
    return f"({name} {' '.join(kif(part, names) for part in symbol.arguments)})" if symbol.arguments else name


def answer_sets(text: str) -> Iterator[dict[str, set[tuple[str, ...]]]]:
    """Yield the relations of each answer set, as KIF; the last argument of those of states is the step."""
    control = clingo.Control(["--models=0", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    names = read_back(text)
    with control.solve(yield_=True) as found:
        for model in found:
            relations: dict[str, set[tuple[str, ...]]] = {}
            for symbol in model.symbols(atoms=True):
                row = tuple(kif(part, names) for part in symbol.arguments)
                relations.setdefault(names.get(symbol.name, symbol.name), set()).add(row)
            yield relations


def check_play(game: anygame.Game, found: dict[str, set[tuple[str, ...]]]) -> tuple[tuple[str, ...], ...]:
    """Compare a play with the reasoner's, state by state; return its joint moves."""
    joints = []
    state = game.initial_state()
    for step in range(len(found["_reached"])):

        def rows(name: str, step: int = step) -> set[tuple[str, ...]]:
            return {row[:-1] for row in found.get(name, ()) if row[-1] == str(step)}

        assert rows("true") == {(str(fact),) for fact in state.facts}
        assert rows("legal") == {(str(r), str(m)) for r in game.roles for m in state.legal_moves(r)}
        assert bool(rows("terminal")) == state.is_terminal
        assert rows("goal") == {
            (str(role), str(row["v"])) for role in game.roles for row in state.query(f"(goal {role} ?v)")
        }
        if (str(step),) not in found.get("_moved", ()):
            break
        moves = {role: move for role, move in rows("does")}  # noqa: C416 - rows have any length for mypy
        joint = [moves[str(role)] for role in game.roles]
        seen = state.percepts(joint)
        assert rows("sees") == {(str(role), str(what)) for role in game.roles for what in seen[role]}
        joints.append(tuple(joint))
        state = state.next(joint)
    return tuple(joints)


@pytest.mark.parametrize(
    ("sheet", "depth"),
    [
        *((NIM, depth) for depth in range(5)),
        *((TRAP, depth) for depth in range(3)),
        (GOALS, 2),
        (NAMES, 2),
        (ROADS, 2),
        (CLASHES, 2),
        ("monty_hall", 3),
        ("tic_tac_toe", 2),
        ("rock_paper_scissors", 2),
        ("lights_out", 2),
        ("phantom_tic_tac_toe", 2),
        ("kuhn_poker", 2),
        ("copolymer", 1),
    ],
)
def test_each_answer_set_is_a_play(sheet: str, depth: int) -> None:
    load = anygame.loads if sheet.lstrip().startswith("(") else anygame.load
    game = load(sheet, machine="reasoner")
    wanted = sorted(plays(game.initial_state(), depth))
    found = sorted(check_play(game, each) for each in answer_sets(export_text(game, "asp", depth=depth)))
    assert found == wanted


@pytest.mark.parametrize("seed", range(examples(6)))
def test_answer_sets_of_random_rules_are_plays(seed: int) -> None:
    for _, text in sheets_with_percepts([seed]):
        game = anygame.loads(text, machine="reasoner")
        for found in islice(answer_sets(export_text(game, "asp", depth=2)), 3):
            check_play(game, found)


@pytest.mark.parametrize("role", ["first", "second"])
def test_plays_that_end_with_a_goal(role: str) -> None:
    game = anygame.loads(NIM)
    wanted = []
    for play in plays(game.initial_state(), 4):
        state = game.initial_state()
        for joint in play:
            state = state.next(joint)
        wanted += [play] * (state.is_terminal and state.goal(role) == 100)
    text = export_text(game, "asp", depth=4, role=role, goal=100)
    assert sorted(check_play(game, each) for each in answer_sets(text)) == sorted(wanted)
    assert wanted


def test_a_puzzle_is_solved() -> None:
    game = anygame.load("lights_out")
    assert not list(answer_sets(export_text(game, "asp", depth=1, goal=100)))


def test_a_relation_like_an_auxiliary_one_is_another() -> None:
    game = anygame.loads("(role x) (_moved 0) (_won) (<= (legal x a) (_moved 1)) (legal x b) (goal x 1)")
    text = export_text(game, "asp", depth=1, goal=100)
    assert "n'_moved(0)" in text
    assert not list(answer_sets(text))


def test_too_many_alternatives_are_refused() -> None:
    either = " ".join(f"(or (p {n}) (and (q {n}) (q a)))" for n in range(13))
    rule = f"(<= (next f) (p ?x) (or (q ?x) (and {either})))"
    sheet = f"(role x) (p a) (q b) (legal x m) (goal x 1) {rule}"
    game = anygame.loads(sheet)
    with pytest.raises(anygame.LimitError, match="expands to more than 4,096 rules"):
        export_text(game, "asp", depth=1)
