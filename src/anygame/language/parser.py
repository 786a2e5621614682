"""From text to programs, terms and nodes.

A text in KIF or infix (`anygame.language.infix`) becomes nodes, which `anygame.language.sentences` reads as
rules or terms. A regular expression finds the tokens of KIF, and Lark parses the tokens with
``grammar.lark``. If a text exceeds a limit or its parentheses do not match, `anygame.language.text` reports
the faults.

>>> program = parse_program("(role white) (<= terminal (true (cell 1 x)))")
>>> [str(rule) for rule in program.rules]
['(role white)', '(<= terminal (true (cell 1 x)))']
>>> str(parse_term("(move  a  (to 1 01))"))
'(move a (to 1 01))'
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from anygame.errors import LimitError, RuleSheetError, SheetSyntaxError, TermSyntaxError
from anygame.language.diagnostics import Diagnostic, Severity, format_excerpt, raise_if_errors, shown
from anygame.language.forms import form_of
from anygame.language.infix import parse_infix
from anygame.language.limits import Deadline, ReadingLimits
from anygame.language.rules import Program
from anygame.language.sentences import Reader, TooManyProblemsError
from anygame.language.source import Node, Source, Span
from anygame.language.terms import collector_paused
from anygame.language.text import check_characters, check_text, intact_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import NoReturn

    from anygame.language.rules import Atom, Rule
    from anygame.language.terms import Term

_Read = TypeVar("_Read")

_TERM_LIMITS: Final = ReadingLimits(bytes=2**20, tokens=100_000)


def parse_program(
    text: str | Source,
    *,
    name: str = "<text>",
    case_sensitive: bool = True,
    limits: ReadingLimits | None = None,
    open_facts: bool = False,
) -> Program:
    """Read a rule sheet, in KIF or infix (see `anygame.language.forms`).

    The sheet is a sequence of rules and facts, possibly inside one pair of parentheses.
    Keywords can have any case; all other names are case-sensitive unless ``case_sensitive`` is false (see
    `fold`). With ``open_facts``, facts with variables are accepted, for callers that bind the variables.

    Raises:
        SheetSyntaxError: the text is too large or its parentheses do not match.
        RuleSheetError: parts of the text are neither rules nor facts, or no fact declares a role.
            Both errors contain all faults, not only the first fault.
    """
    limits = limits or ReadingLimits()
    source = Source(name, text.removeprefix("\ufeff")) if isinstance(text, str) else text
    with collector_paused():
        nodes, faults = parse_items(source, limits=limits)
        return read_items(
            source, nodes, faults, case_sensitive=case_sensitive, limits=limits, open_facts=open_facts
        )


def read_items(
    source: Source,
    nodes: Iterable[Node],
    faults: Sequence[Diagnostic] = (),
    *,
    case_sensitive: bool = True,
    limits: ReadingLimits | None = None,
    open_facts: bool = False,
) -> Program:
    """Read a program from the nodes and faults that `parse_items` returned; see `parse_program`."""
    reader = Reader(limits or ReadingLimits(), case_sensitive, open_facts=open_facts)
    rules: tuple[Rule, ...] = ()
    is_broken = any(fault.severity is Severity.ERROR for fault in faults)
    with suppress(TooManyProblemsError):
        rules = reader.rules(nodes)
        if not is_broken and not any(rule.head.predicate == "role" and not rule.body for rule in rules):
            message = "a game needs at least one role, and no fact declares one"
            place = Span(source, 0, 0)
            reader.problems.append(Diagnostic("no-role", Severity.ERROR, message, place, hint="(role white)"))
    kind = SheetSyntaxError if is_broken else RuleSheetError
    return Program(rules, source, raise_if_errors([*faults, *reader.problems], kind))


def parse_items(
    source: Source, *, limits: ReadingLimits | None = None
) -> tuple[tuple[Node, ...], list[Diagnostic]]:
    """Return the rules and facts of a sheet as nodes, and the faults of the text.

    If the text has faults, only intact items become nodes. The reader then reports faults in these items.
    """
    limits = limits or ReadingLimits()
    try:
        if form_of(source) == "infix":
            return parse_infix(source, limits)
        nodes, faults = _parse_kif(source, limits)
    except LimitError as error:
        return (), [Diagnostic("too-large", Severity.ERROR, f"{shown(source.name, 200)}: {error}")]
    if faults:
        return _read_nodes(source, limits, intact_part(source, faults)) or (), faults
    return unwrapped(nodes), []


def _parse_kif(source: Source, limits: ReadingLimits) -> tuple[tuple[Node, ...], list[Diagnostic]]:
    is_plain = len(source.text) <= limits.bytes and not check_characters(source, limits)
    if is_plain and (nodes := _read_nodes(source, limits)) is not None:
        return nodes, []
    return (), check_text(source, limits)


def unwrapped(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the items of a sheet. Parentheses around the whole sheet are removed."""
    only = nodes[0].children if len(nodes) == 1 else None
    return only if only and only[0].children is not None else nodes


