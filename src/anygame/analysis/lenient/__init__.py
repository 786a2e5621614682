"""Lenient reading: what sheets written for Prolog-like reasoners mean where GDL leaves a variable unbound.

A variable that only negated formulas have, as in ``(not (true (board ?p ?x)))``, is read "for no ?x", as by
negation as failure (Clark, "Negation as failure", 1978). A variable of a head that nothing binds is bound by
``role``, ``base`` or ``input``, or by what can stand there at all. All of this is written out as edits of the
text, so that the result is plain GDL.
"""

from __future__ import annotations

from anygame.analysis.lenient.readings import LENIENT_MENDS, lenient_mends

__all__ = ["LENIENT_MENDS", "lenient_mends"]
