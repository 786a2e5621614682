"""Verdicts without a network: the reasoner plays at random, and visits states breadth first.

One visited state may decide a property. Otherwise, the property is decided only if all states are visited.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import product
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

import networkx as nx
import numpy as np

from anygame.errors import LimitError
from anygame.proving.patience import OutOfTimeError, Patience
from anygame.proving.properties import HIGHEST, goal_sum
from anygame.proving.verdict import STOPS, Verdict, moves, repetition
from anygame.search.graph import INTERRUPTED, StateExpansion, explore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.proving.properties import Property

    _Joint: TypeAlias = tuple[Term, ...]
    #: The states of a match, and the joint move made in each but the last.
    _Played: TypeAlias = tuple[list[State], list[_Joint]]

#: The shares of the time for random matches, and for the visited states of a property.
_FOR_PLAY, _FOR_VISITED = 0.25, 0.5
#: Maximum bytes of states, enough for some 100,000 of them.
_MEMORY: Final = 1 << 29
#: Maximum number of random matches, moves of a match, and states in total.
_MATCHES, _LONGEST, _MOST_PLAYED = 1_000, 1_000, 20_000
_SEED: Final = 1
_WHY: Final = "there is no network"


def has_network(game: Game) -> bool:
    """Whether a game has a network; compiles the game unless that has failed before."""
    if game.fallback is None:
        with suppress(LimitError):
            game.backends.needed_network()
            return True
    return False


class Visitor:
    """Decides properties of a game by its states.

    Args:
        start: the initial state.
        seconds: time limit for visiting states.
        report: called with the current activity, as a phrase.
        why: the reason why there is no better method, as a phrase.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the visit.
    """

    def __init__(self, start: State, seconds: float, report: Callable[[str], None], why: str = _WHY) -> None:
        self.report, self._why = report, why
        report(f"{why}: playing at random")
        self._matches = list(_matches(start, Patience(seconds * _FOR_PLAY)))
        expansion = StateExpansion(start)
        self._graph = explore(
            expansion,
            start.game.roles,
            _MEMORY,
            lambda expanded, found: report(f"{why}: {found:,} states found, {expanded:,} visited"),
            seconds * (1 - _FOR_PLAY),
        )
        if self._graph.stopped == INTERRUPTED:
            raise KeyboardInterrupt
        self._states = expansion.states
        #: States, and the first joint move that leads to each.
        self._reached, self._edges = np.unique(self._graph.children, return_index=True)

    @property
    def usual_sum(self) -> int:
        """The sum of goals at the first end that was met; the sum of one winner if there is no end."""
        ends = (states[-1] for states, _ in self._matches if states[-1].is_terminal)
        sums = (goal_sum(end, [r for r in end.game.roles if not r.is_random]) for end in ends)
        return next((total for total in sums if total is not None), HIGHEST)

    def decide(self, wanted: Property, seconds: float) -> Verdict:
        """Return the verdict about a property by random matches and visited states."""
        began, patience = perf_counter(), Patience(seconds)
        self.report(f"{wanted.name}: examining states")
        graph, depth = self._graph, self._graph.depth
        number, shown = 0, None
        try:
            part = patience.part(_FOR_VISITED)
            for number in range(graph.expanded):
                part.check()
                last = _showing(wanted, self._states[number])
                if last is not None:
                    shown = wanted.shown([*self._match(number), *last[1:]], last, shortest=True)
                    break
        except OutOfTimeError:
            depth = int(np.searchsorted(graph.layers, number, side="right")) - 2
        else:
            if shown is None and graph.complete:
                shown = self._settled(wanted)
        # A verdict that refutes is false, so `or` would drop it.
        found = self._met(wanted, patience, depth) if shown is None else shown
        found = wanted.open(depth, self._told()) if found is None else found
        return replace(found, seconds=perf_counter() - began)

    def ends(self, _: float) -> Verdict:
        """Return whether every match ends, by the visited states."""
        began, graph = perf_counter(), self._graph
        self.report("ends: searching for a repeated state")
        sources = np.repeat(np.arange(graph.expanded), np.diff(graph.offsets))
        joined: nx.DiGraph[int] = nx.DiGraph()
        joined.add_node(0)
        joined.add_edges_from(zip(sources.tolist(), graph.children.tolist(), strict=True))
        found = Verdict("ends", "every match ends", "open", depth=max(0, graph.depth), note=self._told())
        if not nx.is_directed_acyclic_graph(joined):
            cycle = nx.find_cycle(joined)
            way = self._match(cycle[0][0])
            around = [
                self._joint(np.flatnonzero((sources == a) & (graph.children == b))[0]) for a, b in cycle
            ]
            found = _repeated([*way, *around], len(way))
        elif graph.complete:
            claim = f"every match ends within {moves(nx.dag_longest_path_length(joined))}"
            note = f"{self._told()}; {STOPS}" if graph.stuck else self._told()
            found = Verdict("ends", claim, "proved", note=note)
        else:
            for states, joints in self._matches:
                first = {state: number for number, state in reversed(list(enumerate(states)))}
                again = next((n for n, state in enumerate(states) if first[state] < n), None)
                if again is not None:
                    found = _repeated(joints[:again], first[states[again]])
                    break
        return replace(found, seconds=perf_counter() - began)

    def open(self, name: str, claim: str) -> Verdict:
        """Return the verdict for a property that needs a network."""
        return Verdict(name, claim, "open", note=f"not searched: {self._why}")

    def _met(self, wanted: Property, patience: Patience, depth: int) -> Verdict | None:
        """Return the verdict of the shortest random match that decides the property."""
        found: tuple[list[_Joint], tuple[State, *tuple[_Joint, ...]]] | None = None
        for states, joints in self._matches:
            for number, state in enumerate(states):
                if patience.left <= 0 or (found is not None and number >= len(found[0])):
                    break
                last = _showing(wanted, state, joints[number : number + 1])
                if last is not None:
                    found = [*joints[:number], *last[1:]], last
                    break
        if found is None:
            return None
        return wanted.shown(*found, shortest=len(found[0]) <= depth + 1)

    def _match(self, number: int) -> list[_Joint]:
        """Return a shortest match to a visited state."""
        found = []
        while number:
            edge = int(self._edges[np.searchsorted(self._reached, number)])
            found.append(self._joint(edge))
            number = self._source(edge)
        return found[::-1]

    def _source(self, edge: int) -> int:
        return int(np.searchsorted(self._graph.offsets, edge, side="right")) - 1

    def _joint(self, edge: int) -> _Joint:
        """Return the joint move of an edge."""
        source = self._source(edge)
        return _joints(self._states[source])[int(edge - self._graph.offsets[source])]

    def _settled(self, wanted: Property) -> Verdict:
        endless = "; no match was found that ends" if wanted.of_ends and not len(self._graph.ends) else ""
        return wanted.settled(note=self._told() + endless)

    def _told(self) -> str:
        graph, count = self._graph, len(self._matches)
        if graph.complete:
            return f"{self._why}: the reasoner visited all {graph.expanded:,} states"
        return f"{self._why}: the reasoner visited {graph.expanded:,} states and played {count:,} matches"


def _matches(start: State, patience: Patience) -> Iterator[_Played]:
    """Yield random matches, cut where the rules exceed a limit, or at the time limit."""
    random, left = Random(_SEED), _MOST_PLAYED
    for _ in range(_MATCHES):
        states = [start]
        joints: list[_Joint] = []
        while len(joints) < _LONGEST and left and patience.left > 0:
            legal = _legal(states[-1])
            if not all(legal):
                break
            joint = tuple(map(random.choice, legal))
            try:
                states.append(states[-1].next(joint))
            except LimitError:
                break
            joints.append(joint)
            left -= 1
        yield states, joints
        if not left or patience.left <= 0:
            return


def _legal(state: State) -> list[tuple[Term, ...]]:
    """Return the legal moves of each role; none in a terminal state."""
    return [() if state.is_terminal else state.legal_moves(role) for role in state.game.roles]


def _joints(state: State) -> list[_Joint]:
    return list(product(*_legal(state)))


def _showing(
    wanted: Property, state: State, joints: Sequence[_Joint] | None = None
) -> tuple[State, *tuple[_Joint, ...]] | None:
    """Return the state if it has the literal, with the joint move if the property is about moves, or None."""
    if not wanted.of_moves:
        return (state,) if wanted.seen_by(state) else None
    for joint in _joints(state) if joints is None else joints:
        if wanted.seen_by(state, joint):
            return state, joint
    return None


def _repeated(match: Sequence[_Joint], first: int) -> Verdict:
    note = repetition(len(match), first)
    return Verdict("ends", "every match ends", "refuted", match=tuple(match), note=note)
