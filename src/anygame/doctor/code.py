"""Codes of diagnostics with their descriptions, and the checks that report them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import islice
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from anygame.language.diagnostics import Diagnostic, Note, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anygame.doctor.sheet import Sheet
    from anygame.language.source import Span

#: Publications and practices behind codes, by their short names in the TOML files.
_SOURCES: Final = {
    "GDL": (
        "Love, Hinrichs, Haley, Schkufza, Genesereth: General Game Playing: Game Description "
        "Language Specification (Stanford, 2008)"
    ),
    "GDL2": (
        "Thielscher: A General Game Description Language for Incomplete Information Games (AAAI "
        "2010); Schiffel and Thielscher (JAIR 49, 2014)"
    ),
    "INFIX": "the infix form of Stanford's course notes on general game playing",
    "KIF": "Genesereth, Fikes: Knowledge Interchange Format, Version 3.0 (Stanford, 1992)",
    "STRATA": (
        "Apt, Blair, Walker: Towards a Theory of Declarative Knowledge (1988), taken up by the "
        "GDL specification"
    ),
    "VALIDATOR": "practice: the checks of the gdl-validation library and of GGP-Base's StaticValidator",
    "PLAY": (
        "the definition of well-formed games in the GDL specification: every game ends, every role "
        "can move until then, and every role has one goal at the end"
    ),
    "PRACTICE": "practice: faults of published rule sheets",
    "LIMITS": "not a rule of GDL: a limit of this program, which protects it from hostile rule sheets",
}
_WIDTH: Final = 88
#: Maximum number of diagnostics that one check reports.
_MOST_OF_A_KIND: Final = 200


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of diagnostic.

    Attributes:
        name: the stable name, which messages show and tools can use.
        severity: the highest severity of the diagnostics.
        title: the fault in a few words.
        demand: the rule that a sheet should follow.
        why: the reason for the rule.
        source: the publication or practice behind the rule.
        bad: an example with the fault; empty if the example is too large.
        good: the same example without the fault.
        mends: the kinds of ``anygame mend --select`` that correct the fault.
        aliases: the names of this code in earlier versions.
    """

    name: str
    severity: Severity
    title: str
    demand: str
    why: str
    source: str
    bad: str = ""
    good: str = ""
    mends: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole description as text."""
        paragraphs = [f"{self.name}: {self.title}", self.demand, self.why, f"Source: {self.source}."]
        if self.aliases:
            paragraphs.append(f"Names in earlier versions: {', '.join(self.aliases)}.")
        parts = [fill(text, _WIDTH, break_on_hyphens=False) for text in paragraphs]
        for title, example in (("Bad", self.bad), ("Good", self.good)):
            if example:
                lines = "\n".join(f"  {line}" for line in example.splitlines())
                parts.append(f"{title}:\n{lines}")
        return "\n\n".join(parts)

    def found(self, message: str, span: Span | None, *notes: Note, hint: str = "") -> Diagnostic:
        """Return a diagnostic with this code."""
        return Diagnostic(self.name, self.severity, message, span, notes, hint)


def read_codes(theme: str) -> tuple[Code, ...]:
    """Return the codes of the file ``codes/THEME.toml``."""
    path = files("anygame.doctor").joinpath("codes", f"{theme}.toml")
    tables: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    for table in tables.values():
        table["severity"] = Severity[table["severity"].upper()]
        table["source"] = _SOURCES.get(table["source"], table["source"])
        table |= {key: tuple(table.get(key, ())) for key in ("mends", "aliases")}
    return tuple(Code(name, **table) for name, table in tables.items())


#: Codes of the parser, codes of the preparation of rules for the reasoner, and codes of play.
READING: Final = read_codes("reading")
REASONING: Final = read_codes("reasoning")
PLAY: Final = read_codes("play")
#: Names of the modules in ``codes``, and of the files with the codes that these modules report.
THEMES: Final = (
    "conditions", "declarations", "foreign", "goals", "large_join", "likely_typo", "lost_fluent",
    "names", "never_fires", "recursion", "same_rules", "swapped_arguments", "symmetry", "tables",
)  # fmt: skip
#: All codes by name.
CODES: Final = {
    code.name: code for codes in (READING, REASONING, *map(read_codes, THEMES), PLAY) for code in codes
}


@dataclass(frozen=True, slots=True)
class Check:
    """A function that reports diagnostics of a sheet.

    Attributes:
        codes: the codes of the diagnostics.
        function: the function that yields the diagnostics.
        needs_all: whether the check requires all rules of the sheet.
        once: whether the check reports only the first diagnostic at each span.
    """

    codes: tuple[Code, ...]
    function: Callable[[Sheet], Iterable[Diagnostic]]
    needs_all: bool = True
    once: bool = False

    def diagnostics(self, sheet: Sheet) -> Iterator[Diagnostic]:
        """Yield the first 200 diagnostics; a note on the last diagnostic says whether there are more."""
        diagnostics = self.function(sheet)
        if self.once:
            by_span: dict[Span | None, Diagnostic] = {}
            for diagnostic in diagnostics:
                by_span.setdefault(diagnostic.span, diagnostic)
            diagnostics = by_span.values()
        first = list(islice(diagnostics, _MOST_OF_A_KIND + 1))
        if len(first) > _MOST_OF_A_KIND:
            *first, last, _ = first
            first.append(replace(last, notes=(*last.notes, Note("... and more of this kind after this one"))))
        yield from first


def check(
    *codes: str, needs_all: bool = True, once: bool = False
) -> Callable[[Callable[[Sheet], Iterable[Diagnostic]]], Check]:
    """Return a decorator that turns a function into a check, which may report the given codes."""
    return lambda function: Check(tuple(CODES[code] for code in codes), function, needs_all, once)
