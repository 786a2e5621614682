"""Random rules in which a move meets everything that can stand beside it."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import product
from random import Random
from typing import TYPE_CHECKING

import anygame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_NAMES = ["?a", "?b", "?c", "?d", "?e", "?f"]
_LEGAL = [
    "(<= (legal ?r (m ?a ?b ?c)) (role ?r) (n ?a) (n ?b) (n ?c))",
    "(<= (legal ?r (m ?a ?b ?c)) (role ?r) (true (p ?a ?b)) (n ?c))",
    "(<= (legal ?r (m ?a ?b ?c)) (role ?r) (s ?a ?b) (n ?c) (not (true (p ?c ?a))))",
]
_FRAME = (
    "(<= (next (p ?a ?b)) (true (p ?a ?b)) (does ?r (m ?c ?d ?e))"
    " (or (distinct ?a ?c) (distinct ?b ?d)) (or (distinct ?a ?d) (distinct ?b ?e)))"
)


def sheets_with_percepts(seeds: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield seeds with the sheets of hidden information that they give, where these can be loaded."""
    for seed in seeds:
        text = Writer(seed).sheet_with_percepts()
        with suppress(anygame.RuleSheetError):
            anygame.loads(text)
            yield seed, text


class Writer:
    """Writes rules that are safe: what is not positive has variables that something positive binds."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def sheet(self) -> str:
        pick = self._random
        pairs = [f"{a} {b}" for a, b in product("123", repeat=2)]
        lines = ["(role x) (role y) (n 1) (n 2) (n 3) (goal y 1)"]
        lines += [f"(s {pair})" for pair in pick.sample(pairs, pick.choice([2, 4, 6, 8]))]
        lines += [f"(init (p {pair}))" for pair in pick.sample(pairs, pick.randint(1, 4))]
        lines += [f"(init (q {pick.choice('123')}))", pick.choice(_LEGAL)]
        lines.append("(<= (legal ?r (k ?a)) (role ?r) (n ?a))")
        lines += ["(<= (legal y noop) (true (q 1)))"] * pick.randint(0, 1) + [_FRAME] * pick.randint(0, 1)
        for _ in range(pick.randint(1, 2)):
            lines.append(self._rule(lambda term: f"(view {term()} {term()})", of_move=False, view=False))
        for _ in range(pick.randint(1, 4)):
            lines.append(self._rule(lambda term: f"(next (p {term()} {term()}))", of_move=True))
        for _ in range(pick.randint(0, 2)):
            lines.append(self._rule(lambda term: f"(next (q {term()}))", of_move=pick.random() < 0.7))
        lines.append(self._rule(lambda _: "late", of_move=False))
        lines.append("(<= terminal (true (q 3)) late)")
        lines.append(self._rule(lambda _: "(goal x 50)", of_move=False))
        return "\n".join(lines)

    def sheet_with_percepts(self) -> str:
        """Write a sheet of hidden information (GDL-II)."""
        pick = self._random
        lines = [self.sheet()]
        for _ in range(pick.randint(1, 4)):
            seer, of_move = pick.choice(["x", "y"]), pick.random() < 0.7
            shape = pick.choice(["(sees {seer} (of {} {}))", "(sees {seer} {})", "(sees {seer} blip)"])

            def head(term: Callable[[], str], shape: str = shape, seer: str = seer) -> str:
                return shape.format(term(), term(), seer=seer)

            lines.append(self._rule(head, of_move=of_move))
        lines += ["(<= (sees ?r (did ?s ?m)) (role ?r) (does ?s ?m))"] * pick.choice([0, 0, 1])
        lines += ["(sees x clock)"] * pick.choice([0, 0, 1])
        return "\n".join(lines)

    def _rule(self, head: Callable[[Callable[[], str]], str], *, of_move: bool, view: bool = True) -> str:
        pick = self._random
        body = [self._does() for _ in range(pick.choice([1, 1, 1, 1, 2]) if of_move else 0)]
        body += [self._positive(view) for _ in range(pick.randint(0 if of_move else 1, 3))]
        bound = sorted(set(re.findall(r"\?\w+", " ".join(body)))) or ["?a"]
        if bound == ["?a"]:
            body.append("(n ?a)")

        def term() -> str:
            return str(pick.choice([*bound, "1", "2"]))

        body += [self._other(term, of_move, view) for _ in range(pick.choice([0, 0, 1, 1, 2, 3]))]
        pick.shuffle(body)
        return f"(<= {head(term)} {' '.join(body)})"

    def _does(self) -> str:
        pick = self._random
        role = pick.choice(["x", "y", "?r"])
        if pick.random() < 0.2:
            return f"(does {role} (k {pick.choice(_NAMES)}))"
        return f"(does {role} (m {' '.join(pick.choice(_NAMES) for _ in range(3))}))"

    def _positive(self, view: bool) -> str:
        pick = self._random
        one, two = [pick.choice(_NAMES) if pick.random() < 0.85 else pick.choice("123") for _ in range(2)]
        shapes = [f"(true (p {one} {two}))", f"(true (q {one}))", f"(s {one} {two})", f"(n {one})"]
        views = [f"(view {one} {two})"] if view else []
        return str(pick.choice([*shapes, shapes[0], shapes[2], *views]))

    def _other(self, term: Callable[[], str], of_move: bool, view: bool) -> str:
        shapes = [
            f"(distinct {term()} {term()})",
            f"(or (distinct {term()} {term()}) (distinct {term()} {term()}))",
            f"(not (true (p {term()} {term()})))",
            f"(not (s {term()} {term()}))",
            f"(or (true (q {term()})) (distinct {term()} {term()}) (not (true (p {term()} {term()}))))",
        ]
        if view:
            shapes.append(f"(not (view {term()} {term()}))")
        if of_move:
            shapes.append(f"(not (does {self._random.choice('xy')} (k {term()})))")
        return self._random.choice(shapes)
