from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.match.games import COUNTDOWN, DICE

import anygame
from anygame.errors import PlayerError
from anygame.match import run
from anygame.players import STRATEGIES, Clock, MctsPlayer, Player, is_address, make_player, player_class
from anygame.players.loading import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.language.terms import Term

#: One player: 1 gives 30 at once, 2 a promise of 90 that ends with 40, 3 ends with 60.
CHOICES = """
(role me) (init start)
(<= (legal me ?n) (n ?n)) (n 1) (n 2) (n 3)
(<= (next (chose ?n)) (does me ?n))
(<= (next late) (true (chose 2)))
(<= over (true (chose 1))) (<= over (true (chose 3))) (<= over (true late))
(<= terminal over)
(<= (goal me 30) (true (chose 1))) (<= (goal me 60) (true (chose 3)))
(<= (goal me 40) (true (chose 2)))
"""


def _chosen(player: Player, rules: str, role: str = "me", *, after: tuple[str, ...] = ()) -> str:
    game = anygame.loads(rules)
    state = game.initial_state()
    for joint in after:
        state = state.next(joint.split(","))
    place = game.role_index(role)
    player.begin(game, game.roles[place], Clock.of(5))
    return str(player.move(state, Clock.of(5)))


def test_legal_plays_its_first_move() -> None:
    assert _chosen(make_player("legal"), CHOICES) == "1"


def test_random_plays_all_its_moves() -> None:
    assert Counter(_chosen(make_player("random", seed=seed), CHOICES) for seed in range(60)).keys() == set(
        "123"
    )
    assert len({_chosen(make_player("random", seed=5), CHOICES) for _ in range(5)}) == 1


def test_greedy_takes_the_best_end() -> None:
    assert {_chosen(make_player("greedy", seed=seed), CHOICES) for seed in range(10)} == {"3"}


def test_greedy_has_an_answer_when_there_is_no_time() -> None:
    game = anygame.loads(CHOICES)
    player = make_player("greedy", seed=1)
    player.begin(game, game.roles[0], Clock.of(0))
    assert str(player.move(game.initial_state(), Clock.of(0))) in {"1", "2", "3"}


def test_greedy_lives_with_goals_that_contradict_each_other() -> None:
    rules = CHOICES + "(<= (goal me 99) (true (chose 3)))"
    assert _chosen(make_player("greedy", seed=1), rules) == "2"


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("rules", [CHOICES, COUNTDOWN, DICE])
def test_every_strategy_plays_any_game_to_its_end(name: str, rules: str) -> None:
    found = run(
        anygame.loads(rules),
        [make_player(_SHORT.get(name, name), seed=seed) for seed in range(2 if rules is COUNTDOWN else 1)],
        start_clock=5,
        play_clock=5,
        seed=1,
    )
    assert found.is_completed
    assert not any(any(errors) for errors in found.errors)


_SHORT = {"uct": "uct:tries=20", "mcts": "mcts:iterations=20", "ismcts": "ismcts:iterations=20"}


def test_unknown_names_of_players_raise_errors() -> None:
    with pytest.raises(PlayerError, match="there is no player 'mcst'; did you mean mcts"):
        make_player("mcst")
    with pytest.raises(
        PlayerError,
        match=r"expected random, legal, .*, ismcts, beginner, .*, MODULE:CLASS, or FILE\.py:CLASS",
    ):
        make_player("zzz")
    with pytest.raises(PlayerError, match="cannot be loaded: ModuleNotFoundError"):
        make_player("no.such.module:Player")
    with pytest.raises(PlayerError, match="has no 'Randm'; its players are GreedyPlayer"):
        make_player("anygame.players.simple:Randm")
    with pytest.raises(PlayerError, match="is not a player"):
        make_player("anygame.players.player:Clock")
    with pytest.raises(PlayerError, match="has no method `move`"):
        make_player("anygame.players.player:Player")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("uct:tries=x", "expected a whole number for tries, found 'x'"),
        ("uct:tries=2.5", "expected a whole number for tries, found '2.5'"),
        ("uct:tries=yes", "expected a whole number for tries, found 'yes'"),
        ("uct:tries=-3", "the player uct:tries=-3 cannot be made: iterations must be at least 1, not -3"),
        ("mcts:threads=0", "cannot be made: threads must be from 1 to 4,096, not 0"),
        ("ismcts:iterations=-5", "cannot be made: iterations must be at least 1, not -5"),
        ("mcts:memory=1KB", "cannot be made: memory in bytes must be at least 1,048,576, not 1024"),
        ("mcts:iterations=0", "cannot be made: iterations must be at least 1, not 0"),
        ("mcts:pondering=maybe", "expected yes or no for pondering, found 'maybe'"),
        ("mcts:", "expected OPTION=VALUE,... after mcts:, found nothing"),
        ("mcts:threads", "expected OPTION=VALUE,... after mcts:, found 'threads'"),
        ("mcts:threads=", "expected OPTION=VALUE,... after mcts:, found 'threads='"),
        ("random:speed=3", "the player random has no option 'speed'; it has none"),
    ],
)
def test_impossible_options_raise_errors_before_a_match(spec: str, expected: str) -> None:
    with pytest.raises(PlayerError, match=re.escape(expected)):
        make_player(spec)


