"""How the reasoner computes: every threshold of its stages in one place, each with its reason.

Thresholds change no answer; they decide how it is computed. Upper bounds on the resources of a game are
``Limits``, which raise an error instead.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """Thresholds of the reasoner, in the order of its stages.

    A triple has one value per level: relations computed once, per state, and per joint move. Relations that
    are computed once per game may take seconds; relations that are computed in every state have to be quick.

    Attributes:
        domain_positions: maximum number of positions in terms that are distinguished when the possible kinds
            of terms at each are computed. Public sheets have at most a few hundred; with more than this
            maximum, the tables would dominate the cost.
        domain_steps: maximum number of visits of positions while kinds propagate; twice the positions, since
            most are visited once or twice.
        shapes: maximum number of flat relations that one relation is split into by the shapes of its
            arguments. Public sheets need at most eight; each costs a copy of every rule for all of them.
        rule_copies: maximum number of flat rules beyond the number of rules of a sheet. It takes about a
            millisecond until a rule runs, so this bounds loading to some seconds.
        rule_columns: maximum number of columns of these copies in all, for sheets with very wide relations.
        long_term: minimum characters of a long term. The text of answers is measured and bounded only if
            they contain long terms.
        longest_term: maximum characters of a term. Terms share their parts in memory, but not in text.

        sample: rows that are sampled to estimate how many match. This is enough to distinguish a key from a
            column of few values, and takes well under a millisecond.
        guessed_rows: estimated rows of a relation that has not been measured: a small board.
        guessed_distinct: estimated different values in a column of such a relation.
        fewest_matches: estimated rows if no row of the sample matches: low, but not 0.
        test_passes: upper bound of the share of rows that pass a test on bound variables.
        compose_passes: the same bound for a literal that builds or decomposes a term.
        newest_rows: estimated new rows in a round of semi-naive evaluation: late rounds find few.
        first_literals: maximum number of literals of a body that are tried as the first of a join order.
            Greedy orders from all literals of a longer body would cost more than they save.
        tiny: a relation of moves of at most this size is scanned, not indexed: there are a few roles.
        exists_fanout: minimum expected matches for stopping at the first match: the nested generator for it
            costs about as much as two rows.

        suspicious: maximum estimated rows for a component to run without a trial, that is, without a budget.
        trial_iterations, trial_rows: the budget of a trial: about a second for a component that is computed
            once, some milliseconds for one that is computed in each state.
        built_rows: the same for a component that builds terms from its own terms, such as all lists of some
            values: if it does not end soon, it will not end at all.
        outgrown: rows of a relation in one state above which it is computed on demand from then on. These are
            twice the rows of a trial: a relation that has just passed a trial does not fail at once.
        counted: expected iterations of a rule, in the worst case, above which its iterations and rows are
            counted: a fraction of a second.
        table_keys: keys in the table of a relation without recursion above which the table is cleared: a few
            hundred megabytes.
        nesting: maximum depth of nested questions on demand, each several calls deep. This is far from
            CPython's limit of a thousand calls, some of which the callers have used.

        ticks: iterations that are counted in one batch: counting one costs as much as several iterations.
        chunk: rows that are counted in one batch while a relation grows.
        wide: columns beyond which a row counts for more than one towards the bound on facts.

        answer_characters: maximum characters of all answers to one question, if any of them are long.
        explanation_steps: maximum number of facts visited to explain one fact: a few seconds.
        explanation_characters: maximum characters of one explanation, more than anybody reads.
        instance_characters: maximum characters of the terms that a rule would have to build to derive an
            atom.
        explanation_depth: maximum levels of a derivation that are shown; people can ask again from there.
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
