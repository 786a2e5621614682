"""What is proved is true of all states, and what is refuted of none: compared with counting them all."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from tests.cli.transcripts import ROOT
from tests.proving.sheets import NIM
from tests.tools.chapters import sheets

import anygame
from anygame.errors import AnygameError, GoalError, QueryError
from anygame.language.parser import parse_program
from anygame.language.source import Source
from anygame.network.network import FALSE
from anygame.proving import each_verdict, equal, prove
from anygame.proving.bounded import any_match
from anygame.proving.ending import needed_programs
from anygame.proving.formula import Formula
from anygame.proving.patience import Conflicts, OutOfTimeError, Patience, solve
from anygame.proving.prover import Prover
from anygame.proving.survey import firings, survey
from anygame.proving.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.game import Game, State
    from anygame.language.terms import Term
    from anygame.proving.properties import Property

#: Sheets whose states can be counted by the reasoner in a second.
_SMALL = ("kuhn_poker", "monty_hall", "rock_paper_scissors", "three_player_chomp", "liars_dice")
#: A walk in a circle, and a counter that stalls; a role that can get stuck; two goals at once.
_FAULTY = {
    "circle": """
        (role a) (init (at 1)) (next_to 1 2) (next_to 2 3) (next_to 3 1)
        (<= (legal a go) (true (at ?x))) (<= (next (at ?y)) (true (at ?x)) (next_to ?x ?y))
        (<= terminal (true (at 4))) (<= (goal a 100) (true (at 1))) (goal a 0)
    """,
    "stuck": """
        (role a) (role b) (init (at 1)) (after 1 2) (after 2 3) (after 3 4)
        (<= (legal a go) (true (at ?x)) (distinct ?x 3)) (<= (legal a wait) (true (at 1)))
        (legal b pass) (<= (legal b nod) (true (at 2)))
        (<= (next (at ?y)) (true (at ?x)) (does a go) (after ?x ?y)) (<= (next (at 1)) (does a wait))
        (<= terminal (true (at 4))) (goal a 100) (goal b 100)
    """,
    "goals": """
        (role a) (role b) (init (at 1)) (after 1 2) (after 2 3)
        (legal a go) (legal b go) (<= (legal a leap) (true (at 1))) (<= (legal b leap) (true (at 1)))
        (<= (next (at ?y)) (does a go) (true (at ?x)) (after ?x ?y)) (<= (next (at 3)) (does a leap))
        (<= (next (leapt ?r)) (does ?r leap)) (<= (next (leapt ?r)) (true (leapt ?r)))
        (<= terminal (true (at 3)))
        (<= (goal a 100) (true (leapt a))) (<= (goal a 50) (true (leapt b))) (goal b 30)
    """,
    # The end has moves and a goal of its own, that nobody has.
    "after the end": """
        (role a) (role b) (init (at 0)) (after 0 1) (after 1 2) (after 2 3)
        (<= (legal a (go ?x)) (true (at ?x)) (after ?x ?y)) (legal a quit) (legal b wait)
        (<= (legal b cheer) (true (at 3)))
        (<= (next (at ?y)) (does a (go ?x)) (after ?x ?y)) (<= (next (at ?x)) (does a quit) (true (at ?x)))
        (<= (next done) (does a quit)) (<= (next lost) (does b cheer))
        (<= terminal (true (at 3))) (<= terminal (true done)) (worth 0 0) (worth 1 30) (worth 2 60)
        (worth 3 100) (<= (goal a ?v) (true (at ?x)) (worth ?x ?v)) (<= (goal b 100) (true done))
        (<= (goal b 0) (not (true done)))
    """,
    # Scores that fall, a fluent that stays, one that never comes.
    "falls": """
        (role a) (role b) (init (score 0)) (after 0 10) (after 10 20) (after 20 30)
        (legal a more) (<= (legal a again) (true (score 20))) (legal b wait)
        (<= (next (score ?y)) (does a more) (true (score ?x)) (after ?x ?y))
        (<= (next (score 0)) (does a again)) (<= (next was) (does a again)) (<= (next was) (true was))
        (<= (next lost) (does a again) (true (score 10)))
        (<= terminal (true (score 30))) (<= terminal (true was) (true (score 10)))
        (<= (goal a ?x) (true (score ?x))) (goal b 70)
    """,
    # Roads that close for good, and roads that lead back.
    "roads": """
        (role a) (init (at 1)) (road 1 2) (road 2 3) (road 3 1) (road 3 4)
        (<= (open ?x ?y) (road ?x ?y) (not (true (shut ?x ?y))))
        (<= (reach ?x ?y) (open ?x ?y)) (<= (reach ?x ?z) (reach ?x ?y) (open ?y ?z))
        (<= (legal a (go ?y)) (true (at ?x)) (open ?x ?y))
        (<= (legal a (close ?x ?y)) (true (at ?x)) (open ?x ?y))
        (<= (next (at ?y)) (does a (go ?y))) (<= (next (at ?x)) (true (at ?x)) (does a (close ?u ?v)))
        (<= (next (shut ?x ?y)) (true (shut ?x ?y))) (<= (next (shut ?x ?y)) (does a (close ?x ?y)))
        (<= terminal (true (at ?x)) (not (reach ?x 4))) (<= (goal a 100) (true (at 4)))
        (<= (goal a 10) (not (true (at 4))))
    """,
}


@dataclass
class _Counted:
    """All states of a game, and the joint moves between them."""

    game: Game
    graph: nx.DiGraph[frozenset[Term]]
    states: dict[frozenset[Term], State]

    @classmethod
    def of(cls, game: Game, most: int = 6000) -> _Counted:
        first = game.initial_state()
        graph: nx.DiGraph[frozenset[Term]] = nx.DiGraph()
        graph.add_node(first.facts)
        states, pending = {first.facts: first}, [first]
        while pending:
            state = pending.pop()
            if state.is_terminal:
                continue
            for joint in itertools.product(*(state.legal_moves(role) for role in game.roles)):
                after = state.next(list(joint))
                graph.add_edge(state.facts, after.facts)
                if after.facts not in states:
                    states[after.facts] = after
                    pending.append(after)
                    if len(states) > most:
                        pytest.skip("more states than can be counted here")
        return cls(game, graph, states)

    def holds(self, name: str) -> bool:
        """Whether a built-in property is true, by looking at every state."""
        kind, _, role = name.partition(" ")
        return all(map(self._fits[kind], self.states.values())) if not role else self._wins(role)

    @property
    def _fits(self):  # type: ignore[no-untyped-def]
        return {
            "playable": lambda s: s.is_terminal or s.stuck_role is None,
            "goals": lambda s: not s.is_terminal or all(_goal(s, r) is not None for r in self._playing),
            "turn-taking": lambda s: (
                s.is_terminal or sum(len(s.legal_moves(r)) > 1 for r in self.game.roles) < 2
            ),
        }

    @property
    def _playing(self) -> list[str]:
        return [role for role in self.game.roles if not role.is_random]

    def _wins(self, role: str) -> bool:
        return any(state.is_terminal and _goal(state, role) == 100 for state in self.states.values())

    def sums(self) -> set[int | None]:
        found: set[int | None] = set()
        for state in self.states.values():
            if state.is_terminal:
                goals = [_goal(state, role) for role in self._playing]
                found.add(None if None in goals else sum(g for g in goals if g is not None))
        return found


def _goal(state: State, role: str) -> int | None:
    try:
        goal = state.goal(role)
    except GoalError:
        return None
    return goal if goal is not None and 0 <= goal <= 100 else None


def _mutants(name: str, count: int) -> list[str]:
    """Return texts of a sheet, each without one of its rules or one literal, that can be loaded."""
    text = str(anygame.load(name).program)
    rules = list(parse_program(Source(name, text)).rules)
    drawn = random.Random(name)
    found = []
    for _ in range(40):
        place = drawn.randrange(len(rules))
        rule = rules[place]
        if len(rule.body) > 1 and drawn.random() < 0.6:
            left = [literal for literal in rule.body if literal is not drawn.choice(rule.body)]
            changed = [*rules[:place], type(rule)(rule.head, tuple(left)), *rules[place + 1 :]]
        else:
            changed = [*rules[:place], *rules[place + 1 :]]
        mutant = "\n".join(map(str, changed))
        try:
            game = anygame.loads(mutant)
            if game.compile(seconds=20):
                found.append(mutant)
        except AnygameError:
            continue
        if len(found) == count:
            break
    return found


def _check(game: Game, verdicts: list[Verdict]) -> None:
    counted = _Counted.of(anygame.loads(str(game.program), machine="reasoner"))
    for verdict in verdicts:
        assert verdict.outcome != "open", verdict
        is_true = verdict.outcome == "proved"
        if verdict.name == "ends":
            graph = counted.graph
            assert is_true == nx.is_directed_acyclic_graph(graph)
            if is_true:
                most = int(verdict.claim.split("within ")[1].split()[0].replace(",", "").replace("one", "1"))
                assert most >= nx.dag_longest_path_length(graph)
        elif verdict.name == "zero-sum":
            expected = int(verdict.claim.split("add up to ")[1].split()[0])
            assert is_true == (counted.sums() <= {expected})
        else:
            assert is_true == counted.holds(verdict.name), verdict


_ASKED = ("playable", "ends", "goals", "turn-taking", "zero-sum", "winnable")


@pytest.mark.parametrize("name", _SMALL)
def test_verdicts_agree_with_enumeration(name: str) -> None:
    game = anygame.load(name)
    _check(game, list(each_verdict(game, _ASKED)))


@pytest.mark.parametrize("name", _FAULTY)
def test_faults_that_were_planted_are_found(name: str) -> None:
    game = anygame.loads(_FAULTY[name])
    _check(game, list(each_verdict(game, _ASKED)))


def test_goals_of_all_roles_are_added_up_however_many_goals_are_named() -> None:
    """No state has both moods, which a network does not see: it names 2,500 more goals for one role."""
    named = " ".join(f"(big {n})" for n in range(1_000, 3_500))
    game = anygame.loads(f"""
        (role a) (role b) (role c) (init (mood good)) {named}
        (legal a go) (legal b go) (legal c x) (legal c y)
        (<= (next (mood ok)) (true (mood good))) (<= (next (mood good)) (true (mood ok)))
        (<= (next (mood bad)) (true (mood good)) (true (mood ok)))
        (<= (next (did ?m)) (does c ?m)) (<= terminal (true (did ?m)))
        (<= (goal a 40) (not (true (mood bad)))) (<= (goal a ?n) (big ?n) (true (mood bad)))
        (goal b 60) (<= (goal c 0) (true (did x))) (<= (goal c 50) (true (did y)))""")
    (verdict,) = each_verdict(game, ["zero-sum"])
    assert verdict.outcome == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn_poker", "monty_hall", "rock_paper_scissors", "three_player_chomp"])
@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
def test_verdicts_on_mutants_agree_with_enumeration(name: str) -> None:
    mutants = _mutants(name, 8)
    assert len(mutants) == 8
    for mutant in mutants:
        game = anygame.loads(mutant)
        _check(game, list(each_verdict(game, _ASKED, seconds=120)))


def test_shortest_wins_are_as_long_as_everybody_knows() -> None:
    for name, moves in {"tic_tac_toe": 5, "connect_four": 7}.items():
        first = next(each_verdict(anygame.load(name), ["winnable"]))
        assert first.match is not None
        assert (len(first.match), first.is_shortest) == (moves, True)


def test_the_shortest_win_of_breakthrough_has_eleven_moves(corpus: Path) -> None:
    game = anygame.load(str(corpus / "rules" / "breakthrough.kif"))
    first = next(each_verdict(game, ["winnable white"]))
    assert first.match is not None
    assert (len(first.match), first.is_shortest) == (11, True)


@pytest.mark.parametrize("name", ["three_player_chomp", *_FAULTY])
def test_surveys_agree_with_enumeration(name: str) -> None:
    game = anygame.loads(_FAULTY[name]) if name in _FAULTY else anygame.load(name)
    counted = _Counted.of(game)
    states, going = counted.states.values(), [s for s in counted.states.values() if not s.is_terminal]
    facts = {state.facts: set(map(str, state.facts)) for state in states}
    steps = [(facts[before], facts[after]) for before, after in counted.graph.edges]
    found = prove(game, ["constant-players", "mutex", "latched", "monotone", "dead"])
    assert found.all("proved")
    still = {role for role in game.roles if all(len(state.legal_moves(role)) < 2 for state in going)}
    assert set(found["constant-players"].found) == still
    for text in found["mutex"].found:
        words, _, group = text.partition(" one of ")
        counts = {len(here.intersection(group.split(", "))) for here in facts.values()}
        assert counts <= ({1} if words == "exactly" else {0, 1})
    for text in found["latched"].found:
        fact, _, way = text.partition(" stays ")
        lost = [(fact in before, fact in after) for before, after in steps]
        assert ((True, False) if way == "true once it holds" else (False, True)) not in lost
    for role in game.roles:
        goals = {state.facts: _goal(state, role) for state in states}
        changes = [(goals[before], goals[after]) for before, after in counted.graph.edges]
        falls = any(one is not None and two is not None and two < one for one, two in changes)
        assert falls == (role not in found["monotone"].found) or None in goals.values()
    ever, legal = (
        set().union(*facts.values()),
        {f"{r} never makes {m}" for s in going for r in game.roles for m in s.legal_moves(r)},
    )
    for text in found["dead"].found:
        assert text.removesuffix(" never holds") not in ever
        assert text not in legal


@pytest.mark.parametrize("name", ["constant-players", "mutex", "latched", "monotone", "dead"])
def test_a_survey_without_time_leaves_instances_open(name: str) -> None:
    game = anygame.load("connect_four")
    # What is read off what holds in every state is all that there is time for.
    found = survey(Prover.of(game, Patience(0)), game.roles, name, 60)
    if name in ("mutex", "latched", "monotone"):
        assert found.outcome == "open"
        assert "the time limit was reached" in found.note
    prover = Prover.of(game, Patience(60))
    assert prover.invariant
    found = survey(prover, game.roles, name, 0)
    assert (found.outcome, found.found) == ("open", ())
    assert "the time limit was reached" in found.note


def test_a_role_that_can_have_a_choice_is_not_a_constant_player(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.loads(_FAULTY["after the end"])
    prover = Prover.of(game, Patience(60))
    monkeypatch.setattr(prover, "excludes", lambda *_: None)
    found = survey(prover, game.roles, "constant-players", 60)
    assert (found.outcome, found.note) == ("open", "1 undecided")


def test_easy_properties_are_decided_without_learning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    monkeypatch.setattr("anygame.proving.induction.learned", None)
    assert prove(anygame.load("monty_hall"), ["ends"]).all("proved")
    found = prove(anygame.load("rock_paper_scissors"), ["turn-taking"])["turn-taking"]
    assert (found.outcome, found.is_shortest) == ("refuted", True)


def test_time_stands_still_while_something_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("anygame.proving.patience.monotonic", lambda: now)
    patience = Patience(10)
    with patience.paused():
        now = 100.0
    assert patience.left == 10
    now = 104.0
    assert patience.left == 6


def test_loading_the_solver_does_not_count_towards_the_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def loaded() -> tuple[object, object]:
        nonlocal now
        now += 100.0
        return needed_programs()

    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    monkeypatch.setattr("anygame.proving.patience.monotonic", lambda: now)
    monkeypatch.setattr("anygame.proving.prover.needed_programs", loaded)
    assert prove(anygame.load("monty_hall"), ["ends"], seconds=1).all("proved")
    assert now == 100


def test_conflicts_of_a_part_count_for_the_whole() -> None:
    whole = Conflicts(30)
    part = Patience(60, conflicts=whole).part(0.5)
    part.spend(10)
    with pytest.raises(OutOfTimeError):
        part.spend(10)
    assert whole.left == 10


class _Undecided:
    """A solver that notes what it may do, and has not found out anything then."""

    def __init__(self) -> None:
        self.budgets: list[int] = []

    def conf_budget(self, conflicts: int) -> None:
        self.budgets.append(conflicts)

    def solve_limited(self, assumptions: object) -> None:
        """Nothing is found out."""


@pytest.mark.parametrize(("literals", "conflicts"), [(0, 1_000), (10_000, 1_000), (2_000_000, 5), (10**9, 1)])
def test_what_a_solver_does_between_two_looks_at_the_clock_is_bounded_by_the_size_of_its_formula(
    literals: int, conflicts: int
) -> None:
    solver = _Undecided()
    with pytest.raises(OutOfTimeError):
        solve(solver, [], literals, Patience(60, conflicts=Conflicts(2 * conflicts - 1)))
    assert solver.budgets == [conflicts, conflicts]


def test_conflicts_are_spent_as_they_are_made() -> None:
    conflicts = Conflicts(12)
    with pytest.raises(OutOfTimeError, match="limit of solver conflicts"):
        solve(_Undecided(), [], 2_000_000, Patience(60, conflicts=conflicts))
    assert conflicts.left == -3


def test_clauses_are_added_with_looks_at_the_clock() -> None:
    def add_many(formula: Formula) -> None:
        for _ in range(10**6):
            formula.add(formula.new(), formula.new())

    with Formula(Patience(-1)) as formula:
        with pytest.raises(OutOfTimeError):
            add_many(formula)
        assert formula.top < 10**6


def test_any_match_within_a_number_of_moves_is_one_question() -> None:
    game = anygame.load("tic_tac_toe")
    prover = Prover.of(game, Patience(60))
    model = prover.model
    won = next(holds for goal, holds in model.goals[0] if goal == 100)
    assert any_match(model, won, Patience(60), 4, prover.invariant) is None
    # Of what comes after the end the invariant says nothing.
    match = any_match(model, won, Patience(60), 20, prover.invariant)
    assert match is not None
    state = model.initial
    for joint in match:
        assert not model.values([model.terminal], state[None]).any()
        state = model.after(state, joint)
    assert model.values([won], state[None]).all()
    last_move = model.gates.conjunction([model.moving, model.later(won)])
    match = any_match(model, last_move, Patience(60), 20, prover.invariant)
    assert match is not None
    assert len(match) >= 5


def _no_time(*_: object, **__: object) -> None:
    raise OutOfTimeError("the time is over")


def test_a_long_match_is_found_where_short_ones_and_invariants_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANYGAME_CACHE", str(tmp_path))
    monkeypatch.setattr("anygame.proving.prover.reach", _no_time)
    asked = "(reachable (true (visits 25)))"
    found = prove(anygame.load("knights_tour"), [asked], seconds=600)[asked]
    assert (found.outcome, len(found.match or ())) == ("proved", 24)


def test_facts_on_the_way_of_a_match_are_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    prover = Prover.of(anygame.load("knights_tour"), Patience(60))
    fluents = [str(fluent) for fluent in prover.model.fluents]
    last, before = (2 * (1 + fluents.index(f"(visits {n})")) for n in (25, 24))
    monkeypatch.setattr("anygame.proving.prover.reach", _no_time)
    assert prover.excludes(last, Patience(600)) is False
    monkeypatch.setattr("anygame.proving.prover.any_match", _no_time)
    assert prover.excludes(before, Patience(600)) is False
    assert prover.excludes(FALSE, Patience(600)) is None


def test_rules_that_fire_in_no_match_are_dead() -> None:
    text = str(anygame.load("monty_hall").program)
    assert prove(anygame.loads(text), ["dead"])["dead"].found == ()
    left_over = "(<= (goal candidate 50) (true (car 1)) (true (car 2)))"
    waits = "(<= (next (waits ?r)) (does ?r switch) (true (step 1)))"
    found = prove(anygame.loads(f"{text}\n{left_over}\n{waits}"), ["dead"])["dead"]
    assert found.outcome == "proved"
    assert [line.partition("never fires: ")[2] for line in found.found if "the rule" in line] == [
        left_over,
        waits,
    ]


def test_rules_that_are_left_open_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    decide, tried = Prover.decide, list[float]()

    def slow(prover: Prover, wanted: Property, seconds: float) -> Verdict:
        tried.append(seconds)
        return decide(prover, wanted, 60) if len(tried) > 1 else Verdict(wanted.name, wanted.claim, "open")

    monkeypatch.setattr(Prover, "decide", slow)
    left_over = "(<= (goal candidate 50) (true (car 1)) (true (car 2)))"
    game = anygame.loads(f"{anygame.load('monty_hall').program}\n{left_over}")
    dead = [str(firing.rule) for firing in firings(game, 600) if firing.outcome != "refuted"]
    assert dead == [left_over]
    first, second = tried
    assert second > 2 * first


def test_firing_rules_agree_with_enumeration() -> None:
    game = anygame.load("three_player_chomp")
    outcomes = {str(firing.rule): firing.outcome for firing in firings(game, 60)}
    assert set(outcomes.values()) == {"refuted"}
    assert len(outcomes) == len({str(rule) for rule in game.program.rules if rule.body})


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("winabel", "there is no property winabel; did you mean winnable? Properties are playable"),
        (
            "winnable bobb",
            "there is no property winnable bobb; did you mean winnable bob or winnable me? Properties are",
        ),
        (" ", "there is no property without a name. Properties are playable"),
    ],
)
def test_an_unknown_property_is_named_with_a_near_one(asked: str, told: str) -> None:
    game = anygame.loads("(role bob) (role me) (legal bob go) (legal me go) (<= terminal (true over))")
    with pytest.raises(QueryError, match=f"^{re.escape(told)}"):
        prove(game, [asked])


def test_formulas_stand_beside_properties() -> None:
    game = anygame.load("three_player_chomp")
    found = prove(game, ["playable", "(reachable terminal)", "(never terminal)"])
    assert [verdict.outcome for verdict in found] == ["proved", "proved", "refuted"]
    assert found["(never terminal)"].match is not None
    assert len(found["(never terminal)"].match) == 1


_ENDLESS = "(role me) (init (n 0)) (<= (next (n (s ?x))) (true (n ?x))) (legal me up)"


@pytest.mark.filterwarnings("ignore::anygame.FallbackWarning")
def test_properties_of_a_game_without_a_network_stay_open() -> None:
    found = prove(anygame.loads(_ENDLESS), ["playable", "mutex", "(never terminal)"], seconds=1)
    assert [each.outcome for each in found] == ["open"] * 3
    assert all("no proof was attempted" in each.note and "without end" in each.note for each in found)
    other = anygame.loads(f"{_ENDLESS} (more rules)")
    assert equal(anygame.loads(_ENDLESS), other).outcome == "open"


def test_a_network_that_is_too_large_leaves_properties_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anygame.proving.model._MOST_GATES", 2)
    found = prove(anygame.loads(NIM), ["playable", "mutex"])
    assert [each.outcome for each in found] == ["open", "open"]
    assert "proofs allow at most 2" in found["mutex"].note
    other = anygame.loads(NIM.replace("taken", "emptied"))
    assert "proofs allow at most 2" in equal(anygame.loads(NIM), other).note


def test_rules_too_large_for_a_network_leave_dead_facts_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = anygame.loads(NIM)
    gates = game.backends.needed_network().compiled.network.gates
    monkeypatch.setattr("anygame.proving.model._MOST_GATES", gates)
    found = prove(game, ["dead", "playable"])
    assert [each.outcome for each in found] == ["open", "proved"]
    assert f"proofs allow at most {gates}" in found["dead"].note.replace(",", "")


def test_memory_that_is_spent_leaves_a_property_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("anygame.proving.prover.Prover.ends", spent)
    found = prove(anygame.loads(NIM), ["ends", "playable"])
    assert [each.outcome for each in found] == ["open", "proved"]
    assert found["ends"].note == "there is not enough memory"
    monkeypatch.setattr("anygame.proving.prover.Prover.decide", spent)
    (found_of_formula,) = prove(anygame.loads(NIM), ["(never terminal)"])
    assert (found_of_formula.outcome, found_of_formula.note) == ("open", "there is not enough memory")
    monkeypatch.setattr("anygame.proving.prover.Prover.of", spent)
    assert "not enough memory for the network" in prove(anygame.loads(NIM), ["playable"])["playable"].note


def test_a_property_of_ends_is_vacuous_without_a_known_end() -> None:
    found = prove(anygame.loads(_FAULTY["circle"]), ["goals"])["goals"]
    assert found.outcome == "proved"
    assert "the search found no match that ends" in found.note


def test_a_note_distinguishes_stuck_matches_from_ended_matches() -> None:
    stuck = "(role a) (init p) (<= (legal a go) (true p)) (<= terminal (true q)) (<= (next r) (does a go))"
    found = prove(anygame.loads(stuck), ["ends"])["ends"]
    assert found
    assert found.note.startswith("each move except the last increases a sum of one fact; a match also stops")
    fine = stuck.replace("terminal (true q)", "terminal (true r)")
    assert "stops" not in prove(anygame.loads(fine), ["ends"])["ends"].note


def test_a_dead_fluent_is_in_no_mutex_group() -> None:
    counted = """
        (role a) (init (n 0)) (after 0 1) (after 1 2) (<= (legal a go) (true (n 0))) (goal a 100)
        (<= (next (n ?y)) (true (n ?x)) (after ?x ?y)) (<= terminal (true (n 2)))
    """
    found = prove(anygame.loads(counted), ["mutex", "dead"])
    assert found["mutex"].found == ("exactly one of (n 0), (n 1)",)
    assert "(n 2) never holds" in found["dead"].found


def test_open_instances_are_tried_again_in_the_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.loads(_FAULTY["after the end"])
    prover = Prover.of(game, Patience(60))
    excludes, tried = prover.excludes, list[float]()

    def slow(literal: int, patience: Patience) -> bool | None:
        tried.append(patience.left)
        return excludes(literal, patience) if len(tried) > 1 else None

    monkeypatch.setattr(prover, "excludes", slow)
    found = survey(prover, game.roles, "constant-players", 600)
    assert (found.outcome, found.found) == ("proved", ("b",))
    first, second = tried
    assert second > 2 * first


def test_short_proofs_are_tried_before_following_all_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    # A checker would follow the matches of eight dominoes for a minute.
    monkeypatch.setattr("anygame.proving.prover.check_bounded", None)
    tutorial = (ROOT / "docs" / "start" / "tutorial.md").read_text(encoding="utf-8")
    found = prove(anygame.loads(sheets(tutorial)["dominoes.kif"]), ["playable"])["playable"]
    assert found.outcome == "proved"
    assert found.invariant is not None
