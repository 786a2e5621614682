"""Sheets in OpenSpiel: its own checks, its own games of the same rules, its algorithms."""

from __future__ import annotations

import pickle
import random
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.envs.same_rules import PAIRS, Pair, differences, walked
from tests.envs.sheets import PUBLIC

import anygame
from anygame.envs.open_spiel import SheetGame, load
from anygame.envs.open_spiel.state import describe
from anygame.sheets.installed import open_sheet

if TYPE_CHECKING:
    from pathlib import Path

pyspiel: Any = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open-spiel")
observation: Any = pytest.importorskip("open_spiel.python.observation")
policy: Any = pytest.importorskip("open_spiel.python.policy")
rl_environment: Any = pytest.importorskip("open_spiel.python.rl_environment")
cfr: Any = pytest.importorskip("open_spiel.python.algorithms.cfr")
expected_game_score: Any = pytest.importorskip("open_spiel.python.algorithms.expected_game_score")
exploitability: Any = pytest.importorskip("open_spiel.python.algorithms.exploitability")
generate_playthrough: Any = pytest.importorskip("open_spiel.python.algorithms.generate_playthrough")
mcts: Any = pytest.importorskip("open_spiel.python.algorithms.mcts")
minimax: Any = pytest.importorskip("open_spiel.python.algorithms.minimax")

long = pytest.mark.long
#: Each state is read again by way of its whole history.
_LONG_PLAYS = ("capture_chess", "copolymer", "knights_tour", "line_chess")


def loaded(pair: Pair) -> SheetGame:
    return load(pair.sheet, scale=pair.scale, offset=pair.offset)


def test_a_loose_sheet_is_read_as_prolog_would_if_asked(tmp_path: Path) -> None:
    sheet = tmp_path / "loose.kif"
    sheet.write_text(
        "(role x) (init (at 1)) (<= (legal ?r (go 2)) (true (at 1))) (<= (legal ?r (go 3)) (true (at 1)))\n"
        "(<= (next (at ?n)) (does ?r (go ?n))) (<= terminal (not (true (at 1)))) (goal ?anyone 50)"
    )
    with pytest.raises(anygame.RuleSheetError):
        load(sheet)
    with pytest.warns(anygame.LenientReadingWarning):
        game = load(sheet, lenient=True)
    assert game.num_distinct_actions() == 2
    again = pickle.loads(pickle.dumps(game))
    assert str(again) == str(game)


def after(game: Any, *moves: str) -> Any:
    """Return the state after these moves and draws."""
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(state.string_to_action(move))
    return state


# -- the same rules as OpenSpiel's own games ---------------------------------------------------------


@pytest.mark.parametrize(
    ("sheet", "depth", "histories", "ended", "information_sets"),
    [
        ("kuhn_poker", 99, 58, 30, 12),
        ("phantom_tic_tac_toe", 3, 739, 0, 101),
        ("dark_hex", 3, 739, 0, 110),
        pytest.param("leduc_poker", 99, 9457, 5520, 936, marks=long),
        pytest.param("liars_dice", 99, 294883, 147420, 24576, marks=long),
        pytest.param("phantom_tic_tac_toe", 5, 42139, 1440, 2405, marks=long),
        pytest.param("dark_hex", 4, 5851, 0, 407, marks=long),
    ],
)
def test_histories_and_information_sets_are_those_of_open_spiel(
    sheet: str, depth: int, histories: int, ended: int, information_sets: int
) -> None:
    found = walked(PAIRS[sheet], loaded(PAIRS[sheet]), depth)
    assert (found.histories, found.ended) == (histories, ended)
    assert len(found.information) == information_sets
    # One text of the sheet for each of OpenSpiel's, and none for two of them.
    assert {len(texts) for texts in found.information.values()} == {1}
    assert len(set().union(*found.information.values())) == information_sets


@long
def test_dark_hex_remembers_when_tries_were_made() -> None:
    """OpenSpiel tells how many tries there were, and forgets how many there had been before."""
    found = walked(PAIRS["dark_hex"], loaded(PAIRS["dark_hex"]), 5)
    told = set().union(*found.information.values())
    assert (len(found.information), len(told)) == (2711, 2783)
    without_times = [{re.sub(r"\d+: ", "", text) for text in texts} for texts in found.information.values()]
    assert {len(texts) for texts in without_times} == {1}


