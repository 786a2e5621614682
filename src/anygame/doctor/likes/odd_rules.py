"""What is said of a rule that has no like where others have one, and of one that is not quite its like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anygame.doctor.likes.likes import text_of
from anygame.language.diagnostics import Note

if TYPE_CHECKING:
    from anygame.doctor.code import Code
    from anygame.doctor.likes.likes import Parts
    from anygame.language.diagnostics import Diagnostic
    from anygame.language.rules import Rule


def rule_without_like(code: Code, rule: Rule, like: Parts, where: str, name: str = "") -> Diagnostic:
    """Return what is said of a rule whose like is missing.

    Args:
        code: of the finding.
        rule: the rule.
        like: what is missing.
        where: for whom or what rules are alike, as a part of a sentence.
        name: of what the rule speaks of.
    """
    message = f"this rule{_of(name)} has no like {where}, as all others of them have"
    return code.found(message, rule.span, hint=text_of(like))


def differing_rule(
    code: Code, rule: Rule, other: Rule, like: Parts, where: str, name: str = ""
) -> Diagnostic:
    """Return what is said of a rule that differs from what another one would be there: its ``like``."""
    message = f"this rule{_of(name)} differs from its like {where}, and no other does"
    return code.found(message, rule.span, Note("its like is here", other.span), hint=text_of(like))


def _of(name: str) -> str:
    return f" of {name}" if name else ""
