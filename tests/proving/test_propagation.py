"""Clauses that follow by unit propagation, in native code, against a few lines of Python."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from anygame.errors import CompilationError
from anygame.native import marking
from anygame.proving import propagation
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.propagation import followed

_Rows = list[list[int]]
#: Long enough for native code to be made.
_ENDLESS = Patience(float("inf"))


def _leads_nowhere(clauses: _Rows, assumed: list[int]) -> bool:
    """Whether unit propagation finds a clause that cannot hold, by looking at all of them again and again."""
    true = set(assumed)
    if any(-literal in true for literal in true):
        return True
    changed = True
    while changed:
        changed = False
        for clause in clauses:
            if not true.intersection(clause):
                left = {literal for literal in clause if -literal not in true}
                if not left:
                    return True
                if len(left) == 1:
                    true |= left
                    changed = True
    return False


def _follows(given: _Rows, lemmas: _Rows, questions: _Rows) -> bool:
    """Whether each clause follows from those before it."""
    known = [*given]
    for clause in [*lemmas, *([-literal for literal in question] for question in questions)]:
        if not _leads_nowhere(known, [-literal for literal in clause]):
            return False
        known.append(clause)
    return True


def _random_rows(random: np.random.Generator, count: int, top: int) -> _Rows:
    return [
        (random.permutation(top)[: random.integers(1, 4)] + 1).tolist()
        if random.random() < 0.1
        else [
            int(variable + 1) * int(random.choice([1, -1]))
            for variable in random.permutation(top)[: random.integers(2, 4)]
        ]
        for _ in range(count)
    ]


def test_random_clauses_are_followed_as_python_follows_them() -> None:
    random = np.random.default_rng(7)
    outcomes = []
    for _ in range(400):
        given = _random_rows(random, int(random.integers(3, 30)), 8)
        lemmas: _Rows = []
        for clause in _random_rows(random, 40, 8):
            if _leads_nowhere([*given, *lemmas], [-literal for literal in clause]):
                lemmas.append(clause)
        questions = [[-literal for literal in clause] for clause in lemmas[-2:]]
        if random.random() < 0.5 or not questions:
            questions.append(_random_rows(random, 1, 8)[0])
        found = followed(given, lemmas, questions, _ENDLESS)
        assert (found is not None) == _follows(given, lemmas, questions)
        assert found is None or found <= len(lemmas)
        outcomes.append(found)
    assert None in outcomes
    assert any(outcome is not None and outcome > 1 for outcome in outcomes)


def test_a_lemma_that_is_wanted_and_does_not_follow_is_refused() -> None:
    given = [[1, 2], [-1, 2], [3, 4]]
    assert followed(given, [[2]], [[-2]], _ENDLESS) == 1
    assert followed(given, [[-2], [2]], [[-2]], _ENDLESS) == 1
    assert followed(given, [[3]], [[-3]], _ENDLESS) is None
    assert followed(given, [[3], [-3]], [[5]], _ENDLESS) is None


def test_pigeons_without_lemmas_are_not_followed() -> None:
    """Propagation alone does not see that three pigeons are too many for two holes."""
    holes = [[2 * pigeon + 1, 2 * pigeon + 2] for pigeon in range(3)]
    apart = [[-(2 * a + hole), -(2 * b + hole)] for hole in (1, 2) for a, b in combinations(range(3), 2)]
    assert followed([*holes, *apart], [], [[]], _ENDLESS) is None
    assert followed([*holes, *apart], [[-1], [-2]], [[]], _ENDLESS) == 2


def test_time_that_is_over_ends_it() -> None:
    with pytest.raises(OutOfTimeError):
        followed([[1], [-1, 2]], [], [[-2]], Patience(0))


def test_missing_native_code_raises_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise RuntimeError("no LLVM here")

    marking.native_code.cache_clear()
    monkeypatch.setattr(marking, "load", missing)
    try:
        with pytest.raises(CompilationError, match="no LLVM here"):
            followed([[1]], [], [[-1]], _ENDLESS)
    finally:
        marking.native_code.cache_clear()


def test_the_work_limit_is_checked_between_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [[-number, number + 1] for number in range(1, 60)]
    lemmas = [[-1, number] for number in range(2, 60)]
    questions = [[1, -number] for number in range(2, 61)]
    whole = followed(given, lemmas, questions, _ENDLESS)
    monkeypatch.setattr(propagation, "_AT_ONCE", 1)
    looks: list[int] = []
    monkeypatch.setattr(Patience, "check", lambda _: looks.append(1))
    assert followed(given, lemmas, questions, Patience(600)) == whole
    assert len(looks) > 10
