"""All thresholds of the reasoner, each with its reason.

A threshold decides how an answer is computed, but never changes the answer. ``Limits`` on the resources of a
game raise an error instead.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """Thresholds of the reasoner, in the order of its stages.

    A triple has one value for each level: relations computed once, in each state, and for each joint move. A
    relation that is computed once can take seconds; a relation that is computed in each state must be fast.

    Attributes:
        domain_positions: maximum number of places in terms that the layout distinguishes. Public sheets have
            at most several hundred.
        domain_steps: maximum number of visits of these places while their values are computed. Most places
            are visited once or twice.
        shapes: maximum number of flat relations of one relation. Public sheets need at most eight, and each
            flat relation requires copies of rules.
        rule_copies: maximum number of flat rules beyond the number of rules of a sheet. Each takes about a
            millisecond, so loading takes at most several seconds.
        rule_columns: maximum total number of columns of flat rules, for sheets with very wide relations.
        long_term: minimum number of characters of a long term. The total text of answers is bounded only if
            there are long terms.
        longest_term: maximum number of characters of a term. Terms share their parts in memory, but not in
            text.

        sample: number of rows that are sampled to estimate the number of matches. This is enough to
            distinguish a key from a column with few values, and takes less than a millisecond.
        guessed_rows: estimated number of rows of a relation that was not measured, as on a small board.
        guessed_distinct: estimated number of different values in a column of such a relation.
        fewest_matches: estimated number of matches if no row of the sample matches.
        test_passes: maximum estimated ratio of rows that pass a test on bound variables.
        compose_passes: estimated ratio of rows that pass a literal that builds or decomposes a term.
        newest_rows: estimated number of new rows in a round of semi-naive evaluation.
        first_literals: maximum number of literals of a body that are tried as the first of a join order. More
            would cost more time than they save.
        tiny: maximum number of rows of a relation of moves that is scanned without an index.
        exists_fanout: minimum expected number of matches for which the code stops at the first match. The
            necessary generator costs about as much as two rows.

        suspicious: maximum estimated number of rows of a component that runs without a trial.
        trial_iterations, trial_rows: maximum numbers of iterations and rows in a trial: about a second for a
            component that is computed once, several milliseconds for a component in each state.
        built_rows: maximum number of rows in a trial of a component that builds terms from its own terms,
        such
            as all lists of given values. If it does not end soon, it probably never ends.
        outgrown: maximum number of rows of a relation in one state before it is computed on demand. It is
            twice ``trial_rows``, so a relation that has just passed a trial does not exceed it at once.
        counted: maximum expected number of iterations of a rule that runs without counting them: a fraction
            of a second.
        table_keys: maximum number of keys in the table of a relation without recursion before the table is
            cleared: several hundred megabytes.
        nesting: maximum depth of nested questions on demand. Each question takes several nested calls, of
            which CPython allows 1,000.

        ticks: number of iterations that are counted at once, because counting takes as long as several.
        chunk: number of rows that are counted at once while a relation grows.
        wide: maximum number of columns of a row that counts as one fact; wider rows count as more.

        answer_characters: maximum total characters of the answers to one question with long terms.
        explanation_steps: maximum number of facts that are read to explain one fact: several seconds.
        explanation_characters: maximum number of characters of one explanation.
        instance_characters: maximum number of characters of the terms that a rule needs to derive an atom.
        explanation_depth: maximum number of levels of a derivation that are shown.
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
