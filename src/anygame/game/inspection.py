"""What a game is like inside, as text and as plain data: strata, plan, domains, and its network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from anygame.game.game import Game

__all__ = [
    "describe_domains",
    "describe_network",
    "describe_plan",
    "describe_strata",
    "draw_network",
    "explain_domains",
    "explain_network",
    "explain_plan",
    "explain_strata",
]

#: Terms of an argument that are listed as text.
_SHOWN: Final = 30


def describe_strata(game: Game) -> list[dict[str, Any]]:
    """Return the components of the rules in the order of computation, as plain data."""
    return game.backends.reasoner.describe_strata()


def explain_strata(game: Game) -> str:
    """Return the components of the rules in the order of computation, as text."""
    lines = []
    for part in describe_strata(game):
        recursive = ", recursive" if part["recursive"] else ""
        head = f"{part['number']:4}  stratum {part['stratum']}, {part['computed']}{recursive}: "
        lines.append(head + ", ".join(part["relations"]))
        lines += [f"        {rule}" for rule in part["rules"]]
    return "\n".join(lines)


def describe_plan(game: Game) -> list[dict[str, Any]]:
    """Return the functions that were generated for the rules, as plain data."""
    machine = game.backends.reasoner
    view = machine.view(machine.initial())
    # What was not asked has not been generated.
    machine.is_terminal(view)
    for role in machine.roles:
        machine.goals(view, role)
    legal = machine.legal(view)
    if all(legal):
        machine.next(view, [moves[0] for moves in legal])
        machine.percepts(view, [moves[0] for moves in legal])
    return machine.describe_plan()


def explain_plan(game: Game) -> str:
    """Return the functions that were generated for the rules, as text."""
    return "\n".join(
        f"# {', '.join(part['relations'])}\n{part['source']}"
        for part in describe_plan(game)
        if part["source"]
    )


def describe_domains(game: Game) -> dict[str, list[list[str]]]:
    """Return what can stand at each argument of each relation, as plain data."""
    return {
        f"{name}/{arity}": [[str(term) for term in terms] for terms in arguments]
        for (name, arity), arguments in game.domains().items()
    }


def explain_domains(game: Game) -> str:
    """Return what can stand at each argument of each relation, as text."""
    lines = []
    for relation, arguments in describe_domains(game).items():
        lines.append(relation)
        for number, terms in enumerate(arguments, 1):
            more = f" ... ({len(terms)} in all)" if len(terms) > _SHOWN else ""
            lines.append(f"  {number}: {' '.join(terms[:_SHOWN])}{more}")
    return "\n".join(lines)


def describe_network(game: Game) -> dict[str, Any]:
    """Return what the compiled game is like, as plain data.

    Raises:
        LimitError: the game has no network.
    """
    return game.backends.needed_network().describe()


def explain_network(game: Game) -> str:
    """Return what the compiled game is like, as text.

    Raises:
        LimitError: the game has no network.
    """
    return game.backends.needed_network().figures()


def draw_network(game: Game) -> str:
    """Return a picture of the compiled game in Graphviz's language.

    Raises:
        LimitError: the game has no network, or one that is too large for a picture.
    """
    return game.backends.needed_network().picture()
