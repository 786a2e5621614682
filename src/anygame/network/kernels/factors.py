"""The chosen actions of roles with many: by group and member in straight code, one by one elsewhere.

See ``rows.RowLayout``. Straight code reads groups and members, which ``@choose_factors`` sets. What looks at
the rows of actions, or sets them, calls ``@choose`` and ``@evaluate_moves``, which bring one into the other.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from anygame.network.kernels.function import FunctionBuilder
from anygame.network.kernels.presence import Presence
from anygame.network.kernels.rows import GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anygame.network.kernels.phases import Phases
    from anygame.network.kernels.rows import RowLayout

    #: Where the rows of a group are, given the first row of a table and its rows per group.
    Table = Callable[[int, int], list[str]]


def each_group(
    code: FunctionBuilder,
    moves: int,
    visit: Callable[[Table, int], None],
    presence: Presence | None = None,
    phases: Sequence[int] = (),
) -> None:
    """Write what is done with each group: a loop over the full ones, and the rest.

    Args:
        code: the function.
        moves: how many the role has.
        visit: given where the rows of a group are in a table, and the number of moves of the group.
        presence: of the phases, if groups of which no move can be chosen are to be left out.
        phases: per move those in which it can be chosen.
    """
    groups, rest = divmod(moves, GROUP)

    def visit_run(first: int, count: int) -> None:
        def visit_one(index: str) -> None:
            group = code.let(f"add i64 {index}, {first}") if first else index
            visit(lambda row, count: code.addresses(row, group, count), GROUP)

        code.loop(count, visit_one)

    def visit_rest() -> None:
        visit(lambda row, count: code.addresses(row, str(groups), count), rest)

    def during(move: int, body: Callable[[], None]) -> None:
        if presence:
            presence.during(phases[move], body)
        else:
            body()

    for _, run in groupby(range(groups), key=lambda group: phases[group * GROUP] if presence else 0):
        found = list(run)
        during(found[0] * GROUP, partial(visit_run, found[0], len(found)))
    if rest:
        during(groups * GROUP, visit_rest)


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
        visit = partial(_set_actions, code, layout, first)
        each_group(code, count, visit, presence, layout.chosen[first : first + count])
    return code.text()


def _set_actions(code: FunctionBuilder, layout: RowLayout, first: int, table: Table, size: int) -> None:
    groups, members = layout.factors[first]
    here = code.read(table(groups, 1)[0])
    for member, row in enumerate(table(layout.actions + first, GROUP)[:size]):
        code.write(row, code.and_(here, code.read(code.address(members + member))))


def _to_factors(layout: RowLayout) -> str:
    """Set groups and members by the rows of the actions."""
    code = FunctionBuilder("to_factors")
    for first, count in layout.many:
        members = [code.variable() for _ in range(GROUP)]
        each_group(code, count, partial(_set_group, code, layout, first, members))
        for member, value in enumerate(members):
            code.store(layout.factors[first][1] + member, code.read(value))
    return code.text()


def _set_group(
    code: FunctionBuilder, layout: RowLayout, first: int, members: Sequence[str], table: Table, size: int
) -> None:
    done = [code.read(row) for row in table(layout.actions + first, GROUP)[:size]]
    for member, value in zip(members, done, strict=False):
        code.write(member, code.or_(code.read(member), value))
    code.write(table(layout.factors[first][0], 1)[0], code.any(done))
