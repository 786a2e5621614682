"""Children of leaves, made in lanes: the legal moves of hundreds of states, then a lane a joint move."""

from __future__ import annotations

import numpy as np

from anygame.network.kernels.function import GO as _GO
from anygame.network.kernels.function import RESTART as _RESTART
from anygame.search.native.marking import compiled, exported
from anygame.search.tree.game_code import (
    ACTIONS,
    FIRST_ACTION,
    FIRST_FLUENT,
    FLUENTS,
    TERMINAL,
    evaluate_moves,
    evaluate_state,
    game_at,
    value_of_lane,
    word_of,
)
from anygame.search.tree.lanes import LANES, WORDS, load_states, read_states
from anygame.search.tree.store import NONE, product_of, store_at
from anygame.search.tree.worker import (
    ALL_CHILDREN,
    JOB_COUNT,
    LISTED,
    SOME_CHILDREN,
    SPEC_COUNT,
    SPECS,
    worker_at,
)

GO, RESTART = int(_GO), int(_RESTART)


@compiled
def random_below(worker, bound):
    """Return a random number below a bound, by splitmix64; the bias is too small to matter."""
    worker.random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = worker.random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return np.int64((word >> np.uint64(1)) % np.uint64(bound))


@exported
def make_children(store_address: int, worker_address: int, game_address: int) -> None:
    """List the legal moves of the jobs that ask for it, and make the children of all jobs."""
    game, store, worker = game_at(game_address), store_at(store_address), worker_at(worker_address)
    _list_moves(game, store, worker)
    _specify(game, worker)
    at = 0
    while at < worker.counts[SPEC_COUNT]:
        count = min(LANES, worker.counts[SPEC_COUNT] - at)
        _make(game, store, worker, at, count)
        at += count


@compiled
def _list_moves(game, store, worker):
    """List the legal moves of the states of jobs, and what the states themselves are worth."""
    rows, jobs = worker.making, worker.counts[JOB_COUNT]
    roles = len(game.first_actions) - 1
    lanes = 0
    for job in range(jobs):
        if worker.job_joint[job] == NONE:
            worker.lanes[lanes] = lanes
            worker.sources[lanes] = worker.job_node[job]
            lanes += 1
    if not lanes:
        return
    layout = game.layout
    load_states(
        rows,
        layout[FIRST_FLUENT],
        layout[FLUENTS],
        worker.lanes,
        store.states,
        worker.sources,
        lanes,
        worker.square,
    )
    evaluate_state(game, worker.addresses[1])
    used = 0
    lane = 0
    for job in range(jobs):
        if worker.job_joint[job] != NONE:
            continue
        word, bit = lane >> 6, np.uint64(lane & 63)
        lane += 1
        for role in range(roles):
            first = used
            if used < LISTED:
                for action in range(game.first_actions[role], game.first_actions[role + 1]):
                    if (word_of(rows, game.legal[action], word) >> bit) & np.uint64(1):
                        worker.listed[used] = action
                        used += 1
            worker.job_first[job, role] = first
            worker.job_count[job, role] = used - first if first < LISTED else NONE
            worker.job_value[job, role] = value_of_lane(game, rows, role, lane - 1)[0]


@compiled
def _specify(game, worker):
    """Say which children are to be made: all of a state, or some of very many."""
    roles = len(game.first_actions) - 1
    specs = worker.counts[SPEC_COUNT]  # those of jobs that ask for a joint move come first
    for job in range(worker.counts[JOB_COUNT]):
        if worker.job_joint[job] != NONE:
            worker.job_specs[job] = 1
            continue
        unlisted = False
        for role in range(roles):
            unlisted |= worker.job_count[job, role] == NONE
        product = 0 if unlisted else product_of(worker.job_count, job)
        wanted = product if product <= ALL_CHILDREN else SOME_CHILDREN
        if unlisted or specs + wanted > SPECS:
            worker.job_specs[job] = NONE  # no room: another time
            continue
        worker.job_specs[job] = wanted
        start = 0 if product <= ALL_CHILDREN else random_below(worker, product)
        # Spread evenly over the joint moves, from anywhere.
        stride = max(1, product // max(1, wanted))
        for number in range(wanted):
            joint = (start + number * stride) % product
            _specify_one(worker, specs, job, joint, roles)
            specs += 1
    worker.counts[SPEC_COUNT] = specs


@compiled
def _specify_one(worker, spec, job, joint, roles):
    worker.spec_job[spec] = job
    worker.spec_joint[spec] = joint
    for role in range(roles - 1, -1, -1):
        count = worker.job_count[job, role]
        worker.spec_action[spec, role] = worker.listed[worker.job_first[job, role] + joint % count]
        joint //= count


@compiled
def _make(game, store, worker, at, count):
    """Make up to 512 children."""
    rows, layout = worker.making, game.layout
    roles = len(game.first_actions) - 1
    for lane in range(count):
        worker.lanes[lane] = lane
        worker.sources[lane] = worker.job_node[worker.spec_job[at + lane]]
    load_states(
        rows,
        layout[FIRST_FLUENT],
        layout[FLUENTS],
        worker.lanes,
        store.states,
        worker.sources,
        count,
        worker.square,
    )
    evaluate_state(game, worker.addresses[1])
    first = layout[FIRST_ACTION]
    for row in range(first, first + layout[ACTIONS]):
        for word in range(WORDS):
            rows[row, word] = np.uint64(0)
    for word in range(WORDS):
        rows[GO, word] = np.uint64(0)
        rows[RESTART, word] = np.uint64(0)
    for lane in range(count):
        bit = np.uint64(1) << np.uint64(lane & 63)
        for role in range(roles):
            rows[first + worker.spec_action[at + lane, role], lane >> 6] |= bit
        rows[GO, lane >> 6] |= bit
    evaluate_moves(game, worker.addresses[1])
    evaluate_state(game, worker.addresses[1])
    read_states(
        rows, layout[FIRST_FLUENT], layout[FLUENTS], count, worker.spec_state[at : at + count], worker.square
    )
    for lane in range(count):
        bit = np.uint64(lane & 63)
        ended = (word_of(rows, layout[TERMINAL], lane >> 6) >> bit) & np.uint64(1)
        worker.spec_terminal[at + lane] = ended != 0
        if ended:
            for role in range(roles):
                value, known = value_of_lane(game, rows, role, lane)
                worker.spec_value[at + lane, role] = value
                worker.spec_known[at + lane, role] = known
