"""Meanings of names, for hovers.

GDL defines the keywords. Relations are classified by their dependencies, and terms by their places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from anygame.analysis.groups import reached
from anygame.language.diagnostics import counted, shown
from anygame.language.rules import READ_AS
from anygame.language_server.findings import Values
from anygame.language_server.sheet import FLUENT_PLACES, MOVE_PLACES, Range, Symbol, is_keyword

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anygame.language_server.findings import DomainTable, Place
    from anygame.language_server.sheet import WrittenSheet


@dataclass(frozen=True, slots=True)
class Keyword:
    """A name with a meaning in GDL."""

    arguments: tuple[str, ...]
    text: str
    example: str


KEYWORD_TEXTS: Final = {
    "role": Keyword(
        ("role",),
        "Declares a role; occurs only in facts. The order of these facts is the order of the roles. "
        "The moves of the role `random` are sampled.",
        "(role white)",
    ),
    "init": Keyword(("fluent",), "Defines a fluent of the initial state.", "(init (cell 1 1 b))"),
    "true": Keyword(
        ("fluent",),
        "Holds if a fluent is true in the current state. Occurs only in bodies.",
        "(true (cell 1 1 b))",
    ),
    "does": Keyword(
        ("role", "move"),
        "Holds if a role makes a move in this turn. Occurs only in bodies.",
        "(does white noop)",
    ),
    "next": Keyword(
        ("fluent",),
        "Defines a fluent that is true in the next state. All other fluents become false.",
        "(<= (next (control white)) (true (control black)))",
    ),
    "legal": Keyword(
        ("role", "move"),
        "Defines a legal move of a role. Until the game is over, every role must have a legal move.",
        "(<= (legal ?r noop) (role ?r) (not (true (control ?r))))",
    ),
    "goal": Keyword(
        ("role", "value"),
        "Defines the value of a state for a role, from 0 to 100. The value counts when the game is over.",
        "(<= (goal white 100) (line x))",
    ),
    "terminal": Keyword((), "Defines when the game is over.", "(<= terminal (not open))"),
    "base": Keyword(
        ("fluent",), "Declares a fluent that can become true. The declaration changes nothing in play.",
        "(base (control white))",
    ),
    "input": Keyword(
        ("role", "move"), "Declares a move that can become legal. The declaration changes nothing in play.",
        "(input white noop)",
    ),
    "sees": Keyword(
        ("role", "percept"),
        "Defines what a role perceives in a turn (GDL-II). Without `sees`, all roles see all moves.",
        "(<= (sees ?r (card ?c)) (does random (deal ?r ?c)))",
    ),
    "percept": Keyword(
        ("role", "percept"), "Declares a percept that a role can have (GDL-II).", "(percept white (card 7))"
    ),
    "<=": Keyword(
        ("head", "formula", "..."),
        "A rule: the head holds if all formulas of the body hold.",
        "(<= (opponent ?x ?y) (role ?x) (role ?y) (distinct ?x ?y))",
    ),
    "not": Keyword(
        ("formula",),
        "Holds if the formula cannot be derived (negation as failure). "
        "Positive formulas of the body must bind the variables of the negated formula.",
        "(not (true (cell ?x ?y b)))",
    ),
    "or": Keyword(("formula", "..."), "Holds if one of the formulas holds.", "(or (line x) (line o))"),
    "and": Keyword(
        ("formula", "..."),
        "Holds if all formulas hold. `and` is not part of GDL: list the formulas in the body.",
        "(and (line x) open)",
    ),
    "distinct": Keyword(
        ("term", "term"), "Holds if two terms are different. Both terms must be bound.", "(distinct ?x ?y)"
    ),
}  # fmt: skip


def kind_of(sheet: WrittenSheet, symbol: Symbol) -> str:
    """Return the kind of a symbol, in a few words."""
    if is_keyword(symbol):
        return "keyword"
    if symbol.kind == "variable":
        return "variable"
    if symbol.kind == "relation":
        return _kind_of_relation(sheet, symbol)
    places = {each.place for each in sheet.by_symbol.get(symbol, ())}
    is_role = not symbol.arity and ("role", 1, 0) in places
    kinds = (("fluent", places & FLUENT_PLACES), ("move", places & MOVE_PLACES), ("role", is_role))
    listed = ", ".join(kind for kind, applies in kinds if applies)
    return listed or ("function" if symbol.arity else "constant")


def _kind_of_relation(sheet: WrittenSheet, symbol: Symbol) -> str:
    if symbol not in sheet.heads:
        return "relation that no rule defines"

    def read_by(relation: Symbol) -> Iterator[Symbol]:
        names = (each for item in sheet.heads.get(relation, ()) for each in sheet.by_item[item])
        return (each.symbol for each in names if each.symbol.kind == "relation" and not each.in_head)

    reads = reached([symbol], read_by)
    if Symbol("relation", "does", 2) in reads:
        return "view of the state and the moves"
    return "view of the state" if Symbol("relation", "true", 1) in reads else "static relation"


def argument_values(sheet: WrittenSheet, symbol: Symbol, table: DomainTable) -> list[Values]:
    """Return the possible values of each argument of a relation or function."""
    if symbol.kind == "relation":
        names = sorted({symbol.name, READ_AS.get(symbol.name, symbol.name)})
        places: list[Place] = [(name, symbol.arity) for name in names]
    else:
        around = dict.fromkeys(each.place for each in sheet.by_symbol.get(symbol, ()) if each.place)
        places = [(*place, (symbol.name, symbol.arity)) for place in around]
    values = [Values()] * symbol.arity
    for place in places:
        values = [known.merged(table.at((*place, number))) for number, known in enumerate(values)]
    return values


def argument_names(sheet: WrittenSheet, symbol: Symbol) -> list[str]:
    """Return names for the arguments of a relation or function, taken from variables in the rules."""
    if is_keyword(symbol):
        names = KEYWORD_TEXTS[symbol.name].arguments
        return list(names[: symbol.arity]) if symbol.kind == "relation" else list(names)
    if not symbol.arity:
        return []
    named = [""] * symbol.arity
    for each in sheet.by_symbol.get(symbol, ()):
        for number, node in enumerate((each.node.children or ())[1:]):
            if not named[number] and node.text[:1] == "?" and node.text != "?":
                named[number] = node.text[1:]
        if all(named):
            break
    return [name or f"arg{number}" for number, name in enumerate(named, 1)]


def values_of_variable(sheet: WrittenSheet, symbol: Symbol, table: DomainTable) -> Values | None:
    """Return the possible values of a rule's variable; None if the body does not bind the variable."""
    places = sheet.by_symbol.get(symbol, ())
    domains = [table.at(each.place) for each in places if each.positive and not each.in_head and each.place]
    return reduce(Values.common, domains) if domains else None


