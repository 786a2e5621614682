"""Tables of gates as operations of JAX, 32 games in a word.

A function over one game is what JAX's transformations expect. Under ``vmap``, the games lie side by side in
the bits of words (Biham 1997, "A fast new DES implementation in software"), so that one operation computes a
gate for 32 of them; a batch of 4,096 is 3 to 40 times as fast this way as with a byte for each value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anygame.envs.jax.gate_table import GateTable, Part

#: Arrays of JAX, or what stands for them while a function is traced.
Array: TypeAlias = Any
#: From inputs, bool [inputs], to outputs, bool [outputs].
Evaluate: TypeAlias = Callable[[Array], Array]

_BITS: Final = 32


def evaluator(table: GateTable) -> Evaluate:
    """Return a function from the inputs of a table to its outputs.

    It can be transformed by ``jit`` and ``vmap``, and be part of loops.
    """

    def of_batch(values: Array) -> Array:
        # Else bits would be packed and unpacked again for everything that they are used for.
        given = jax.lax.optimization_barrier(values)
        found = _unpacked(_evaluate(table, _packed(given)), len(values))
        return jax.lax.optimization_barrier(found)

    def of_one(values: Array) -> Array:
        return of_batch(values[None])[0]

    def of_many(size: int, batched: list[bool], values: Array) -> tuple[Array, bool]:
        del size, batched  # the only argument has the batch, or there is none
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


def _evaluate(table: GateTable, inputs: Array) -> Array:
    """Return uint32 [outputs, words] for uint32 [inputs, words]."""
    rows = jnp.zeros((table.rows, inputs.shape[1]), jnp.uint32)
    rows = jax.lax.dynamic_update_slice(rows, inputs, (1, 0))
    for part in table.parts:
        rows = _pass(part, rows) if part.initially is None else _fixpoint(part, part.initially, rows)
    return _literals(rows, jnp.asarray(table.outputs))


def _literals(rows: Array, literals: Array) -> Array:
    """Return the values of some literals: uint32 [literals, words]."""
    inverted = jnp.uint32(0) - (literals & 1).astype(jnp.uint32)
    return rows.at[literals >> 1].get(mode="promise_in_bounds") ^ inverted[:, None]


def _pass(part: Part, rows: Array) -> Array:
    """Return all rows after the blocks of a part have been computed once."""
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
    """Return all rows after a cycle has been computed until nothing changes: its least fixed point.

    The gates are monotone in each other from where they begin: passes change each of them at most once.
    """
    first = np.where(initially, np.uint32(0xFFFFFFFF), np.uint32(0)).astype(np.uint32)
    begin = jnp.broadcast_to(first[:, None], (part.rows, rows.shape[1]))
    rows = jax.lax.dynamic_update_slice(rows, begin, (part.first, 0))

    def again(carried: tuple[Array, Array]) -> tuple[Array, Array]:
        before = carried[0]
        after = _pass(part, before)
        return after, (after != before).any()

    settled, _ = jax.lax.while_loop(lambda carried: carried[1], again, (rows, jnp.bool_(True)))
    return settled
