"""Explanations of the codes of reading: characters, parentheses, bounds, the infix form."""

from __future__ import annotations

from typing import Final

from anygame.analysis.doctor.explanations.entry import GDL, KIF, LIMITS, Explanation

__all__ = ["ENTRIES"]

_INFIX: Final = "the infix form of Stanford's course notes on general game playing"
_SAFE: Final = "A sheet that goes past it is more likely a broken or hostile file than a game."

ENTRIES: Final = (
    Explanation(
        "bad-encoding",
        "A rule sheet is a file of UTF-8 text.",
        "Every system exchanges rules as plain text; bytes that are no text cannot be shown at a place.",
        KIF,
    ),
    Explanation(
        "control-character",
        "A sheet has no control characters but tabs and line ends.",
        "They cannot be seen, and some systems take them for blanks and others for parts of names.",
        KIF,
        "(role white\x07)",
        "(role white)",
    ),
    Explanation(
        "too-deep",
        "Lists are nested at most 200 deep.",
        f"{_SAFE} Terms of games are rarely deeper than five.",
        LIMITS,
        "(init " + "(s " * 200 + "zero" + ")" * 201,
        "(init (counter 200))",
    ),
    Explanation(
        "too-large",
        "A sheet has at most 16 MiB and 4 million tokens.",
        f"{_SAFE} Each term keeps its text, so those that are nested deep and long at once are bounded too.",
        LIMITS,
    ),
    Explanation(
        "too-many-problems",
        "Reading stops after 1000 errors.",
        "What has more of them is no rule sheet, or in another form than it seems.",
        LIMITS,
    ),
    Explanation(
        "token-too-long",
        "A name has at most 4096 characters.",
        _SAFE,
        LIMITS,
        f"(role {'long' * 1025})",
        "(role long)",
    ),
    Explanation(
        "unclosed-list",
        "Every opening parenthesis has a closing one.",
        "Rules are lists, and without its end nobody knows what belongs to a list.",
        KIF,
        "(role white\n(role black)",
        "(role white)\n(role black)",
    ),
    Explanation(
        "unexpected-close",
        "Every closing parenthesis has an opening one.",
        "One too many ends a rule too early or hides that another one is missing.",
        KIF,
        "(role white))",
        "(role white)",
    ),
    Explanation(
        "infix-character",
        "The infix form knows letters, digits, _ and quotes, and the marks :- & | ~ ( ) , and the period.",
        "Other characters can stand in names only between single quotes.",
        _INFIX,
        "role(white) :- open # 3.",
        "role(white) :- open3.",
    ),
    Explanation(
        "infix-name",
        "A name in quotes must be one that KIF can spell: without blanks, parentheses and semicolons.",
        "Rules are exchanged in KIF, so that every name must be possible there.",
        KIF,
        "role('the white').",
        "role('the-white').",
    ),
    Explanation(
        "infix-syntax",
        "A rule is head :- body, with & between formulas, | between alternatives, ~ for negation.",
        "What stands elsewhere cannot be given a meaning.",
        _INFIX,
        "terminal :- & open.",
        "terminal :- open.",
    ),
    Explanation(
        "empty-list",
        "A list starts with the name of a relation or function.",
        "() names nothing.",
        KIF,
        "(init ())",
        "(init empty)",
    ),
    Explanation(
        "empty-variable",
        "A variable is a question mark and a name.",
        "A mere ? cannot be told from another one.",
        KIF,
        "(<= (p ?) (q ?))",
        "(<= (p ?x) (q ?x))",
    ),
    Explanation(
        "list-as-name",
        "The first thing in a list is a name, not another list.",
        "GDL has names of relations and functions only; two parentheses in a row are most often "
        "one too many.",
        GDL,
        "(init ((cell 1 b)))",
        "(init (cell 1 b))",
    ),
    Explanation(
        "too-many-arguments",
        "A sentence or term has at most 1000 arguments.",
        _SAFE,
        LIMITS,
        f"(init (board{' b' * 1001}))",
        "(init (cell 1 1 b))",
    ),
    Explanation(
        "variable-as-name",
        "The name of a relation or function is written out; only arguments can vary.",
        "GDL is first-order: rules do not range over relations.",
        GDL,
        "(<= (p ?x) (?r ?x))",
        "(<= (p ?x) (q ?x))",
    ),
    Explanation(
        "variable-sentence",
        "A variable does not stand for a whole sentence.",
        "GDL is first-order: only terms can vary. What is true varies inside (true ?x).",
        GDL,
        "(<= terminal ?x)",
        "(<= terminal (true ?x))",
    ),
    Explanation(
        "zero-arity",
        "A name without arguments is written without parentheses.",
        "In KIF (f) and f are different terms, and systems disagree whether they are the same here. They are "
        "read as the same.",
        GDL,
        "(<= (terminal) (true over))",
        "(<= terminal (true over))",
    ),
)
