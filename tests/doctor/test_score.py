from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.doctor.mutants import KINDS, mutants
from tests.doctor.score import is_at_cause, main, means_the_same, verdicts

from anygame.game.game import Game
from anygame.language import Source, parse_program, read_source

SHEET = Path(__file__).parents[2] / "gdl" / "tic_tac_toe.kif"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_mutant_is_made_and_has_its_place(kind: str) -> None:
    source = read_source(SHEET)
    for mutant in mutants(source, kind, Random(1), 3):
        assert mutant.text != source.text
        assert 0 <= mutant.start <= mutant.end <= len(mutant.text)
        assert (mutant.start == mutant.end) == bool(mutant.names)


def test_the_same_seed_gives_the_same_mutants() -> None:
    source = read_source(SHEET)
    first, again = (list(mutants(source, "misspell function", Random(7), 3)) for _ in range(2))
    assert first == again


def test_equivalent_mutants_are_excluded() -> None:
    text = SHEET.read_text(encoding="utf-8")
    game = Game(parse_program(text))
    assert means_the_same(game, f"{text}\n(never asked)")
    assert not means_the_same(game, text.replace("100", "99"))


def test_findings_name_the_missing_relation() -> None:
    source = Source("s", "(role x) (init (a 1)) (<= (next (a ?n)) (true (a ?n))) (legal x go)")
    (mutant,) = mutants(source, "delete next", Random(0), 1)
    told = {"message": "a with 1 argument is kept by no rule", "hint": "", "line": 1, "column": 1}
    assert is_at_cause(mutant, told)
    assert not is_at_cause(mutant, told | {"message": "nothing reads b"})


def test_another_seed_draws_other_mistakes(tmp_path: Path) -> None:
    changes = {
        verdict.mutant.change
        for seed in range(4)
        for verdict in verdicts(SHEET, ["misspell keyword"], 1, tmp_path, seed)
    }
    assert len(changes) > 1


def test_a_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SHEET), "--kinds", "misspell keyword,stray text", "--plain", "--misses"]) == 0
    output = capsys.readouterr().out
    assert "| misspell keyword | 1 | 100 % | 0 |" in output
    assert "1 sheets; the slowest check took" in output
    assert main([str(SHEET), "--kinds", "nonsense"]) == 2
