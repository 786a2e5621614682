from __future__ import annotations

import copy
import subprocess
import sys
from dataclasses import dataclass

import pytest

import anygame
from anygame.envs.extensive import (
    CHANCE,
    SIMULTANEOUS,
    TERMINAL,
    ExtensiveForm,
    Node,
    find_turns,
    survey,
    walk,
)


def form_of(name: str, **options: object) -> ExtensiveForm:
    return ExtensiveForm(anygame.load(name), **options)  # type: ignore[arg-type]


def played(form: ExtensiveForm, *moves: str) -> Node:
    """Return the node after these decisions and draws."""
    node = form.root()
    for move in moves:
        legal = node.draws() if node.actor == CHANCE else node.moves(node.actor)
        node = node.child(next(term for term in legal if str(term) == move))
    return node


@dataclass(frozen=True)
class Counts:
    """How large a tree is.

    Attributes:
        histories: all of them, the empty one and the ended ones too.
        plays: those that have ended.
        information_sets: of each player, in their order.
    """

    histories: int
    plays: int
    information_sets: tuple[int, ...]


def count(form: ExtensiveForm) -> Counts:
    """Count histories and information sets."""
    histories = plays = 0
    known: list[set[str]] = [set() for _ in form.players]
    for node in walk(form):
        histories += 1
        plays += node.actor == TERMINAL
        for player, texts in enumerate(known):
            if node.actor in (player, SIMULTANEOUS):
                texts.add(node.information(player))
    return Counts(histories, plays, tuple(map(len, known)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Of Kuhn poker, as H. W. Kuhn has it: three cards, each with four information sets of two players.
        ("kuhn_poker", Counts(58, 30, (6, 6))),
        ("monty_hall", Counts(43, 24, (7,))),
        # In three rounds of three hands each: 1 + 9 + 81 + 729.
        ("rock_paper_scissors", Counts(820, 729, (91, 91))),
    ],
)
def test_histories_and_information_sets_are_counted(name: str, expected: Counts) -> None:
    assert count(form_of(name)) == expected


@pytest.mark.long
def test_leduc_poker_has_as_many_histories_as_in_openspiel() -> None:
    # OpenSpiel's leduc_poker has as many.
    assert count(form_of("leduc_poker")) == Counts(9457, 5520, (468, 468))


def test_a_waiting_role_makes_no_decision() -> None:
    form = form_of("kuhn_poker")
    node = form.root()
    assert node.actor == CHANCE
    assert [str(move) for move in node.draws()] == ["(deal jack)", "(deal king)", "(deal queen)"]
    node = played(form, "(deal king)", "(deal jack)")
    assert node.actor == 0
    assert [str(move) for move in node.moves(0)] == ["bet", "pass"]
    assert node.moves(1) == ()
    end = played(form, "(deal king)", "(deal jack)", "pass", "bet", "bet")
    assert end.actor == TERMINAL
    assert end.goals() == [100, 0]


def test_a_player_knows_its_own_moves_and_percepts() -> None:
    form = form_of("kuhn_poker")
    node = played(form, "(deal king)", "(deal jack)", "pass")
    assert node.information(0) == "player1 at step 4; 1: sees (card player1 king); 3: pass"
    assert node.information(1) == "player2 at step 4; 2: sees (card player2 jack); 3: sees pass"
    assert [str(seen) for seen in node.percepts(1)] == ["(card player2 jack)", "pass"]
    assert [str(seen) for seen in node.percepts(0)] == []
    later = node.child(node.moves(1)[0])
    assert [str(seen) for seen in later.percepts(0)] == ["bet"]
    assert [str(seen) for seen in played(form, "(deal king)", "(deal jack)").percepts(0)] == [
        "(card player1 king)"
    ]
    other = played(form, "(deal queen)", "(deal jack)", "pass")
    assert other.information(1) == node.information(1)
    assert other.information(0) != node.information(0)


def test_a_forced_move_is_a_decision_and_waiting_is_none() -> None:
    cells = [f"(mark {cell})" for cell in ["1 1", "1 2", "1 3", "2 2", "2 1", "2 3", "3 2", "3 1"]]
    node = played(form_of("tic_tac_toe"), *cells)
    assert (node.actor, [str(move) for move in node.moves(0)]) == (0, ["(mark 3 3)"])
    assert played(form_of("tic_tac_toe"), *cells, "(mark 3 3)").actor == TERMINAL


