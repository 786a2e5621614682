"""Derivations and failures of atoms, as plain data and as text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from anygame.markup import code, folded, html

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Derivation:
    """A derivation tree: why a fact or formula holds. Printing a derivation draws the tree.

    Attributes:
        conclusion: the fact or formula, as KIF text.
        reason: ``fact``, ``state``, ``move``, ``rule``, ``shown`` (derived above in the same tree) or
            ``deeper`` (derived, but omitted because of its depth). The reason of a test is ``distinct`` or
            ``absent`` (no rule or fact derives the negated atom).
        place: the place ``name:line:column`` of the rule or fact in the sheet; empty without a place.
        premises: a derivation for each part of the rule's body.
    """

    conclusion: str
    reason: str
    place: str = ""
    premises: tuple[Derivation, ...] = ()

    def __iter__(self) -> Iterator[Derivation]:
        """Yield this derivation and all derivations within it."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.premises)

    def __repr__(self) -> str:
        lines: list[str] = []
        pending: list[tuple[Derivation, str, str]] = [(self, "", "")]
        while pending:
            node, first, rest = pending.pop()
            lines.append(f"{first}{node.conclusion}   [{node._reason()}]")
            for number, premise in enumerate(reversed(node.premises)):
                branch, indent = ("├─ ", "│  ") if number else ("└─ ", "   ")
                pending.append((premise, rest + branch, rest + indent))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts: list[str] = []
        pending: list[Derivation | str] = [self]
        while pending:
            node = pending.pop()
            if isinstance(node, str):
                parts.append(node)
                continue
            line = f'{code(node.conclusion)} <small style="opacity: 0.7">{html(node._reason())}</small>'
            if not node.premises:
                parts.append(f'<div style="margin-left: 1em">{line}</div>')
                continue
            parts.append(f'<details open><summary>{line}</summary><div style="margin-left: 1.2em">')
            pending += ["</div></details>", *reversed(node.premises)]
        return "".join(parts)

    def _reason(self) -> str:
        words = {
            "state": "in the state",
            "move": "a move made",
            "absent": "nothing derives the atom",
            "distinct": "the terms differ",
            "fact": "fact",
            "rule": "by the rule at" if self.place else "from the premises below",
            "shown": "shown above",
            "deeper": "nested too deep to show; explain this atom separately",
        }
        return f"{words[self.reason]}{' ' + self.place if self.place else ''}"

    def to_dict(self) -> dict[str, object]:
        """Return the derivation as plain data."""
        return {
            "conclusion": self.conclusion,
            "reason": self.reason,
            "place": self.place,
            "premises": [premise.to_dict() for premise in self.premises],
        }


@dataclass(frozen=True, slots=True)
class Attempt:
    """A failed attempt to derive an atom with one rule.

    Attributes:
        rule: the rule as KIF text.
        place: the place of the rule in the sheet.
        held: the parts of the rule's body that hold together, with values for their variables.
        failed: the next part of the body, which fails for the same values.
    """

    rule: str
    place: str
    held: tuple[str, ...]
    failed: str

    def __str__(self) -> str:
        lines = [f"the rule at {self.place}: {self.rule}" if self.place else f"the rule {self.rule}"]
        lines += [f"    holds  {part}" for part in self.held]
        lines.append(f"    fails  {self.failed}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        first, *rest = str(self).splitlines()
        steps = "".join([f'<div style="margin-left: 1em">{code(line.strip())}</div>' for line in rest])
        return folded(first, steps, is_open=True)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why no rule or fact derives an atom: one attempt for each candidate rule."""

    atom: str
    attempts: tuple[Attempt, ...]

    def __repr__(self) -> str:
        if not self.attempts:
            return f"{self.atom} does not hold: no rule or fact can derive it"
        return "\n".join([f"{self.atom} does not hold", *map(str, self.attempts)])

    def _repr_html_(self) -> str:
        first, *_ = str(self).splitlines()
        return f"<div>{html(first)}</div>" + "".join([each._repr_html_() for each in self.attempts])

    def to_dict(self) -> dict[str, object]:
        """Return the failure as plain data."""
        attempts = [asdict(attempt) | {"held": list(attempt.held)} for attempt in self.attempts]
        return {"atom": self.atom, "attempts": attempts}
