"""The passes that prepare rules for instantiation, in their order."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.network.budget import TURN
from anygame.network.grounding.large.growth import bound_growth
from anygame.network.grounding.large.negation import join_negations
from anygame.network.grounding.large.parting import part_views
from anygame.network.grounding.passes.context import can_be_joined
from anygame.network.grounding.passes.decomposition import (
    decompose_bodies,
    split_at_keys,
    split_heads,
    split_within,
)
from anygame.network.grounding.passes.demand import ask_for_rows
from anygame.network.grounding.passes.folding import (
    inline_dense_relations,
    inline_static_relations,
    merge_rules,
    share_parts,
)
from anygame.network.grounding.passes.linearising import linearise
from anygame.network.grounding.passes.moves import complement_moves, project_moves
from anygame.network.grounding.passes.normal_form import (
    expand_disjunctions,
    name_disjunctions,
    name_nested_terms,
    project_guards,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from anygame.network.budget import Budget
    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import GroundRule

    Whole = Callable[[Sequence[GroundRule], Context], list[GroundRule]]
    OfOne = Callable[[GroundRule, Context], list[GroundRule]]

SPLITTING_AT_KEYS: Final = "splitting at keys"
JOINING_NEGATIONS: Final = "joining negations"
BOUNDING_GROWTH: Final = "bounding growth"
#: Passes whose rules are right in reachable states only.
BY_INVARIANTS: Final = (BOUNDING_GROWTH, SPLITTING_AT_KEYS, JOINING_NEGATIONS)


def _each(rewrite: OfOne) -> Whole:
    careful = _careful(rewrite)
    return lambda rules, context: [made for rule in rules for made in careful(rule, context)]


def _careful(rewrite: OfOne) -> OfOne:
    """Return a pass that leaves a rule unchanged if a result could no longer be joined."""

    def rewritten(rule: GroundRule, context: Context) -> list[GroundRule]:
        made = rewrite(rule, context)
        if len(made) == 1 and made[0] is rule:
            return made
        is_fine = all(can_be_joined(one, (*one.positives, *one.guards), context) for one in made)
        return made if is_fine else [rule]

    return rewritten


#: Passes over all rules, in this order.
ONCE: Final[tuple[tuple[str, Whole], ...]] = (
    ("linearising recursion", linearise),
    ("inlining static relations", _each(inline_static_relations)),
)
#: Passes for large sheets, before all others.
FIRST_IF_LARGE: Final[tuple[tuple[str, Whole], ...]] = (
    (BOUNDING_GROWTH, bound_growth),
    ("parting views", part_views),
)
#: Runs before and after inlining, which can tie variables together or reveal ties.
_AT_KEYS: Final[tuple[str, Whole]] = (SPLITTING_AT_KEYS, _each(split_at_keys))
#: Passes for large sheets, after ``ONCE``; on small sheets they would only make joins longer.
ONCE_IF_LARGE: Final[tuple[tuple[str, Whole], ...]] = (
    _AT_KEYS,
    (JOINING_NEGATIONS, join_negations),
    ("merging rules", merge_rules),
    ("inlining dense relations", _each(inline_dense_relations)),
)
#: Passes over single rules. Rules that a pass produces go through all these passes again.
REPEATED: Final[tuple[tuple[str, OfOne], ...]] = (
    ("expanding disjunctions", expand_disjunctions),
    ("naming disjunctions", name_disjunctions),
    ("naming nested terms", name_nested_terms),
    ("projecting guards", project_guards),
    ("complementing moves", complement_moves),
    ("projecting moves", project_moves),
    ("decomposing bodies", decompose_bodies),
)
REPEATED_IF_LARGE: Final[tuple[tuple[str, OfOne], ...]] = (
    ("splitting heads", split_heads),
    ("splitting within", split_within),
)
#: Large sheets name disjunctions instead: copies of a rule repeat the joins of its other literals.
_REPEATED_OF_LARGE: Final = (
    *(one for one in REPEATED if one[0] != "expanding disjunctions"),
    *REPEATED_IF_LARGE,
)
#: Passes for large sheets, at the end.
LAST_IF_LARGE: Final[tuple[tuple[str, Whole], ...]] = (
    ("sharing parts", share_parts),
    ("asking for rows", ask_for_rows),
)
#: Joins support neither dynamic disjunctions nor nested columns, so these passes are required.
_NEEDED: Final = {"naming disjunctions", "naming nested terms"}
#: Names of passes that only make the network smaller.
OPTIONAL: Final = tuple(name for name, _ in (*ONCE, *REPEATED) if name not in _NEEDED)
#: Names of passes that only make the network smaller, and run only for large sheets.
OPTIONAL_IF_LARGE: Final = tuple(
    dict.fromkeys(name for name, _ in (*FIRST_IF_LARGE, *ONCE_IF_LARGE, *REPEATED_IF_LARGE, *LAST_IF_LARGE))
)


@dataclass(slots=True)
class Effect:
    """The effect of a pass.

    Attributes:
        rewritten: the number of rules it replaced.
        made: the number of rules that it made from them.
        seconds: its running time.
    """

    rewritten: int = 0
    made: int = 0
    seconds: float = 0.0

    def add(self, rewritten: int, made: int, began: float) -> None:
        """Add to the effect; ``began`` is on the monotonic clock."""
        self.rewritten += rewritten
        self.made += made
        self.seconds += monotonic() - began


def prepare(
    rules: Iterable[GroundRule],
    context: Context,
    budget: Budget,
    without: Collection[str] = (),
    large: bool = False,
) -> tuple[list[GroundRule], dict[str, Effect]]:
    """Return rules ready for instantiation, and the effect of each pass.

    The rules may read relations that the passes add. They derive the same ``without`` some passes of
    ``OPTIONAL``.
    """
    first = (*FIRST_IF_LARGE, _AT_KEYS, *ONCE, *ONCE_IF_LARGE) if large else ONCE
    repeated = _REPEATED_OF_LARGE if large else REPEATED
    last = LAST_IF_LARGE if large else ()
    names = [name for name, _ in (*first, *repeated, *last) if name not in without]
    effects = {name: Effect() for name in names}

    def through(rules: list[GroundRule], passes: Sequence[tuple[str, Whole]]) -> list[GroundRule]:
        for name, rewrite in passes:
            if name in effects:
                budget.spend(TURN * len(rules))
                began = monotonic()
                before, rules = rules, rewrite(rules, context)
                effects[name].add(*_difference(before, rules), began)
        return rules

    prepared = through(list(rules), first)
    passes = [
        (rewrite if name in _NEEDED else _careful(rewrite), effects[name])
        for name, rewrite in repeated
        if name in effects
    ]
    prepared = [made for rule in prepared for made in _to_the_end(rule, context, passes, budget)]
    return through(prepared, last), effects


def _difference(before: Sequence[GroundRule], after: Sequence[GroundRule]) -> tuple[int, int]:
    old, new = set(map(id, before)), set(map(id, after))
    return len(old - new), len(new - old)


def _to_the_end(
    rule: GroundRule,
    context: Context,
    passes: Sequence[tuple[OfOne, Effect]],
    budget: Budget,
) -> Iterator[GroundRule]:
    """Apply passes to a rule and to the results, until no pass changes a rule.

    This ends, since every pass splits a body, or removes a disjunction, a nested term, a move or columns.
    """
    pending = deque([rule])
    while pending:
        budget.spend(TURN)
        rule = pending.popleft()
        for rewrite, effect in passes:
            began = monotonic()
            results = rewrite(rule, context)
            if len(results) != 1 or results[0] is not rule:
                effect.add(1, len(results), began)
                pending.extendleft(reversed(results))
                break
            effect.add(0, 0, began)
        else:
            yield rule
