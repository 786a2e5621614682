"""A whole program read leniently: roles first, then what the readings say, until nothing is left to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.edits import Mend, apply_edits
from anygame.analysis.lenient.readings import LENIENT_MENDS, lenient_mends
from anygame.analysis.lenient.roles import role_mends
from anygame.language.forms import form_of
from anygame.language.parser import parse_program
from anygame.language.rules import format_program
from anygame.language.source import Source

if TYPE_CHECKING:
    from collections.abc import Collection

    from anygame.language.rules import Program

#: What is written for one rule may leave variables unbound again, inside negations inside negations; roles
#: are a round of their own.
_ROUNDS: Final = 7


def read_leniently(program: Program, *, case_sensitive: bool = True) -> tuple[Source, list[Mend]]:
    """Return the text of a program in which what GDL leaves unbound is bound as Prolog-like readers mean it.

    Args:
        program: a program that was read from a text; its facts may have variables.
        case_sensitive: how the text is read.

    Returns:
        The new text, in KIF and under the old name (a name of an infix sheet has ``.kif`` after it), and what
        was read so.
    """
    source = program.source
    assert source is not None
    if form_of(source) != "kif":
        kif = Source(f"{source.name}.kif", format_program(program))
        program = parse_program(kif, open_facts=True)
    mended, mends = with_readings(program, ("role", *LENIENT_MENDS), case_sensitive)
    assert mended.source is not None
    return mended.source, mends


def with_readings(
    program: Program, kinds: Collection[str], case_sensitive: bool = True
) -> tuple[Program, list[Mend]]:
    """Return a program with its readings written out, and these: what is written may have more to read.

    Roles come first, so that the text is the same whoever has added them.
    """
    done: list[Mend] = []
    for _ in range(_ROUNDS):
        mends = (role_mends(program) if "role" in kinds else []) or lenient_mends(program, kinds)
        if not mends:
            break
        done += mends
        assert program.source is not None
        text = apply_edits(program.source.text, [edit for mend in mends for edit in mend.edits])
        again = Source(program.source.name, text)
        program = parse_program(again, case_sensitive=case_sensitive, open_facts=True)
    return program, done
