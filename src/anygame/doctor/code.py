"""A code of diagnostics: its description, and the check that reports it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from textwrap import fill
from typing import TYPE_CHECKING, Final

from anygame.language.diagnostics import Diagnostic, Note, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.doctor.sheet import Sheet
    from anygame.language.source import Span

#: Sources, by their short names in the texts of codes.
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
        "the GDL specification's demands on well-formed games: they end, and until then every "
        "role can move; every role has one goal at the end"
    ),
    "PRACTICE": "practice: faults of published rule sheets",
    "LIMITS": "none of GDL's rules: a bound of this program, since rule sheets come from strangers",
}
_WIDTH: Final = 88

#: The most diagnostics of one check; further ones would repeat the fault.
_MOST_OF_A_KIND: Final = 200


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of diagnostic.

    Attributes:
        name: the name in messages, on which tools can rely.
        severity: the severity; the highest severity if it varies.
        title: the fault in a few words.
        demand: the rule that a sheet should follow.
        why: the reason for the rule.
        source: the publication or practice behind the rule.
        bad: an example with the fault; empty if it would be too large.
        good: the same example without the fault.
        mends: the kinds of ``anygame mend --select`` that correct the fault.
        aliases: names in earlier versions for diagnostics of this code.
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
        said = [f"{self.name}: {self.title}", self.demand, self.why, f"Source: {self.source}."]
        if self.aliases:
            said.append(f"Names in earlier versions: {', '.join(self.aliases)}.")
        parts = [fill(text, _WIDTH, break_on_hyphens=False) for text in said]
        for title, example in (("Bad", self.bad), ("Good", self.good)):
            if example:
                lines = "\n".join(f"  {line}" for line in example.splitlines())
                parts.append(f"{title}:\n{lines}")
        return "\n\n".join(parts)

    def found(self, message: str, span: Span | None, *notes: Note, hint: str = "") -> Diagnostic:
        """Return a diagnostic of this kind."""
        return Diagnostic(self.name, self.severity, message, span, notes, hint)


def codes_of(module: str) -> dict[str, Code]:
    """Return the codes of a module by name, read from the TOML file of the same name."""
    package, _, name = module.rpartition(".")
    tables = tomllib.loads(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    return {code: _code(code, **table) for code, table in tables.items()}


def _code(
    name: str,
    severity: str,
    source: str,
    mends: Sequence[str] = (),
    aliases: Sequence[str] = (),
    **texts: str,
) -> Code:
    return Code(
        name,
        Severity[severity.upper()],
        source=_SOURCES.get(source, source),
        mends=tuple(mends),
        aliases=tuple(aliases),
        **texts,
    )


@dataclass(frozen=True, slots=True)
class Check:
    """A function that reports diagnostics of a sheet.

    Attributes:
        codes: the codes of its diagnostics.
        function: yields the diagnostics.
        needs_all: whether the check requires all rules of the sheet.
        once: whether only the first diagnostic at a place is reported.
    """

    codes: tuple[Code, ...]
    function: Callable[[Sheet], Iterable[Diagnostic]]
    needs_all: bool = True
    once: bool = False

    def diagnostics(self, sheet: Sheet) -> Iterator[Diagnostic]:
        """Yield the diagnostics up to a bound; at the bound, the last one says that there are more."""
        last: Diagnostic | None = None
        found = self.function(sheet)
        for number, diagnostic in enumerate(_once(found) if self.once else found, 1):
            if number > _MOST_OF_A_KIND:
                assert last is not None
                yield replace(last, notes=(*last.notes, Note("... and more of this kind after this one")))
                return
            if last is not None:
                yield last
            last = diagnostic
        if last is not None:
            yield last


def check(
    *codes: Code, needs_all: bool = True, once: bool = False
) -> Callable[[Callable[[Sheet], Iterable[Diagnostic]]], Check]:
    """Turn a function that yields diagnostics of some codes into a check."""
    return lambda function: Check(codes, function, needs_all, once)


def _once(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    seen: set[Span | None] = set()
    for each in found:
        if each.span not in seen:
            seen.add(each.span)
            yield each
