"""Small puzzles for one role, as rule sheets."""

from __future__ import annotations

__all__ = [
    "DEAD_END",
    "ENDLESS",
    "LIGHTS",
    "NO_GOAL",
    "SLIDING",
    "TALLY",
    "WATCHED",
    "lights",
    "sliding",
]


def _successors(last: int) -> str:
    return " ".join(f"(succ {n} {n + 1})" for n in range(last))


#: Three tiles and a gap on a board of 2 x 2, with a clock or without.
SLIDING = """
(role player)
{tiles}
(next-to 1 2) (next-to 2 4) (next-to 4 3) (next-to 3 1)
(<= (beside ?a ?b) (next-to ?a ?b)) (<= (beside ?a ?b) (next-to ?b ?a))
(<= (legal player (slide ?p)) (true (at ?g gap)) (beside ?g ?p))
(<= (next (at ?g ?t)) (does player (slide ?p)) (true (at ?p ?t)) (true (at ?g gap)))
(<= (next (at ?p gap)) (does player (slide ?p)))
(<= (next (at ?q ?t)) (does player (slide ?p)) (true (at ?q ?t)) (distinct ?t gap) (distinct ?p ?q))
(<= solved (true (at 1 a)) (true (at 2 b)) (true (at 3 c)))
(<= terminal solved)
(<= (goal player 100) solved)
(<= (goal player 0) (not solved))
{clock}
"""


def sliding(order: str, last: int = 0) -> str:
    """Return the sliding puzzle; tiles place after place, ``-`` for the gap."""
    names = {"-": "gap"}
    tiles = " ".join(f"(init (at {n} {names.get(tile, tile)}))" for n, tile in enumerate(order, start=1))
    clock = ""
    if last:
        clock = f"(init (step 0)) {_successors(last)} (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))"
        clock += f"(<= terminal (true (step {last})))"
    return SLIDING.format(tiles=tiles, clock=clock)


#: Pressing a lamp turns it and its neighbours in a ring; all are to be off.
LIGHTS = """
(role player) {lamps}
(<= (turns ?p ?l) (lamp ?p) (lamp ?l) (same ?p ?l)) (<= (same ?l ?l) (lamp ?l))
(<= (turns ?p ?l) (beside ?p ?l)) (<= (turns ?p ?l) (beside ?l ?p))
(<= (legal player (press ?l)) (lamp ?l))
(<= (next (on ?l)) (does player (press ?p)) (turns ?p ?l) (not (true (on ?l))))
(<= touched (does player (press ?p)) (turns ?p ?l))
(<= (touched ?l) (does player (press ?p)) (turns ?p ?l))
(<= (next (on ?l)) (true (on ?l)) (not (touched ?l)))
(<= some (true (on ?l)))
(<= terminal (not some)) (<= (goal player 100) (not some)) (<= (goal player 0) some)
"""


def lights(on: str) -> str:
    """Return the lamps in a ring: ``1`` where one is on."""
    count = len(on)
    lamps = [f"(lamp {n}) (beside {n} {(n + 1) % count})" for n in range(count)]
    lamps += [f"(init (on {n}))" for n, lamp in enumerate(on) if lamp == "1"]
    return LIGHTS.format(lamps=" ".join(lamps))


#: Walks for ever; there is no end.
ENDLESS = """
(role player) (init (at 1)) (step 1 2) (step 2 1)
(legal player left) (legal player right)
(<= (next (at ?y)) (true (at ?x)) (step ?x ?y))
(goal player 100)
"""

#: One of two ways leads to a place where no move is legal, the other to the end.
DEAD_END = """
(role player) (init start)
(<= (legal player left) (true start)) (<= (legal player right) (true start))
(<= (next hole) (does player left)) (<= (next end) (does player right))
(<= terminal (true end)) (<= (goal player 70) (true end)) (<= (goal player 100) (true hole))
"""

#: The only end has no goal.
NO_GOAL = """
(role player) (init start) (legal player on)
(<= (next end) (does player on)) (<= terminal (true end))
(<= (goal player 100) (true start))
"""

#: A second role that only watches, with two moves of which one is legal at a time.
WATCHED = f"""
(role watcher) (role player) (init (at 0)) (init even) {_successors(4)}
(<= (legal watcher tick) (true even)) (<= (legal watcher tock) (not (true even)))
(<= (next even) (not (true even)))
(legal player walk) (legal player wait)
(<= (next (at ?m)) (does player walk) (true (at ?n)) (succ ?n ?m))
(<= (next (at ?n)) (does player wait) (true (at ?n)))
(<= terminal (true (at 4))) (<= (goal player 100) (true (at 4))) (goal watcher 50)
"""

#: The end comes after ten moves; the goal is how many of them were good.
TALLY = f"""
(role player) (init (good 0)) (init (step 0)) {_successors(10)}
(legal player good) (legal player bad)
(<= (next (good ?m)) (does player good) (true (good ?n)) (succ ?n ?m))
(<= (next (good ?n)) (does player bad) (true (good ?n)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= terminal (true (step 10)))
(<= (goal player ?n) (true (good ?n)))
"""