#: Maximum number of listed values of an argument.
_MOST_LISTED: Final = 12
_BACKTICKS: Final = re.compile("`+")
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&$])")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Hover:
    """The explanation of a name, in Markdown and as plain text."""

    range: Range
    markdown: str
    plain: str


def hover(sheet: WrittenSheet, offset: int, table: DomainTable) -> Hover | None:
    """Return the explanation of the name at an offset; None if there is no name."""
    name = sheet.name_at(offset)
    if name is None or sheet.comment_at(offset):
        return None
    symbol = name.symbol
    markdown = list(_parts(sheet, symbol, table, code, "- "))
    plain = list(_parts(sheet, symbol, table, str, ""))
    if not is_keyword(symbol) and symbol.kind != "variable":
        items = items_about(sheet, symbol) or [each.item for each in sheet.by_symbol.get(symbol, (name,))]
        if comment := sheet.comment_above(items[0]):
            markdown.append(_SPECIAL.sub(r"\\\1", comment).replace("\n", "  \n"))
            plain.append(comment)
    return Hover(Range(name.start, name.end), "\n\n".join(markdown), "\n".join(plain))


def code(text: str) -> str:
    """Return untrusted text as Markdown code on one line, in a printable form."""
    text = shown(text, 200)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    padding = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def pattern(sheet: WrittenSheet, symbol: Symbol) -> str:
    """Return a relation or function with names for its arguments, in the spelling of the sheet's form."""
    arguments = [_spelled_variable(sheet, name) for name in argument_names(sheet, symbol)]
    name = sheet.spelled(symbol)
    if not arguments:
        return name
    return f"{name}({','.join(arguments)})" if sheet.form == "infix" else f"({name} {' '.join(arguments)})"


