"""Find sentences of README, chapters and sources that break the rules of plain English.

    python tools/prose.py                 # the number of such sentences by kind, in docs and src
    python tools/prose.py src/anygame/match docs/guide/web.md   # each such sentence, with its place

Exit status: 1 if there are more such sentences than `MOST` allows. Lower `MOST` whenever sentences are
rewritten. The rules are in docs/develop/contributing.md.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
#: Maximum number of such sentences in the chapters and in the sources. Never raise these numbers.
MOST: Final = {"docs": 11, "src": 91}
_LONGEST: Final = 30
_RULES: Final = {
    "'what' or 'who' at the start, without its noun": (
        r"(?:^|[.;:(] ?)(?:what|who|whoever|whatever) (?!if\b|for\b|about\b)[a-z]+"
    ),
    "'of what', 'by what', without its noun": (
        r"\b(?:of|by|for|from|to|with|and|or|as|than|return|yield) what (?!if\b)[a-z]+"
    ),
    "'of before'": r"\bof before\b",
    "'go on with' for resume": r"\b(?:go|goes|gone|went) on with\b",
    "'stands' for is": r"\bstands?\b(?! (?:in for|alone))",
    "'is told' for receives or says": r"\b(?:is|are|was|were|be) told\b",
    "'none that'": r"\bnone that\b",
    "'drawn' for sampled": r"\b(?:moves?|states?|openings?) (?:is|are|was|were|that is|that are) drawn\b",
    "'nothing that'": r"\bnothing that\b",
    "'those of'": r"\b(?:those|that) of (?:before|now|others)\b",
    "'so that' after a semicolon": r"; [^.;]*\bso that\b",
}
_PATTERNS: Final = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _RULES.items()}
_CODE: Final = re.compile(r"^```[\s\S]*?^```$|^<!--.*-->$|^\|.*$|^ {4}.*$", re.MULTILINE)
_DOCTEST: Final = re.compile(r"^\s*>>>[\s\S]*?(?:\n\s*\n|\Z)", re.MULTILINE)
_MARKS: Final = re.compile(r"``[^`]*``|`[^`]*`|\]\([^)]*\)|[\[*]")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`(\[*!])|\n\s*\n|\n\s*(?=[-*] |\w+: )|:\s*\n")


class Text(NamedTuple):
    """A piece of prose, and the line at which it begins."""

    line: int
    text: str


class Hit(NamedTuple):
    """A sentence that breaks a rule."""

    line: int
    rule: str
    sentence: str


def texts(path: Path) -> Iterator[Text]:
    """Yield the prose of a chapter, or the docstrings, comments and messages of a module."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield Text(1, _without(source, _CODE))
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 1:
            yield Text(node.lineno, _without(node.value, _DOCTEST))
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line, comment = token.start[0], token.string.lstrip("#: ")
            if token.line[: token.start[1]].strip():
                yield Text(line, comment)
            else:
                comments.append((line, comment))
    start, last, lines = 0, -1, list[str]()
    for line, comment in [*comments, (-1, "")]:
        if line != last + 1 and lines:
            yield Text(start, "\n".join(lines))
            lines = []
        start = line if not lines else start
        last = line
        lines.append(comment)


def hits(path: Path) -> Iterator[Hit]:
    """Yield the sentences of a file that break a rule."""
    for text in texts(path):
        for start, sentence in _sentences(text.text):
            line = text.line + text.text.count("\n", 0, start)
            plain = " ".join(_MARKS.sub(" x ", sentence).split())
            for rule, pattern in _PATTERNS.items():
                if pattern.search(plain):
                    yield Hit(line, rule, plain)
            if len(plain.split()) > _LONGEST:
                yield Hit(line, f"more than {_LONGEST} words", plain)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for gap in _SENTENCE.finditer(text):
        yield start, text[start : gap.start()]
        start = gap.end()
    yield start, text[start:]


def _without(text: str, pattern: re.Pattern[str]) -> str:
    """Return the text without matches of a pattern, but with their line breaks, to keep line numbers."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", "", match[0]), text)


def rooms() -> dict[str, list[Path]]:
    """Return the files to read: of ``docs``, and of each folder of the sources."""
    chapters = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {"docs": [path for path in chapters if "_site" not in path.parts]}
    for path in sorted((ROOT / "src" / "anygame").rglob("*.py")):
        named.setdefault("/".join(path.relative_to(ROOT).parts[:-1][:3]), []).append(path)
    return named


def main() -> int:
    """Count the sentences that break a rule, or list these sentences for the given files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders: list their sentences")
    parser.add_argument("--quiet", action="store_true", help="print only numbers above the limits")
    options = parser.parse_args()
    paths = options.paths
    for path in paths:
        for file in sorted(path.rglob("*.*")) if path.is_dir() else [path]:
            if file.suffix not in {".md", ".py"}:
                continue
            for hit in hits(file):
                print(f"{file}:{hit.line}: {hit.rule}: {hit.sentence[:200]}")
    if paths:
        return 0
    counted = {
        room: Counter(hit.rule for path in files for hit in hits(path)) for room, files in rooms().items()
    }
    rules = sum(counted.values(), Counter[str]())
    if not options.quiet:
        for room, found in sorted(counted.items(), key=lambda item: -item[1].total()):
            print(f"{found.total():6,}  {room}")
        print(*(f"{number:6,}  {rule}" for rule, number in rules.most_common()), sep="\n")
    totals = {"docs": counted["docs"].total(), "src": rules.total() - counted["docs"].total()}
    over = {part: total for part, total in totals.items() if total > MOST[part]}
    for part, total in over.items():
        print(f"{part}: {total:,} sentences break a rule, {MOST[part]:,} are allowed", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    raise SystemExit(main())
