r"""Parser of replies in free form, which finds the answer in a reply and the terms of the answer.

Terms can be in KIF or infix, with bullets, numbers, quotes, commas or JSON around them. The answer is the
last block between lines of three backticks. Without a block, the answer is the last ``<answer>``, the last
``\boxed{}`` or the text after the last ``Answer:``. Without these marks, the whole reply is the answer, but
only its unambiguous terms count. The text of a reply is never evaluated.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.language.rules import KEYWORDS
from anygame.language.terms import Compound, Constant, Term
from anygame.quiz.wording import infix_of_sentence
from anygame.sheets.scrambling import unambiguous

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Number of characters at the end of a reply that are read.
LONGEST_REPLY: Final = 100_000
#: Maximum number of terms of an answer.
MOST_ITEMS: Final = 5_000
#: Maximum depth of nested terms.
_DEEPEST: Final = 50
_FENCE: Final = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_TAG: Final = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_BOXED: Final = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_LABEL: Final = re.compile(r"\banswer(?: is)?\**\s*:", re.IGNORECASE)
_BULLET: Final = re.compile(r"^\s*(?:[-*•+]|\(?\d{1,4}[.)])\s+")
_TOKEN: Final = re.compile(r"'(?:[^'\s]|'')+'|[(),;&\n]|:-|~|[^\s(),;&~]+")
_NAMES_OF_SHEETS: Final = re.compile(r"[^\s();]+")
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")
_ENDS: Final = ",;&\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer in a reply. If the answer ``is_marked``, all words of the answer count."""

    text: str
    is_marked: bool

    def words(self, wanted: Iterable[str]) -> list[str]:
        """Return each occurrence of a wanted word in the answer, in lower case."""
        return [word.lower() for word in re.findall(rf"\b(?:{'|'.join(wanted)})\b", self.text, re.IGNORECASE)]

    def numbers(self) -> list[str]:
        """Return the numbers in the answer, in the shortest spelling."""
        return [f"{float(text):g}" for text in _NUMBER.findall(self.text) if len(text) < 20]


def answer_in(reply: str) -> Answer:
    r"""Return the answer in a reply.

    >>> answer_in("Let me see.\n```\nyes\n```").text, answer_in("It is over.").is_marked
    ('yes\n', False)
    """
    reply = reply[-LONGEST_REPLY:].replace("\r\n", "\n")
    for pattern in (_FENCE, _TAG, _BOXED):
        if blocks := pattern.findall(reply):
            return Answer(blocks[-1], True)
    after = _LABEL.split(reply)[-1]
    is_marked = after != reply and bool(after.strip())
    return Answer(after if is_marked else reply, is_marked)


class ItemReader:
    r"""Reader of the terms of an answer, given the names of a sheet.

    >>> reader = ItemReader("(role x) (legal x (mark 1 2)) (legal x noop)")
    >>> [str(term) for term in reader.items(Answer("1. (mark 1 2)\n- Mark(2,1), noop\nx: mark 2 2", True))]
    ['(mark 1 2)', '(mark 2 1)', 'noop', '(mark 2 2)']
    >>> [str(term) for term in reader.items(Answer("I think (mark 1 1) or mark(1, 2) is legal.", False))]
    ['(mark 1 1)', '(mark 1 2)']
    """

    def __init__(self, rules: str) -> None:
        self._names = set(_NAMES_OF_SHEETS.findall(rules)) | set(KEYWORDS) | {"not", "distinct"}
        self._lower = unambiguous(self._names)

    def items(self, answer: Answer) -> list[Term]:
        """Return the terms of an answer in order. Text that cannot be parsed becomes an unknown name."""
        terms: list[Term] = []
        text = _lines_of_json(answer.text) or answer.text
        lines = [_BULLET.sub("", line).strip().strip('`"*').strip() for line in text.split("\n")]
        tokens = self._tokens("\n".join(infix_of_sentence(line) or line for line in lines))
        for group in _Groups(tokens):
            terms += self._read(group, is_marked=answer.is_marked)
            if len(terms) > MOST_ITEMS:
                # Terms beyond the limit are replaced by one unknown name, which makes the reply wrong.
                terms[MOST_ITEMS:] = [Constant(f"more than {MOST_ITEMS:,} terms")]
                break
        return list(dict.fromkeys(terms))

    def _tokens(self, text: str) -> list[tuple[str, bool]]:
        """Return each token, and whether the token follows the previous token without a blank."""
        tokens = []
        end = -1
        for match in _TOKEN.finditer(text.replace("`", " ").replace('"', " ").replace("**", " ")):
            token = match[0]
            if len(token) > 1 and token not in self._names and not token.startswith("'"):
                token = token.rstrip(".!?]}") or token
                token = token.lstrip("[{") or token
            tokens.append((token, match.start() == end))
            end = match.end()
        return tokens

    def _read(self, group: list[Term | str], *, is_marked: bool) -> Iterator[Term]:
        while len(group) > 1 and isinstance(group[0], str) and group[0].endswith(":"):
            group = group[1:]
        names = [part for part in group if isinstance(part, str)]
        terms = [part for part in group if isinstance(part, Term)]
        if terms and names[-1:] == ["not"] and group[-2:] == ["not", terms[-1]]:
            terms[-1] = Compound("not", (terms[-1],))
        known = [self._folded(name) for name in names]
        if terms:
            yield from map(self._restored, terms)
        elif names and (is_marked or all(name in self._names for name in known)):
            first, *others = known
            yield Compound(first, tuple(map(Constant, others))) if others else Constant(first)

    def _folded(self, name: str) -> str:
        if len(name) > 2 and name[0] == name[-1] == "'":
            name = name[1:-1].replace("''", "'")
        return name if name in self._names else self._lower.get(name.lower(), name)

    def _restored(self, term: Term) -> Term:
        if isinstance(term, Compound):
            return Compound(self._folded(term.functor), tuple(map(self._restored, term.arguments)))
        return Constant(self._folded(str(term)))