def test_a_player_can_be_loaded_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from anygame.players import Player\n"
        "class Last(Player):\n"
        "    def move(self, state, clock):\n"
        "        return state.legal_moves(self.role)[-1]\n"
        "class Broken(Last):\n"
        "    def __init__(self):\n"
        "        raise ValueError('not today')\n"
    )
    assert _chosen(make_player(f"{path}:Last", seed=1), CHOICES) == "3"
    assert player_class(f"{path}:Last") is player_class(f"{path}:Last")
    with pytest.raises(PlayerError, match="ValueError: not today"):
        make_player(f"{path}:Broken")
    with pytest.raises(PlayerError, match="there is no file"):
        make_player(f"{tmp_path}/none.py:Last")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)")
    with pytest.raises(PlayerError, match="SystemExit"):
        make_player(f"{tmp_path}/exits.py:Last")


def test_players_load_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "near_player.py").write_text(
        "from anygame.players import LegalPlayer\nclass Near(LegalPlayer): pass\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path])
    assert make_player("near_player:Near").name == "Near"


@pytest.mark.parametrize("spec", ["localhost:9147", "10.0.0.1:80", "[::1]:9147"])
def test_addresses_are_distinguished_from_classes(spec: str) -> None:
    assert is_address(spec)
    assert not is_address("module:Class9")
    assert not is_address("9147")


def test_clocks_keep_a_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("anygame.players.player.monotonic", lambda: 100.0)
        assert Clock.of(1).deadline == pytest.approx(100.9)
        assert Clock.of(60).deadline == 159.5
    assert Clock.of(10, margin=0).remaining() > 9.5 >= Clock.of(10).remaining()
    assert Clock.of(0.1, margin=1).is_up
    assert not Clock.endless().is_up


@pytest.mark.parametrize("name", LEVELS)
def test_levels_are_players_as_documented(name: str) -> None:
    player = make_player(name, seed=1)
    assert isinstance(player, MctsPlayer)
    level = LEVELS[name]
    chapter = Path(__file__).parents[2] / "docs" / "guide" / "web.md"
    assert f"| `{name}` | {level.about} | `{level.spec}` |" in chapter.read_text(encoding="utf-8")


def test_noise_is_the_share_of_moves_that_are_drawn() -> None:
    game = anygame.load("tic_tac_toe")
    # x wins by (mark 1 3) at once, which a search always finds.
    state = game.state(
        ["(cell 1 1 x)", "(cell 1 2 x)", "(cell 1 3 b)", "(cell 2 1 o)", "(cell 2 2 o)", "(cell 2 3 b)"]
        + [f"(cell 3 {column} b)" for column in (1, 2, 3)]
        + ["(control x)"]
    )

    def wins(noise: float) -> int:
        player = make_player(f"mcts:iterations=200,noise={noise}", seed=3)
        player.begin(game, game.roles[0], Clock.of(60))
        return sum(str(player.move(state, Clock.of(60))) == "(mark 1 3)" for _ in range(40))

    assert wins(0.0) == 40
    assert 2 <= wins(1.0) <= 20
    with pytest.raises(PlayerError, match="noise must be from 0 to 1, not 2"):
        make_player("mcts:noise=2")


class _Starting(Player):
    """Keeps what it knew when it got ready."""

    known: tuple[tuple[str, str, float], ...] = ()

    def note(self, clock: Clock) -> None:
        self.known += ((self.game.name, self.role, clock.seconds),)

    def move(self, state: anygame.State, clock: Clock) -> Term:
        return self.random.choice(state.legal_moves(self.role))


class _WithClock(_Starting):
    def __init__(self) -> None:
        """Draw random numbers all the same."""

    def start(self, clock: Clock) -> None:
        self.note(clock)


class _Ready:
    note: Callable[[Clock], None]

    def start(self, clock: Clock) -> None:
        self.note(clock)


class _Mixed(_Ready, _Starting):
    pass


@pytest.mark.parametrize(
    "kind",
    [_WithClock, _Mixed],
    ids=lambda kind: kind.__name__,
)
def test_game_and_role_are_set_before_start(kind: type[_Starting]) -> None:
    game = anygame.loads(COUNTDOWN)
    player = kind()
    record = run(game, [player, "legal"], start_clock=3, play_clock=1)
    assert not any(map(any, record.errors))
    first = (game.name, game.roles[0], 3)
    assert player.known == (first,)
    player.begin(game, game.roles[1], Clock.of(4))
    assert player.known == (first, (game.name, game.roles[1], 4))


def test_the_number_of_iterations_has_one_name() -> None:
    for spec in ("uct:iterations=7", "uct:tries=7", "mcts:iterations=7", "ismcts:iterations=7"):
        assert vars(make_player(spec))["iterations"] == 7
