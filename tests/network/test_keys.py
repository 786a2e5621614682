"""Keys of fluents: proved from the rules, true in play, and made use of."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.examples import examples
from tests.game.sheets import SHEETS
from tests.network.agreement import assert_agreement_of, wandered
from tests.network.random_rules import Writer
from tests.network.random_views import write_views

import anygame
from anygame.datalog.reasoner import Reasoner
from anygame.errors import PositionError
from anygame.game.machines.network import compile_machine
from anygame.language.parser import parse_program, parse_term
from anygame.network.budget import Budget
from anygame.network.compiled import compile_game
from anygame.network.grounding.grounder import GroundingLimits
from anygame.network.grounding.large.cases import Invariant, Premises, is_implied
from anygame.network.grounding.large.keys import InvariantProver
from anygame.network.grounding.pipeline import SPLITTING_AT_KEYS
from anygame.network.grounding.static import StaticRelations
from anygame.network.grounding.tables import Tables
from anygame.network.interface import Exclusions

if TYPE_CHECKING:
    from pathlib import Path

    from anygame.datalog.relations import Relation
    from anygame.network.grounding.large.cases import Key


def _prover(text: str) -> tuple[Reasoner, Premises, InvariantProver]:
    reasoner = Reasoner(parse_program(text))
    budget = Budget(10_000_000)
    static = StaticRelations(reasoner, Tables(reasoner.terms, 1_000_000, budget))
    premises = Premises(reasoner, static)
    return reasoner, premises, InvariantProver(premises, budget)


def _keys(text: str) -> tuple[Reasoner, dict[Relation, list[Key]]]:
    """Return the keys that are proved, without those that have another one in them."""
    reasoner, premises, prover = _prover(text)
    found: dict[Relation, list[Key]] = {}
    for relation in reasoner.layout.variants(("true", 1)):
        for key in tuple(premises.keys(relation)):
            smaller = found.get(relation, [])
            if not is_implied(key, smaller) and prover.holds(Invariant(relation, key)):
                found[relation] = [*smaller, key]
    return reasoner, found


def _told(text: str) -> dict[str, list[Key]]:
    """Return the keys by the name of the fluent."""
    return {relation.shapes[0][0]: keys for relation, keys in _keys(text)[1].items()}  # type: ignore[index]


_MARKS = """
    (role solver) (index 1) (index 2) (index 3) (index 4)
    (<= (filled ?x ?y) (true (mark ?x ?y ?m)))
    (<= (legal solver (put ?x ?y ?m)) (index ?x) (index ?y) (index ?m) (not (filled ?x ?y)))
    (<= (next (mark ?x ?y ?m)) (does solver (put ?x ?y ?m)))
    (<= (next (mark ?x ?y ?m)) (true (mark ?x ?y ?m)))
    (<= open (index ?x) (index ?y) (not (filled ?x ?y)))
    (<= terminal (not open))
    (<= (goal solver 100) (good 1) (good 2) (good 3) (good 4))
    (<= (goal solver 0) (index ?x) (not (good ?x)))
    (<= (good ?x) (index ?x)
        (true (mark ?x 1 ?a)) (true (mark ?x 2 ?b)) (true (mark ?x 3 ?c)) (true (mark ?x 4 ?d))
        (distinct ?a ?b) (distinct ?a ?c) (distinct ?a ?d)
        (distinct ?b ?c) (distinct ?b ?d) (distinct ?c ?d))
