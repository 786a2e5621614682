"""Codes of what is found while a sheet is read, and when its rules are put in order for the reasoner."""

from __future__ import annotations

from typing import Final

from anygame.doctor.code import GDL, GDL2, INFIX, KIF, LIMITS, SAFE, STRATA, VALIDATOR, Code
from anygame.language.diagnostics import Severity

CODES: Final[tuple[Code, ...]] = (
    Code(
        "bad-encoding",
        Severity.ERROR,
        "the file is not UTF-8 text",
        demand="A rule sheet is a file of UTF-8 text.",
        why="Every system exchanges rules as plain text; bytes that are no text cannot be shown at a place.",
        source=KIF,
    ),
    Code(
        "control-character",
        Severity.ERROR,
        "a character that cannot be part of a rule sheet",
        demand="A sheet has no control characters but tabs and line ends.",
        why="They cannot be seen, and some systems take them for blanks and others for parts of names.",
        source=KIF,
        bad="(role white\x07)",
        good="(role white)",
    ),
    Code(
        "too-deep",
        Severity.ERROR,
        "lists are nested deeper than the limit",
        demand="Lists are nested at most 200 deep.",
        why=f"{SAFE} Terms of games are rarely deeper than five.",
        source=LIMITS,
        bad="(init " + "(s " * 200 + "zero" + ")" * 201,
        good="(init (counter 200))",
    ),
    Code(
        "too-large",
        Severity.ERROR,
        "the text has more characters or tokens than the limit",
        demand="A sheet has at most 16 MiB and 4 million tokens.",
        why=f"{SAFE} Each term keeps its text, so those that are nested deep and long at once are "
        "bounded too.",
        source=LIMITS,
    ),
    Code(
        "too-many-problems",
        Severity.ERROR,
        "reading stopped, since nearly everything is wrong",
        demand="Reading stops after 1000 errors.",
        why="What has more of them is no rule sheet, or in another form than it seems.",
        source=LIMITS,
    ),
    Code(
        "token-too-long",
        Severity.ERROR,
        "a single token is longer than the limit",
        demand="A name has at most 4096 characters.",
        why=SAFE,
        source=LIMITS,
        bad=f"(role {'long' * 1025})",
        good="(role long)",
    ),
    Code(
        "unclosed-list",
        Severity.ERROR,
        "an opening parenthesis has no closing one",
        demand="Every opening parenthesis has a closing one.",
        why="Rules are lists, and without its end nobody knows what belongs to a list.",
        source=KIF,
        bad="(role white\n(role black)",
        good="(role white)\n(role black)",
    ),
    Code(
        "unexpected-close",
        Severity.ERROR,
        "a closing parenthesis has no opening one",
        demand="Every closing parenthesis has an opening one.",
        why="One too many ends a rule too early or hides that another one is missing.",
        source=KIF,
        bad="(role white))",
        good="(role white)",
    ),
    Code(
        "infix-character",
        Severity.ERROR,
        "a character that has no meaning in the infix form",
        demand="The infix form knows letters, digits, _ and quotes, and the marks :- & | ~ ( ) , "
        "and the period.",
        why="Other characters can stand in names only between single quotes.",
        source=INFIX,
        bad="role(white) :- open # 3.",
        good="role(white) :- open3.",
    ),
    Code(
        "infix-name",
        Severity.ERROR,
        "a name in quotes that KIF cannot spell",
        demand="A name in quotes must be one that KIF can spell: without blanks, parentheses and semicolons.",
        why="Rules are exchanged in KIF, so that every name must be possible there.",
        source=KIF,
        bad="role('the white').",
        good="role('the-white').",
    ),
    Code(
        "infix-dialect",
        Severity.WARNING,
        "marks of Prolog or answer set programming in the infix form",
        demand="The infix form writes & between formulas and ~ for negation.",
        why="A comma between formulas, `not` and `\\+` mean the same elsewhere and are read so; other "
        "readers of this form may not.",
        source=INFIX,
        bad="role(white). terminal :- open, not closed.",
        good="role(white). terminal :- open & ~closed.",
    ),
    Code(
        "infix-syntax",
        Severity.ERROR,
        "something else was expected here, in the infix form",
        demand="A rule is head :- body, with & between formulas, | between alternatives, ~ for negation.",
        why="What stands elsewhere cannot be given a meaning.",
        source=INFIX,
        bad="terminal :- & open.",
        good="terminal :- open.",
    ),
    Code(
        "empty-list",
        Severity.ERROR,
        "a list with nothing in it",
        demand="A list starts with the name of a relation or function.",
        why="() names nothing.",
        source=KIF,
        bad="(init ())",
        good="(init empty)",
    ),
    Code(
        "empty-variable",
        Severity.ERROR,
        "a question mark without a name",
        demand="A variable is a question mark and a name.",
        why="A mere ? cannot be told from another one.",
        source=KIF,
        bad="(<= (p ?) (q ?))",
        good="(<= (p ?x) (q ?x))",
    ),
    Code(
        "list-as-name",
        Severity.ERROR,
        "a list stands where a name belongs",
        demand="The first thing in a list is a name, not another list.",
        why=(
            "GDL has names of relations and functions only; two parentheses in a row are most often "
            "one too many."
        ),
        source=GDL,
        bad="(init ((cell 1 b)))",
        good="(init (cell 1 b))",
    ),
    Code(
        "too-many-arguments",
        Severity.ERROR,
        "a sentence or term has more arguments than the limit",
        demand="A sentence or term has at most 1000 arguments.",
        why=SAFE,
        source=LIMITS,
        bad=f"(init (board{' b' * 1001}))",
        good="(init (cell 1 1 b))",
    ),
    Code(
        "variable-as-name",
        Severity.ERROR,
        "a variable stands where a relation or function belongs",
        demand="The name of a relation or function is written out; only arguments can vary.",
        why="GDL is first-order: rules do not range over relations.",
        source=GDL,
        bad="(<= (p ?x) (?r ?x))",
        good="(<= (p ?x) (q ?x))",
    ),
    Code(
        "variable-sentence",
        Severity.ERROR,
        "a variable stands where a sentence belongs",
        demand="A variable does not stand for a whole sentence.",
        why="GDL is first-order: only terms can vary. What is true varies inside (true ?x).",
        source=GDL,
        bad="(<= terminal ?x)",
        good="(<= terminal (true ?x))",
    ),
    Code(
        "zero-arity",
        Severity.WARNING,
        "parentheses round a single name",
        demand="A name without arguments is written without parentheses.",
        why=(
            "In KIF (f) and f are different terms, and systems disagree whether they are the same here. They "
            "are read as the same."
        ),
        source=GDL,
        bad="(<= (terminal) (true over))",
        good="(<= terminal (true over))",
        mends=("parentheses",),
    ),
    Code(
        "and-formula",
        Severity.WARNING,
        "`and` is KIF but not GDL",
        demand="A body is a list of formulas, all of which must hold; there is no `and`.",
        why=(
            "Systems that know none take `and` for a relation that nobody defines, and it is false. Here it "
            "is read as what it says."
        ),
        source=GDL,
        bad="(<= terminal (and (true over) (true done)))",
        good="(<= terminal (true over) (true done))",
    ),
    Code(
        "bad-head",
        Severity.ERROR,
        "something other than a sentence stands as the head of a rule or as a fact",
        demand="The head of a rule, and a fact, is a single sentence.",
        why="A rule concludes one thing. Two conclusions are two rules, and a negation cannot be concluded.",
        source=GDL,
        bad="(<= (not terminal) (true going))",
        good="(<= going-on (true going))",
    ),
    Code(
        "derived-role",
        Severity.WARNING,
        "a rule, not a fact, declares roles",
        demand="Roles are facts.",
        why="Players take part in the order in which the facts declare them, before any rule is looked at.",
        source=GDL,
        bad="(<= (role ?x) (player ?x))\n(player white)",
        good="(role white)",
    ),
    Code(
        "empty-body",
        Severity.WARNING,
        "a rule without a body",
        demand="A rule has a body; without one it is written as a fact.",
        why="(<= h) is read as h, but not by every system.",
        source=VALIDATOR,
        bad="(<= (succ 1 2))",
        good="(succ 1 2)",
    ),
    Code(
        "empty-or",
        Severity.WARNING,
        "a disjunction of nothing, which is false",
        demand="A disjunction has alternatives.",
        why="Of none, none can hold: (or) is false, and so is the body it stands in.",
        source=VALIDATOR,
        bad="(<= terminal (or))",
        good="(<= terminal (or (true over) (true done)))",
    ),
    Code(
        "formula-arity",
        Severity.ERROR,
        "`not`, `and`, `distinct` or `<=` with a wrong number of parts",
        demand="`not` takes one formula, `distinct` two terms, `<=` a head.",
        why="With other numbers they mean nothing. (not a b) is most often meant as two negations.",
        source=GDL,
        bad="(<= terminal (not (true a) (true b)))",
        good="(<= terminal (not (true a)) (not (true b)))",
    ),
    Code(
        "keyword-arity",
        Severity.ERROR,
        "a keyword with a wrong number of arguments",
        demand=(
            "role, init, true, next and base take one argument; legal, does, goal, input and sees two; "
            "terminal none."
        ),
        why=(
            "These relations are what a game and its players exchange; with other arguments nobody knows what"
            " they say."
        ),
        source=f"{GDL}; {GDL2}",
        bad="(<= (next cell 1 x) (true go))",
        good="(<= (next (cell 1 x)) (true go))",
    ),
    Code(
        "keyword-in-term",
        Severity.ERROR,
        "a keyword inside a term, where it has no meaning",
        demand="Keywords name relations and joiners of formulas, not functions.",
        why="Inside a term they mean nothing: (true (not x)) does not deny x.",
        source=GDL,
        bad="(<= terminal (true (not open)))",
        good="(<= terminal (not (true open)))",
    ),
    Code(
        "no-role",
        Severity.ERROR,
        "no fact declares a role",
        demand="At least one fact declares a role.",
        why="Without players nobody moves, and there is no game.",
        source=GDL,
        bad="(init start)",
        good="(role white)\n(init start)",
    ),
    Code(
        "old-declaration",
        Severity.WARNING,
        "a `base` or `input` sentence of an older style, which is ignored",
        demand="`base` takes a fluent, `input` a role and a move.",
        why="Older sheets use the words with other arguments; such items are ignored.",
        source=VALIDATOR,
        bad="(base cell 1 x)",
        good="(base (cell 1 x))",
    ),
    Code(
        "state-in-head",
        Severity.ERROR,
        "`true` or `does` is stated or concluded",
        demand="`true` and `does` stand in bodies only.",
        why="They describe the state and the moves, which are given. What becomes true is said by `init` and "
        "`next`, what can be done by `legal`.",
        source=GDL,
        bad="(true (cell 1 b))",
        good="(init (cell 1 b))",
    ),
    Code(
        "stray-rule",
        Severity.ERROR,
        "`<=` stands elsewhere than at the start of a rule",
        demand="`<=` stands at the start of a rule, and rules do not stand inside each other.",
        why="Most often the rule before lacks its last parenthesis.",
        source=GDL,
        bad="(<= (p a) (q a)\n(<= (q a) (r a)))",
        good="(<= (p a) (q a))\n(<= (q a) (r a))",
    ),
    Code(
        "variable-in-fact",
        Severity.ERROR,
        "a fact has variables",
        demand="A fact has no variables.",
        why="It would say something of all terms there are, and there is no end of them.",
        source=GDL,
        bad="(init (cell ?x b))",
        good="(<= (init (cell ?x b)) (index ?x))\n(index 1)",
        mends=("binding", "domain", "any"),
    ),
    Code(
        "wrong-arrow",
        Severity.ERROR,
        "a rule starts with another arrow than `<=`",
        demand="A rule is written (<= head body ...), whatever arrow other languages have.",
        why="Read as it stands it would be a fact of a relation of that name, which no rule asks about.",
        source=GDL,
        bad="(=> (legal ?r go) (role ?r))",
        good="(<= (legal ?r go) (role ?r))",
    ),
)


#: What is found when rules are put in order for the reasoner.
OF_REASONING: Final[tuple[Code, ...]] = (
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
        mends=("role", "negation", "distinct", "binding", "domain", "any"),
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
