"""Games in the language of NuSMV and nuXmv.

After Cimatti et al. ("NuSMV 2: an open-source tool for symbolic model checking", 2002). From the end on, and
where a role has no legal move, the state stays, so that every state has a next one, as temporal logic asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.network.network import TRUE
from anygame.proving.exports.names import Identifiers, actions_of, fluents_of, outputs_of
from anygame.proving.exports.transitions import legally_chosen
from anygame.proving.properties import violations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anygame.proving.model import Model


def smv_text(model: Model) -> str:
    """Return a game as a module: its fluents are state variables, the move of each role an input variable."""
    return "".join(f"{line}\n" for line in _lines(model))


def _lines(model: Model) -> Iterator[str]:
    gates, new = model.gates, Identifiers().new
    bad = {name.replace("-", "_"): found for name, found in violations(model).items()}
    outputs = outputs_of(model)
    ended = gates.disjunction([model.terminal, model.blocked])
    made = gates.conjunction([legally_chosen(model, role) for role in range(len(model.roles))])
    fluents = [(new(str(term)), term) for term in fluents_of(model)]
    actions = [(new(str(term)), term) for term in actions_of(model, "does")]
    moved = [new(f"move_{role}") for role in model.roles]
    of = {0: "FALSE", **{node: name for node, (name, _) in enumerate([*fluents, *actions], 1)}}

    def literal(number: int) -> str:
        if number == TRUE:
            return "TRUE"
        name = of[number >> 1]
        return f"!{name}" if number & 1 else name

    yield "MODULE main"
    yield "IVAR"
    for name, nodes in zip(moved, model.moves_of, strict=True):
        if nodes:
            yield f"  {name} : {{{', '.join(f'do{of[node][4:]}' for node in nodes)}}};"
    yield "VAR"
    for name, term in fluents:
        yield f"  {name} : boolean; -- {term}"
    yield "DEFINE"
    for name, nodes in zip(moved, model.moves_of, strict=True):
        for node in nodes:
            term = actions[node - model.first_action][1]
            yield f"  {of[node]} := {name} = do{of[node][4:]}; -- {term}"
    wanted = [ended, made, *bad.values(), *model.next, *(found for _, found in outputs)]
    for node in model.cone(wanted):
        if node >= gates.inputs:
            of[node] = f"gate_{node}"
            yield f"  {of[node]} := {' & '.join(map(literal, gates.inputs_of(2 * node) or ()))};"
    for term, found in outputs:
        yield f"  {new(str(term))} := {literal(found)}; -- {term}"
    yield f"  ended := {literal(ended)};"
    for name, found in bad.items():
        yield f"  bad_{name} := {literal(found)};"
    yield "ASSIGN"
    for (name, _), first, after in zip(fluents, model.initial.tolist(), model.next, strict=True):
        yield f"  init({name}) := {'TRUE' if first else 'FALSE'};"
        yield f"  next({name}) := case ended : {name}; TRUE : {literal(after)}; esac;"
    yield f"TRANS ended | {literal(made)}"
    for name in bad:
        yield f"INVARSPEC NAME {name} := !bad_{name};"