def parse_term(text: str, *, case_sensitive: bool = True, limits: ReadingLimits = _TERM_LIMITS) -> Term:
    """Read one term: a move, a fluent, a role, a pattern with variables.

    >>> parse_term("( cell 1 ?x )")
    (cell 1 ?x)

    Raises:
        TermSyntaxError: the text is not exactly one term.
    """
    return _read_one(text, "term", case_sensitive, limits, Reader.term)


def parse_atom(text: str, *, case_sensitive: bool = True, limits: ReadingLimits = _TERM_LIMITS) -> Atom:
    """Read one sentence, such as ``(legal ?r (move ?x ?y))`` or ``terminal``.

    Raises:
        TermSyntaxError: the text is not exactly one sentence.
    """
    return _read_one(text, "sentence", case_sensitive, limits, Reader.atom)


def parse_nodes(text: str, *, limits: ReadingLimits | None = None) -> tuple[Node, ...]:
    """Return a sequence of tokens and lists as nodes.

    Raises:
        TermSyntaxError: the text is too large or its parentheses do not match.
    """
    limits = limits or ReadingLimits()
    source = Source("<text>", text)
    nodes, faults = _parse_kif(source, limits)
    for fault in faults:
        _raise_term_error(fault.message, source, fault.span)
    return nodes


def _read_one(
    text: str, what: str, case_sensitive: bool, limits: ReadingLimits, read: Callable[[Reader, Node], _Read]
) -> _Read:
    nodes = parse_nodes(text, limits=limits)
    source = nodes[0].source if nodes else Source("<text>", text)
    if not nodes:
        _raise_term_error(f"expected a {what}, found nothing", source, None)
    if len(nodes) > 1:
        message = f"expected one {what}, found more text after {shown(nodes[0].span.text)}"
        if all(node.children is None for node in nodes):
            message += f"; try ({shown(' '.join(node.span.text for node in nodes), 80)})"
        _raise_term_error(message, source, nodes[1].span)
    reader = Reader(limits, case_sensitive)
    with suppress(TooManyProblemsError):
        result = read(reader, nodes[0])
    for problem in reader.problems:
        if problem.severity is Severity.ERROR:
            _raise_term_error(problem.message, source, problem.span)
    return result


def _raise_term_error(message: str, source: Source, span: Span | None) -> NoReturn:
    if span is None:
        raise TermSyntaxError(message, source.text)
    raise TermSyntaxError(f"{message}\n{format_excerpt(span)}", source.text, span.start)


