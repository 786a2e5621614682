"""No warning's hint breaks a sheet that plays well, however the sheet is written."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.examples import some

from anygame.doctor.examination import ExaminationSettings, examine
from anygame.doctor.mending import fixes_of
from anygame.doctor.play.checking import BRIEF
from anygame.errors import AnygameError
from anygame.game.game import Game
from anygame.language import Severity, Source, parse_program, read_source
from anygame.language.rules import KEYWORDS, And, Atom, Distinct, Literal, Not, Or, Rule
from anygame.language.terms import Compound
from anygame.proving import equal
from anygame.sheets.edits import Edit, apply_edits
from anygame.sheets.scrambling import Scrambling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.doctor.finding import Finding
    from anygame.language import Term
    from anygame.language.rules import Formula, Program

SHEETS = sorted((Path(__file__).parents[2] / "gdl").glob("*.kif"))
#: Characters of sheets that are rewritten; playouts that are compared, and joint moves of each.
LARGEST = 25_000
PLAYOUTS = 3
STEPS = 25
#: Findings that say that a sheet does not play as it was meant to.
FAULTS = {
    "undefined-relation", "case-differs", "unknown-role", "unwritten-fluent", "never-fires", "no-move",
    "goal-missing", "goal-conflict", "no-legal", "lost-value", "double-value", "repeated-literal",
    "standstill", "endless",
}  # fmt: skip


# -- forms of a sheet ----------------------------------------------------------------------------------


class Mirror:
    """Puts the arguments of each relation, fluent and move in another order, everywhere the same."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._orders: dict[tuple[str, str, int], list[int]] = {}

    def rule(self, rule: Rule) -> Rule:
        return Rule(self._atom(rule.head), tuple(map(self._formula, rule.body)))

    def _order(self, kind: str, name: str, arity: int) -> list[int]:
        if (kind, name, arity) not in self._orders:
            self._orders[kind, name, arity] = self._random.sample(range(arity), arity)
        return self._orders[kind, name, arity]

    def _atom(self, atom: Atom) -> Atom:
        terms = tuple(map(self._term, atom.arguments))
        if KEYWORDS.get(atom.predicate) == len(terms):
            return Atom(atom.predicate, terms)
        order = self._order("relation", atom.predicate, len(terms))
        return Atom(atom.predicate, tuple(terms[number] for number in order))

    def _term(self, term: Term) -> Term:
        if not isinstance(term, Compound):
            return term
        terms = tuple(map(self._term, term.arguments))
        order = self._order("function", term.functor, len(terms))
        return Compound(term.functor, tuple(terms[number] for number in order))

    def _formula(self, formula: Formula) -> Formula:
        match formula:
            case Literal(atom=atom):
                return Literal(self._atom(atom))
            case Not(formula=inner):
                return Not(self._formula(inner))
            case Or(formulas=parts):
                return Or(tuple(map(self._formula, parts)))
            case And(formulas=parts):
                return And(tuple(map(self._formula, parts)))
            case Distinct(left=left, right=right):
                return Distinct(self._term(left), self._term(right))
        raise AssertionError(formula)


def form_of_program(program: Program, seed: int) -> str:
    """Return a sheet mirrored (of odd seeds), renamed (of seeds from 2 on), and in another order."""
    random = Random(seed)
    mirror = Mirror(random)
    rules = [mirror.rule(rule) for rule in program.rules] if seed % 2 else list(program.rules)
    rules = [Rule(rule.head, tuple(random.sample(rule.body, len(rule.body)))) for rule in rules]
    random.shuffle(rules)
    text = "\n".join(map(str, rules))
    if seed < 2:
        return text
    return Scrambling(text.split("\n"), seed, "symbols" if seed % 4 > 1 else "words").scramble(text)


# -- hints applied -------------------------------------------------------------------------------------


def applied(source: Source, finding: Finding) -> Iterator[str]:
    """Yield the sheet with each way in which a finding's hint can be followed."""
    for fix in fixes_of(finding, source):
        if fix.edits:
            yield apply_edits(source.text, [Edit(each.start, each.end, (each.text,)) for each in fix.edits])
    found = finding.diagnostic
    hint = found.hint.removeprefix("such as ")
    if found.span is None or not hint.startswith("(") or hint.endswith("...)") or "..." in hint:
        return
    if found.code == "odd-counterpart":
        yield apply_edits(source.text, [Edit(found.span.start, found.span.end, (hint,))])
    elif found.code.startswith("missing-"):
        yield f"{source.text}\n{hint}\n"


def answers(game: Game, seed: int) -> list[object]:
    """Return what a game answers along one line of play, which its own answers choose."""
    random = Random(seed)
    state = game.initial_state()
    shown: list[object] = []
    for _ in range(STEPS):
        legal = (
            [] if state.is_terminal else [sorted(map(str, state.legal_moves(role))) for role in game.roles]
        )
        shown.append(
            (state.is_terminal, legal, [_goal(state, role) for role in game.roles if state.is_terminal])
        )
        if state.is_terminal or not all(legal):
            break
        state = state.next([random.choice(moves) for moves in legal])
    return shown


def _goal(state: object, role: object) -> object:
    try:
        return state.goal(role)  # type: ignore[attr-defined]
    except AnygameError as error:
        return type(error)


def plays_the_same(one: str, other: str) -> bool:
    try:
        games = [Game(parse_program(Source("sheet.kif", text))) for text in (one, other)]
        return all(answers(games[0], seed) == answers(games[1], seed) for seed in range(PLAYOUTS)) and (
            equal(*games, up_to=2).outcome != "refuted"
        )
    except AnygameError:
        return False


def hints_that_break(source: Source) -> list[str]:
    """Return the hints that change a game in which nothing else is wrong, and how many were followed."""
    findings = examine(source, ExaminationSettings(play=None)).findings
    doubted = [each for each in findings if each.diagnostic.severity > Severity.INFO]
    changing = [
        each for each in doubted for text in applied(source, each) if not plays_the_same(source.text, text)
    ]
    if not changing:
        return []
    played = examine(source, ExaminationSettings(play=BRIEF)).findings
    codes = {each.diagnostic.code for each in [*doubted, *played]}
    return [] if codes & FAULTS else [f"{each.diagnostic.code}: {each.diagnostic.hint}" for each in changing]


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_no_hint_breaks_a_sheet_of_the_package_in_another_form(path: Path, seed: int) -> None:
    source = read_source(path)
    assert not hints_that_break(Source(path.name, form_of_program(parse_program(source), seed)))


@pytest.mark.slow
def test_no_hint_breaks_a_public_sheet(corpus: Path) -> None:
    for path in some(sorted((corpus / "rules").glob("*.kif")), 60):
        assert not hints_that_break(read_source(path)), path.stem


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_hint_breaks_a_public_sheet_in_another_form(corpus: Path, seed: int) -> None:
    for path in some(sorted((corpus / "rules").glob("*.kif")), 40):
        source = read_source(path)
        if len(source.text) <= LARGEST:
            form = Source(path.name, form_of_program(parse_program(source), seed))
            assert not hints_that_break(form), path.stem


def test_a_hint_that_breaks_is_seen() -> None:
    """The law can fail: a warning whose hint changes a sound game is told."""
    one = "(role x) (legal x go) (<= (next done) (does x go)) (<= terminal (true done)) (goal x 100)"
    assert not plays_the_same(one, one.replace("100", "50"))
    assert plays_the_same(one, one.replace("done", "over"))