@pytest.mark.parametrize("sheet", PAIRS)
def test_plays_go_as_in_open_spiel(sheet: str) -> None:
    pair, generator = PAIRS[sheet], random.Random(sheet)
    game, same = loaded(pair), pyspiel.load_game(pair.other)
    for _ in range(10):
        state, other = game.new_initial_state(), same.new_initial_state()
        while actions := differences(pair, state, other):
            action = generator.choice(list(actions))
            state.apply_action(action)
            other.apply_action(actions[action])
    assert (game.min_utility(), game.max_utility()) == pytest.approx((same.min_utility(), same.max_utility()))
    # Too many states to look at are not looked at; a sum may be proved, by what was kept, too.
    surveyed = sheet in ("kuhn_poker", "leduc_poker", "liars_dice")
    is_zero_sum = game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    assert is_zero_sum or not (surveyed or sheet == "dark_hex")
    assert not is_zero_sum or same.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    assert not surveyed or game.max_game_length() == same.max_game_length()


def mapped_policies(pair: Pair, game: Any, kind: str) -> tuple[Any, Any]:
    """Return a policy of a sheet and the same of OpenSpiel's game: uniform, or random but fixed."""
    same = pyspiel.load_game(pair.other)
    generator = np.random.default_rng(7)
    own, others = {}, {}

    def visit(state: Any, other: Any) -> None:
        actions = differences(pair, state, other)
        if state.is_player_node() and other.information_state_string() not in others:
            weights = generator.random(len(actions)) if kind == "random" else np.ones(len(actions))
            odds = dict(zip(actions, weights / weights.sum(), strict=True))
            own[state.information_state_string()] = list(odds.items())
            others[other.information_state_string()] = [(actions[each], odd) for each, odd in odds.items()]
        for action, mapped in actions.items():
            visit(state.child(action), other.child(mapped))

    visit(game.new_initial_state(), same.new_initial_state())
    return pyspiel.TabularPolicy(own), pyspiel.TabularPolicy(others)


@pytest.mark.parametrize("kind", ["uniform", "random"])
@pytest.mark.parametrize("sheet", ["kuhn_poker", pytest.param("leduc_poker", marks=long)])
def test_fixed_policies_have_the_same_values(sheet: str, kind: str) -> None:
    pair = PAIRS[sheet]
    game, same = loaded(pair), pyspiel.load_game(pair.other)
    own, others = mapped_policies(pair, game, kind)
    values = [
        pyspiel.expected_returns(each.new_initial_state(), chosen, -1, True)
        for each, chosen in ((game, own), (same, others))
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert values[0][0] != pytest.approx(0, abs=1e-3)
    assert pyspiel.nash_conv(game, own) == pytest.approx(pyspiel.nash_conv(same, others), abs=1e-9)


@long
def test_uniform_play_of_dice_has_the_same_value() -> None:
    pair = PAIRS["liars_dice"]
    game, same = loaded(pair), pyspiel.load_game(pair.other)
    values = [
        pyspiel.expected_returns(each.new_initial_state(), pyspiel.UniformRandomPolicy(each), -1, True)
        for each in (game, same)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


# -- its algorithms ----------------------------------------------------------------------------------


def test_cfr_plus_finds_the_value_of_kuhn_poker() -> None:
    game = loaded(PAIRS["kuhn_poker"])
    solver = cfr.CFRPlusSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    found = solver.average_policy()
    value = expected_game_score.policy_value(game.new_initial_state(), [found, found])[0]
    distance = exploitability.nash_conv(game, found)
    # The value of the game is no further off than a best response can gain.
    assert distance < 0.01
    assert abs(value + 1 / 18) <= distance


@long
def test_cfr_plus_finds_the_value_of_leduc_poker() -> None:
    game = loaded(PAIRS["leduc_poker"])
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    found = solver.average_policy()
    value = pyspiel.expected_returns(game.new_initial_state(), found, -1, True)[0]
    distance = pyspiel.nash_conv(game, found)
    assert distance < 0.05
    assert abs(value + 0.0856) <= distance


def test_mcts_finds_the_win() -> None:
    game = load("tic_tac_toe", scale=1 / 50, offset=-1.0)
    source = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, source)
    bot = mcts.MCTSBot(game, 1.4, 100, evaluator, random_state=source, solve=True)
    state = after(game, "(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)")
    assert state.action_to_string(bot.step(state)) == "(mark 1 3)"


def test_minimax_knows_who_wins() -> None:
    game = load("tic_tac_toe", scale=1 / 50, offset=-1.0)
    state = after(game, "(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 1 3)")
    assert minimax.alpha_beta_search(game, state)[0] == 1.0


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "rock_paper_scissors", pytest.param("pig", marks=pytest.mark.slow)]
)
def test_learners_step_through_it(name: str) -> None:
    environment = rl_environment.Environment(load(name))
    environment.seed(1)
    generator = random.Random(1)
    step = environment.reset()
    while not step.last():
        legal = step.observations["legal_actions"]
        movers = [step.observations["current_player"]] if environment.is_turn_based else range(len(legal))
        step = environment.step([generator.choice(legal[player]) for player in movers])
    assert sum(step.rewards) == 100
    kind = environment.game.get_type()
    size = environment.game.information_state_tensor_size()
    assert len(step.observations["info_state"][0]) == (
        size if kind.provides_information_state_tensor else environment.game.observation_tensor_size()
    )


