"""The findings of a sheet as plain data, which one process sends to another. All places are offsets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from anygame.doctor.mending import Fix
from anygame.language_server.domains import DomainTable
from anygame.sheets.edits import Edit


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding."""

    start: int
    end: int
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic at the offsets ``start`` to ``end``.

    ``severity`` is 1 for an info, 2 for a warning, 3 for an error; ``message`` has hints on further lines.
    """

    code: str
    severity: int
    message: str
    start: int
    end: int
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of a sheet, and the possible values of each place, if known."""

    findings: tuple[Finding, ...] = ()
    domains: DomainTable = field(default_factory=DomainTable)

    def as_json(self) -> dict[str, Any]:
        """Return them as plain data."""
        return {
            "findings": [asdict(finding) for finding in self.findings],
            "domains": self.domains.as_json(),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Findings:
        """Return the findings that `as_json` made plain."""
        return cls(tuple(map(_finding, data["findings"])), DomainTable.from_json(data["domains"]))


def _finding(data: dict[str, Any]) -> Finding:
    related = tuple(Related(**each) for each in data["related"])
    fixes = []
    for fix in data["fixes"]:
        edits = tuple(Edit(edit["start"], edit["end"], tuple(edit["pieces"])) for edit in fix["edits"])
        fixes.append(Fix(fix["title"], edits, tuple(fix["kinds"]), fix["sure"]))
    return Finding(**{**data, "related": related, "fixes": tuple(fixes)})
