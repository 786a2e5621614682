"""The search over lanes, as Python sees it: it starts, stops and reads."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from anygame.search.tree.compiling import compiled

from anygame.search.tree.compiling import table_of
from anygame.search.tree.game_code import describe, game_at
from anygame.search.tree.learning import learn
from anygame.search.tree.making import make_children
from anygame.search.tree.playing import play
from anygame.search.tree.selecting import select
from anygame.search.tree.store import *
from anygame.search.tree.store import store_at, COMPETITIVE, DEPTH, LEAVES, NODES, ROOT, EXPANDED
from anygame.search.tree.worker import IDLE, JOB_COUNT, QUEUE_COUNT, make_worker, worker_at
from anygame.search.tree.lanes import LANES


@compiled
def search(game, store, worker, settings, passes, leaves):
    """Search; return whether there is nothing left to do."""
    game, store, worker = game_at(game), store_at(store), worker_at(worker)
    for _ in range(passes):
        if store.counts[LEAVES] >= leaves:
            return False
        make_children(game, store, worker)
        play(game, store, worker)
        learn(game, store, worker)
        found = select(game, store, worker, settings)
        if not found and worker.counts[IDLE] == LANES and not worker.counts[QUEUE_COUNT]:
            return True
    return False


@compiled
def add_state(store, states):
    return find_or_add(store_at(store), states, 0)[0]


class Tree:
    def __init__(self, game, seed=0, memory=1 << 30, settings=(0.4, 3.0, 0.0), limit=1000):
        machine = game.backends.needed_network()
        self.game, self.machine = game, machine
        kernel = machine._kernel
        random = [role.is_random for role in game.roles]
        self.code, self.scales = describe(kernel, random)
        words = max(1, -(-kernel.network.fluents // 64))
        self.store = make_store(words, len(random), memory)
        self.store.counts[COMPETITIVE] = random.count(False) == 2
        self.worker = make_worker(kernel, seed, 0, limit)
        self.tables = [table_of(x) for x in (self.code, self.store, self.worker)]
        self.addresses = [x.ctypes.data for x in self.tables]
        self.settings = np.array(settings, np.float64)

    def begin(self, state):
        position = state.position_in(self.machine)
        bits = np.frombuffer(position, np.bool_)
        words = self.store.states.shape[1]
        packed = np.zeros(words * 64, np.bool_)
        packed[: len(bits)] = bits
        packed = np.packbits(packed, bitorder="little").view(np.uint64)[None]
        self.store.counts[ROOT] = add_state(self.addresses[1], packed)

    def advance(self, seconds, leaves=None):
        end = perf_counter() + seconds
        most = (1 << 62) if leaves is None else self.store.counts[LEAVES] + leaves
        passes = 1
        before = int(self.store.counts[LEAVES])
        while (now := perf_counter()) < end:
            if search(*self.addresses, self.settings, passes, most):
                break
            took = perf_counter() - now
            passes = max(1, min(passes * 4, int(passes * 0.02 / max(took, 1e-6))))
            if self.store.counts[LEAVES] >= most:
                break
        return int(self.store.counts[LEAVES]) - before

    def moves(self):
        s = self.store
        root = int(s.counts[ROOT])
        if s.status[root] != EXPANDED: return {}
        e = s.expansion[root]
        option = int(s.first_option[e])
        out = {}
        for r, role in enumerate(self.game.roles):
            acts = self.machine.compiled.actions[r]
            first = int(self.code.first_actions[r])
            rows = []
            for k in range(s.option_counts[e, r]):
                o = option + k
                rows.append((str(acts[s.action[o] - first]), int(s.tries[o]), float(s.mean[o]), float(s.option_low[o]), float(s.option_high[o]),int(s.pending[o])))
            option += s.option_counts[e, r]
            out[str(role)] = sorted(rows, key=lambda x: -x[1])
        return out

    def best(self, r):
        s = self.store
        root = int(s.counts[ROOT])
        acts = self.machine.compiled.actions[r]
        if s.status[root] != EXPANDED:
            raise LookupError
        e = int(s.expansion[root])
        option = int(s.first_option[e]) + int(s.option_counts[e, :r].sum())
        n = int(s.option_counts[e, r])
        first = int(self.code.first_actions[r])
        low, high, tries, mean = (x[option : option + n] for x in (s.option_low, s.option_high, s.tries, s.mean))
        child = s.child[s.first_child[e] : s.first_child[e] + n] if s.mover[e] == r else None
        def key(k):
            sure = low[k] >= s.high[root, r] and child is not None
            if sure:
                d = int(s.distance[child[k]]) if child[k] >= 0 else 0
                return (2, -d if low[k] >= .5 else d, tries[k])
            lost = child is not None and high[k] <= s.low[root, r] and high[k] < s.high[root, r]
            return (0 if lost else 1, tries[k], mean[k])
        k = max(range(n), key=key)
        return acts[s.action[option + k] - first]
