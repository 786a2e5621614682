"""The canonical layout of a sheet's text, in either form, with its comments.

- The head of a rule follows ``(<=``. Each formula of the body has a line of its own, indented by four.
- Each fact has a line of its own, unless the author wrote facts of one relation on one line. Consecutive
  lines with several facts are aligned in columns.
- Lines of more than 100 characters are broken: formulas between parts, terms where the line is full. A
  disjunction is also broken if the author started a part of the disjunction on a new line.
- A comment keeps its place: on a line of its own, or at the end of the line of the code before it.
- Up to two blank lines between items are kept. Blank lines inside items are dropped.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from anygame.errors import RuleSheetError
from anygame.language.forms import Comment, comments_of, form_of, infix_constant, infix_variable, marked
from anygame.language.parser import parse_items, parse_program, read_items
from anygame.language.rules import format_rule
from anygame.language.sentences import fold, fold_head
from anygame.language.source import Node, Source
from anygame.sheets.edits import wrapped
from anygame.sheets.page import WIDTH, CommentedItems, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.language.forms import Form
    from anygame.language.limits import ReadingLimits
    from anygame.language.rules import Program, Rule
    from anygame.sheets.page import Part

_INDENT: Final = 4
#: Maximum length of a line of facts that the layout breaks into rows. Each fact of a longer line, as in a
#: sheet without line ends, gets a line of its own.
_LONGEST_ROW: Final = 200
_MOST_BLANKS: Final = 2
_JOINING: Final = frozenset(("<=", "and", "or", "not"))
_SUFFIX: Final[dict[Form, str]] = {"kif": ".kif", "infix": ".hrf"}


def format_sheet(source: Source, form: Form | None = None, *, limits: ReadingLimits | None = None) -> str:
    """Return the text of a sheet in its canonical layout, optionally in another form.

    Facts with variables are allowed. A second parse checks that the new text has the same rules and comments.

    >>> print(format_sheet(Source("sheet", "(role x)(<= (goal x 100)(not done)) ; at last")), end="")
    (role x)
    (<= (goal x 100)
        (not done))  ; at last
    >>> print(format_sheet(Source("sheet", "(role x)(<= (goal x 100)(not done)) ; at last"), "infix"), end="")
    role(x)
    goal(x,100) :-
        ~done  % at last

    Raises:
        RuleSheetError: the sheet cannot be read; the error lists all faults.
    """
    own = form_of(source)
    form = form or own
    nodes, faults = parse_items(source, limits=limits)
    program = read_items(source, nodes, faults, limits=limits, open_facts=True)
    comments = comments_of(source, own)
    if form != own:
        nodes, comments = _translated(nodes, comments, program, form)
    commented = CommentedItems(nodes, comments, len(source.text))
    writer = (_KifWriter if form == "kif" else _InfixWriter)(commented, source)
    text = writer.write()
    _verify(program, comments, Source(f"{source.name}{_SUFFIX[form]}", text), form, limits)
    return text


def format_rules(rules: Iterable[Rule], form: Form) -> str:
    """Return rules and facts as text in either form; facts of one relation share lines."""
    blocks = []
    for key, group in groupby(rules, lambda rule: None if rule.body else rule.head.key):
        if key is None:
            blocks += [format_rule(rule) for rule in group]
        else:
            blocks.append("\n".join(wrapped((fact.head for fact in group), WIDTH)))
    text = "\n\n".join(blocks)
    source = Source("rules.kif", text)
    nodes, _ = parse_items(source)
    commented = CommentedItems(nodes, [], len(source.text))
    return (_KifWriter if form == "kif" else _InfixWriter)(commented, source).write()


def _translated(
    nodes: Sequence[Node], comments: Sequence[Comment], program: Program, form: Form
) -> tuple[tuple[Node, ...], list[Comment]]:
    """Convert comment marks, and turn items that are not part of the program into comments."""
    starts = {rule.node.start for rule in program.rules if rule.node}
    others = [
        Comment(f"; {''.join(_kif_chunks(node))}", node.start, node.end, own_line=True)
        for node in nodes
        if node.start not in starts
    ]
    ordered = sorted([*comments, *others], key=lambda comment: comment.start)
    kept = tuple([node for node in nodes if node.start in starts])
    return kept, [replace(comment, text=marked(comment.text, form)) for comment in ordered]


def _verify(
    program: Program, comments: Sequence[Comment], result: Source, form: Form, limits: ReadingLimits | None
) -> None:
    again = None
    with suppress(RuleSheetError):
        again = parse_program(result, limits=limits, open_facts=True)
    kept = Counter(comment.text for comment in comments_of(result, form))
    if again != program or kept != Counter(comment.text for comment in comments):
        name = program.source.name if program.source else "the sheet"
        message = f"a new layout of {name} would change rules or comments, so the sheet stays as it is"
        raise RuleSheetError(f"{message}; this is a bug in anygame, please report it with the sheet")


class _Writer:
    """Base class of the writers of both forms."""

    def __init__(self, commented: CommentedItems, source: Source) -> None:
        self._commented = commented
        self._source = source
        self._page = Page()
        self._spread: dict[int, bool] = {}

    def write(self) -> str:
        end = 0
        for row in self._rows():
            first = row[0]
            blanks = min(max(self._lines_between(end, first.start) - 1, 0), _MOST_BLANKS)
            if isinstance(first, Comment):
                if first.own_line or self._page.is_ended:
                    self._page.newline(blanks=blanks)
                self._page.comment(first.text)
            else:
                self._page.newline(blanks=blanks)
                self._row([node for node in row if isinstance(node, Node)])
            end = max(end, row[-1].end)
        return self._page.text()

    def _lines_between(self, start: int, end: int) -> int:
        return self._source.position(end)[0] - self._source.position(start)[0] if start < end else 0

    def _rows(self) -> Iterator[list[Part]]:
        """Yield comments and rules one by one, and facts in groups that may share a line."""
        row: list[Part] = []
        for item in self._commented.items:
            last = row[-1] if row else None
            if last is not None and not (
                isinstance(last, Node) and isinstance(item, Node) and self._share_line(last, item)
            ):
                yield row
                row = []
            row.append(item)
        if row:
            yield row

    def _share_line(self, left: Node, right: Node) -> bool:
        return (
            _name_of(left) == _name_of(right) != "<="
            and not self._lines_between(left.end, right.start)
            and not self._commented.has_comments(left)
            and not self._commented.has_comments(right)
        )

    def _row(self, nodes: Sequence[Node]) -> None:
        if len(nodes) > 1:
            cells = [cell for node in nodes if (cell := self._flat(node, WIDTH)) is not None]
            if len(cells) == len(nodes) and sum(map(len, cells)) <= _LONGEST_ROW:
                self._cells(_name_of(nodes[0]), cells)
                return
        for number, node in enumerate(nodes):
            if number:
                self._page.newline()
            if _name_of(node) == "<=":
                self._rule(node)
            else:
                self._node(node, formula=True)

    def _cells(self, relation: str, cells: Sequence[str]) -> None:
        row: list[str] = []
        for cell in cells:
            if row and sum(map(len, row)) + len(row) + len(cell) > WIDTH:
                self._page.row(relation, row)
                self._page.newline()
                row = []
            row.append(cell)
        self._page.row(relation, row)

    def _is_spread(self, node: Node) -> bool:
        """Return whether a formula has a disjunction that the author wrote on several lines."""
        name = fold_head(_name_of(node))
        if not node.children or name not in _JOINING:
            return False
        is_spread = self._spread.get(id(node))
        if is_spread is None:
            parts = node.children[1:]
            is_spread = name != "not" and any(self._lines_between(a.end, b.start) for a, b in pairwise(parts))
            is_spread = self._spread[id(node)] = is_spread or any(map(self._is_spread, parts))
        return is_spread

    def _flat(self, node: Node, room: int, formula: bool = True) -> str | None:
        """Return a node on one line; None if the node does not fit or a part needs a separate line."""
        if self._commented.has_comments(node) or (formula and self._is_spread(node)):
            return None
        chunks = []
        for chunk in self._chunks(node, formula):
            room -= len(chunk)
            if room < 0:
                return None
            chunks.append(chunk)
        return "".join(chunks)

    def _node(self, node: Node, formula: bool) -> None:
        flat = self._flat(node, WIDTH - self._page.column, formula)
        if flat is not None or node.children is None:
            self._page.put("".join(self._chunks(node, formula)) if flat is None else flat)
        else:
            self._broken(node, formula)

    def _bracket(
        self,
        parts: Sequence[Part],
        formula: bool,
        inner: int,
        *,
        gaps: tuple[str, str],
        separator: str = "",
        one_per_line: bool = False,
    ) -> None:
        """Write the contents of a list, with indentation ``inner`` after the first line.

        The first gap comes before the first part, and the second gap before other parts on the same line.
        The separator comes after all parts but the last.
        """
        page = self._page
        remaining = sum(isinstance(part, Node) for part in parts)
        is_first = True
        for part in parts:
            if isinstance(part, Comment):
                if part.own_line or page.is_ended:
                    page.newline(inner)
                page.comment(part.text)
                continue
            gap = gaps[not is_first]
            room = WIDTH - page.column - len(gap)
            full = one_per_line or self._flat(part, room, formula) is None
            if page.is_ended or gap == "\n" or (full and not is_first):
                page.newline(inner)
            else:
                page.put(gap)
            self._node(part, formula)
            is_first = False
            remaining -= 1
            if remaining:
                page.put(separator)

    def _rule(self, node: Node) -> None:
        self._broken(node, formula=True)

    def _broken(self, node: Node, formula: bool) -> None:
        raise NotImplementedError

    def _chunks(self, node: Node, formula: bool) -> Iterator[str]:
        raise NotImplementedError


def _name_of(node: Node) -> str:
    return node.children[0].text if node.children else node.text


def _kif_chunks(node: Node) -> Iterator[str]:
    if node.children is None:
        yield node.text
        return
    yield "("
    for number, child in enumerate(node.children):
        if number:
            yield " "
        yield from _kif_chunks(child)
    yield ")"


class _KifWriter(_Writer):
    def _chunks(self, node: Node, formula: bool) -> Iterator[str]:
        return _kif_chunks(node)

    def _broken(self, node: Node, formula: bool) -> None:
        page, base = self._page, self._page.column
        name = _name_of(node)
        joining = fold_head(name) in _JOINING
        inner = base + (len(name) + 2 if joining and name != "<=" else _INDENT)
        page.put(f"({name}")
        parts = self._commented.parts(node)
        self._bracket(parts, formula, inner, gaps=(" " if name else "", " "), one_per_line=joining)
        if page.is_comment:
            page.newline(base)
        page.put(")")


class _InfixWriter(_Writer):
    def _chunks(self, node: Node, formula: bool) -> Iterator[str]:
        brackets = _brackets(node, formula)
        yield brackets.opening
        for number, argument in enumerate((node.children or ())[1:]):
            if number:
                yield brackets.separator + brackets.gap
            yield from self._chunks(argument, brackets.formulas)
        yield brackets.closing

    def _rule(self, node: Node) -> None:
        parts = list(self._commented.parts(node))
        head = next(part for part in parts if isinstance(part, Node))
        parts.remove(head)
        self._node(head, formula=True)
        nodes = [part for part in parts if isinstance(part, Node)]
        if nodes:
            self._page.put(" :-")
            # No bracket closes an infix rule, so comments on the last lines move before the last formula.
            last = parts.index(nodes[-1])
            late = [part for part in parts[last:] if isinstance(part, Comment) and part.own_line]
            parts = [*parts[:last], *late, *(part for part in parts[last:] if part not in late)]
        self._bracket(parts, True, _INDENT, gaps=("\n", ""), separator=" &", one_per_line=True)

    def _broken(self, node: Node, formula: bool) -> None:
        page, base = self._page, self._page.column
        brackets = _brackets(node, formula)
        page.put(brackets.opening)
        parts = list(self._commented.parts(node))
        if not brackets.closing:
            # Comments come first, since nothing separates a comment after the last part from the next item.
            parts.sort(key=lambda part: isinstance(part, Node))
        self._bracket(
            parts,
            brackets.formulas,
            base + (1 if brackets.gap or not brackets.closing else _INDENT),
            gaps=("", brackets.gap),
            separator=brackets.separator,
            one_per_line=bool(brackets.gap),
        )
        if brackets.closing and page.is_comment:
            page.newline(base)
        page.put(brackets.closing)


class _Brackets(NamedTuple):
    """The text around and between the parts of a list in the infix form."""

    opening: str
    #: The text after each part but the last.
    separator: str = ""
    #: The text before each part but the first, on the same line.
    gap: str = ""
    closing: str = ""
    #: Whether the parts are formulas.
    formulas: bool = False


def _brackets(node: Node, formula: bool) -> _Brackets:
    if node.children is None:
        return _Brackets(_spelled(node.text, formula))
    name = _name_of(node)
    count = len(node.children) - 1
    operator = fold_head(name) if formula else ""
    if operator == "not" and count == 1:
        return _Brackets("~", formulas=True)
    if operator in {"and", "or"}:
        if count > 1:
            return _Brackets("(", " &" if operator == "and" else " |", " ", ")", formulas=True)
        return _Brackets(f"{operator}(", ",", "", ")", formulas=True)
    name = _spelled(name, formula)
    return _Brackets(f"{name}(", ",", "", ")") if count else _Brackets(name)


def _spelled(text: str, formula: bool) -> str:
    if text[0] == "?":
        return infix_variable(text[1:])
    return infix_constant(fold_head(text) if formula else fold(text))
