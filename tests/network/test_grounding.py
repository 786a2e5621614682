"""Grounding: tables, joins, limits, and what can be reached."""

from __future__ import annotations

from collections import Counter
from itertools import count
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anygame.datalog.reasoner import Reasoner
from anygame.errors import LimitError
from anygame.language.parser import parse_program
from anygame.network.budget import Budget
from anygame.network.compiled import compile_game
from anygame.network.grounding.grounder import GroundingLimits, ground
from anygame.network.grounding.instantiation import SemiNaiveEvaluation
from anygame.network.grounding.tables import Table, hashed, matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.network.grounding.instantiation import Instances

_ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)), max_size=40)


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> list[np.ndarray]:
    return list(np.array(rows, np.int32).reshape(len(rows), width).T)


@given(_ROWS, _ROWS)
def test_a_table_holds_each_row_once_in_the_order_of_arrival(
    first: list[tuple[int, int, int]], second: list[tuple[int, int, int]]
) -> None:
    table = Table(3)
    expected: dict[tuple[int, int, int], int] = {}
    for rows in (first, second):
        numbers = table.add(_columns(rows, 3), len(rows))
        assert numbers.tolist() == [expected.setdefault(row, len(expected)) for row in rows]
    assert list(map(tuple, table.rows().tolist())) == list(expected)
    for row in [*first, (9, 9, 9)]:
        assert table.find(_columns([row], 3), 1).tolist() == [expected.get(row, -1)]


@pytest.mark.parametrize("indexed", [0, 50])
def test_rows_that_come_a_few_at_a_time_are_found_in_a_large_table(indexed: int) -> None:
    rng = Random(3)
    table = Table(2)
    expected: dict[tuple[int, int], int] = {}
    for number in range(200):
        rows = [(rng.randrange(40), rng.randrange(40)) for _ in range(3 if number else 600)]
        numbers = table.add(_columns(rows, 2), len(rows))
        assert numbers.tolist() == [expected.setdefault(row, len(expected)) for row in rows]
        if indexed and number % indexed == 0:
            assert len(table.index((0, 1)).keys) == len(expected)
    wanted = [(one, other) for one in range(41) for other in range(41)]
    found = table.find(_columns(wanted, 2), len(wanted))
    assert found.tolist() == [expected.get(row, -1) for row in wanted]


def test_very_many_rows_are_found_and_matched() -> None:
    rng = np.random.default_rng(1)
    table = Table(2)
    expected: dict[tuple[int, int], int] = {}
    for _ in range(3):
        columns = list(rng.integers(0, 90, (2, 5_000), np.int32))
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        numbers = table.add(columns, len(rows))
        assert numbers.tolist() == [expected.setdefault(row, len(expected)) for row in rows]
        assert table.find(columns, len(rows)).tolist() == [expected[row] for row in rows]
    keys = rng.integers(0, 120, 4_000).astype(np.int32)
    left, right = matches(table, (1,), hashed([keys], len(keys)), 1_000_000)
    assert np.array_equal(table.column(1)[right], keys[left])
    assert np.array_equal(np.bincount(left, minlength=len(keys)), (keys[:, None] == table.column(1)).sum(1))


@given(_ROWS, st.lists(st.integers(0, 5), max_size=10))
def test_matches_are_all_pairs_with_equal_keys(rows: list[tuple[int, int, int]], keys: list[int]) -> None:
    table = Table(3)
    table.add(_columns(rows, 3), len(rows))
    left, right = matches(table, (1,), hashed([np.array(keys, np.int32)], len(keys)), 10_000)
    held = table.rows().tolist()
    expected = [(k, r) for k, key in enumerate(keys) for r, row in enumerate(held) if row[1] == key]
    assert sorted(zip(left.tolist(), right.tolist(), strict=True)) == expected