class _Groups:
    """Iterates over groups of terms and names. Commas and line ends outside parentheses separate groups."""

    def __init__(self, tokens: Sequence[tuple[str, bool]]) -> None:
        self._tokens = tokens
        self._place = 0

    def __iter__(self) -> Iterator[list[Term | str]]:
        group: list[Term | str] = []
        while self._place < len(self._tokens):
            token = self._tokens[self._place][0]
            if token in _ENDS or token in (":-", "and"):
                # The head of a rule is not a condition.
                if group and token != ":-":
                    yield group
                group = []
                self._place += 1
                continue
            part = self._part(0)
            if part is not None:
                group += _conditions(part)
        if group:
            yield group

    def _part(self, depth: int) -> Term | str | None:
        """Return the next name or term, or None if a parenthesis is misplaced."""
        token = self._tokens[self._place][0]
        self._place += 1
        if token == "~":
            inner = self._part(depth + 1) if self._place < len(self._tokens) and depth < _DEEPEST else None
            return None if inner is None else Compound("not", (_term(inner),))
        if token == "(":
            parts = self._inside(depth)
            if not parts:
                return None
            if len(parts) == 1:
                return parts[0] if isinstance(parts[0], Term) else Constant(parts[0])
            if isinstance(parts[0], Term):
                return Compound("and", tuple(map(_term, parts)))
            return Compound(parts[0], tuple(map(_term, parts[1:])))
        if token in ")" + _ENDS:
            return None
        if self._place < len(self._tokens) and self._tokens[self._place] == ("(", True):
            self._place += 1
            parts = self._inside(depth)
            return Compound(token, tuple(map(_term, parts))) if parts else token
        return token

    def _inside(self, depth: int) -> list[Term | str]:
        """Return the parts up to the closing parenthesis; an empty list if that parenthesis is missing."""
        parts: list[Term | str] = []
        while self._place < len(self._tokens) and depth < _DEEPEST:
            token = self._tokens[self._place][0]
            if token == ")":
                self._place += 1
                return parts
            if token in _ENDS:
                self._place += 1
            elif (part := self._part(depth + 1)) is not None:
                parts.append(part)
        return []


def _conditions(part: Term | str) -> list[Term | str]:
    """Return the conditions if the part is a rule ``(<= head conditions ...)``, or else the part itself."""
    if isinstance(part, Compound) and part.functor in ("<=", "and"):
        return list(part.arguments[part.functor == "<=" :])
    return [part]


def _term(part: Term | str) -> Term:
    return part if isinstance(part, Term) else Constant(part)


def _lines_of_json(text: str) -> str:
    """Return the strings and integers in a JSON text, one per line; an empty string for other text."""
    try:
        pending = [json.loads(text)]
    except (ValueError, RecursionError):
        return ""
    lines = []
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += reversed(value.values())
        elif isinstance(value, list):
            pending += reversed(value)
        elif isinstance(value, str | int):
            lines.append(str(value))
    return "\n".join(lines)
