"""All thresholds of the reasoner.

A threshold determines how the reasoner computes an answer, but never changes the answer. If a game exceeds
its ``Limits``, by contrast, the reasoner raises an error.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """Thresholds of the reasoner, in the order of its stages.

    A triple has one value for each level: relations that are computed once, in each state, and for each joint
    move. Computing a relation once can take seconds, but computing it in each state must be fast.

    Attributes:
        domain_positions: maximum number of positions in terms that the layout distinguishes. Public sheets
            have at most several hundred positions.
        domain_steps: maximum number of visits of positions while the layout computes their values.
        shapes: maximum number of flat relations for a relation of the sheet. Public sheets need at
            most eight flat relations.
        rule_copies: maximum number of flat rules beyond the number of rules in the sheet. Each flat rule
            takes about a millisecond.
        rule_columns: maximum total number of columns of all flat rules.
        long_term: minimum number of characters of a long term. The total text of answers is bounded only if
            there are long terms.
        longest_term: maximum number of characters of a term.

        sample: number of rows that are sampled to estimate the number of matches. The sample is large
            enough to distinguish a key from a column with few values.
        guessed_rows: estimated number of rows of a relation without a measured size.
        guessed_distinct: estimated number of different values in a column of an unmeasured relation.
        fewest_matches: estimated number of matches if no row of the sample matches.
        test_passes: maximum estimated ratio of rows that pass a test of bound variables.
        compose_passes: estimated ratio of rows that pass a join item that builds or decomposes a term.
        newest_rows: estimated number of new rows in a round of semi-naive evaluation.
        first_literals: maximum number of literals of a rule that are tried as the first of a join order.
        tiny: maximum number of rows of a relation of moves that is scanned without an index.
        exists_fanout: minimum expected number of matches for a generator that stops at the first match. Such
            a generator costs about as much as two rows.

        suspicious: maximum estimated number of rows of a component that runs without a trial.
        trial_iterations: maximum number of iterations in a trial. A trial takes about a second for a
            component that is computed once, and several milliseconds for a component in each state.
        trial_rows: maximum number of rows in a trial.
        built_rows: maximum number of rows in a trial of a component that builds terms from its own rows, such
            as lists. A component with more rows probably runs forever.
        outgrown: maximum number of rows of a relation in one state before the engine computes it on demand.
            The maximum is twice ``trial_rows``, so that no relation exceeds the maximum right after a trial.
        counted: maximum expected number of iterations of a rule whose code does not count its iterations.
        table_keys: maximum number of keys in a table without recursion before the engine clears the table.
            A full table takes several hundred megabytes.
        nesting: maximum depth of nested questions on demand. Each question takes several of the 1,000
            nested calls that CPython allows.

        ticks: number of iterations that are counted at once, because counting costs several iterations.
        chunk: number of rows that are counted at once while a relation grows.
        wide: maximum number of columns of a row that counts as one fact. Wider rows count as more facts.

        answer_characters: maximum number of characters of all answers to a question, if there are long terms.
        explanation_steps: maximum number of facts that are read to explain one fact.
        explanation_characters: maximum number of characters of an explanation.
        instance_characters: maximum number of characters in the terms of a rule instance that is explained.
        explanation_depth: maximum depth of a derivation that is shown.
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