def test_a_playthrough_is_written() -> None:
    text = generate_playthrough.playthrough("anygame(file=leduc_poker)", None, seed=1)
    assert 'InformationStateString(0) = "player1 at step 2; 1: sees (card player1 ' in text
    assert text.count("IsTerminal() = True") == 1


# -- its own checks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in _LONG_PLAYS)) for name in anygame.games()],
)
def test_random_plays_are_sound(name: str) -> None:
    # Each state is written and read again by way of its whole history: long plays are cut.
    pyspiel.random_sim_test(load(name, max_steps=30), num_sims=1, serialize=True, verbose=False)


@long
@pytest.mark.parametrize("name", PUBLIC)
def test_random_plays_of_public_sheets_are_sound(corpus: Path, name: str) -> None:
    game = load(corpus / "rules" / f"{name}.kif", max_steps=40)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def test_a_simultaneous_game_becomes_one_of_turns() -> None:
    game = pyspiel.convert_to_turn_based(load("rock_paper_scissors"))
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)
    in_turn = load("rock_paper_scissors", dynamics="sequential")
    assert in_turn.get_type().information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert in_turn.max_game_length() == 6
    pyspiel.random_sim_test(in_turn, num_sims=3, serialize=True, verbose=False)


# -- being a value -----------------------------------------------------------------------------------


def test_games_are_found_by_name() -> None:
    game = pyspiel.load_game("anygame(file=kuhn_poker,scale=0.04,offset=-2.0)")
    assert str(game) == "anygame(file=kuhn_poker,offset=-2.0,scale=0.04)"
    assert game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    assert (game.num_players(), game.max_game_length(), game.max_chance_outcomes()) == (2, 3, 4)


def test_games_and_states_are_pickled_and_serialised(tmp_path: Path) -> None:
    path = tmp_path / "a, b (c).kif"
    path.write_text(str(anygame.load("kuhn_poker")))
    for game in (load("kuhn_poker"), load(path), load(anygame.load("kuhn_poker"), zero_sum=True)):
        state = after(game, "(deal king)", "(deal jack)", "pass")
        again = pickle.loads(pickle.dumps(game))
        assert str(again) == str(game)
        assert str(after(again, "(deal king)", "(deal jack)", "pass")) == str(state)
        for other in (
            pickle.loads(pickle.dumps(state)),
            game.deserialize_state(state.serialize()),
            pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1],
            state.clone(),
        ):
            assert str(other) == str(state)
            assert other.history() == state.history()
            assert other.information_state_string(0) == state.information_state_string(0)
            other.apply_action(other.string_to_action("bet"))
            assert str(other) == str(after(game, "(deal king)", "(deal jack)", "pass", "bet"))


def test_a_copy_goes_its_own_way() -> None:
    state = after(load("kuhn_poker"), "(deal king)", "(deal jack)")
    copied = state.clone()
    copied.apply_action(copied.string_to_action("bet"))
    assert [state.current_player(), copied.current_player()] == [0, 1]


# -- utilities, observations -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "utility", "bounds", "returns"),
    [
        ({}, "CONSTANT_SUM", (0, 100), [75, 25]),
        ({"scale": 0.04, "offset": -2}, "ZERO_SUM", (-2, 2), [1, -1]),
        ({"zero_sum": True}, "ZERO_SUM", (-50, 50), [25, -25]),
        ({"scale": -1}, "CONSTANT_SUM", (-100, 0), [-75, -25]),
        ({"max_steps": 4}, "GENERAL_SUM", (0, 100), [75, 25]),
    ],
)
def test_utilities_are_goals_or_made_of_them(
    options: dict[str, Any], utility: str, bounds: tuple[float, float], returns: list[float]
) -> None:
    game = load("kuhn_poker", **options)
    state = after(game, "(deal king)", "(deal jack)", "bet", "pass")
    assert state.returns() == pytest.approx(returns)
    assert game.get_type().utility.name == utility
    assert (game.min_utility(), game.max_utility()) == pytest.approx(bounds)


