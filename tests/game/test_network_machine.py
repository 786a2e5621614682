"""The machine over the compiled game: the same answers, the same positions, and when it is used."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from math import inf
from random import Random
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from tests.game.sheets import BIDS, SHEETS, answers_of

import anygame
from anygame.game import counting

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHEET = SHEETS / "tic_tac_toe.kif"


def _is_by_rules(game: anygame.Game) -> bool:
    return game.machine == "reasoner"


# -- what is imported ----------------------------------------------------------------------------------


def _imported(code: str, *arguments: str) -> set[str]:
    """Return which of the compiled game's modules a program has imported at its end."""
    told = "import sys; print(*sorted({'numpy', 'llvmlite', 'anygame.network'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {told}", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


_RUN = "from anygame.cli.main import main; main()"


@pytest.mark.slow
def test_nothing_of_the_network_is_imported_before_it_is_used() -> None:
    sheet = str(_SHEET)
    assert _imported("import anygame") == set()
    assert _imported(f"import anygame; anygame.load({sheet!r}).initial_state().legal_moves('x')") == set()
    for command in (["legal", sheet], ["playout", sheet], ["perft", sheet, "2"], ["simulate", "--help"]):
        run = f"import sys\ntry: {_RUN}\nexcept SystemExit: pass\nimport sys"
        assert _imported(run, *command) == set(), command


@pytest.mark.slow
def test_it_is_imported_when_it_is_used() -> None:
    every = {"numpy", "llvmlite", "anygame.network"}
    assert _imported(_RUN, "legal", str(_SHEET), "--machine", "network") == every
    assert _imported(_RUN, "simulate", str(_SHEET), "--playouts", "1") == every
    assert _imported(_RUN, "simulate", str(_SHEET), "--playouts", "1", "--machine", "reasoner") == set()


# -- which machine answers -----------------------------------------------------------------------------


def test_auto_compiles_for_calls_that_visit_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    game = anygame.load(_SHEET)
    state = game.initial_state()
    assert state.legal_moves("x")
    assert len(list(game.playouts(10, seed=1))) == 10
    assert anygame.perft(game, 3) == 504
    assert _is_by_rules(game)
    assert not game.is_settled
    monkeypatch.setattr(counting, "_MANY_STATES", 100)
    assert anygame.perft(game, 6) == 54_720
    assert not _is_by_rules(game)
    many = anygame.load(_SHEET)
    list(many.playouts(500, seed=1))
    assert not _is_by_rules(many)
    simulated = anygame.load(_SHEET)
    simulated.simulate(10, seed=1)
    assert not _is_by_rules(simulated)


def test_the_reasoner_stays_where_it_was_asked_for() -> None:
    game = anygame.load(_SHEET, machine="reasoner")
    game.simulate(10, seed=1)
    list(game.playouts(500, seed=1))
    anygame.perft(game, 5)
    assert _is_by_rules(game)
    assert game.compile()
    assert _is_by_rules(game)


def test_the_network_answers_where_it_was_asked_for() -> None:
    game = anygame.load(_SHEET, machine="network")
    assert not game.is_settled
    assert game.initial_state().legal_moves("x")
    assert game.is_settled
    assert not _is_by_rules(game)
    assert game.setup_seconds > 0


def test_other_machines_are_refused() -> None:
    with pytest.raises(ValueError, match="auto, reasoner, network, not 'quantum'"):
        anygame.load(_SHEET, machine="quantum")  # type: ignore[arg-type]


