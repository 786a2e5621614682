from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from anygame.language import KEYWORDS, format_program, parse_program, read_source

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_every_public_sheet_reads_and_prints_back(corpus: Path) -> None:
    sheets = sorted((corpus / "rules").glob("*.kif"))
    assert sheets
    for sheet in sheets:
        program = parse_program(read_source(sheet))
        assert {warning.code for warning in program.warnings} <= {"empty-body", "zero-arity"}, sheet.name
        relations = {rule.head.predicate for rule in program.rules}
        assert relations >= {"role", "legal", "terminal", "goal"}, sheet.name
        assert all(
            rule.head.key[1] == KEYWORDS.get(rule.head.predicate, rule.head.key[1]) for rule in program.rules
        )
        printed = parse_program(format_program(program))
        assert printed == program, sheet.name
        assert not printed.warnings, sheet.name
        assert parse_program(str(program)) == program, sheet.name