"""


# -- what is proved --------------------------------------------------------------------------------


def test_an_empty_cell_takes_one_mark() -> None:
    assert _told(_MARKS) == {"mark": [(0, 1)]}


def test_marks_that_may_be_set_twice_have_no_key() -> None:
    assert _told(_MARKS.replace("(not (filled ?x ?y))", "", 1)) == {}


def test_the_key_holds_only_if_it_holds_at_first() -> None:
    assert _told(_MARKS + "(init (mark 1 1 1)) (init (mark 2 2 2))") == {"mark": [(0, 1)]}
    assert _told(_MARKS + "(init (mark 1 1 1)) (init (mark 1 1 2))") == {}


def test_turns_and_steps_are_one_at_a_time_and_moves_of_two_roles_are_not() -> None:
    text = """
        (role a) (role b) (other a b) (other b a)
        (init (turn a)) (init (step 0)) (init (at a 0)) (init (at b 0))
        (after 0 1) (after 1 2) (after 2 3)
        (<= (legal ?r go) (true (turn ?r))) (<= (legal ?r stay) (role ?r) (not (true (turn ?r))))
        (<= (legal ?r (say ?n)) (role ?r) (after ?n ?m))
        (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= (next (at ?r ?n)) (does ?r go) (true (at ?r ?m)) (after ?m ?n))
        (<= (next (at ?r ?n)) (true (at ?r ?n)) (not (does ?r go)))
        (<= (next (said ?n)) (does ?r (say ?n)))
        (<= terminal (true (step 3))) (goal a 1) (goal b 1)
    """
    assert _told(text) == {"turn": [()], "step": [()], "at": [(0,)]}


_KINGS = """
    (role a) (role b) (other a b) (other b a) (man ak a king) (man bk b king) (man ap a pawn) (man bp b pawn)
    (init (turn a)) (init (at 1 ak)) (init (at 2 ap)) (init (at 5 bp)) (init (at 6 bk))
    (cell 1) (cell 2) (cell 3) (cell 4) (cell 5) (cell 6)
    (<= (legal ?r (go ?m ?x ?y)) (true (turn ?r)) (man ?m ?r ?kind) (true (at ?x ?m)) (cell ?y))
    (<= (legal ?r wait) (other ?r ?s) (true (turn ?s)))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= (next (at ?y ?m)) (does ?r (go ?m ?x ?y)) (or (distinct ?m ap) (distinct ?y 6)))
    (<= (next (at 6 MADE)) (does ?r (go ap ?x 6)))
    (<= (next (at ?z ?n)) (does ?r (go ?m ?x ?y)) (true (at ?z ?n)) (distinct ?z ?x) (distinct ?z ?y))
    (<= terminal (true (at 1 bk))) (goal a 1) (goal b 1)