def test_a_game_that_is_too_large_is_played_all_the_same() -> None:
    game = anygame.load(_SHEET, machine="network")
    with pytest.warns(anygame.FallbackWarning, match="tic_tac_toe.kif: plays slowly here: "):
        assert not game.compile(instances=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answers_of(game.initial_state()) == answers_of(anygame.load(_SHEET).initial_state())
        assert anygame.perft(game, 5) == 15_120
    assert _is_by_rules(game)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("x"), "a bug in anygame, not because of the sheet: KeyError: 'x'; please report it"),
        (AssertionError(), "a bug in anygame, not because of the sheet: AssertionError"),
        (MemoryError(), "the rules are too large: MemoryError"),
        (RecursionError("deep"), "the rules are too large: RecursionError"),
    ],
)
@pytest.mark.parametrize("where", ["network.compiled.ground", "game.machines.network.build_kernel"])
def test_the_reasoner_plays_if_compiling_fails(
    error: Exception, told: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    pytest.importorskip("anygame.game.machines.network")
    monkeypatch.setattr(f"anygame.{where}", fail)
    game = anygame.load(_SHEET)
    with pytest.warns(anygame.FallbackWarning, match=told):
        assert not game.compile()
    assert isinstance(game.fallback, anygame.AnygameError)
    assert game.fallback.__cause__ is error
    assert game.simulate(2, seed=1).machine == "reasoner"
    with pytest.raises(anygame.LimitError, match=told), pytest.warns(anygame.FallbackWarning):
        game.batch()


def test_the_documented_bounds_of_compiling_are_right() -> None:
    limits = pytest.importorskip("anygame.network.grounding.grounder").GroundingLimits()
    assert limits.seconds == inf
    page = (SHEETS.parent / "docs" / "guide" / "simulating.md").read_text()
    assert f"{limits.instances // 10**6} million instances of rules" in page
    assert f"{limits.fluents:,} possible fluents of one name" in page
    assert f"{limits.facts:,} rows of a static relation" in page
    assert f"{limits.steps // 10**9} billion steps" in page


def test_a_game_of_a_service_with_little_time_is_compiled_all_the_same() -> None:
    pytest.importorskip("anygame.game.machines.network")
    game = anygame.load(_SHEET, limits=anygame.Limits(seconds=1e-9))
    assert game.compile()
    assert game.fallback is None


def test_the_reason_for_no_network_stays_with_the_game() -> None:
    pytest.importorskip("anygame.game.machines.network")
    game = anygame.load(_SHEET)
    assert game.fallback is None
    with pytest.warns(anygame.FallbackWarning, match="plays slowly here: compiling the rules takes more"):
        assert not game.compile(steps=1000)
    assert isinstance(game.fallback, anygame.LimitError)
    assert game.fallback.message.startswith("compiling the rules takes more than 1,000 steps")
    assert game.compile()
    assert game.fallback is None


def test_an_interrupt_ends_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    pytest.importorskip("anygame.game.machines.network")
    monkeypatch.setattr("anygame.network.compiled.ground", interrupt)
    game = anygame.load(_SHEET)
    with pytest.raises(KeyboardInterrupt):
        game.compile()
    assert not game.is_settled


def test_compiling_happens_once_for_all_threads() -> None:
    game = anygame.load(_SHEET)
    found: list[Any] = []
    threads = [Thread(target=lambda: found.append(game.backends.needed_network())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert found[0] is not None
    assert all(one is found[0] for one in found)


def test_questions_are_answered_while_the_game_is_compiled() -> None:
    game = anygame.load(_SHEET)
    answered: list[int] = []

    def ask(*_: int) -> None:
        # From another thread, as a referee would.
        asker = Thread(target=lambda: answered.append(len(game.initial_state().legal_moves("x"))))
        asker.start()
        asker.join(60)

    assert game.compile(progress=ask)
    assert answered
    assert set(answered) == {9}


def test_compile_reports_its_progress() -> None:
    told: list[tuple[int, int]] = []
    game = anygame.load(SHEETS / "hex_pie.kif")
    assert game.compile(progress=lambda instances, atoms: told.append((instances, atoms)))
    assert told
    assert told == sorted(told)


# -- the same answers ----------------------------------------------------------------------------------


@pytest.fixture(params=["tic_tac_toe", "monty_hall", "pig", "copolymer", "lights_out"])
def both(request: pytest.FixtureRequest) -> tuple[anygame.Game, anygame.Game]:
    sheet = SHEETS / f"{request.param}.kif"
    return anygame.load(sheet, machine="reasoner"), anygame.load(sheet, machine="network")


def _match(game: anygame.Game, seed: int) -> Iterator[tuple[anygame.State, list[anygame.Term]]]:
    random = Random(seed)
    state = game.initial_state()
    for _ in range(40):
        if state.is_terminal:
            return
        joint = [random.choice(state.legal_moves(role)) for role in game.roles]
        yield state, joint
        state = state.next(joint)


def test_both_machines_give_the_same_answers(both: tuple[anygame.Game, anygame.Game]) -> None:
    by_rules, by_logic = both
    for (old, joint), (new, same) in zip(_match(by_rules, 3), _match(by_logic, 3), strict=True):
        assert joint == same
        assert answers_of(old) == answers_of(new)
        assert [old.goal(role) for role in by_rules.roles] == [new.goal(role) for role in by_logic.roles]
        assert old.percepts(joint) == new.percepts(joint)
        assert str(old.explain(f"(legal {by_rules.roles[0]} {joint[0]})")) == str(
            new.explain(f"(legal {by_logic.roles[0]} {joint[0]})")
        )
        assert str(old) == str(new)


def test_positions_are_interchangeable(both: tuple[anygame.Game, anygame.Game]) -> None:
    by_rules, by_logic = both
    for (old, joint), (new, _) in zip(_match(by_rules, 4), _match(by_logic, 4), strict=True):
        assert old == new
        assert hash(old) == hash(new)
        assert by_logic.state(old.facts) == new
        assert pickle.loads(pickle.dumps(new)) == new == old
        assert len({old, new, old.next(joint), new.next(joint)}) == 2
    restored = pickle.loads(pickle.dumps(by_logic))
    assert restored.machine_name == "network"


def test_playouts_of_a_seed_are_the_same(both: tuple[anygame.Game, anygame.Game]) -> None:
    by_rules, by_logic = both
    assert list(by_rules.playouts(5, seed=8, limit=60)) == list(by_logic.playouts(5, seed=8, limit=60))


def test_trees_have_the_same_size(both: tuple[anygame.Game, anygame.Game]) -> None:
    by_rules, by_logic = both
    assert anygame.perft(by_rules, 2) == anygame.perft(by_logic, 2)
    assert anygame.perft_divide(by_rules, 2) == anygame.perft_divide(by_logic, 2)


def test_both_machines_raise_the_same_errors(both: tuple[anygame.Game, anygame.Game]) -> None:
    messages = []
    for game in both:
        state = game.initial_state()
        role = game.roles[0]
        for wrong in (["nonsense"] * len(game.roles), ["(mark 1"], {role: "x", "nobody": "y"}, "single"):
            with pytest.raises(anygame.AnygameError) as caught:
                state.next(wrong)
            messages.append((type(caught.value), str(caught.value)))
        for pattern in ("(legl ?x)", "(next ?f)"):
            with pytest.raises(anygame.QueryError) as refused:
                state.query(pattern)
            messages.append((type(refused.value), str(refused.value)))
        with pytest.raises(anygame.PositionError) as position:
            game.state(["(cell ?x)"])
        messages.append((type(position.value), str(position.value)))
    half = len(messages) // 2
    assert messages[:half] == messages[half:]


def test_states_that_no_play_leads_to_are_answered_by_the_rules() -> None:
    by_rules, by_logic = (anygame.loads(BIDS, machine=machine) for machine in ("reasoner", "network"))
    strange = ["(round 0)", "(bid left 2)", "(bid left 7)", "(weather fine)"]
    old, new = by_rules.state(strange), by_logic.state(strange)
    assert answers_of(old) == answers_of(new)
    assert old == new
    assert new != by_logic.state(strange[:2])
    joint = ["(bid 1)", "(bid 2)"]
    assert old.next(joint) == new.next(joint)
    # What follows is a state like others.
    assert new.next(joint) == by_logic.initial_state().next(joint)
    assert hash(new.next(joint)) == hash(by_logic.initial_state().next(joint))


def test_states_from_before_compilation_remain_valid() -> None:
    game = anygame.loads(BIDS)
    before = game.initial_state()
    joint = ["(bid 1)", "(bid 2)"]
    early = before.next(joint)
    game.compile()
    late = before.next(joint)
    assert early == late == game.initial_state().next(joint)
    assert before == game.initial_state()
    assert answers_of(before) == answers_of(game.initial_state())
    assert early.next(["(bid 1)", "(bid 1)"]) == late.next(["(bid 1)", "(bid 1)"])


@pytest.mark.parametrize("value", ["1 2", "010", "01 1", "1_0", "+7", "-5", "x", "99999999999"])
def test_unusual_goals_are_as_the_rules_say(value: str) -> None:
    goals = " ".join(f"(<= (goal robot {one}) (true (on)))" for one in value.split())
    sheet = f"(role robot) (legal robot go) (init (on)) {goals}"
    answers = []
    for machine in ("reasoner", "network"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", anygame.FallbackWarning)
            state = anygame.loads(sheet, machine=machine).initial_state()
            try:
                answers.append(str(state.goal("robot")))
            except anygame.GoalError as error:
                answers.append(str(error))
            answers.append(str([str(found["g"]) for found in state.query("(goal robot ?g)")]))
    assert answers[:2] == answers[2:]


def test_threads_share_a_machine() -> None:
    game = anygame.load(_SHEET, machine="network")
    expected = [list(game.playouts(20, seed=seed)) for seed in range(4)]
    found: dict[int, Any] = {}

    def play(seed: int) -> None:
        found[seed] = list(game.playouts(20, seed=seed))

    threads = [Thread(target=play, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[seed] for seed in range(4)] == expected