@given(st.lists(_ROWS, max_size=5))
def test_an_index_that_has_grown_is_that_of_all_rows(parts: list[list[tuple[int, int, int]]]) -> None:
    table, at_once = Table(3), Table(3)
    for rows in parts:
        table.add(_columns(rows, 3), len(rows))
        table.index((1,))
    rows = [row for part in parts for row in part]
    at_once.add(_columns(rows, 3), len(rows))
    for columns in [(1,), (0, 2), (0, 1, 2)]:
        grown, fresh = table.index(columns), at_once.index(columns)
        assert grown.keys.tolist() == fresh.keys.tolist()
        assert grown.order.tolist() == fresh.order.tolist()


def test_a_join_that_is_too_large_raises_an_error() -> None:
    table = Table(1)
    table.add(_columns([(n,) for n in range(3)], 1), 3)
    with pytest.raises(LimitError, match="more than 2 solutions"):
        matches(table, (), np.zeros(1, np.uint64), 2)


_COUNTER = """
    (role r)
    (init (n 0))
    (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal r up) (true (n ?x)) (succ ?x ?y))
    (<= (legal r (jump ?y)) (true (n ?x)) (succ ?x ?y) (not (true (n 1))))
    (<= (next (n ?y)) (does r up) (true (n ?x)) (succ ?x ?y))
    (<= (next (n ?y)) (does r (jump ?y)))
    (<= terminal (true (n 3)))
    (<= (goal r 100) (true (n 3)))
"""


def _reasoner(text: str) -> Reasoner:
    return Reasoner(parse_program(text))


def test_only_reachable_fluents_and_moves_are_grounded() -> None:
    game = compile_game(_reasoner(_COUNTER))
    assert list(map(str, game.fluents)) == ["(n 0)", "(n 1)", "(n 2)", "(n 3)"]
    assert [list(map(str, moves)) for moves in game.actions] == [["(jump 1)", "(jump 2)", "(jump 3)", "up"]]
    assert game.network.initial.tolist() == [True, False, False, False]