def test_steps_of_waiting_tell_nothing() -> None:
    """In phantom tic-tac-toe, whoever has failed and whoever has not had come to the same step."""
    form = form_of("phantom_tic_tac_toe")
    luckier = played(form, "(mark 2 2)", "(mark 1 1)")
    unlucky = played(form, "(mark 2 2)", "(mark 2 2)", "(mark 1 1)")
    assert luckier.actor == unlucky.actor == 0
    assert luckier.information(0) == unlucky.information(0)
    assert luckier.information(1) != unlucky.information(1)


def test_roles_that_move_at_once_do_not_see_each_other() -> None:
    game = anygame.load("rock_paper_scissors")
    at_once = ExtensiveForm(game)
    assert (at_once.order, at_once.root().actor) == ("simultaneous", SIMULTANEOUS)
    in_turn = ExtensiveForm(game, "sequential")
    assert in_turn.hides_moves
    nodes = [node for node in walk(in_turn) if node.actor == 1 and node.step == 0]
    assert len(nodes) == 3
    assert len({node.information(1) for node in nodes}) == 1
    assert len({node.information(0) for node in nodes}) == 3
    moves = at_once.root().moves(0)
    after = at_once.root().child_of_all((moves[0], moves[1]))
    assert str(after) == str(in_turn.root().child(moves[0]).child(moves[1]))


_CHANCE_AND_CHOICE = """
(role random) (role me) (coin heads) (coin tails)
(<= (legal random ?c) (coin ?c)) (<= (legal me ?c) (coin ?c))
(<= (next (result right)) (does me ?c) (does random ?c))
(<= (next (result wrong)) (does me ?c) (does random ?d) (distinct ?c ?d))
(<= terminal (true (result ?r)))
(<= (goal me 100) (true (result right))) (<= (goal me 0) (true (result wrong)))
"""


def test_random_draws_after_the_players_have_chosen() -> None:
    form = ExtensiveForm(anygame.loads(_CHANCE_AND_CHOICE))
    root = form.root()
    assert root.actor == 0
    assert root.child(root.moves(0)[0]).actor == CHANCE
    assert count(form) == Counts(7, 4, (1,))


def test_copies_share_a_node() -> None:
    root = form_of("kuhn_poker").root()
    assert copy.deepcopy(root) is root
    assert root.child(root.draws()[0]) is root.child(root.draws()[0])


def test_trees_need_no_library_and_games_of_open_spiel_name_theirs() -> None:
    code = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "import anygame.envs.extensive\n"
        "try:\n    import anygame.envs.open_spiel\n"
        "except anygame.MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "this needs OpenSpiel, which is not installed: pip install 'anygame[open-spiel]'\n"


def test_trees_are_bounded() -> None:
    form = form_of("tic_tac_toe")
    with pytest.raises(anygame.LimitError, match=r"has more than 6,000 histories: about [45]00,000"):
        list(walk(form, 6_000))
    # A tree that is far too large by the estimate is not counted.
    with pytest.raises(anygame.LimitError, match=r"too many histories: about [45]00,000.* the limit is 50$"):
        next(walk(form, 50))


def test_a_play_is_cut() -> None:
    form = form_of("kuhn_poker", max_steps=3)
    assert played(form, "(deal king)", "(deal jack)", "bet").actor == TERMINAL


@pytest.mark.slow
def test_a_survey_contains_properties_of_all_states() -> None:
    game = anygame.load("kuhn_poker")
    found = survey(game, find_turns(game))
    assert found is not None
    assert (found.turns_are_taken, found.steps, found.decisions) == (True, 5, 3)
    assert (found.goal_sum, found.goals) == (100, (0, 100))
    large = anygame.load("six_in_a_row")
    assert survey(large, find_turns(large)) is None


def test_plays_that_can_repeat_have_no_maximum_length() -> None:
    game = anygame.loads(
        "(role a) (init off) (legal a press) (legal a stop) (<= (next on) (true off) (does a press))"
        "(<= (next off) (true on) (does a press)) (<= (next over) (does a stop)) (<= terminal (true over))"
        "(<= (goal a 50) (true over))"
    )
    found = survey(game, find_turns(game))
    assert found is not None
    assert (found.steps, found.goals) == (None, (50, 50))
