"""Small puzzles for one role, as rule sheets."""

from __future__ import annotations


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

#: Fill a square such that no number is twice in a row or column; some cells are given.
LATIN = """
(role player) {cells} {numbers}
(<= (legal player (put ?r ?c ?n)) (true (blank ?r ?c)) (number ?n) (not (taken ?r ?c ?n)))
(<= (legal player quit) (true (blank ?r ?c)))
(<= (taken ?r ?c ?n) (true (cell ?r ?d ?n)) (number ?c))
(<= (taken ?r ?c ?n) (true (cell ?s ?c ?n)) (number ?r))
(<= (next (cell ?r ?c ?n)) (true (cell ?r ?c ?n)))
(<= (next (cell ?r ?c ?n)) (does player (put ?r ?c ?n)))
(<= (next (blank ?r ?c)) (true (blank ?r ?c)) (not (filled ?r ?c)))
(<= (filled ?r ?c) (does player (put ?r ?c ?n)))
(<= (next over) (does player quit))
(<= open (true (blank ?r ?c)))
(<= terminal (true over)) (<= terminal (not open))
(<= (goal player 100) (not open)) (<= (goal player 0) open)
"""


def latin(*rows: str) -> str:
    """Return the puzzle with these rows; ``.`` for a cell that is to be filled."""
    cells = [
        f"(init (blank {r} {c}))" if cell == "." else f"(init (cell {r} {c} {cell}))"
        for r, row in enumerate(rows, start=1)
        for c, cell in enumerate(row, start=1)
    ]
    numbers = " ".join(f"(number {n})" for n in range(1, len(rows) + 1))
    return LATIN.format(cells=" ".join(cells), numbers=numbers)


#: Pegs on a line jump over one another into holes; one is to be left.
PEGS = """
(role player) {holes}
(<= (row ?a ?b ?c) (succ ?a ?b) (succ ?b ?c)) (<= (row ?c ?b ?a) (succ ?a ?b) (succ ?b ?c))
(<= (legal player (jump ?a ?b ?c)) (row ?a ?b ?c) (true (peg ?a)) (true (peg ?b)) (not (true (peg ?c))))
(<= (next (peg ?c)) (does player (jump ?a ?b ?c)))
(<= (next (peg ?p)) (true (peg ?p)) (does player (jump ?a ?b ?c)) (distinct ?p ?a) (distinct ?p ?b))
(<= able (legal player (jump ?a ?b ?c)))
(<= terminal (not able))
(<= several (true (peg ?a)) (true (peg ?b)) (distinct ?a ?b))
(<= (goal player 100) (not several)) (<= (goal player 0) several)
"""


def pegs(line: str) -> str:
    """Return the puzzle: ``1`` where there is a peg."""
    holes = [f"(init (peg {n}))" for n, peg in enumerate(line) if peg == "1"]
    return PEGS.format(holes=_successors(len(line) - 1) + " ".join(holes))


#: Somebody pushes boxes over a floor to their places; a clock of moves ends it.
SOKOBAN = """
(role player) {floor}
(<= (to up ?r ?c ?q ?c) (floor ?r ?c) (floor ?q ?c) (succ ?q ?r))
(<= (to down ?r ?c ?s ?c) (floor ?r ?c) (floor ?s ?c) (succ ?r ?s))
(<= (to left ?r ?c ?r ?d) (floor ?r ?c) (floor ?r ?d) (succ ?d ?c))
(<= (to right ?r ?c ?r ?d) (floor ?r ?c) (floor ?r ?d) (succ ?c ?d))
(<= (walk ?d ?r ?c) (true (at ?q ?b)) (to ?d ?q ?b ?r ?c) (not (true (box ?r ?c))))
(<= (push ?d ?r ?c ?s ?e) (true (at ?q ?b)) (to ?d ?q ?b ?r ?c) (true (box ?r ?c)) (to ?d ?r ?c ?s ?e)
    (not (true (box ?s ?e))))
(<= (legal player (go ?d)) (walk ?d ?r ?c)) (<= (legal player (go ?d)) (push ?d ?r ?c ?s ?e))
(<= (next (at ?r ?c)) (does player (go ?d)) (walk ?d ?r ?c))
(<= (next (at ?r ?c)) (does player (go ?d)) (push ?d ?r ?c ?s ?e))
(<= (pushed ?r ?c) (does player (go ?d)) (push ?d ?r ?c ?s ?e))
(<= (next (box ?s ?e)) (does player (go ?d)) (push ?d ?r ?c ?s ?e))
(<= (next (box ?r ?c)) (true (box ?r ?c)) (not (pushed ?r ?c)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= missing (place ?r ?c) (not (true (box ?r ?c))))
(<= terminal (not missing)) (<= terminal (true (step {last})))
(<= (goal player 100) (not missing)) (<= (goal player 0) missing)
"""


def sokoban(*rows: str, last: int = 60) -> str:
    """Return the puzzle: ``#`` wall, ``@`` the player, ``$`` a box, ``.`` a place for one."""
    floor = ["(init (step 0))", _successors(last)]
    for r, row in enumerate(rows):
        for c, what in enumerate(row):
            here = {"@": f"(init (at {r} {c}))", "$": f"(init (box {r} {c}))", ".": f"(place {r} {c})"}
            floor += [f"(floor {r} {c})", here.get(what, "")] if what != "#" else []
    return SOKOBAN.format(floor=" ".join(floor), last=last)
