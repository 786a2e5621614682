"""The ``explain`` command: shows how the rules are evaluated and compiled."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from anygame.cli.options import Command, choice, command_options, option
from anygame.cli.output import print_json
from anygame.cli.progress import compile_game
from anygame.cli.shared_options import JsonOption, SheetOptions, json_shape
from anygame.cli.sheets import read_game, write_text
from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from anygame.game.game import Game
    from anygame.language.terms import Term

#: Maximum number of terms listed for an argument.
_SHOWN: Final = 30
#: Maximum number of terms listed for an argument in a line that lists several arguments.
_SHOWN_IN_A_LINE: Final = 6
_DETAILS: Final = f"""\
Without an option, the command prints a summary of the rules.

{json_shape('{"game", "summary" or "strata" or "plan" or "domains" or "network": ...}')}"""


@command_options
class _Options(JsonOption, SheetOptions):
    what: str = choice(
        {
            "strata": "print the strata: the order in which relations are computed",
            "plan": "print the joins that evaluate each rule",
            "domains": "print the possible values of each argument of each relation",
            "network": "compile the rules to a logic network, and print its size and structure",
        },
        default="summary",
    )
    dot: str | None = option(
        "--dot",
        "OUT",
        "with --network: write a small network to this file as a Graphviz graph; - for standard output",
    )


def _explain(options: _Options) -> None:
    game = read_game(options.file, options)
    if options.what == "network":
        compile_game(game)
    if options.dot is not None:
        if options.what != "network":
            raise AnygameError("--dot draws the network: it needs --network")
        drawn = game.backends.needed_network().picture()
        if options.dot == "-":
            print(drawn, end="")
        else:
            write_text(options.dot, drawn)
    elif options.json:
        print_json({"game": game.name, options.what: describe(game, options.what)})
    else:
        print(explain(game, options.what).rstrip())


def describe(game: Game, what: str) -> Any:
    """Return the view ``what`` of a game as plain data. Raises LimitError if the game has no network."""
    return game.backends.needed_network().describe() if what == "network" else _SHOWN_AS[what][0](game)


def explain(game: Game, what: str) -> str:
    """Return the view ``what`` of a game as a string. Raises LimitError if the game has no network."""
    if what == "network":
        return game.backends.needed_network().figures()
    return _SHOWN_AS[what][1](describe(game, what))


def _summary(game: Game) -> dict[str, Any]:
    parts = _strata(game)
    facts = sum(not rule.body for rule in game.program.rules)
    return {
        "roles": list(map(str, game.roles)),
        "facts": facts,
        "rules": len(game.program.rules) - facts,
        "fluents": _as_strings(game.fluents),
        "moves": _as_strings(game.moves),
        "hides": game.is_gdl2,
        "components": dict(Counter(part["computed"] for part in parts)),
        "recursive": sum(part["recursive"] for part in parts),
    }


def _as_strings(
    domains: Mapping[tuple[str, int], tuple[tuple[Term, ...], ...]],
) -> dict[str, list[list[str]]]:
    return {
        f"{name}/{arity}": [[str(term) for term in terms] for terms in arguments]
        for (name, arity), arguments in domains.items()
    }


def _summary_text(summary: Mapping[str, Any]) -> str:
    methods = ", ".join(f"{count} {when}" for when, count in summary["components"].items())
    lines = [
        f"roles     {' '.join(summary['roles'])}",
        f"rules     {summary['rules']}, and {summary['facts']} facts",
        *_lines("state", summary["fluents"]),
        *_lines("moves", summary["moves"]),
        f"hidden    {'facts that a role does not perceive' if summary['hides'] else 'nothing'}",
        f"computed  {methods} (strongly connected components, {summary['recursive']} recursive)",
    ]
    return "\n".join(lines)


def _lines(title: str, domains: Mapping[str, list[list[str]]]) -> Iterator[str]:
    for name, arguments in domains.items() or {"nothing": []}.items():
        yield f"{title:10}{name:16}{' | '.join(map(_listed, arguments))}".rstrip()
        title = ""


def _listed(terms: Sequence[str], most: int = _SHOWN_IN_A_LINE) -> str:
    more = f" ... ({len(terms)} in all)" if len(terms) > most else ""
    return " ".join(terms[:most]) + more


def _strata(game: Game) -> list[dict[str, Any]]:
    return game.backends.reasoner.reasoner.describe_strata()


def _strata_text(strata: Iterable[Mapping[str, Any]]) -> str:
    lines = []
    for part in strata:
        recursive = ", recursive" if part["recursive"] else ""
        head = f"{part['number']:4}  stratum {part['stratum']}, {part['computed']}{recursive}: "
        lines.append(head + ", ".join(part["relations"]))
        lines += [f"        {rule}" for rule in part["rules"]]
    return "\n".join(lines)


def _plan(game: Game) -> list[dict[str, Any]]:
    machine = game.backends.reasoner
    view = machine.view(machine.initial())
    # Joins are generated on first use, so queries are run here to generate all joins.
    machine.is_terminal(view)
    for role in machine.roles:
        machine.goals(view, role)
    legal = machine.legal(view)
    if all(legal):
        machine.next(view, [moves[0] for moves in legal])
        machine.percepts(view, [moves[0] for moves in legal])
    return machine.reasoner.describe_plan()


def _plan_text(parts: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(
        f"# {', '.join(part['relations'])}\n{part['source']}" for part in parts if part["source"]
    )


def _domains_text(domains: Mapping[str, list[list[str]]]) -> str:
    lines = []
    for relation, arguments in domains.items():
        lines.append(relation)
        lines += [f"  {number}: {_listed(terms, _SHOWN)}" for number, terms in enumerate(arguments, 1)]
    return "\n".join(lines)


#: For each view of the rules, a function that returns plain data and a function that formats them.
_SHOWN_AS: Final[Mapping[str, tuple[Callable[[Game], Any], Callable[[Any], str]]]] = {
    "summary": (_summary, _summary_text),
    "strata": (_strata, _strata_text),
    "plan": (_plan, _plan_text),
    "domains": (lambda game: _as_strings(game.domains()), _domains_text),
}

COMMANDS: Final = {"explain": Command(_Options, _explain, _DETAILS)}
