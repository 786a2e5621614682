"""What is wrong in a state of play."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.language.source import Span


class Fault(NamedTuple):
    """One thing that is wrong in a state.

    Attributes:
        code: its kind.
        key: distinguishes faults of one kind; of each only the first is reported.
        message: what is wrong.
        span: where in the sheet, or what finds that out, where it takes long.
        hint: what to try, or empty.
    """

    code: str
    key: str
    message: str
    span: Span | Callable[[], Span | None] | None
    hint: str = ""
