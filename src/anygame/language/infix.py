r"""Sheets in infix form, read into nodes of the same shape as those of KIF.

::

    sheet        = { item }
    item         = alternatives [ ":-" body ] [ "." ]
    body         = alternatives                       its conjuncts are the formulas of the rule
    alternatives = conjuncts { "|" conjuncts }
    conjuncts    = formula { "&" formula }
    formula      = "~" formula | "(" alternatives ")" | name [ "(" [ alternatives { "," alternatives } ] ")" ]
                 | "(" alternatives "," [ alternatives { "," alternatives } ] ")"     as an argument: a tuple

A comment runs from ``%`` to the end of its line. A lone ``_`` is a variable of its own wherever it stands.
As in Prolog, a comma between formulas is read as ``&``, and ``not`` or ``\+`` before
one as ``~``; a warning says so. As in answer set programming, ``(a,b)`` as an argument is a tuple, read as
``tuple(a,b)``, and ``-1`` is a name.
The productions are functions here, one token ahead: a LALR(1) parser made by Lark from the same grammar took
2.1 times as long for the largest public sheets before it had made any node, and what makes good messages
(what is expected here, which parenthesis is open, where to read on) would stand beside it still.
`anygame.language.forms` says how names are spelled. What may stand where is left to the reader of
nodes (`anygame.language.sentences`): to it ``a | b`` is ``(or a b)`` and ``h :- a & b`` is ``(<= h a b)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.language.diagnostics import Diagnostic, Note, Severity, counted, shown
from anygame.language.forms import kif_variable
from anygame.language.limits import Deadline
from anygame.language.sentences import fold_head
from anygame.language.source import Node, Span
from anygame.language.text import check_characters, too_large

if TYPE_CHECKING:
    from typing import NoReturn

    from anygame.language.limits import ReadingLimits
    from anygame.language.source import Source

_LEXEME: Final = re.compile(
    r"""(?:\s+|%[^\r\n]*)+
    |(?P<variable>[A-Z_][A-Za-z0-9_]*)
    |(?P<name>-?[0-9][A-Za-z0-9_]*|[a-z][A-Za-z0-9_]*)
    |(?P<quoted>\??'(?:[^'\r\n]|'')*')
    |(?P<mark>:-|[(),&|~.])
    |(?P<odd>[^\s%(),&|~.'A-Za-z0-9_]+|'|.)""",
    re.VERBOSE,
)
#: A look at the clock takes as long as a tenth of a token.
_TOKENS_BETWEEN_LOOKS: Final = 10_000
_KIF_NAME: Final = re.compile(r"[^\s();?][^\s();]*")
_KIF_VARIABLE_NAME: Final = re.compile(r"[^\s();]+")
_ANY: Final = re.compile(r"_any([0-9]+)")
_NAMES: Final = frozenset(("variable", "name", "quoted"))
#: What people write who think of another language, and what to write here.
_A_RULE: Final = "a rule is written head :- body"
_A_COMMENT: Final = "a comment starts with %"
_NO_SUMS: Final = "GDL has no arithmetic: facts say what follows or is less, succ(1,2) and less(1,2)"
_JOINERS: Final = "formulas are joined by & and |"
_ADVICE: Final = {
    **dict.fromkeys(("//", "/*", "--"), _A_COMMENT),
    "#": f"{_A_COMMENT}; GDL has no directives and no aggregates",
    **dict.fromkeys(("<=", "<-", ":", ":=", "->", "=>"), _A_RULE),
    **dict.fromkeys(("=", "=="), "one name for what is equal, or ~distinct(X,Y)"),
    **dict.fromkeys(
        ("!=", "\\=", "\\==", "<>", "/="), "two terms that must differ are written distinct(X,Y)"
    ),
    **dict.fromkeys(("<", ">", ">=", "=<", "+", "-", "*", "/", "**", "is"), _NO_SUMS),
    **dict.fromkeys(("[", "]"), "GDL has no lists: cons(Head,Tail) and nil, say"),
    **dict.fromkeys(("{", "}"), "GDL has no choice rules and no aggregates: `legal` says what can be chosen"),
    **dict.fromkeys(("and", "or"), _JOINERS),
    ";": f"alternatives are joined by |; {_A_COMMENT}",
    "?": "a variable starts with a capital letter: X",
    "!": "a negation is written ~",
    "'": "a name in quotes ends on its line; a quote inside is doubled",
    '"': "names stand in single quotes",
    ".": "GDL has no intervals: one fact for each number",
    ":-": "GDL has no constraints: a rule has a head, and legal says what can be done",
    ",": "one item after the other, with periods or line ends between them",
}


#: What Prolog and answer set programming write for marks of ours.
_DIALECT: Final = {
    ",": ("`,` before a formula is read as `&`, as in Prolog", "&"),
    "not": ("`not` before a formula is read as `~`, as in Prolog", "~"),
    "\\+": ("`\\+` before a formula is read as `~`, as in Prolog", "~"),
    "(": ("the tuple `(a,b)` is read as `tuple(a,b)`", "tuple(a,b)"),
}


class _Token(NamedTuple):
    kind: str  # variable, name, quoted, mark or odd; empty at the end of the text
    text: str
    start: int
    end: int


class _UnreadableError(Exception):
    """The item cannot be read on; its fault is recorded."""


def parse_infix(source: Source, limits: ReadingLimits) -> tuple[tuple[Node, ...], list[Diagnostic]]:
    """Return the rules and facts of an infix sheet as nodes, and what is wrong with its text.

    Where an item cannot be read, reading goes on at the next line that starts with a name.
    """
    if len(source.text) > limits.bytes:
        return (), [too_large(source, limits)]
    if faults := check_characters(source, limits):
        return (), faults
    parser = _Parser(source, limits)
    return parser.items(), parser.faults


class _Parser:
    """Reads one text; the methods are named after the productions above."""

    def __init__(self, source: Source, limits: ReadingLimits) -> None:
        self.faults: list[Diagnostic] = []
        self._source = source
        self._limits = limits
        self._deadline = Deadline(limits.seconds)
        self._tokens = self._scan()
        self._place = 0
        self._openers: list[_Token] = []
        self._first = 0
        self._comma_joins = self._in_body = self._in_term = False
        self._dialect: list[_Token] = []
        self._depth = self._deepest = 0
        self._fresh = 0
        self._taken: set[str] | None = None

    def _scan(self) -> list[_Token]:
        tokens = []
        for match in _LEXEME.finditer(self._source.text):
            if (kind := match.lastgroup) is not None:
                tokens.append(_Token(kind, match[0], match.start(), match.end()))
                if not len(tokens) % _TOKENS_BETWEEN_LOOKS:
                    self._deadline.check()
                if len(tokens) > self._limits.tokens:
                    what = f"{self._limits.tokens:,} tokens"
                    self.faults.append(too_large(self._source, self._limits, what))
                    tokens = []
                    break
        end = len(self._source.text)
        tokens.append(_Token("", "", end, end))
        return tokens

    # productions

    def items(self) -> tuple[Node, ...]:
        found = []
        while self._now.kind:
            self._deadline.check()
            try:
                found.append(self._item())
            except _UnreadableError:
                if len(self.faults) >= self._limits.problems:
                    break
                if self._place == self._first and found and not self._starts_line(self._now):
                    del found[-1]  # it goes on with what cannot be read
                self._skip_item()
        self._say_dialect()
        return tuple(found)

    def _item(self) -> Node:
        self._openers, self._depth, self._deepest = [], 0, 0
        self._first = self._place
        self._comma_joins = self._in_body = self._in_term = False
        if self._now.text in {"and", "or", "is"} and self._tokens[self._place + 1].text != "(":
            self._expected("a name, ~ or (")
        head = self._alternatives()
        arrow = self._now
        if self._take(":-"):
            self._comma_joins = self._in_body = True
            head = self._list("<=", arrow, (head, *self._body()))
        self._take(".")
        # Neither the rule itself nor a conjunction in a disjunction has parentheses that were counted.
        if self._deepest >= self._limits.depth // 2 and _depth_of(head) > self._limits.depth:
            self._too_deep(head)
        return head

    def _body(self) -> tuple[Node, ...]:
        joint, conjuncts = self._conjuncts()
        if self._now.text != "|":
            return tuple(conjuncts)
        return (self._disjunction(self._joined("and", joint, conjuncts)),)

    def _alternatives(self) -> Node:
        return self._disjunction(self._joined("and", *self._conjuncts()))

    def _disjunction(self, first: Node) -> Node:
        """Read on after the first alternative."""
        found = [first]
        joint = self._now
        while self._take("|"):
            found.append(self._joined("and", *self._conjuncts()))
        return self._joined("or", joint, found)

    def _conjuncts(self) -> tuple[_Token, list[Node]]:
        found = [self._formula()]
        joint = self._now
        while self._take("&") or (self._comma_joins and self._take_dialect(",")):
            found.append(self._formula())
        return joint, found

    def _formula(self) -> Node:
        token = self._now
        if self._take("~") or (self._is_negation() and self._take_dialect(token.text)):
            self._go_deeper(token)
            node = self._list("not", token, (self._formula(),), token.start)
        elif token.kind in _NAMES:
            return self._application()
        elif self._take("("):
            self._go_deeper(token)
            self._openers.append(token)
            joins, self._comma_joins = self._comma_joins, self._in_body and not self._in_term
            node = self._alternatives()
            if self._in_term and self._now.text == ",":
                self._dialect.append(token)
                node = self._tuple(token, node)
            end = self._close()
            self._comma_joins = joins
            if node.children is not None and node.children[0].text in {"and", "or"}:
                node = Node(self._source, token.start, end, "", node.children)
        else:
            self._expected("a name, ~ or (")
        self._depth -= 1
        return node

    def _tuple(self, token: _Token, first: Node) -> Node:
        """Read on after the first element of a tuple."""
        parts = [Node(self._source, token.start, token.end, "tuple"), first]
        while self._take(",") and self._now.text != ")":
            parts.append(self._alternatives())
        return Node(self._source, token.start, self._now.end, "", tuple(parts))

    def _application(self) -> Node:
        name = self._name()
        token = self._now
        if not self._take("("):
            return name
        self._go_deeper(token)
        self._openers.append(token)
        arguments = []
        outside, self._comma_joins = (self._comma_joins, self._in_term), False
        self._in_term |= fold_head(name.text) not in {"and", "or", "not"}
        if self._now.text != ")":
            arguments.append(self._alternatives())
            while self._take(","):
                arguments.append(self._alternatives())
        end = self._close()
        self._comma_joins, self._in_term = outside
        self._depth -= 1
        return Node(self._source, name.start, end, "", (name, *arguments))

    def _name(self) -> Node:
        token = self._now
        self._place += 1
        if token.end - token.start > self._limits.token_length:
            message = f"a token of {token.end - token.start:,} characters; the limit is "
            self._fault("token-too-long", message + f"{self._limits.token_length:,}", token)
        text = token.text
        if token.kind == "variable":
            text = self._fresh_variable() if text == "_" else kif_variable(text)
        elif token.kind == "quoted":
            text = self._unquoted(token)
        return Node(self._source, token.start, token.end, text)

    def _unquoted(self, token: _Token) -> str:
        prefix = "?" if token.text[0] == "?" else ""
        name = token.text[len(prefix) + 1 : -1].replace("''", "'")
        if (_KIF_VARIABLE_NAME if prefix else _KIF_NAME).fullmatch(name):
            return prefix + name
        message = f"expected a name that KIF can spell, found {shown(token.text)}"
        hint = "leave out blanks, parentheses and semicolons, and a question mark at its start"
        self._fault("infix-name", message, token, None, hint)
        return f"{prefix}name"

    def _fresh_variable(self) -> str:
        if self._taken is None:
            self._taken = set(_ANY.findall(self._source.text))
        self._fresh += 1
        while str(self._fresh) in self._taken:
            self._fresh += 1
        return f"?_any{self._fresh}"

    # nodes

    def _list(self, name: str, operator: _Token, parts: tuple[Node, ...], start: int = -1) -> Node:
        first = Node(self._source, operator.start, operator.end, name)
        return Node(self._source, parts[0].start if start < 0 else start, parts[-1].end, "", (first, *parts))

    def _joined(self, name: str, operator: _Token, parts: list[Node]) -> Node:
        return parts[0] if len(parts) == 1 else self._list(name, operator, tuple(parts))

    # tokens

    @property
    def _now(self) -> _Token:
        return self._tokens[self._place]

    def _take(self, mark: str) -> bool:
        taken = self._now.text == mark and self._now.kind == "mark"
        self._place += taken
        return taken

    def _is_negation(self) -> bool:
        """Return whether here stands a negation of another language, before what it negates."""
        token = self._now
        if token.text == "not" and token.kind == "name":
            after = self._tokens[self._place + 1]
            return (
                after.kind in _NAMES
                or after.text in ("~", "\\+")
                or (after.text == "(" and not self._in_term)
            )
        return token.text == "\\+"

    def _take_dialect(self, mark: str) -> bool:
        taken = self._now.text == mark
        if taken:
            self._dialect.append(self._now)
            self._place += 1
        return taken

    def _close(self) -> int:
        """Take a closing parenthesis; return where it ends."""
        end = self._now.end
        if not self._take(")"):
            self._unclosed()
        self._openers.pop()
        return end

    def _starts_line(self, token: _Token) -> bool:
        return token.start == 0 or self._source.text[token.start - 1] in "\r\n"

    def _skip_item(self) -> None:
        """Go to the next name that starts a line, after the one at which the unreadable item starts."""
        self._place = max(self._place, self._first + 1)
        while self._place < len(self._tokens) - 1 and not (
            self._now.kind in _NAMES and self._starts_line(self._now)
        ):
            self._place += 1
        self._place = min(self._place, len(self._tokens) - 1)

    # faults

    def _say_dialect(self) -> None:
        """Report what is written as in another language, of each mark the first."""
        for mark, (message, meant) in _DIALECT.items():
            places = [token for token in self._dialect if token.text == mark]
            if not places:
                continue
            span = Span(self._source, places[0].start, places[0].end)
            more = len(places) - 1
            notes = (Note(f"and {counted(more, 'more time')}"),) if more else ()
            hint = f"`anygame format` writes {meant}"
            self.faults.append(Diagnostic("infix-dialect", Severity.WARNING, message, span, notes, hint))

    def _fault(
        self, code: str, message: str, token: _Token, note: Note | None = None, hint: str = ""
    ) -> None:
        span = Span(self._source, token.start, token.end)
        notes = (note,) if note else ()
        self.faults.append(Diagnostic(code, Severity.ERROR, message, span, notes, hint))

    def _expected(self, what: str) -> NoReturn:
        token, before = self._now, self._tokens[self._place - 1]
        start = token.text[:1] if token.kind == "odd" or token.text[:1] == "-" else ""
        hint = next((_ADVICE[key] for key in (token.text, start) if key in _ADVICE), "")
        if token.text in {",", ":-"} and self._place > self._first:
            hint = ""
        elif token.text in {"&", "|"} and before.text == token.text:
            hint = f"a single {token.text}"
        if token.kind == "odd":
            hint = hint or f"put a name with such characters in quotes: '{shown(token.text)}'"
            self._fault("infix-character", f"expected {what}, found {shown(token.text)}", token, None, hint)
        elif token.text == ")" and not self._openers:
            message = "this closing parenthesis has no opening one"
            self._fault("unexpected-close", message, token, None, "delete it, or add the missing ( before it")
        else:
            found = shown(token.text) or "the end of the text"
            self._fault("infix-syntax", f"expected {what}, found {found}", token, None, hint)
        raise _UnreadableError

    def _unclosed(self) -> NoReturn:
        token, opener = self._now, self._openers[-1]
        if token.kind and not self._starts_line(token):
            if token.kind == "odd" or token.text[0] in "-.":
                self._expected("a comma or )")
            note = Note("the parenthesis opens here", Span(self._source, opener.start, opener.end))
            hint = "" if token.kind == "mark" else "arguments are parted by commas"
            message = f"expected a comma or ), found {shown(token.text)}"
            self._fault("infix-syntax", message, token, note, hint)
        else:
            note = Note("a new item seems to start here", Span(self._source, token.start, token.end))
            message = "this parenthesis is never closed"
            self._fault("unclosed-list", message, opener, note if token.kind else None, "add the missing )")
        raise _UnreadableError

    def _go_deeper(self, token: _Token) -> None:
        self._depth += 1
        self._deepest = max(self._deepest, self._depth)
        if self._depth > self._limits.depth:
            message = f"parentheses and negations are nested more than {self._limits.depth} deep"
            self._fault("too-deep", message, token)
            raise _UnreadableError

    def _too_deep(self, node: Node) -> NoReturn:
        message = f"formulas are nested more than {self._limits.depth} deep"
        self._fault("too-deep", message, _Token("", "", node.start, node.start + 1))
        raise _UnreadableError


def _depth_of(node: Node) -> int:
    depth, level = 0, [node]
    while level := [child for item in level for child in item.children or ()]:
        depth += 1
    return depth
