"""Games on small random graphs: as a rule sheet, and valued by a plain iteration over dictionaries."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from scipy.optimize import linprog

if TYPE_CHECKING:
    from random import Random

ROLES = ("left", "right", "random")
KINDS = ("left", "right", "random", "both")
#: Who has a choice at a node of a kind; at nodes of other kinds, the role of that name.
TOGETHER = {"both": ("left", "right"), "gamble": ("left", "random")}


@dataclass(frozen=True)
class Node:
    """A place in the graph; one without a successor ends the game.

    Attributes:
        moves: per role of ROLES its moves.
        after: the node after each joint move.
        goals: of left and right at an end; None where there is none.
        stuck: whether the match cannot go on there, though it is not over.
    """

    moves: tuple[tuple[str, ...], ...]
    after: dict[tuple[str, ...], int]
    goals: tuple[int | None, int | None]
    stuck: bool = False


def random_nodes(
    random: Random, kinds: tuple[str, ...], *, forward: bool, missing: float = 0.0, faults: float = 0.0
) -> list[Node]:
    """Return a game whose first node is its start.

    Args:
        random: random numbers.
        kinds: of KINDS or TOGETHER; who chooses at its nodes.
        forward: whether it ends after few moves.
        missing: the share of ends that give neither role a goal.
        faults: the share of goals that are left out, each by itself, and of ends that are no ends in the
            rules, though nobody can move.
    """
    count = random.randrange(3, 12)
    nodes = []
    for number in range(count):
        if number == count - 1 or (number and random.random() < 0.25):
            goal = random.choice((0, 20, 50, 80, 100))
            ours = None if random.random() < missing else goal
            goals = [ours, None if ours is None else 100 - ours]
            stuck = False
            if faults:
                goals = [None if random.random() < faults else goal for goal in goals]
                stuck = random.random() < faults / 2
            nodes.append(Node(((), (), ()), {}, (None, None) if stuck else (goals[0], goals[1]), stuck))
            continue
        kind = random.choice(kinds)
        moves = tuple(
            tuple("abc"[: random.randrange(1, 4)]) if role in TOGETHER.get(kind, (kind,)) else ("noop",)
            for role in ROLES
        )
        first = number + 1 if forward else 0
        nodes.append(
            Node(moves, {joint: random.randrange(first, count) for joint in product(*moves)}, (None, None))
        )
    return nodes


def sheet(nodes: list[Node]) -> str:
    """Return the rules of a game on a graph."""
    lines = [f"(role {role})" for role in ROLES]
    lines.append("(init (at 0))")
    for number, node in enumerate(nodes):
        for role, moves in zip(ROLES, node.moves, strict=True):
            lines += [f"(may {role} {number} {move})" for move in moves]
        lines += [f"(leads {number} {' '.join(joint)} {after})" for joint, after in node.after.items()]
        if not node.after and not node.stuck:
            lines.append(f"(over {number})")
        for role, goal in zip(ROLES, node.goals, strict=False):
            lines += [] if goal is None else [f"(worth {number} {role} {goal})"]
    lines += [
        "(<= (legal ?r ?m) (true (at ?n)) (may ?r ?n ?m))",
        "(<= (next (at ?m)) (true (at ?n)) (does left ?a) (does right ?b) (does random ?c)"
        " (leads ?n ?a ?b ?c ?m))",
        "(<= terminal (true (at ?n)) (over ?n))",
        "(<= (goal ?r ?g) (true (at ?n)) (worth ?n ?r ?g))",
    ]
    return "\n".join(lines)


def reached(nodes: list[Node]) -> set[int]:
    """Return the nodes that play can lead to."""
    found, pending = {0}, [0]
    while pending:
        for after in nodes[pending.pop()].after.values():
            if after not in found:
                found.add(after)
                pending.append(after)
    return found


def missing(nodes: list[Node], role: int) -> int:
    """Return at how many nodes that play can lead to it ends without a goal for a role."""
    return sum(not nodes[n].after and nodes[n].goals[role] is None for n in reached(nodes))


def completed(nodes: list[Node], random: Random) -> list[Node]:
    """Return a game with all its goals, where what one role gains the other loses."""
    whole = []
    for node in nodes:
        ours, theirs = node.goals
        if not node.after:
            if ours is None:
                ours = random.choice((0, 20, 50, 80, 100)) if theirs is None else 100 - theirs
            node = Node(node.moves, {}, (ours, 100 - ours))
        whole.append(node)
    return whole


def bounds(nodes: list[Node], role: int = 0) -> tuple[float, float, bool]:
    """Return between what the value of the first node lies for a role, and whether these are the limits.

    Where play ends without a goal, it may be worth anything from 0 to 100; where it does not end, anything
    that an end may be worth.
    """
    ends = [goal for n in reached(nodes) if not nodes[n].after and (goal := nodes[n].goals[role]) is not None]
    if missing(nodes, role):
        ends += 0, 100
    result, exact = [], True
    for start in (min(ends), max(ends)):
        values: dict[int, float] = dict.fromkeys(range(len(nodes)), start)
        values |= {n: goal for n, node in enumerate(nodes) if (goal := node.goals[role]) is not None}
        for _ in range(4000):
            new = {n: _value(node, values, role) if node.after else values[n] for n, node in enumerate(nodes)}
            if max(abs(new[n] - values[n]) for n in values) < 1e-13:
                break
            values = new
        else:
            exact = False
        result.append(values[0])
    return result[0], result[1], exact


def _value(node: Node, values: dict[int, float], role: int) -> float:
    lefts, rights, randoms = node.moves
    table = [
        [sum(values[node.after[a, b, c]] for c in randoms) / len(randoms) for b in rights] for a in lefts
    ]
    if role:
        lefts, rights, table = rights, lefts, [list(column) for column in zip(*table, strict=True)]
    if len(lefts) == 1:
        return min(table[0])
    if len(rights) == 1:
        return max(row[0] for row in table)
    # What right can hold left to, by a mixture of the columns: the other side of the linear program.
    result = linprog(
        [0.0] * len(rights) + [1.0],
        A_ub=[[*row, -1.0] for row in table],
        b_ub=[0.0] * len(lefts),
        A_eq=[[1.0] * len(rights) + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * len(rights) + [(None, None)],
    )
    return float(result.fun)