"""


def _alone(text: str, column: int, *values: str) -> list[bool]:
    """Return, per value, whether it is proved that one row of ``at`` at most has it in a column."""
    reasoner, _, prover = _prover(text)
    at = next(one for one in reasoner.layout.variants(("true", 1)) if one.shapes[0] == ("at", 2))
    return [prover.holds(Invariant(at, (column,), parse_term(value))) for value in values]


def test_a_man_stands_on_one_cell_unless_pawns_become_others_of_its_kind() -> None:
    assert _alone(_KINGS.replace("MADE", "ap"), 1, "ak", "bk", "ap", "bp") == [True] * 4
    assert _alone(_KINGS.replace("MADE", "ak"), 1, "ak", "bk", "ap", "bp") == [False, True, True, True]
    assert _alone(_KINGS.replace("MADE", "ap") + "(init (at 3 ak))", 1, "ak", "bk") == [False, True]
    assert _alone(_KINGS.replace("MADE", "ap"), 0, "1", "none") == [True, False]


def test_late_facts_invalidate_keys() -> None:
    after = " ".join(f"(after {step} {step + 1})" for step in range(60))
    text = f"""
        (role a) (legal a go) (init (p 1)) (next (p 1)) (init (step 0)) {after}
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= terminal (true (step 60))) (goal a 1)
    """
    assert _told(text) == {"p": [()], "step": [()]}
    assert _told(text + "(<= (next (p 2)) (true (step 50)))") == {"step": [()]}


def _assert_kept(text: str, seed: int, playouts: int = 6, longest: int = 30) -> int:
    """Check that keys hold in all states of random play; return how many keys there are."""
    reasoner, keys = _keys(text)
    for state, _ in wandered(anygame.loads(text), playouts, seed, longest):
        rows, _ = reasoner.fluents(state.facts)
        for relation, found in zip(reasoner.layout.variants(("true", 1)), rows, strict=True):
            listed = [relation.unpacked(row) for row in found]
            for key in keys.get(relation, []):
                assert len({tuple(row[n] for n in key) for row in listed}) == len(listed), (relation, key)
    return sum(map(len, keys.values()))


@pytest.mark.parametrize("sheet", sorted(SHEETS.glob("*.kif")), ids=lambda path: path.stem)
def test_keys_hold_in_play(sheet: Path) -> None:
    _assert_kept(sheet.read_text(), seed=1, longest=40)


@pytest.mark.slow
def test_keys_hold_in_random_games() -> None:
    found = sum(_assert_kept(Writer(seed).sheet(), seed) for seed in range(examples(30)))
    found += sum(_assert_kept(write_views(seed), seed) for seed in range(examples(20)))
    assert found > 0


# -- what it is good for ---------------------------------------------------------------------------


def test_conditions_are_split_at_keys_and_answers_stay_the_same() -> None:
    text = _MARKS + "(init (mark 1 1 1)) (init (mark 1 2 2)) (init (mark 1 3 3))"
    compiled = compile_game(Reasoner(parse_program(text)), GroundingLimits(few=0))
    assert dict(compiled.passes)[SPLITTING_AT_KEYS]["rewrote"] == 1
    assert_agreement_of(anygame.loads(text), compiled, playouts=12)


def test_without_splitting_at_keys_every_state_is_represented() -> None:
    compiled = compile_game(
        Reasoner(parse_program(_MARKS)), GroundingLimits(few=0), without=[SPLITTING_AT_KEYS]
    )
    assert not compiled.exclusions
    assert_agreement_of(anygame.loads(_MARKS), compiled, playouts=6)


def test_a_state_has_its_place_if_all_that_proofs_rely_on_holds() -> None:
    game = anygame.loads("""
        (role a) (role b) (other a b) (other b a) (cell 1) (cell 2) (cell 3) (cell 4)
        (line 1 2) (line 2 3) (line 3 4) (line 4 1) (init (turn a)) (init (at 1)) (init (on 2))
        (<= (legal ?r (go ?y)) (true (turn ?r)) (cell ?y) (true (at ?k)) (not (near ?y ?k)))
        (<= (near ?y ?k) (true (on ?z)) (line ?z ?k) (cell ?y) (distinct ?z ?y))
        (<= (legal ?r wait) (role ?r))
        (<= (next (at ?y)) (does ?r (go ?y)))
        (<= (next (at ?y)) (true (turn ?r)) (does ?r wait) (true (at ?y)))
        (<= (next (on ?y)) (does ?r (go ?y)))
        (<= (next (on ?y)) (true (on ?y)) (does a wait))
        (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
        (<= terminal (true (at 9))) (goal a 1) (goal b 1)
    """)
    machine = compile_machine(game.backends.reasoner, {"few": 0})
    assert machine.position(game.state(["(turn a)", "(at 1)", "(on 2)"]).facts) is not None
    both = game.state(["(turn a)", "(turn b)", "(at 1)", "(on 2)"]).facts
    assert machine.obstacle(both) == "the facts (turn a) and (turn b) together"


def test_facts_that_exclude_each_other_are_left_to_the_rules() -> None:
    game = anygame.loads(_MARKS)
    machine = compile_machine(game.backends.reasoner, {"few": 0})
    one = game.state(["(mark 1 1 1)", "(mark 1 2 1)"]).facts
    both = one | game.state(["(mark 1 1 2)"]).facts
    assert machine.position(one) is not None
    assert machine.position(both) is None
    assert machine.obstacle(both) == "the facts (mark 1 1 1) and (mark 1 1 2) together"
    lanes = machine.lanes(2, 1)
    array = np.zeros((2, len(machine.compiled.fluents)), np.bool_)
    array[1, [machine.compiled.fluents.index(fact) for fact in one]] = True
    lanes.set_observation(array)
    array[1, [machine.compiled.fluents.index(fact) for fact in both]] = True
    with pytest.raises(PositionError, match=r"lane 1: no match makes both \(mark 1 1 1\) and \(mark 1 1 2\)"):
        lanes.set_observation(array)


def test_exclusions_find_the_pairs_that_a_search_finds() -> None:
    random = Random(4)
    for _ in range(200):
        groups = [np.array([random.randint(-1, 4) for _ in range(8)]) for _ in range(random.randint(0, 2))]
        states = np.array([[random.random() < 0.3 for _ in range(8)] for _ in range(3)])
        bad = [
            any(
                present[a] and present[b] and of[a] == of[b] >= 0
                for of in groups
                for a in range(8)
                for b in range(a)
            )
            for present in states
        ]
        found = Exclusions(groups)
        assert [found.pair_among(np.flatnonzero(state).tolist()) is not None for state in states] == bad
        first = found.pair_in(states)
        assert (None if first is None else bad[first[0]]) == (True if any(bad) else None)
