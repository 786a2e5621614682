"""Evaluation of gates in JAX, for 32 games per word, and functions that make observations.

The functions take one game, and JAX transforms the functions. Under ``vmap``, each bit of a word belongs to a
different game, so one operation computes a gate for 32 games (bit slicing: Biham 1997, "A fast new DES
implementation in software"). For 4,096 games, bit slicing is 3 to 40 times as fast as a byte per value.

XLA takes minutes to compile code for a few thousand gates. The gates are therefore data: a loop evaluates one
block of a table per iteration. This loop compiles equally fast for every game. Gates of one level do not read
each other (levelised simulation: Barzilai, Carter, Rosen and Rutledge 1987, "HSS - a high-speed simulator").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from anygame.game.showing import planes_of
from anygame.language.terms import Compound
from anygame.network.network import TRUE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.language.terms import Term
    from anygame.network.network import Network


#: Arrays of JAX, or tracers.
Array: TypeAlias = Any
#: A function from inputs, bool [inputs], to outputs, bool [outputs].
Evaluate: TypeAlias = Callable[[Array], Array]

_BITS: Final = 32
#: Maximum number of inputs of a gate in a table. Gates with more inputs become trees of gates. With 8 inputs,
#: most inputs are padding: reversi took 75 % longer. With 2 inputs, there are more levels, but no speedup.
FAN_IN: Final = 4


def evaluator(table: GateTable) -> Evaluate:
    """Return a function that evaluates a gate table; ``jit`` and ``vmap`` can transform this function."""

    def of_batch(values: Array) -> Array:
        # Without barriers, XLA packs and unpacks the bits for every use of a value.
        inputs = _packed(jax.lax.optimization_barrier(values))
        rows = jnp.zeros((table.rows, inputs.shape[1]), jnp.uint32)
        rows = jax.lax.dynamic_update_slice(rows, inputs, (1, 0))
        for part in table.parts:
            rows = _pass(part, rows) if part.initially is None else _fixpoint(part, part.initially, rows)
        outputs = _unpacked(_literals(rows, jnp.asarray(table.outputs)), len(values))
        return jax.lax.optimization_barrier(outputs)

    def of_one(values: Array) -> Array:
        return of_batch(values[None])[0]

    def of_many(size: int, batched: list[bool], values: Array) -> tuple[Array, bool]:
        del size, batched  # the only argument is batched
        return of_batch(values), True

    evaluate: Evaluate = jax.custom_batching.custom_vmap(of_one)
    evaluate.def_vmap(of_many)  # type: ignore[attr-defined]
    return evaluate


def _packed(values: Array) -> Array:
    """Return bool [games, n] as uint32 [n, words]; game ``g`` is bit ``g % 32`` of word ``g // 32``."""
    games, count = values.shape
    words = -(-games // _BITS)
    filled = jnp.pad(values, ((0, words * _BITS - games), (0, 0))).reshape(words, _BITS, count)
    places = jnp.arange(_BITS, dtype=jnp.uint32)[None, :, None]
    return (filled.astype(jnp.uint32) << places).sum(axis=1, dtype=jnp.uint32).T


def _unpacked(rows: Array, games: int) -> Array:
    """Return uint32 [n, words] as bool [games, n]."""
    places = jnp.arange(_BITS, dtype=jnp.uint32)[None, :, None]
    bits = (rows.T[:, None, :] >> places) & jnp.uint32(1)
    return bits.astype(jnp.bool_).reshape(-1, rows.shape[0])[:games]


def _literals(rows: Array, literals: Array) -> Array:
    """Return the values of literals: uint32 [literals, words]."""
    inverted = jnp.uint32(0) - (literals & 1).astype(jnp.uint32)
    return rows.at[literals >> 1].get(mode="promise_in_bounds") ^ inverted[:, None]


def _pass(part: Part, rows: Array) -> Array:
    table = jnp.asarray(part.literals)
    size = table.shape[1]

    def compute(block: Array, rows: Array) -> Array:
        literals = table[block]
        values = _literals(rows, literals[:, 0])
        for place in range(1, literals.shape[1]):
            values &= _literals(rows, literals[:, place])
        return jax.lax.dynamic_update_slice(rows, values, (part.first + block * size, 0))

    return jax.lax.fori_loop(0, len(part.literals), compute, rows)


def _fixpoint(part: Part, initially: NDArray[np.bool_], rows: Array) -> Array:
    """Return the values of all rows when the gates of a cycle have reached their least fixed point.

    The gates are monotone in each other, so each gate changes at most once from its initial value.
    """
    first = np.where(initially, np.uint32(0xFFFFFFFF), np.uint32(0)).astype(np.uint32)
    begin = jnp.broadcast_to(first[:, None], (len(first), rows.shape[1]))
    rows = jax.lax.dynamic_update_slice(rows, begin, (part.first, 0))

    def again(carried: tuple[Array, Array]) -> tuple[Array, Array]:
        before = carried[0]
        after = _pass(part, before)
        return after, (after != before).any()

    settled, _ = jax.lax.while_loop(lambda carried: carried[1], again, (rows, jnp.bool_(True)))
    return settled


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive blocks of gates: all gates of one cycle, which are evaluated repeatedly, or acyclic gates.

    Attributes:
        literals: int32 [blocks, gates of a block, FAN_IN]; twice the row of an input, plus one if inverted.
        first: the row of the first gate.
        initially: bool [gates]: the initial values of the gates of a cycle; None without a cycle.
    """

    literals: NDArray[np.int32]
    first: int
    initially: NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class GateTable:
    """The gates on which given outputs of a network depend.

    Row 0 is false. The rows of inputs follow row 0, and the rows of gates follow the inputs.

    Attributes:
        rows: the number of rows.
        parts: the gates, in the order of evaluation.
        outputs: int32 [outputs]; twice the row of an output, plus one if inverted.
    """

    rows: int
    parts: tuple[Part, ...]
    outputs: NDArray[np.int32]


def tabulate(network: Network, inputs: int, outputs: Sequence[int], block: int) -> GateTable:
    """Return the table of the gates on which ``outputs``, literals of a network, depend.

    The first ``inputs`` nodes are the inputs: the fluents, or the fluents and the actions. A block has
    ``block`` gates.

    >>> from anygame.network.network import Network
    >>> network = Network.example()
    >>> table = tabulate(network, 2, [network.terminal], block=2)
    >>> table.rows, table.outputs.tolist()
    (5, [7])
    >>> table.parts[0].literals.tolist()
    [[[3, 5, 1, 1], [1, 1, 1, 1]]]
    """
    writer = _Writer(network, inputs, block)
    needed = np.zeros(network.gates, np.bool_)
    pending = [literal >> 1 for literal in outputs]
    while pending:
        gate = pending.pop() - network.first_gate
        if gate >= 0 and not needed[gate]:
            needed[gate] = True
            pending += (_inputs(network, gate) >> 1).tolist()
    first = 0
    for cycle in network.cycles:
        writer.write(np.flatnonzero(needed[first : cycle.first]) + first, is_cycle=False)
        writer.write(np.flatnonzero(needed[cycle.first : cycle.end]) + cycle.first, is_cycle=True)
        first = cycle.end
    writer.write(np.flatnonzero(needed[first:]) + first, is_cycle=False)
    return GateTable(writer.end, tuple(writer.parts), np.array(writer.rows_of(outputs), np.int32))


def _inputs(network: Network, gate: int) -> NDArray[np.int32]:
    return network.inputs[network.starts[gate] : network.starts[gate + 1]]


class _Writer:
    """Assigns rows to gates, part by part.

    The number of a gate is its node. The gates into which a wide gate is split get numbers after all nodes.
    """

    def __init__(self, network: Network, inputs: int, block: int) -> None:
        self._network = network
        self._block = block
        self._row = {node: node for node in range(inputs + 1)}
        self._next = network.nodes
        self.end = inputs + 1
        self.parts: list[Part] = []

    def rows_of(self, literals: Sequence[int]) -> list[int]:
        return [2 * self._row[literal >> 1] + (literal & 1) for literal in literals]

    def write(self, gates: NDArray[np.intp], *, is_cycle: bool) -> None:
        """Add a part of gates; these gates read only gates of this part and of earlier parts."""
        if not len(gates):
            return
        levels: dict[int, list[tuple[int, list[int]]]] = {}
        level_of: dict[int, int] = {}
        initially: dict[int, bool] = {}
        for gate in gates.tolist():
            node = self._network.first_gate + gate
            for made, literals in self._narrow(node, _inputs(self._network, gate).tolist(), level_of):
                # A cycle has no levels, so the order of the network is kept.
                level = 0 if is_cycle else 1 + max(level_of.get(literal >> 1, 0) for literal in literals)
                level_of[made] = level
                levels.setdefault(level, []).append((made, literals))
                # A wide gate is a conjunction of narrow gates. All of them can have its initial value.
                initially[made] = bool(self._network.initially[gate])
        first = self.end
        for level in sorted(levels):
            self._row.update({made: self.end + index for index, (made, _) in enumerate(levels[level])})
            # Each level starts a new block.
            self.end += -(-len(levels[level]) // self._block) * self._block
        table = np.full((self.end - first, FAN_IN), TRUE, np.int32)
        for made, inputs in chain.from_iterable(levels.values()):
            table[self._row[made] - first, : len(inputs)] = self.rows_of(inputs)
        values = None
        if is_cycle:
            values = np.ones(self.end - first, np.bool_)
            values[: len(initially)] = list(initially.values())
        self.parts.append(Part(table.reshape(-1, self._block, FAN_IN), first, values))

    def _narrow(
        self, node: int, literals: list[int], level_of: dict[int, int]
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield the gates into which a wide gate is split, and then the gate. Late inputs come last."""
        while len(literals) > FAN_IN:
            literals.sort(key=lambda literal: level_of.get(literal >> 1, 0))
            made = self._next
            self._next += 1
            yield made, literals[:FAN_IN]
            literals = [*literals[FAN_IN:], 2 * made]
        yield node, sorted(literals, key=lambda literal: level_of.get(literal >> 1, 0))


#: A function from fluents, bool [fluents], and the number of a player, int32, to an observation.
Observe: TypeAlias = Callable[[Array, Array], Array]


def relative(fluents: Sequence[Term], players: Sequence[Term]) -> Observe:
    """Return a function that shows each player the state from the view of the first player.

    The names of players inside fluents rotate: x and o both see their own mark as ``(cell 1 1 x)``. The
    observation has the fluents, bool [fluents], and then the player, bool [players]. A fluent without names
    of players can mean different things for different players.
    """
    number = {fluent: index for index, fluent in enumerate(fluents)}
    sources = np.zeros((len(players), len(fluents)), np.int32)
    for player in range(len(players)):
        names = dict(zip(players, [*players[player:], *players[:player]], strict=True))
        # A renamed fluent that is not in the list is always false.
        sources[player] = [number.get(_renamed(fluent, names), len(fluents)) for fluent in fluents]

    def observe(values: Array, player: Array) -> Array:
        whose = jnp.arange(len(players)) == player
        padded = jnp.append(values, False)
        # The indices are constant because gathers with traced indices are slow in large batches.
        views = jnp.stack([padded[of_player] for of_player in sources])
        return jnp.concatenate([(views & whose[:, None]).any(axis=0), whose])

    return observe


def planes(game: Game, players: Sequence[Term]) -> Observe:
    """Return a function that shows each player the board from the view of the first player.

    Observations are bool [rows, columns, channels]. The first channels are those of
    ``game.batch().plane_layout``, with names exchanged as in ``relative``. Each player has a further channel,
    which is true everywhere if the observation is for this player.
    """
    fluents = game.fluent_terms
    layout = planes_of(game, fluents)
    # Fluent number of each cell, plus one. ``layout.of`` takes booleans, so it gets one digit at a time.
    sources = np.zeros((len(layout.channels), layout.rows, layout.columns), np.int32)
    for digit in range(len(fluents).bit_length()):
        sources |= layout.of((np.arange(1, len(fluents) + 1) >> digit & 1).astype(np.bool_)) << digit
    cells = sources.transpose(1, 2, 0)
    seen = relative(fluents, players)

    def observe(values: Array, player: Array) -> Array:
        view = seen(values, player)
        board = jnp.append(False, view)[cells]
        looks = jnp.broadcast_to(view[len(fluents) :], (*cells.shape[:2], len(players)))
        return jnp.concatenate([board, looks], axis=2)

    return observe


def _renamed(term: Term, names: Mapping[Term, Term]) -> Term:
    if term in names or not isinstance(term, Compound):
        return names.get(term, term)
    return Compound(term.functor, tuple(_renamed(argument, names) for argument in term.arguments))


class SharedNumbers:
    """One numbering for the terms of all ``players``; ``of_roles`` has the terms of each role.

    Attributes:
        terms: all terms of the players, sorted by text.
        columns: the columns of each player among the concatenated terms of all roles.
        numbers: for each player, the numbers of its terms: int32.
    """

    def __init__(self, of_roles: Sequence[Sequence[Term]], players: Sequence[int]) -> None:
        slices = [slice(*ends) for ends in pairwise([0, *accumulate(map(len, of_roles))])]
        self.columns = [slices[role] for role in players]
        self.terms = tuple(sorted({term for role in players for term in of_roles[role]}))
        number = {term: index for index, term in enumerate(self.terms)}
        self.numbers = [np.array([number[term] for term in of_roles[role]], np.int32) for role in players]

    def of(self, values: Array) -> Array:
        """Convert bool [all terms of all roles] to bool [players, terms]."""
        by_player = []
        for columns, numbers in zip(self.columns, self.numbers, strict=True):
            sources = np.full(len(self.terms), len(numbers), np.int32)
            sources[numbers] = np.arange(len(numbers))
            by_player.append(jnp.append(values[columns], False)[sources])
        return jnp.stack(by_player)