def test_observers_show_the_information_of_a_player() -> None:
    game = load("kuhn_poker")
    state = after(game, "(deal king)", "(deal jack)", "pass")
    remembered = observation.make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    remembered.set_from(state, 1)
    assert remembered.dict["player"].tolist() == [0, 1]
    assert remembered.dict["step"].argmax() == 3
    assert remembered.dict["memory"].sum() == 2
    seen = observation.make_observation(game)
    seen.set_from(state, 1)
    assert seen.dict["percepts"].sum() == 2
    assert seen.string_from(state, 1) == "step 4; sees (card player2 jack); sees pass"
    everything = pyspiel.IIGObservationType(
        perfect_recall=False, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS
    )
    facts = observation.make_observation(game, everything)
    facts.set_from(state, 0)
    # Two cards, two chips, a pass, and whose turn it is.
    assert facts.dict["facts"].sum() == 6
    board = observation.make_observation(load("tic_tac_toe"))
    board.set_from(after(load("tic_tac_toe"), "(mark 1 1)"), 0)
    assert board.dict["facts"].sum() == 10
    with pytest.raises(ValueError, match="take no parameters"):
        game.make_py_observer(None, {"size": 2})


def test_large_information_states_have_only_text() -> None:
    kind = load("six_in_a_row", max_steps=5000).get_type()
    assert kind.provides_information_state_string
    assert not kind.provides_information_state_tensor
    assert kind.provides_observation_tensor


# -- wrong use ---------------------------------------------------------------------------------------


def test_illegal_moves_raise_errors() -> None:
    state = after(load("tic_tac_toe"), "(mark 1 1)")
    with pytest.raises(anygame.IllegalMoveError, match=r"\(mark 1 1\), is not legal for o here"):
        state.apply_action(0)
    with pytest.raises(anygame.IllegalMoveError, match="action 77 is not legal for o here"):
        state.apply_action(77)
    together = load("rock_paper_scissors").new_initial_state()
    for actions in ([], [0], [0, 1, 2]):
        message = f"expected one action for each of left, right; found {len(actions)}"
        with pytest.raises(anygame.IllegalMoveError, match=message):
            together.apply_actions(actions)


def test_a_serialised_state_of_another_sheet_raises_an_error() -> None:
    text = load("tic_tac_toe").new_initial_state().serialize()
    assert str(load("tic_tac_toe").deserialize_state(text)).startswith("step 1")
    with pytest.raises(ValueError, match="the state belongs to tic_tac_toe, not to kuhn_poker"):
        load("kuhn_poker").deserialize_state(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dynamics": "both"}, "dynamics must be one of auto, sequential, simultaneous"),
        ({"max_steps": -1}, "max_steps must be a number of joint moves"),
        ({"scale": 0}, r"scale \(utility per point\) must be a finite number other than 0, not 0"),
        (
            {"scale": float("nan")},
            r"scale \(utility per point\) must be a finite number other than 0, not nan",
        ),
        ({"offset": float("inf")}, "offset must be a finite number, not inf"),
    ],
)
def test_wrong_options_raise_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("kuhn_poker", **options)


def test_unusable_sheets_raise_errors() -> None:
    with pytest.raises(anygame.RuleSheetError, match="did you mean kuhn_poker"):
        load("kuhn_pocker")
    with pytest.raises(anygame.RuleSheetError, match="no role besides random"):
        load(anygame.loads("(role random) (legal random roll) (<= terminal (true over))"))
    with pytest.raises(anygame.RuleSheetError, match="is not a packed sheet"):
        SheetGame({"rules": "nonsense"})
    with pytest.raises(ValueError, match="expected one of the parameters"):
        SheetGame({})


def test_importing_anygame_does_not_import_it() -> None:
    code = "import sys, anygame, anygame.envs.extensive; sys.exit('pyspiel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_uniform_policies_are_made_of_it() -> None:
    tabular = policy.TabularPolicy(load("kuhn_poker"))
    assert len(tabular.state_lookup) == 12


def test_proofs_replace_the_survey_of_a_large_tree() -> None:
    text = open_sheet("connect_four").text
    found = describe("connect_four", text, True, False, "auto", 0)
    assert found.survey is None
    assert (found.longest, found.goal_sum, found.form.order) == (43, 100, "sequential")
    # Goals add up where matches end, not where they are cut.
    assert describe("connect_four", text, True, False, "auto", 20).goal_sum is None
