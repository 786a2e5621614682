"""What a compiled game is said to be like."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.agreement import compiled
from tests.network.networks import Builder, tic_tac_toe

from anygame.errors import LimitError
from anygame.language.terms import Constant
from anygame.network.compiled import CompiledGame
from anygame.network.description import describe, levels, picture, text
from anygame.network.network import FALSE, TRUE, Network

_CODE: dict[str, int | str] = {
    "style": "straight",
    "lanes": 512,
    "rows": 1234,
    "bytes": 78_976,
}
#: Who is connected to whom, over links that change: a view that reads itself.
_LINKS = """
(role r) (node a) (node b) (node c) (node d)
(init (link a b)) (init (at a))
(<= (legal r (join ?x ?y)) (node ?x) (node ?y))
(<= (next (link ?x ?y)) (does r (join ?x ?y)))
(<= (next (link ?x ?y)) (true (link ?x ?y)))
(<= (connected ?x ?y) (true (link ?x ?y)))
(<= (connected ?x ?y) (true (link ?x ?z)) (connected ?z ?y))
(<= terminal (connected a d))
"""


def _chain(length: int) -> Network:
    """Return gates of which each reads the one before."""
    build = Builder(length + 1, [1])
    literal = build.fluents[0]
    for fluent in build.fluents[1:]:
        literal = build.conjunction(literal, fluent)
    return build.network(build.gates, [False] * (length + 1), [TRUE], literal, [[]], [FALSE] * (length + 1))


@pytest.mark.parametrize("length", [1, 2, 9])
def test_levels_are_the_longest_way(length: int) -> None:
    assert levels(_chain(length)) == length


def test_a_network_without_gates_has_no_levels() -> None:
    build = Builder(1, [1])
    assert levels(build.network(0, [True], [TRUE], FALSE, [[]], build.fluents)) == 0


def test_levels_do_not_depend_on_width() -> None:
    assert 3 <= levels(tic_tac_toe()) <= 5


def test_cycles_are_described_once() -> None:
    game = compiled(_LINKS)
    told = describe(game, _CODE)
    assert told["cycles"] == [cycle.end - cycle.first for cycle in game.network.cycles]
    assert told["cycles"]
    assert f"cycles: {len(told['cycles'])}, with {told['cycles'][0]}" in text(told)
    assert 1 < levels(game.network) <= game.network.gates


def test_the_description_says_how_much_each_pass_saved() -> None:
    game = compiled(_LINKS)
    stages = (
        ("gates", {"gates": 2000, "inputs": 500, "seconds": 0.5}),
        ("rewritten", {"gates": 1500, "inputs": 500, "seconds": 0.25}),
        ("undone", {"gates": 1800, "inputs": 400, "seconds": 0.25}),
    )
    passes = (
        ("inlining", {"rewrote": 0, "made": 0, "seconds": 0.0}),
        ("projecting", {"rewrote": 1, "made": 3, "seconds": 0.5}),
        ("decomposing", {"rewrote": 1200, "made": 2600, "seconds": 0.25}),
    )
    parts = (game.network, game.roles, game.fluents, game.actions, stages, passes)
    told = text(describe(CompiledGame(*parts), _CODE)).splitlines()
    assert told[:6] == [
        "inlining: nothing to do (0.000 s)",
        "projecting: 1 rule became 3 (0.500 s)",
        "decomposing: 1,200 rules became 2,600 (0.250 s)",
        "gates: 2,000 gates, 500 inputs (0.500 s)",
        "rewritten: 1,500 gates (-25.0 %), 500 inputs (0.250 s)",
        "undone: 1,800 gates, 400 inputs (-20.0 %) (0.250 s)",
    ]
    assert told[6] == f"inputs of the network: {len(game.fluents)} fluents; moves: 16 of r"
    assert told[-1] == "code: straight; 512 lanes in 1,234 rows, 78,976 bytes a thread"


def test_constants_are_drawn_as_words() -> None:
    build = Builder(1, [1])
    network = build.network(0, [True], [TRUE], FALSE, [[(7, 1 ^ build.fluents[0])]], build.fluents)
    name = Constant("x" * 80)
    drawn = picture(CompiledGame(network, (Constant("r"),), (name,), ((Constant("go"),),), ())).splitlines()
    assert '  o0 [xlabel="never"];' in drawn
    assert '  o1 [xlabel="always"];' in drawn
    assert '  o2 [shape=box, style=bold, label="goal r 7"];' in drawn
    assert "  n1 -> o2 [arrowhead=odot];" in drawn
    assert f'  n1 [shape=box, label="true {"x" * 52}..."];' in drawn


def test_a_large_network_is_not_drawn() -> None:
    network = _chain(600)
    fluents = tuple(Constant(str(number)) for number in range(601))
    game = CompiledGame(network, (Constant("r"),), fluents, ((Constant("go"),),), ())
    assert network.nodes > 1_000
    with pytest.raises(LimitError, match=f"has {network.nodes:,} fluents, moves and gates") as raised:
        picture(game)
    assert raised.value.bound == 1_000


def test_figures_are_plain_data() -> None:
    told = describe(compiled(_LINKS), _CODE)
    assert not [value for value in told.values() if isinstance(value, np.generic)]
    assert told["actions"] == {"r": 16}