_STEP: Final = re.compile(
    r"""(?P<flat>\([^();]*\))
    |   (?P<open>\()
    |   (?P<close>\))
    |   (?P<name>[^\s();]+)
    |   ;[^\r\n]*               # a comment ends a token too
    """,
    re.VERBOSE,
)
_FLAT, _OPEN, _CLOSE, _NAME = (_STEP.groupindex[name] for name in ("flat", "open", "close", "name"))
#: Number of matches between two checks of the time limit.
_MATCHES_BETWEEN_CHECKS: Final = 10_000


class _Token(NamedTuple):
    """A token for Lark: a name in the grammar, with nodes or the place of a parenthesis."""

    type: str
    nodes: list[Node]
    source: Source | None = None
    offset: int = 0


class _BeyondLimitError(Exception):
    """The text exceeds a limit on size or depth."""


def _read_nodes(source: Source, limits: ReadingLimits, text: str | None = None) -> tuple[Node, ...] | None:
    """Return the nodes of a KIF text; None if the text exceeds a limit or its parentheses do not match.

    ``text``, if given, is read instead of the text of the source; places still refer to the source. Raises
    LimitError if reading takes too long.
    """
    start, unexpected = _grammar()
    parser = start()
    try:
        for token in _tokens(source, limits, source.text if text is None else text):
            parser.feed_token(token)
        nodes: tuple[Node, ...] = parser.feed_eof()
    except (unexpected, _BeyondLimitError):
        return None
    return nodes


def _tokens(source: Source, limits: ReadingLimits, text: str) -> Iterator[_Token]:
    """Yield the tokens of a text. Consecutive lists without inner lists are a single token.

    Large sheets consist mainly of such lists, and a step of the parser takes longer than a match of
    the regular expression. The names in such lists become nodes on first access.
    """
    deadline = Deadline(limits.seconds)
    longest = limits.token_length
    tokens_left = limits.tokens
    depth = 0
    flat: list[Node] = []
    for number, match in enumerate(_STEP.finditer(text)):
        if not number % _MATCHES_BETWEEN_CHECKS:
            deadline.check()
        kind = match.lastindex
        start, end = match.span()
        if kind == _FLAT:
            names = text[start + 1 : end - 1].split()
            tokens_left -= len(names) + 2
            is_long = end - start > longest and any(len(name) > longest for name in names)
            if is_long or depth >= limits.depth:
                raise _BeyondLimitError
            flat.append(Node(source, start, end, "", ()))
        elif kind is not None:
            if flat:
                yield _Token("FLAT", flat)
                flat = []
            tokens_left -= 1
            if kind == _NAME:
                if end - start > longest:
                    raise _BeyondLimitError
                yield _Token("NAME", [Node(source, start, end, match[0])])
            elif kind == _OPEN:
                depth += 1
                if depth > limits.depth:
                    raise _BeyondLimitError
                yield _Token("OPEN", [], source, start)
            else:
                depth -= 1
                yield _Token("CLOSE", [], source, end)
        if tokens_left < 0:
            raise _BeyondLimitError
    if flat:
        yield _Token("FLAT", flat)


@cache
def _grammar() -> tuple[Callable[[], Any], type[Exception]]:
    """Return a function that starts the parser, and the type of error for unbalanced parentheses."""
    # Importing lark is slow, so lark is imported on first use.
    from pkgutil import get_data

    from lark import Lark, UnexpectedInput

    grammar = (get_data("anygame.language", "grammar.lark") or b"").decode()
    parser = Lark(grammar, parser="lalr", lexer="basic", transformer=_Nodes(), maybe_placeholders=False)
    return parser.parse_interactive, UnexpectedInput


class _Nodes:
    """Transformer of the grammar, without state, so that threads can share it."""

    def start(self, items: list[_Token]) -> tuple[Node, ...]:
        return tuple([node for item in items for node in item.nodes])

    def list(self, items: list[_Token]) -> _Token:
        first, last = items[0], items[-1]
        assert first.source is not None
        children = tuple([node for item in items for node in item.nodes])
        return _Token("", [Node(first.source, first.offset, last.offset, "", children)])
