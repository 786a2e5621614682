"""Whatever is done to a sheet, the doctor answers with diagnostics that have places."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.doctor.asking import check_play, check_rules
from tests.examples import examples, some

from anygame.doctor import check_program, read_sheet
from anygame.doctor.play.checking import Bounds
from anygame.errors import RuleSheetError
from anygame.game.game import Game
from anygame.language import Diagnostic, Severity, Source, format_diagnostic, parse_program, read_source

if TYPE_CHECKING:
    from anygame.language import Program

ROOT = Path(__file__).parents[3]
SHEETS = [
    re.findall(r"[()]|[^\s();]+|;.*", path.read_text(encoding="utf-8"))
    for path in [
        *sorted((ROOT / "gdl").glob("*.kif")),
        *sorted((Path(__file__).parent / "cases").glob("*/in.kif")),
    ]
]
WORDS = ["(", ")", "<=", "not", "or", "and", "distinct", "true", "does", "next", "init", "legal", "goal"]
WORDS += ["terminal", "role", "base", "input", "?x", "?X", "?", "x", "0", "100", "(f)", "()", "zzz", "\x01"]


@st.composite
def mutants(draw: st.DrawFn) -> str:
    tokens = list(draw(st.sampled_from(SHEETS)))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(tokens) - 1))
        kind = draw(st.sampled_from(["replace", "insert", "delete", "swap", "capitals", "copy"]))
        if kind == "replace":
            tokens[place] = draw(st.sampled_from([*WORDS, *tokens[:20]]))
        elif kind == "insert":
            tokens.insert(place, draw(st.sampled_from(WORDS)))
        elif kind == "delete" and len(tokens) > 1:
            del tokens[place]
        elif kind == "swap":
            other = draw(st.integers(0, len(tokens) - 1))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        elif kind == "capitals":
            tokens[place] = tokens[place].upper()
        else:
            length = draw(st.integers(1, 12))
            tokens[place:place] = tokens[place : place + length]
    return "\n".join(tokens)


def diagnose(text: str) -> tuple[Program, list[Diagnostic]]:
    reading = read_sheet(Source("mutant.kif", text))
    program = reading.program
    found = [*reading.diagnostics, *check_program(program, complete=reading.complete), *check_rules(program)]
    return program, found


@given(mutants())
@settings(max_examples=examples(40))
def test_mutants_get_diagnostics_with_places(text: str) -> None:
    program, found = diagnose(text)
    for each in found:
        assert each.span is not None
        assert each.span.source.text == text
        assert 0 <= each.span.start <= each.span.end <= len(text)
        assert format_diagnostic(each)
    try:
        Game(parse_program(Source("mutant.kif", text)))
        refused = False
    except RuleSheetError:
        refused = True
    if refused:
        assert any(each.severity is Severity.ERROR for each in found)
    elif not any(each.severity is Severity.ERROR for each in found):
        bounds = Bounds(1, steps=5, states=5, seconds=2)
        for finding in check_play(Game(program), bounds):
            assert finding.diagnostic.span is not None


@given(st.text(max_size=200), st.booleans())
@settings(max_examples=examples(40))
def test_any_text_gets_diagnostics(text: str, is_infix: bool) -> None:
    reading = read_sheet(Source("any.infix" if is_infix else "any.kif", text))
    for each in [*reading.diagnostics, *check_program(reading.program, complete=reading.complete)]:
        assert format_diagnostic(each)


def _walk(program: Program, seed: int) -> list[object]:
    """Return what a game shows along one line of play, which its texts alone decide."""
    random = Random(seed)
    state = Game(program).initial_state()
    shown: list[object] = []
    for _ in range(8):
        legal = [state.legal_moves(role) for role in state.game.roles]
        shown.append((str(state), legal, state.is_terminal))
        if state.is_terminal or not all(legal):
            break
        state = state.next([moves[random.randrange(len(moves))] for moves in legal])
    return shown


NEEDLESS = {"never-fires", "duplicate-rule", "subsumed-rule"}


@pytest.mark.slow
def test_rules_reported_as_redundant_are_redundant(corpus: Path) -> None:
    compared = 0
    for sheet in some(sorted((corpus / "rules").glob("*.kif")), 40):
        program = parse_program(read_source(sheet))
        spans = [each.span for each in check_program(program) if each.code in NEEDLESS]
        if spans:
            kept = [
                rule
                for rule in program.rules
                if rule.node
                and not any(rule.node.start <= span.start < rule.node.end for span in spans if span)
            ]
            fewer = replace(program, rules=tuple(kept))
            assert len(fewer.rules) < len(program.rules)
            compared += 1
            for seed in range(2):
                assert _walk(fewer, seed) == _walk(program, seed), sheet.name
    if not compared:
        pytest.skip("no sheet of the corpus has needless rules")