def test_grounding_is_the_same_each_time() -> None:
    one, two = compile_game(_reasoner(_COUNTER)).network, compile_game(_reasoner(_COUNTER)).network
    assert one.inputs.tolist() == two.inputs.tolist()
    assert one.legal.tolist() == two.legal.tolist()
    assert one.next.tolist() == two.next.tolist()


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (GroundingLimits(instances=5), "instances"),
        (GroundingLimits(join=0), "instances"),
        (GroundingLimits(fluents=2), "fluents"),
        (GroundingLimits(steps=100), "steps"),
        (GroundingLimits(seconds=-1.0), "seconds"),
    ],
)
def test_limits_are_named(limits: GroundingLimits, limit: str) -> None:
    with pytest.raises(LimitError) as raised:
        ground(_reasoner(_COUNTER), limits)
    assert raised.value.limit == limit


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (GroundingLimits(steps=300), "compiling the rules takes more than 300 steps"),
        (GroundingLimits(seconds=-1.0), "compiling the rules takes more than the time limit of -1 seconds"),
    ],
)
def test_making_gates_is_bounded_too(
    limits: GroundingLimits, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grounding = ground(_reasoner(_COUNTER))
    monkeypatch.setattr("anygame.network.compiled.ground", lambda *_, **__: grounding)
    with pytest.raises(LimitError, match=told):
        compile_game(_reasoner(_COUNTER), limits)


def test_the_work_is_the_same_each_time_and_no_clock_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = []
    for ticking in (0.0, 1e9):
        monkeypatch.setattr("anygame.network.budget.monotonic", iter(count(0.0, ticking)).__next__)
        monkeypatch.setattr("anygame.datalog.linker.monotonic", iter(count(0.0, ticking)).__next__)
        budget = Budget(GroundingLimits().steps)
        ground(_reasoner(_COUNTER), budget=budget)
        spent.append(budget.spent)
    assert spent[0] == spent[1] > 0


def test_an_error_names_the_relation_with_most_instances() -> None:
    facts = " ".join(f"(init (p {number}))" for number in range(9))
    pairs = "(<= (pair ?x ?y) (true (p ?x)) (true (p ?y))) (<= terminal (pair ?x ?x))"
    text = f"(role r) (legal r wait) {facts} {pairs} (<= (next (p ?x)) (pair ?x ?y))"
    with pytest.raises(LimitError) as raised:
        ground(_reasoner(text), GroundingLimits(instances=85))
    told = "the rules have more than 85 ground instances, most of them from rules for pair/2"
    assert (str(raised.value), raised.value.relation) == (told, "pair/2")
    with pytest.raises(LimitError) as raised:
        ground(_reasoner(text), GroundingLimits(join=80))
    told = "the conditions of a rule have more than 80 solutions (in a rule of pair/2)"
    assert str(raised.value) == told


def test_terms_without_end_reach_a_limit() -> None:
    endless = """
        (role r) (init (n z)) (legal r up)
        (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true (n (s (s z))))) (goal r 0)
    """
    with pytest.raises(LimitError) as raised:
        ground(_reasoner(endless))
    assert raised.value.limit == "depth"


def test_rows_of_many_columns_count_for_more() -> None:
    facts = " ".join(f"(init (p {number}))" for number in range(4))
    literals = " ".join(f"(true (p ?{name}))" for name in "abcde")
    rules = f"(legal r wait) (<= terminal (true (p 9))) (<= (next (q ?a ?b ?c ?d ?e)) {literals})"
    wide = f"(role r) {facts} {rules}"
    ground(_reasoner(wide), GroundingLimits(join=1300))
    with pytest.raises(LimitError) as raised:
        ground(_reasoner(wide), GroundingLimits(join=1100))
    assert raised.value.limit == "instances"


def test_questions_on_demand_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    piles = """
        (role r) (init (pile nil)) (card 1) (card 2) (card 3)
        (size nil z) (<= (size (c ?x ?rest) (s ?n)) (card ?x) (size ?rest ?n))
        (<= (legal r (put ?x)) (card ?x) (true (pile ?p)) (size ?p ?n))
        (<= (next (pile (c ?x ?p))) (does r (put ?x)) (true (pile ?p)))
        (<= terminal (true (pile ?p)) (size ?p (s (s (s z))))) (goal r 0)
    """
    monkeypatch.setattr("anygame.network.grounding.static._MOST_QUESTIONS", 1000)
    with pytest.raises(
        LimitError, match=r"the rules query size/2 with more than 1,000 argument tuples"
    ) as raised:
        ground(_reasoner(piles))
    assert raised.value.limit == "questions"


@pytest.mark.parametrize("goal", ["win", "1_0", "12345678901"])
def test_goals_that_are_no_numbers_are_not_compiled(goal: str) -> None:
    odd = (
        f"(role r) (init a) (legal r go) (<= (next a) (true a)) (<= terminal (not (true a))) (goal r {goal})"
    )
    with pytest.raises(LimitError, match=f"{goal} is not an integer"):
        compile_game(_reasoner(odd))


def test_grounding_reports_its_progress() -> None:
    seen: list[tuple[int, int]] = []
    grounding = ground(_reasoner(_COUNTER), progress=lambda instances, atoms: seen.append((instances, atoms)))
    assert seen[-1][0] == grounding.instances
    assert seen == sorted(seen)


def test_a_table_may_be_wider_than_any_relation_of_a_game_that_was_seen() -> None:
    table = Table(600)
    rows = [tuple(range(600)), tuple(range(1, 601)), tuple(range(600))]
    assert table.add(_columns(rows, 600), 3).tolist() == [0, 1, 0]
    assert table.find(_columns([rows[1]], 600), 1).tolist() == [1]


def test_what_no_state_depends_on_has_its_turn_when_all_states_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = Counter[str]()
    deltas = SemiNaiveEvaluation.deltas

    def counted(evaluation: SemiNaiveEvaluation) -> Iterator[Instances]:
        for found in deltas(evaluation):
            turns[evaluation.rule.head.relation.title] += 1
            yield found

    monkeypatch.setattr(SemiNaiveEvaluation, "deltas", counted)
    ground(_reasoner(_COUNTER))
    assert turns["next/1"] > turns["terminal/0"] == 1
