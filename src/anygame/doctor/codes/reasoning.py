"""Codes of what is found when rules are put in order for the reasoner."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, LIMITS, STRATA, Code
from anygame.language.diagnostics import Severity

CODES: Final[tuple[Code, ...]] = (
    Code(
        "unsafe-variable",
        Severity.ERROR,
        "no positive literal of the body binds a variable",
        demand=(
            "Every variable of a head, a negation or a `distinct` stands in a positive literal of "
            "the body too."
        ),
        why=(
            "Otherwise the rule speaks of infinitely many terms, and its meaning depends on who reads it. "
            "Systems that go on nevertheless drop such a literal without a word."
        ),
        source=GDL,
        bad="(<= (legal ?r noop) (true waiting))",
        good="(<= (legal ?r noop) (role ?r) (true waiting))",
        mends=("role", "negation", "distinct", "binding", "domain"),
    ),
    Code(
        "too-many-alternatives",
        Severity.ERROR,
        "the disjunctions of a rule multiply beyond the limit",
        demand="The disjunctions of one rule stand for at most 4,096 rules, those of a sheet for "
        "some 20,000.",
        why="A disjunction that binds variables is multiplied out with all others of its body.",
        source="none of GDL's rules: a bound of this program, since rule sheets come from strangers",
        bad="(<= (p ?a)" + " (or (q ?a) (r ?a))" * 13 + ")",
        good="(<= (p ?a) (either ?a))\n(<= (either ?a) (or (q ?a) (r ?a)))",
    ),
    Code(
        "terms-too-large",
        Severity.ERROR,
        "the equations of a rule make terms beyond the limit",
        demand="The equations of a sheet add at most 1,000,000 characters to its rules, and nest "
        "terms at most "
        "200 deep.",
        why=(
            "(not (distinct ?x (f ?y ?y))) says what ?x is; a row of such equations doubles the "
            "term with each."
        ),
        source="none of GDL's rules: a bound of this program, since rule sheets come from strangers",
        bad="(<= (p ?n20) (q ?n0)"
        + "".join(f" (not (distinct ?n{n + 1} (f ?n{n} ?n{n})))" for n in range(20))
        + ")",
        good="(<= (p (f ?n ?n)) (q ?n))",
    ),
    Code(
        "unstratified",
        Severity.ERROR,
        "rules depend on each other through a negation",
        demand="No rule depends on its own negation.",
        why=(
            "(<= p (not q)) with (<= q (not p)) has two meanings, (<= p (not p)) none. GDL asks that "
            "relations can be computed in layers, negations looking down only. Here single rules count, not "
            "names."
        ),
        source=STRATA,
        bad="(<= p (not q))\n(<= q (not p))",
        good="(<= p (not q))\n(<= q (true r))",
    ),
    Code(
        "static-relation",
        Severity.ERROR,
        "a relation that may not depend on the state or the moves does",
        demand="role, init, base and input depend neither on the state nor on the moves.",
        why="They are asked before there is a state.",
        source=GDL,
        bad="(<= (init (b)) (true a))",
        good="(init b)",
    ),
    Code(
        "action-dependent",
        Severity.ERROR,
        "a relation that may not depend on the moves does",
        demand="legal, terminal and goal depend on the state, not on the moves.",
        why="They are asked before anybody has moved: what is legal cannot depend on what is done.",
        source=GDL,
        bad="(<= terminal (does white resign))",
        good="(<= (next over) (does white resign))\n(<= terminal (true over))",
    ),
    Code(
        "limit-reached",
        Severity.ERROR,
        "the rules are more than the reasoner can hold",
        demand="A game's facts, terms and time stay within the reasoner's limits.",
        why=(
            "Rules can stand for more than any memory holds; rather than to go on for ever the "
            "reasoner stops."
        ),
        source=LIMITS,
        bad=f"(role x)\n(init {'(s ' * 160}zero{')' * 161}",
        good="(role x)\n(init (count 160))",
    ),
)
