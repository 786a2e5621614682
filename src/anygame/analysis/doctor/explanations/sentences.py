"""Explanations of the codes of sentences, formulas and rules."""

from __future__ import annotations

from typing import Final

from anygame.analysis.doctor.explanations.entry import GDL, GDL2, PRACTICE, VALIDATOR, Explanation

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Explanation(
        "and-formula",
        "A body is a list of formulas, all of which must hold; there is no `and`.",
        "Systems that know none take `and` for a relation that nobody defines, and it is false. Here it is "
        "read as what it says.",
        GDL,
        "(<= terminal (and (true over) (true done)))",
        "(<= terminal (true over) (true done))",
    ),
    Explanation(
        "bad-head",
        "The head of a rule, and a fact, is a single sentence.",
        "A rule concludes one thing. Two conclusions are two rules, and a negation cannot be concluded.",
        GDL,
        "(<= (not terminal) (true going))",
        "(<= going-on (true going))",
    ),
    Explanation(
        "derived-role",
        "Roles are facts.",
        "Players take part in the order in which the facts declare them, before any rule is looked at.",
        GDL,
        "(<= (role ?x) (player ?x))\n(player white)",
        "(role white)",
    ),
    Explanation(
        "empty-body",
        "A rule has a body; without one it is written as a fact.",
        "(<= h) is read as h, but not by every system.",
        VALIDATOR,
        "(<= (succ 1 2))",
        "(succ 1 2)",
    ),
    Explanation(
        "empty-or",
        "A disjunction has alternatives.",
        "Of none, none can hold: (or) is false, and so is the body it stands in.",
        VALIDATOR,
        "(<= terminal (or))",
        "(<= terminal (or (true over) (true done)))",
    ),
    Explanation(
        "formula-arity",
        "`not` takes one formula, `distinct` two terms, `<=` a head.",
        "With other numbers they mean nothing. (not a b) is most often meant as two negations.",
        GDL,
        "(<= terminal (not (true a) (true b)))",
        "(<= terminal (not (true a)) (not (true b)))",
    ),
    Explanation(
        "keyword-arity",
        "role, init, true, next and base take one argument; legal, does, goal, input and sees "
        "two; terminal none.",
        "These relations are what a game and its players exchange; with other arguments nobody "
        "knows what they say.",
        f"{GDL}; {GDL2}",
        "(<= (next cell 1 x) (true go))",
        "(<= (next (cell 1 x)) (true go))",
    ),
    Explanation(
        "keyword-in-term",
        "Keywords name relations and joiners of formulas, not functions.",
        "Inside a term they mean nothing: (true (not x)) does not deny x.",
        GDL,
        "(<= terminal (true (not open)))",
        "(<= terminal (not (true open)))",
    ),
    Explanation(
        "no-role",
        "At least one fact declares a role.",
        "Without players nobody moves, and there is no game.",
        GDL,
        "(init start)",
        "(role white)\n(init start)",
    ),
    Explanation(
        "old-declaration",
        "`base` takes a fluent, `input` a role and a move.",
        "Older sheets use the words with other arguments; such items are ignored.",
        VALIDATOR,
        "(base cell 1 x)",
        "(base (cell 1 x))",
    ),
    Explanation(
        "state-in-head",
        "`true` and `does` stand in bodies only.",
        "They describe the state and the moves, which are given. What becomes true is said by `init` and "
        "`next`, what can be done by `legal`.",
        GDL,
        "(true (cell 1 b))",
        "(init (cell 1 b))",
    ),
    Explanation(
        "stray-rule",
        "`<=` stands at the start of a rule, and rules do not stand inside each other.",
        "Most often the rule before lacks its last parenthesis.",
        GDL,
        "(<= (p a) (q a)\n(<= (q a) (r a)))",
        "(<= (p a) (q a))\n(<= (q a) (r a))",
    ),
    Explanation(
        "variable-in-fact",
        "A fact has no variables.",
        "It would say something of all terms there are, and there is no end of them.",
        GDL,
        "(init (cell ?x b))",
        "(<= (init (cell ?x b)) (index ?x))\n(index 1)",
    ),
    Explanation(
        "unsafe-variable",
        "Every variable of a head, a negation or a `distinct` stands in a positive literal of the body too.",
        "Otherwise the rule speaks of infinitely many terms, and its meaning depends on who "
        "reads it. Systems "
        "that go on nevertheless drop such a literal without a word.",
        GDL,
        "(<= (legal ?r noop) (true waiting))",
        "(<= (legal ?r noop) (role ?r) (true waiting))",
    ),
    Explanation(
        "too-many-alternatives",
        "The disjunctions of one rule stand for at most 4,096 rules, those of a sheet for some 20,000.",
        "A disjunction that binds variables is multiplied out with all others of its body.",
        "none of GDL's rules: a bound of this program, since rule sheets come from strangers",
        "(<= (p ?a)" + " (or (q ?a) (r ?a))" * 13 + ")",
        "(<= (p ?a) (either ?a))\n(<= (either ?a) (or (q ?a) (r ?a)))",
    ),
    Explanation(
        "terms-too-large",
        "The equations of a sheet add at most 1,000,000 characters to its rules, and nest terms at most "
        "200 deep.",
        "(not (distinct ?x (f ?y ?y))) says what ?x is; a row of such equations doubles the term with each.",
        "none of GDL's rules: a bound of this program, since rule sheets come from strangers",
        "(<= (p ?n20) (q ?n0)"
        + "".join(f" (not (distinct ?n{n + 1} (f ?n{n} ?n{n})))" for n in range(20))
        + ")",
        "(<= (p (f ?n ?n)) (q ?n))",
    ),
    Explanation(
        "keyword-in-body",
        "init, next, base and input stand in heads only.",
        "They tell a system what to compute; in a body some systems find them empty.",
        VALIDATOR,
        "(<= (index ?x) (init (at ?x)))\n(init (at 1))",
        "(index 1)\n(<= (init (at ?x)) (index ?x))",
    ),
    Explanation(
        "negated-formula",
        "`not` stands in front of a sentence.",
        "The definition of GDL has no other negation. A well-known system reads (not (or a b)) as if it were "
        "(or (not a) (not b)), which is something else.",
        GDL,
        "(<= terminal (not (or (true a) (true b))))",
        "(<= terminal (not (true a)) (not (true b)))",
    ),
    Explanation(
        "nested-or",
        "A disjunction is not an alternative of another one.",
        "It says nothing more than one long disjunction does, and some readers know one level only.",
        VALIDATOR,
        "(<= terminal (or (true a) (or (true b) (true c))))",
        "(<= terminal (or (true a) (true b) (true c)))",
    ),
    Explanation(
        "literal-order",
        "A `not` or `distinct` stands after the literals that bind its variables.",
        "The order means nothing in GDL, but systems that go from left to right meet variables "
        "without values.",
        PRACTICE,
        "(<= (p ?x) (distinct ?x a) (q ?x))",
        "(<= (p ?x) (q ?x) (distinct ?x a))",
    ),
    Explanation(
        "idle-distinct",
        "A `distinct` compares what could be the same.",
        "Two different constants always differ: the author meant a variable, or the literal is needless.",
        PRACTICE,
        "(<= (p ?x) (q ?x) (distinct a b))",
        "(<= (p ?x) (q ?x) (distinct ?x b))",
    ),
)
