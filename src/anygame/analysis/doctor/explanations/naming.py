"""Explanations of the codes of names."""

from __future__ import annotations

from typing import Final

from anygame.analysis.doctor.explanations.entry import GDL, PRACTICE, VALIDATOR, Explanation

__all__ = ["ENTRIES"]

ENTRIES: Final = (
    Explanation(
        "case-differs",
        "Names that differ by capitals only are not used side by side.",
        "Some systems tell them apart, others do not, and some write all rules in capitals. "
        "Here capitals count.",
        VALIDATOR,
        "(init (lamp On))\n(<= terminal (true (lamp on)))",
        "(init (lamp on))\n(<= terminal (true (lamp on)))",
    ),
    Explanation(
        "relation-arity",
        "A relation has the same number of arguments everywhere.",
        "With two numbers these are two relations, of which each knows nothing of the other. "
        "Some systems crash.",
        VALIDATOR,
        "(edge a b)\n(<= (p ?x) (edge ?x))",
        "(edge a b)\n(<= (p ?x) (edge ?x ?y))",
    ),
    Explanation(
        "function-arity",
        "A function has the same number of arguments everywhere.",
        "(cell 1 b) and (cell 1 1 b) are different fluents; one of them is most often a slip.",
        VALIDATOR,
        "(init (cell 1 1 b))\n(<= terminal (true (cell 1 b)))",
        "(init (cell 1 1 b))\n(<= terminal (true (cell 1 1 b)))",
    ),
    Explanation(
        "shared-name",
        "A name is that of a relation or of a function, not of both.",
        "It is allowed, but confuses people, and hides where `true` is missing.",
        VALIDATOR,
        "(init (row 1))\n(<= (row ?x) (true (row ?x)))",
        "(init (line 1))\n(<= (row ?x) (true (line ?x)))",
    ),
    Explanation(
        "unusual-character",
        "Names are made of letters, digits, _ + and -.",
        "Players exchange moves as plain text, and not all read other characters.",
        VALIDATOR,
        "(init (caf\N{LATIN SMALL LETTER E WITH ACUTE} open))",
        "(init (cafe open))",
    ),
    Explanation(
        "keyword-constant",
        "Keywords do not name objects.",
        "(cell 1 goal) is a fact like any other, but systems that change the case of keywords change it too.",
        VALIDATOR,
        "(init (cell 1 goal))",
        "(init (cell 1 target))",
    ),
    Explanation(
        "operator-constant",
        "`not`, `or`, `and`, `distinct` and `<=` do not name objects.",
        "Inside a term they join nothing. Most often a parenthesis is missing, and the rest of a "
        "formula became arguments.",
        GDL,
        "(<= terminal (true (cell 1 or b)))",
        "(<= terminal (or (true (cell 1)) (true b)))",
    ),
    Explanation(
        "likely-typo",
        "A name that is used once is not nearly one that is used often.",
        "Nothing tells a misspelt name from a new one but that nobody else knows it.",
        PRACTICE,
        "(colour yellow)\n(best yellow)\n(warm yellow)\n(bright yelow)",
        "(colour yellow)\n(best yellow)\n(warm yellow)\n(bright yellow)",
    ),
    Explanation(
        "single-variable",
        "A variable stands in its rule twice at least, or its name starts with an underscore.",
        "A variable joins things; one that stands alone is often a misspelt one. Where any value will do, "
        "?_name says so.",
        GDL + "; the convention of Prolog",
        "(<= (p ?row) (q ?row ?col))",
        "(<= (p ?row) (q ?row ?_col))",
    ),
)
