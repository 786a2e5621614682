"""The chosen actions of roles with many: by group and member in straight code, one by one elsewhere.

See ``rows.RowLayout``. Straight code reads groups and members, which ``@choose_factors`` sets. What looks at
the rows of actions, or sets them, calls ``@choose`` and ``@evaluate_moves``, which bring one into the other.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from anygame.network.kernels.function import FunctionBuilder
from anygame.network.kernels.presence import Presence
from anygame.network.kernels.rows import GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.rows import RowLayout

    #: Where the rows of a group are, given the first row of a table and its rows per group.
    Table = Callable[[int, int], list[str]]


def each_group(
    code: FunctionBuilder, moves: int, presence: Presence | None = None, phases: Sequence[int] = ()
) -> Iterator[tuple[Table, int]]:
    """Write loops over the full groups, and what is done with the rest: the same as in the loops.

    Args:
        code: the function.
        moves: how many the role has.
        presence: of the phases, if groups of which no move can be chosen are to be left out.
        phases: per move those in which it can be chosen.

    Yields:
        Where the rows of a group are in a table, and the number of moves of the group.
    """
    groups, rest = divmod(moves, GROUP)
    for _, run in groupby(range(groups), key=lambda group: phases[group * GROUP] if presence else 0):
        found = list(run)
        with presence.during(phases[found[0] * GROUP]) if presence else nullcontext():
            for index in code.loop(len(found)):
                group = code.let(f"add i64 {index}, {found[0]}") if found[0] else index
                yield partial(code.addresses, group), GROUP
    if rest:
        with presence.during(phases[groups * GROUP]) if presence else nullcontext():
            yield partial(code.addresses, str(groups)), rest


def factor_functions(layout: RowLayout, phases: Phases, straight: bool) -> str:
    """Write ``@choose`` and ``@evaluate_moves``, or ``@evaluate_factors``, by the functions that are there.

    Args:
        layout: the rows.
        phases: of the game.
        straight: whether the gates read groups and members, not the rows of actions.
    """
    if not layout.many:
        return ""
    choose = FunctionBuilder("choose", "i1")
    refused = choose.let("call i1 @choose_factors(ptr %rows, ptr %data)")
    chosen = choose.new_label()
    choose.branch(refused, "refused", chosen)
    choose.label("refused")
    choose.line("ret i1 true")
    choose.label(chosen)
    choose.line("call void @from_factors(ptr %rows, ptr %data)")
    parts = [_from_factors(layout, phases), choose.text("ret i1 false")]
    if straight:
        moves = FunctionBuilder("evaluate_moves")
        moves.line("call void @to_factors(ptr %rows, ptr %data)")
        moves.line("call void @evaluate_factors(ptr %rows, ptr %data)")
        parts += [_to_factors(layout), moves.text()]
    return "".join(parts)


def _from_factors(layout: RowLayout, phases: Phases) -> str:
    """Set the rows of the actions, of those groups of which one can be chosen."""
    code = FunctionBuilder("from_factors")
    presence = Presence(code, phases)
    for first, count in layout.many:
        groups, members = layout.factors[first]
        for table, size in each_group(code, count, presence, layout.chosen[first : first + count]):
            here = code.read(table(groups, 1)[0])
            for member, row in enumerate(table(layout.actions + first, GROUP)[:size]):
                code.write(row, code.and_(here, code.read(code.address(members + member))))
    return code.text()


def _to_factors(layout: RowLayout) -> str:
    """Set groups and members by the rows of the actions."""
    code = FunctionBuilder("to_factors")
    for first, count in layout.many:
        members = [code.variable() for _ in range(GROUP)]
        for table, size in each_group(code, count):
            done = [code.read(row) for row in table(layout.actions + first, GROUP)[:size]]
            for member, value in zip(members, done, strict=False):
                code.write(member, code.or_(code.read(member), value))
            code.write(table(layout.factors[first][0], 1)[0], code.any(done))
        for number, value in enumerate(members):
            code.store(layout.factors[first][1] + number, code.read(value))
    return code.text()
