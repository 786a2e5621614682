"""Random rules with views on views: wide, recursive, negated, asked for in many ways."""

from __future__ import annotations

import re
from random import Random

_NAMES = ["?a", "?b", "?c", "?d", "?e"]
_ARITIES = [1, 2, 3, 2, 4, 3]


def write_views(seed: int) -> str:
    """Return a sheet of some views above each other, which legal, next, terminal and goal read."""
    pick = Random(seed)
    cells = "1234"
    lines = ["(role x) (role y) (n 1) (n 2) (n 3) (n 4) (s 1 2) (s 2 3) (s 3 4)"]
    # Most pairs differ: a dense relation that rules define.
    lines += ["(<= (far ?a ?b ?c) (n ?a) (n ?b) (n ?c) (distinct ?a ?b))"]
    lines += ["(<= (far ?a ?b ?c) (n ?a) (n ?b) (n ?c) (distinct ?b ?c))"]
    pairs = [(pick.choice(cells), pick.choice(cells)) for _ in range(5)]
    lines += [f"(init (p {a} {b}))" for a, b in dict.fromkeys(pairs)] + ["(init (q 1))"]
    count = pick.randint(2, len(_ARITIES))
    for level in range(count):
        for _ in range(pick.randint(1, 3)):
            terms = " ".join(_term(pick) for _ in range(_ARITIES[level]))
            lines.append(_rule(pick, f"(v{level} {terms})", level + 1, level, head_terms=terms))
    lines.append(_rule(pick, "(legal ?a (m ?b ?c))", count, count, head_terms="?b ?c", extra="(role ?a)"))
    lines.append("(<= (legal ?r (m ?a ?b)) (role ?r) (true (p ?a ?b)))")
    lines.append("(<= (legal ?r noop) (role ?r))")
    for _ in range(pick.randint(1, 3)):
        lines.append(_rule(pick, "(next (p ?a ?b))", count, count, head_terms="?a ?b"))
    lines.append("(<= (next (p ?a ?b)) (does ?r (m ?a ?c)) (s ?c ?b))")
    lines.append("(<= (next (q ?b)) (true (q ?a)) (s ?a ?b))")
    lines.append(_rule(pick, "late", count, count, head_terms=""))
    lines.append("(<= terminal (true (q 4)) late)")
    lines.append(_rule(pick, "(goal x 50)", count, count, head_terms=""))
    lines.append("(goal y 1)")
    return "\n".join(lines)


def _term(pick: Random) -> str:
    return str(pick.choice(_NAMES if pick.random() < 0.85 else list("1234")))


def _view(pick: Random, level: int) -> str:
    return f"(v{level} {' '.join(_term(pick) for _ in range(_ARITIES[level]))})"


def _rule(pick: Random, head: str, levels: int, below: int, head_terms: str, extra: str = "") -> str:
    """Return a safe rule that reads views: negated ones of levels below, others of all ``levels``."""
    body = [extra] if extra else []
    for _ in range(pick.randint(1, 3)):
        kind = pick.random()
        if kind < 0.5 and levels:
            body.append(_view(pick, pick.randrange(levels)))
        elif kind < 0.8:
            body.append(f"(true (p {_term(pick)} {_term(pick)}))")
        else:
            body.append(f"({pick.choice(['s', 's', 'far ' + _term(pick)])} {_term(pick)} {_term(pick)})")
    bound = set(re.findall(r"\?\w+", " ".join(body)))
    missing = sorted(set(re.findall(r"\?\w+", head_terms)) - bound)
    body += [f"(n {name})" for name in missing]
    known = sorted(bound.union(missing)) or ["1"]

    def term() -> str:
        return str(pick.choice([*known, "2", "3"]))

    for _ in range(pick.choice([0, 1, 1, 2])):
        kind = pick.random()
        if kind < 0.5 and below:
            level = pick.randrange(below)
            body.append(f"(not (v{level} {' '.join(term() for _ in range(_ARITIES[level]))}))")
        elif kind < 0.7:
            body.append(f"(distinct {term()} {term()})")
        elif kind < 0.85:
            body.append(f"(or (true (p {term()} {term()})) (not (true (q {term()}))) (distinct {term()} 1))")
        else:
            body.append(f"(far {term()} {term()} {term()})")
    return f"(<= {head} {' '.join(body)})"
