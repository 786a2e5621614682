"""How the reasoner computes: every threshold of its stages in one place, each with its reason.

None of them changes an answer; they decide which way it is come by. Bounds on what a game may take are
``Limits``, which end with an error instead.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """Thresholds of the reasoner, in the order of its stages.

    Where a value is a triple, it is by level: relations computed once, per state, per joint move. What is
    computed once per game may take seconds; what is computed in every state has to be quick.

    Attributes:
        domain_positions: positions in terms that are distinguished when the kinds of terms that can stand in
            each are found. Public sheets have at most some hundred; beyond, the tables would be the cost.
        domain_steps: positions looked at while kinds are handed from one to another; twice as many, since
            most are looked at once or twice.
        shapes: flat relations that one relation may be split into by the shapes of its arguments. Public
            sheets need at most eight; each costs a copy of every rule that stands for all of them.
        rule_copies: flat rules that those of a sheet may become, beyond their own number. A rule takes about
            a millisecond until it runs: this bounds loading to some seconds.
        rule_columns: columns that these copies may have in all, for sheets with very wide relations.
        long_term: characters from which on a term counts as long: answers are then bounded by their
            text, which is not worth measuring for shorter ones.
        longest_term: characters of the longest term. Terms share their parts in memory, but not in text.

        sample: rows that are looked at to measure how many match. Enough to distinguish a key from a column
            of few values, and done in well under a millisecond.
        guessed_rows: rows of a relation of which nothing is known yet: a small board.
        guessed_distinct: different values in a column of such a relation.
        fewest_matches: rows expected where the sample holds none that match: seldom, not never.
        test_passes: the share of rows that pass a test on what is bound, at most.
        compose_passes: the same, where a term is taken apart or put together.
        newest_rows: rows expected to be new in a round of semi-naive evaluation: it ends with few.
        first_literals: literals of a body that are tried as the first of a join order. Greedy orders from
            all of a longer body would cost more than they save.
        tiny: a relation of moves of at most this size is scanned, not indexed: there are a few roles.
        exists_fanout: matches from which on it pays to stop at the first, since a nested generator costs
            about as much as two rows.

        suspicious: rows that a component may be expected to take without being tried within a budget first.
        trial_iterations, trial_rows: the budget of a trial: about a second for what is computed once, some
            milliseconds for what is computed in each state.
        built_rows: the same, for what builds terms out of its own, as all lists of some values: where these
            do not end soon, they will not end at all.
        outgrown: rows of a relation in one state beyond which it is computed on demand from then on: twice
            what a trial may find, so that what has just passed one does not fail at once.
        counted: iterations that a rule may be expected to take without their being counted, and the number of
            rows,: a fraction of a second.
        table_keys: answers on demand that a table of a relation without recursion holds before it starts
            anew: some hundred megabytes.
        nesting: questions on demand inside each other, each some calls deep; far from CPython's bound of a
            thousand, of which callers have used some.

        ticks: iterations that are counted together: to count each would cost as much as some of them.
        chunk: rows counted at a time while a relation grows.
        wide: columns beyond which a row counts for more than one towards the bound on facts.

        answer_characters: characters of all answers to one question, where any are long.
        explanation_steps: facts looked at to explain one: a few seconds.
        explanation_characters: characters of one explanation, more than anybody reads or a terminal shows.
        instance_characters: characters of the terms that a rule would have to put together to give an atom.
        explanation_depth: levels of a derivation that are shown; people ask again from there.
    """

    domain_positions: int = 100_000
    domain_steps: int = 200_000
    shapes: int = 64
    rule_copies: int = 20_000
    rule_columns: int = 1_000_000
    long_term: int = 250
    longest_term: int = 100_000

    sample: int = 1_500
    guessed_rows: float = 16.0
    guessed_distinct: float = 4.0
    fewest_matches: float = 0.3
    test_passes: float = 0.5
    compose_passes: float = 0.9
    newest_rows: float = 4.0
    first_literals: int = 40
    tiny: float = 3.0
    exists_fanout: float = 2.0

    suspicious: tuple[float, float, float] = (1e5, 1e3, 1e3)
    trial_iterations: tuple[int, int, int] = (2_000_000, 15_000, 15_000)
    trial_rows: tuple[int, int, int] = (300_000, 1_500, 1_500)
    built_rows: int = 3_000
    outgrown: int = 3_000
    counted: float = 3e5
    table_keys: int = 1_000_000
    nesting: int = 60

    ticks: int = 5_000
    chunk: int = 50_000
    wide: int = 20

    answer_characters: int = 100_000_000
    explanation_steps: int = 100_000
    explanation_characters: int = 10_000_000
    instance_characters: int = 100_000
    explanation_depth: int = 100


DEFAULT = Strategy()
