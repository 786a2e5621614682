"""The passes that prepare rules for instantiation, and the order in which they run."""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Final

from anygame.network.budget import TURN
from anygame.network.grounding.large import growth, negation, parting
from anygame.network.grounding.passes import decomposition, demand, folding, linearising, moves, normal_form
from anygame.network.grounding.passes.context import can_be_joined

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from anygame.network.budget import Budget
    from anygame.network.grounding.passes.context import Context
    from anygame.network.grounding.rules import GroundRule

    Whole = Callable[[Sequence[GroundRule], Context], list[GroundRule]]
    OfOne = Callable[[GroundRule, Context], list[GroundRule]]
    Figures = dict[str, float]

SPLITTING_AT_KEYS: Final = "splitting at keys"
JOINING_NEGATIONS: Final = "joining negations"
BOUNDING_GROWTH: Final = "bounding growth"
#: Names of the passes whose rules are only correct in reachable states.
BY_INVARIANTS: Final = (BOUNDING_GROWTH, SPLITTING_AT_KEYS, JOINING_NEGATIONS)


def _each(rewrite: OfOne) -> Whole:
    careful = _careful(rewrite)
    return lambda rules, context: [made for rule in rules for made in careful(rule, context)]


def _careful(rewrite: OfOne) -> OfOne:
    """Return a pass that keeps the old rule if one of the new rules cannot be joined."""

    def rewritten(rule: GroundRule, context: Context) -> list[GroundRule]:
        made = rewrite(rule, context)
        if len(made) == 1 and made[0] is rule:
            return made
        is_fine = all(can_be_joined(one, (*one.positives, *one.guards), context) for one in made)
        return made if is_fine else [rule]

    return rewritten


#: Passes over all rules, in the order in which they run.
ONCE: Final[tuple[tuple[str, Whole], ...]] = (
    ("linearising recursion", linearising.linearise),
    ("inlining static relations", _each(folding.inline_static_relations)),
)
#: Passes for large sheets, before all others.
FIRST_IF_LARGE: Final[tuple[tuple[str, Whole], ...]] = (
    (BOUNDING_GROWTH, growth.bound_growth),
    ("parting views", parting.part_views),
)
#: Splitting at keys runs before and after inlining, because inlining changes which variables are tied.
_AT_KEYS: Final[tuple[str, Whole]] = (SPLITTING_AT_KEYS, _each(decomposition.split_at_keys))
#: Passes for large sheets, after ``ONCE``. On small sheets, these passes only slow joins down.
ONCE_IF_LARGE: Final[tuple[tuple[str, Whole], ...]] = (
    _AT_KEYS,
    (JOINING_NEGATIONS, negation.join_negations),
    ("merging rules", folding.merge_rules),
    ("inlining dense relations", _each(folding.inline_dense_relations)),
)
#: Passes over single rules. The rules that result from a pass go through all these passes again.
REPEATED: Final[tuple[tuple[str, OfOne], ...]] = (
    ("expanding disjunctions", normal_form.expand_disjunctions),
    ("naming disjunctions", normal_form.name_disjunctions),
    ("naming nested terms", normal_form.name_nested_terms),
    ("projecting guards", normal_form.project_guards),
    ("complementing moves", moves.complement_moves),
    ("projecting moves", moves.project_moves),
    ("decomposing bodies", decomposition.decompose_bodies),
)
REPEATED_IF_LARGE: Final[tuple[tuple[str, OfOne], ...]] = (
    ("splitting heads", decomposition.split_heads),
    ("splitting within", decomposition.split_within),
)
#: For large sheets, passes replace disjunctions by new relations: expanded copies would repeat other joins.
_REPEATED_OF_LARGE: Final = (
    *(one for one in REPEATED if one[0] != "expanding disjunctions"),
    *REPEATED_IF_LARGE,
)
#: Passes for large sheets, at the end.
LAST_IF_LARGE: Final[tuple[tuple[str, Whole], ...]] = (
    ("sharing parts", folding.share_parts),
    ("asking for rows", demand.ask_for_rows),
)
#: Required passes: joins support neither dynamic disjunctions nor nested terms in columns.
_NEEDED: Final = {"naming disjunctions", "naming nested terms"}
#: Names of passes that only make the network smaller.
OPTIONAL: Final = tuple(name for name, _ in (*ONCE, *REPEATED) if name not in _NEEDED)
#: Names of passes that only make the network smaller, and run only for large sheets.
OPTIONAL_IF_LARGE: Final = tuple(
    dict.fromkeys(name for name, _ in (*FIRST_IF_LARGE, *ONCE_IF_LARGE, *REPEATED_IF_LARGE, *LAST_IF_LARGE))
)


def _add(figures: Figures, rewrote: int, made: int, began: float) -> None:
    figures["rewrote"] += rewrote
    figures["made"] += made
    figures["seconds"] += monotonic() - began


def prepare(
    rules: Iterable[GroundRule],
    context: Context,
    budget: Budget,
    without: Collection[str] = (),
    large: bool = False,
) -> tuple[list[GroundRule], dict[str, Figures]]:
    """Return rules ready for instantiation, and statistics of each pass; see ``CompiledGame.passes``.

    The new rules derive the same atoms of the game's relations, whether or not optional passes are skipped.
    """
    first = (*FIRST_IF_LARGE, _AT_KEYS, *ONCE, *ONCE_IF_LARGE) if large else ONCE
    repeated = _REPEATED_OF_LARGE if large else REPEATED
    last = LAST_IF_LARGE if large else ()
    names = [name for name, _ in (*first, *repeated, *last) if name not in without]
    figures: dict[str, Figures] = {name: {"rewrote": 0, "made": 0, "seconds": 0.0} for name in names}

    def through(rules: list[GroundRule], passes: Sequence[tuple[str, Whole]]) -> list[GroundRule]:
        for name, rewrite in passes:
            if name in figures:
                budget.spend(TURN * len(rules))
                began = monotonic()
                before, rules = rules, rewrite(rules, context)
                old, new = set(map(id, before)), set(map(id, rules))
                _add(figures[name], len(old - new), len(new - old), began)
        return rules

    prepared = through(list(rules), first)
    passes = [
        (rewrite if name in _NEEDED else _careful(rewrite), figures[name])
        for name, rewrite in repeated
        if name in figures
    ]
    prepared = [made for rule in prepared for made in _to_the_end(rule, context, passes, budget)]
    return through(prepared, last), figures


def _to_the_end(
    rule: GroundRule, context: Context, passes: Sequence[tuple[OfOne, Figures]], budget: Budget
) -> Iterator[GroundRule]:
    """Apply passes to a rule and to the resulting rules, until no pass changes a rule.

    This terminates, because every pass splits a body, or removes a disjunction, a nested term, a move or
    columns.
    """
    pending = deque([rule])
    while pending:
        budget.spend(TURN)
        rule = pending.popleft()
        for rewrite, figures in passes:
            began = monotonic()
            results = rewrite(rule, context)
            if len(results) != 1 or results[0] is not rule:
                _add(figures, 1, len(results), began)
                pending.extendleft(reversed(results))
                break
            _add(figures, 0, 0, began)
        else:
            yield rule