def _spelled_variable(sheet: WrittenSheet, name: str) -> str:
    return "..." if name == "..." else sheet.spelled(Symbol("variable", name, 0))


def values_text(values: Values) -> str:
    """Return the first values of a place as text, numbers in numeric order."""
    numbers = sorted(filter(_NUMBER.fullmatch, values.constants), key=lambda name: (int(name), name))
    constants = numbers + sorted(values.constants.difference(numbers))
    listed = [f"({name} ...)" for name, arity in sorted(values.functors) if arity]
    listed += constants[: max(1, _MOST_LISTED - len(listed))]
    omitted = len(values.constants) + len(values.functors) - len(listed)
    if not values.complete:
        return f"{', '.join(listed)} and many more"
    return ", ".join(listed) + (f" and {omitted} more" if omitted > 0 else "")


def _parts(
    sheet: WrittenSheet, symbol: Symbol, table: DomainTable, mark: Callable[[str], str], bullet: str
) -> Iterator[str]:
    """Yield the paragraphs about a symbol; ``mark`` marks code, and ``bullet`` starts each line of a list."""
    if is_keyword(symbol):
        keyword = KEYWORD_TEXTS[symbol.name]
        title = " ".join((symbol.name, *keyword.arguments))
        yield f"{mark(f'({title})' if keyword.arguments else title)} keyword"
        yield keyword.text
        yield f"Example: {mark(keyword.example)}"
        if symbol.kind == "relation":
            yield from _counts(sheet, symbol)
        return
    title = sheet.spelled(symbol) if symbol.kind == "variable" else pattern(sheet, symbol)
    yield f"{mark(title)} {kind_of(sheet, symbol)}"
    if symbol.kind == "variable":
        values = values_of_variable(sheet, symbol, table)
        if values is None:
            yield "no positive literal of the body binds this variable"
        elif values:
            yield f"can be {mark(values_text(values))}"
        return
    arguments = zip(argument_names(sheet, symbol), argument_values(sheet, symbol, table), strict=True)
    lines = [
        f"{bullet}{mark(_spelled_variable(sheet, name))}: {mark(values_text(values))}"
        for name, values in arguments
        if values
    ]
    if lines:
        yield "\n".join(lines)
    yield from _counts(sheet, symbol)


def _counts(sheet: WrittenSheet, symbol: Symbol) -> Iterator[str]:
    items = items_about(sheet, symbol)
    rules = sum(map(sheet.is_rule, items))
    facts = len(items) - rules
    others = sum(each.item not in items or not each.in_head for each in sheet.by_symbol.get(symbol, ()))
    counts = ((rules, "rule"), (facts, "fact"), (others, "other place"))
    if listed := ", ".join(counted(number, noun) for number, noun in counts if number):
        yield listed


def items_about(sheet: WrittenSheet, symbol: Symbol) -> list[int]:
    """Return the indices of the rules and facts whose head has the given relation, fluent or move."""
    if symbol.kind == "relation":
        return sheet.heads.get(symbol, [])
    in_heads = [each for each in sheet.by_symbol.get(symbol, ()) if each.in_head]
    return list(dict.fromkeys(each.item for each in in_heads if each.is_fluent or each.is_move))
