"""Whether a role can force a goal: formulas are true where play by the reasoner says so."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Final

import pytest
from tests.proving.sheets import CHOMP, GOALS, NAMES, NIM, ROADS, TRAP

import anygame
from anygame.proving.exports import export_text
from anygame.search import solve

if TYPE_CHECKING:
    from pathlib import Path


def can_force(state: anygame.State, depth: int, role: int, goal: int) -> bool:
    """Return whether a role has a way to a goal, whatever the others answer."""
    roles = state.game.roles
    if state.is_terminal:
        values = [int(str(row["v"])) for row in state.query(f"(goal {roles[role]} ?v)")]
        return bool(values) and min(values) >= goal
    moves = [state.legal_moves(each) for each in roles]
    if not depth or not all(moves):
        return False
    others = [of_role for index, of_role in enumerate(moves) if index != role]
    return any(
        all(
            can_force(state.next([*rest[:role], move, *rest[role:]]), depth - 1, role, goal)
            for rest in product(*others)
        )
        for move in moves[role]
    )


def read(text: str) -> tuple[list[tuple[str, list[int]]], list[list[int]]]:
    """Return the prefix and the clauses of a formula, checked for what the format asks."""
    lines = [line.split() for line in text.splitlines() if not line.startswith("c")]
    (_, _, variables, clauses), *rest = lines
    prefix = [(kind, list(map(int, bound[:-1]))) for kind, *bound in rest if kind in "ea"]
    matrix = [list(map(int, line[:-1])) for line in rest[len(prefix) :]]
    assert all(line[-1] == "0" for line in rest)
    assert len(matrix) == int(clauses)
    assert {abs(literal) for clause in matrix for literal in clause} <= set(range(1, int(variables) + 1))
    if prefix:
        quantifiers = [kind for kind, _ in prefix]
        assert all(one != other for one, other in pairwise(quantifiers))
        assert quantifiers[-1] == "e"
        bound = [variable for _, block in prefix for variable in block]
        assert sorted(bound) == list(range(1, int(variables) + 1))
    return prefix, matrix


def holds_expanded(text: str) -> bool:
    """Return whether a formula is true: a SAT solver gets a copy for each assignment of the universal."""
    solvers = pytest.importorskip(
        "pysat.solvers", reason="PySAT is not installed: pip install 'anygame[prove]'"
    )
    prefix, matrix = read(text)
    universal = [variable for kind, block in prefix if kind == "a" for variable in block]
    assert len(universal) <= 12
    before: dict[int, tuple[int, ...]] = {}
    seen: tuple[int, ...] = ()
    for kind, block in prefix:
        if kind == "a":
            seen += tuple(block)
        else:
            before.update(dict.fromkeys(block, seen))
    copies: dict[tuple[int, tuple[bool, ...]], int] = {}
    with solvers.Solver("cadical195") as solver:
        for values in product([False, True], repeat=len(universal)):
            value = dict(zip(universal, values, strict=True))
            for clause in matrix:
                if any(value.get(abs(literal)) is (literal > 0) for literal in clause):
                    continue
                kept = []
                for literal in clause:
                    if abs(literal) not in value:
                        key = (abs(literal), tuple(value[each] for each in before.get(abs(literal), ())))
                        copy = copies.setdefault(key, len(copies) + 1)
                        kept.append(copy if literal > 0 else -copy)
                solver.add_clause(kept)
        return bool(solver.solve())


def holds_by_depqbf(text: str, path: Path) -> bool:
    path.write_text(text)
    found = subprocess.run(["depqbf", str(path)], capture_output=True, text=True, check=False)
    assert found.returncode in {10, 20}, found
    return found.returncode == 10


needs_depqbf = pytest.mark.skipif(shutil.which("depqbf") is None, reason="depqbf is not installed")

SHEETS: Final = {
    "nim": NIM, "trap": TRAP, "goals": GOALS, "names": NAMES, "roads": ROADS, "chomp": CHOMP,
    "tic_tac_toe": "", "rock_paper_scissors": "", "lights_out": "", "monty_hall": "",
}  # fmt: skip


@cache
def game_of(name: str) -> anygame.Game:
    return anygame.loads(SHEETS[name]) if SHEETS[name] else anygame.load(name)


CASES: Final = [
    *(("nim", depth) for depth in range(5)),
    *(("chomp", depth) for depth in range(6)),
    *(("tic_tac_toe", depth) for depth in (0, 1, 3)),
    *((sheet, depth) for sheet in ("trap", "goals", "names", "roads") for depth in range(3)),
    *(("rock_paper_scissors", 1), ("lights_out", 1), ("monty_hall", 3)),
]


_FEW_BITS: Final = [
    case for case in CASES if case[1] <= (2 if case[0] == "chomp" else 3) and case[0] != "tic_tac_toe"
]


def questions(name: str) -> list[tuple[int, int]]:
    return [(role, goal) for role in range(len(game_of(name).roles)) for goal in (0, 1, 50, 100)]


@pytest.mark.parametrize(("name", "depth"), _FEW_BITS)
def test_a_formula_expanded_says_what_can_be_forced(name: str, depth: int) -> None:
    game = game_of(name)
    for role, goal in questions(name):
        text = export_text(game, "qdimacs", depth=depth, role=game.roles[role], goal=goal)
        assert holds_expanded(text) is can_force(game.initial_state(), depth, role, goal)


@needs_depqbf
@pytest.mark.parametrize(("name", "depth"), CASES)
def test_depqbf_says_what_can_be_forced(name: str, depth: int, tmp_path: Path) -> None:
    game = game_of(name)
    for role, goal in questions(name):
        text = export_text(game, "qdimacs", depth=depth, role=game.roles[role], goal=goal)
        wanted = can_force(game.initial_state(), depth, role, goal)
        assert holds_by_depqbf(text, tmp_path / "formula.qdimacs") is wanted, (role, goal)


@needs_depqbf
@pytest.mark.parametrize(("name", "depth"), [("nim", 3), ("chomp", 6), ("tic_tac_toe", 9)])
def test_what_is_forced_is_the_solution(name: str, depth: int, tmp_path: Path) -> None:
    game = game_of(name)
    found = solve(game, game.initial_state())
    assert found.solved
    for role, goal in product(game.roles, (50, 100)):
        text = export_text(game, "qdimacs", depth=depth, role=role, goal=goal)
        value = found.goals[role]
        assert value is not None
        assert holds_by_depqbf(text, tmp_path / "formula.qdimacs") is (value >= goal)


def test_one_role_asks_a_sat_solver() -> None:
    text = export_text(game_of("trap"), "qdimacs", depth=2)
    assert not read(text)[0]
    assert holds_expanded(text)
    assert "c number 0 of lone is go" in text.splitlines()
    assert "c step 1: bits of lone, least first: 1" in text.splitlines()


@needs_depqbf
def test_the_bits_of_the_first_move_are_the_move(tmp_path: Path) -> None:
    path = tmp_path / "formula.qdimacs"
    path.write_text(export_text(game_of("nim"), "qdimacs", depth=3))
    found = subprocess.run(["depqbf", "--qdo", str(path)], capture_output=True, text=True, check=False)
    lines = path.read_text().splitlines()
    (bits,) = [line for line in lines if line.startswith("c step 1: bits of first")]
    values = {int(line.split()[1]) for line in found.stdout.splitlines() if line.startswith("V")}
    number = sum(1 << place for place, bit in enumerate(bits.split(":")[2].split()) if int(bit) in values)
    assert f"c number {number} of first is (take b 1)" in lines
