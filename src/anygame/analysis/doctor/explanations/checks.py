"""Explanations of the codes of games as a whole: flow, recursion, copies, goals, size."""

from __future__ import annotations

from typing import Final

from anygame.analysis.doctor.explanations.entry import (
    GDL,
    LIMITS,
    PLAY,
    PRACTICE,
    STRATA,
    VALIDATOR,
    Explanation,
)

__all__ = ["ENTRIES"]

_QUADRATIC: Final = "(<= (quad ?a ?b ?c ?d) (n ?a) (n ?b) (n ?c) (n ?d))"
_NUMBERS: Final = "\n".join(f"(n {number})" for number in range(40))

ENTRIES: Final = (
    Explanation(
        "unstratified",
        "No rule depends on its own negation.",
        "(<= p (not q)) with (<= q (not p)) has two meanings, (<= p (not p)) none. GDL asks that relations "
        "can be computed in layers, negations looking down only. Here single rules count, not names.",
        STRATA,
        "(<= p (not q))\n(<= q (not p))",
        "(<= p (not q))\n(<= q (true r))",
    ),
    Explanation(
        "negation-by-name",
        "A relation does not depend on its own negation, even where no single rule does.",
        "The definition looks at names: (goal ?r 0) that asks (not (goal ?r 100)) breaks it. No rule is "
        "caught in a circle, and it plays here; stricter systems refuse it.",
        STRATA,
        "(role x)\n(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))",
        "(role x)\n(<= (goal ?r 0) (role ?r) (not (wins ?r)))\n(<= (goal ?r 100) (wins ?r))\n"
        "(<= (wins ?r) (true (won ?r)))",
    ),
    Explanation(
        "static-relation",
        "role, init, base and input depend neither on the state nor on the moves.",
        "They are asked before there is a state.",
        GDL,
        "(<= (init (b)) (true a))",
        "(init b)",
    ),
    Explanation(
        "action-dependent",
        "legal, terminal and goal depend on the state, not on the moves.",
        "They are asked before anybody has moved: what is legal cannot depend on what is done.",
        GDL,
        "(<= terminal (does white resign))",
        "(<= (next over) (does white resign))\n(<= terminal (true over))",
    ),
    Explanation(
        "no-legal",
        "Every role has rules that give it legal moves.",
        "All roles move at every step; a role without any move stops the game before it starts.",
        PLAY,
        "(role white)\n(role black)\n(<= (legal white go) (true on))\n(init on)",
        "(role white)\n(role black)\n(<= (legal ?r go) (role ?r) (true on))\n(init on)",
    ),
    Explanation(
        "no-goal",
        "Every role has rules that give it goals.",
        "Goals are what players play for; without one the end means nothing to them.",
        PLAY,
        "(role white)\n(role black)\n(goal white 100)",
        "(role white)\n(role black)\n(goal white 100)\n(goal black 0)",
    ),
    Explanation(
        "no-terminal",
        "Some rule says when the game is over.",
        "Games of GDL end after finitely many steps.",
        PLAY,
        "(role white)",
        "(role white)\n(<= terminal (true over))",
    ),
    Explanation(
        "no-declarations",
        "The sheet declares with `base` what can be true, and with `input` what can be done.",
        "Both can be worked out here. Systems that turn rules into networks cannot do without.",
        VALIDATOR,
        "(init (lamp on))",
        "(base (lamp on))\n(base (lamp off))\n(input white switch)\n(init (lamp on))",
    ),
    Explanation(
        "unknown-role",
        "Who moves, or has a goal, is a role.",
        "Rules about anybody else never matter; most often a name is misspelt.",
        PRACTICE,
        "(role white)\n(<= (legal wite go) (true on))",
        "(role white)\n(<= (legal white go) (true on))",
    ),
    Explanation(
        "goal-value",
        "A goal is an integer.",
        "Players compare goals as numbers; a word cannot be compared.",
        GDL,
        "(<= (goal white win) (true over))",
        "(<= (goal white 100) (true over))",
    ),
    Explanation(
        "goal-range",
        "A goal is from 0 to 100.",
        "Players and tournaments count on the range.",
        GDL,
        "(<= (goal white 200) (true over))",
        "(<= (goal white 100) (true over))",
    ),
    Explanation(
        "overlapping-goals",
        "No two goal rules give a role different values in the same state.",
        "A role has one goal at the end. Where two rules can both hold, nobody knows which counts.",
        PLAY,
        "(<= (goal white 100) (true won))\n(<= (goal white 0) (true stuck))",
        "(<= (goal white 100) (true won))\n(<= (goal white 0) (not (true won)))",
    ),
    Explanation(
        "undefined-relation",
        "Every relation in a body has facts or rules.",
        "What nobody makes is false. The name is misspelt, has another number of arguments, or "
        "`true` is missing.",
        VALIDATOR,
        "(succ 1 2)\n(<= (p ?x ?y) (suc ?x ?y))",
        "(succ 1 2)\n(<= (p ?x ?y) (succ ?x ?y))",
    ),
    Explanation(
        "unused-relation",
        "Every relation has a part in what the game exchanges with its players.",
        "Relations that no keyword depends on cost time to read and change nothing.",
        VALIDATOR,
        "(<= (line ?x) (true (row ?x)))\n(<= terminal (true over))",
        "(<= (line ?x) (true (row ?x)))\n(<= terminal (line ?x))",
    ),
    Explanation(
        "unread-fluent",
        "Some rule asks about every fluent, other than to keep it.",
        "A fluent that nobody asks about changes nothing but the number of states.",
        PRACTICE,
        "(init (colour red))\n(<= (next (colour red)) (true (colour red)))",
        "(init (colour red))\n(<= terminal (true (colour red)))",
    ),
    Explanation(
        "unread-move",
        "Some rule asks whether a move was made, unless it is noop.",
        "A move that nobody asks about changes nothing; its effect may be misspelt.",
        PRACTICE,
        "(role x)\n(legal x (mark 1))\n(<= (next over) (does x (marks 1)))",
        "(role x)\n(legal x (mark 1))\n(<= (next over) (does x (mark 1)))",
    ),
    Explanation(
        "unwritten-fluent",
        "Some `init` or `next` makes every fluent true that a rule asks about.",
        "What nobody makes true never is. The name is misspelt, or its rule is missing.",
        PRACTICE,
        "(init (lamp on))\n(<= terminal (true (light on)))",
        "(init (lamp on))\n(<= terminal (true (lamp on)))",
    ),
    Explanation(
        "unknown-move",
        "Every move that a rule asks about can be legal.",
        "Players make legal moves only: nobody ever does what is never legal.",
        PRACTICE,
        "(role x)\n(legal x press)\n(<= (next over) (does x pres))",
        "(role x)\n(legal x press)\n(<= (next over) (does x press))",
    ),
    Explanation(
        "undeclared-fluent",
        "If there is a `base`, it declares every fluent.",
        "Systems that trust `base` never see the others.",
        VALIDATOR,
        "(base (lamp on))\n(init (lamp on))\n(init (step 1))",
        "(base (lamp on))\n(base (step 1))\n(init (lamp on))\n(init (step 1))",
    ),
    Explanation(
        "undeclared-move",
        "If there is an `input`, it declares every move.",
        "Systems that trust `input` never make the others.",
        VALIDATOR,
        "(role x)\n(input x go)\n(legal x go)\n(legal x stop)",
        "(role x)\n(input x go)\n(input x stop)\n(legal x go)\n(legal x stop)",
    ),
    Explanation(
        "never-fires",
        "Every rule can fire.",
        "What can stand at each argument follows from the facts and heads. Where a literal asks "
        "for something "
        "else, its rule is dead: a name is misspelt, or a case is missing.",
        PRACTICE,
        "(colour red)\n(colour blue)\n(<= (warm ?x) (colour ?x) (colour green))",
        "(colour red)\n(colour blue)\n(<= (warm ?x) (colour ?x) (colour red))",
    ),
    Explanation(
        "dead-alternative",
        "Every alternative of a disjunction can hold.",
        "As for rules that never fire.",
        PRACTICE,
        "(colour red)\n(<= terminal (or (colour red) (colour green)))",
        "(colour red)\n(<= terminal (or (colour red) (true over)))",
    ),
    Explanation(
        "idle-negation",
        "A negation denies what could hold.",
        "What never holds need not be denied; most often a name is misspelt, and the wrong thing is allowed.",
        PRACTICE,
        "(colour red)\n(<= terminal (true over) (not (colour rde)))\n(init over)",
        "(colour red)\n(<= terminal (true over) (not (colour red)))\n(init over)",
    ),
    Explanation(
        "growing-recursion",
        "A recursive rule does not wrap its own results into larger terms.",
        "Each round makes a new term, without end. A literal from outside the recursion that bounds the "
        "variable stops it; GDL's recursion restriction asks for that.",
        GDL,
        "(number zero)\n(<= (number (s ?x)) (number ?x))",
        "(number zero)\n(<= (number (s ?x)) (number ?x) (small ?x))\n(small zero)",
    ),
    Explanation(
        "recursion-restriction",
        "In a recursion each argument is ground, stands in the head as it is, or is bound "
        "outside the recursion.",
        "The restriction keeps GDL decidable. Without functions nothing can grow, so that this plays here.",
        GDL,
        "(edge a b)\n(<= (path ?x ?y) (edge ?x ?y))\n(<= (path ?x ?z) (path ?x ?y) (path ?y ?z))",
        "(edge a b)\n(<= (path ?x ?y) (edge ?x ?y))\n(<= (path ?x ?z) (edge ?x ?y) (path ?y ?z))",
    ),
    Explanation(
        "duplicate-rule",
        "No rule stands in the sheet twice.",
        "A copy says nothing. It was meant to be changed after copying, or is a burden to "
        "whoever changes the other.",
        PRACTICE,
        "(<= (p ?x) (q ?x))\n(<= (p ?y) (q ?y))",
        "(<= (p ?x) (q ?x))\n(<= (p ?y) (r ?y))",
    ),
    Explanation(
        "subsumed-rule",
        "No rule is a special case of another one.",
        "It adds nothing. Often the general rule says more than was meant.",
        PRACTICE,
        "(<= (p ?x) (q ?x))\n(<= (p a) (q a) (r a))",
        "(<= (p ?x) (q ?x))\n(<= (p a) (r a))",
    ),
    Explanation(
        "large-join",
        "A rule has at most a million instances, by what its variables can stand for.",
        "Every system goes through them, or must be clever not to. Splitting a rule so that "
        "each part has few "
        "variables makes it fast everywhere. The number is an upper bound: literals may leave far fewer.",
        PRACTICE,
        f"{_QUADRATIC}\n{_NUMBERS}",
        f"(<= (pair ?a ?b) (n ?a) (n ?b))\n{_NUMBERS}",
    ),
    Explanation(
        "limit-reached",
        "A game's facts, terms and time stay within the reasoner's limits.",
        "Rules can stand for more than any memory holds; rather than to go on for ever the reasoner stops.",
        LIMITS,
        f"(role x)\n(init {'(s ' * 160}zero{')' * 161}",
        "(role x)\n(init (count 160))",
    ),
)
