"""How each rule is read whose variables GDL leaves unbound, as mends of the sheet's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anygame.analysis.edits import Edit, Mend, end_of_line
from anygame.analysis.lenient.bindings import Binder
from anygame.analysis.lenient.negations import local_variables, name_of, shape_of
from anygame.analysis.normal import TooManyAlternatives, is_ground_fact, normalise
from anygame.analysis.safety import unsafe_variables
from anygame.analysis.value_relations import ValueRelations
from anygame.language.forms import comments_of, form_of
from anygame.language.rules import Atom, Not

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.analysis.lenient.negations import Local
    from anygame.language.rules import Distinct, Program, Rule
    from anygame.language.terms import Variable

#: The kinds of mends that lenient reading makes.
LENIENT_MENDS: Final = ("negation", "distinct", "binding", "domain")


def lenient_mends(program: Program, kinds: Iterable[str] = LENIENT_MENDS) -> list[Mend]:
    """Return how the variables of a program that GDL leaves unbound are read, as edits of its KIF text.

    What is written for one rule may leave variables unbound again, so this is to be asked until there are
    no mends any more.

    Args:
        program: what was read from the text; its facts may have variables.
        kinds: which mends, of `LENIENT_MENDS`.
    """
    source = program.source
    wanted = frozenset(kinds) & set(LENIENT_MENDS)
    if source is None or form_of(source) != "kif" or not wanted:
        return []
    unbound = {number: found for number, rule in enumerate(program.rules) if (found := _unbound(rule))}
    if not unbound:
        return []
    comments = [(comment.start, comment.end) for comment in comments_of(source, "kif")]
    relations = ValueRelations(program)
    readings = _Readings(comments, relations, Binder(program, relations, unbound))
    mends = [mend for number, free in unbound.items() for mend in readings.mends(program.rules[number], free)]
    return [mend for mend in mends if mend.kind in wanted]


def _unbound(rule: Rule) -> frozenset[Variable]:
    """Return the variables of a rule that nothing binds; none of rules without a place in the text."""
    if rule.node is None or is_ground_fact(rule):
        return frozenset()
    try:
        return frozenset(variable for part in normalise(rule) for variable, _ in unsafe_variables(part))
    except TooManyAlternatives:
        return frozenset()


@dataclass
class _Readings:
    """Reads rules one after the other; the same negation has the same relation everywhere.

    Attributes:
        comments: where the comments of the text stand.
        relations: names of relations.
        binder: finds what binds variables of heads.
    """

    comments: Sequence[tuple[int, int]]
    relations: ValueRelations
    binder: Binder

    def __post_init__(self) -> None:
        self._helpers: dict[str, str] = {}

    def mends(self, rule: Rule, unbound: frozenset[Variable]) -> Iterator[Mend]:
        """Yield how the unbound variables of a rule are read."""
        binding = self.binder.binding(rule, unbound, self.comments)
        if binding is not None:
            yield binding
        for local in local_variables(rule, unbound):
            yield self._negation(rule, local) if isinstance(local.formula, Not) else self._distinct(local)

    def _negation(self, rule: Rule, local: Local) -> Mend:
        """Return the mend that denies a relation of the bound variables instead of a formula."""
        assert isinstance(local.formula, Not)
        formula = local.formula.formula
        node = formula.node
        assert rule.node is not None
        assert node is not None
        outer = [variable for variable in dict.fromkeys(formula.variables()) if variable not in local.free]
        shape = shape_of(formula, outer)
        edits = []
        name = self._helpers.get(shape)
        if name is None:
            name = self._helpers[shape] = self.relations.new_name(f"some_{name_of(formula)}")
            text = node.span.text
            has_comment = any(node.start <= start < node.end for start, _ in self.comments)
            line = f"\n(<= {Atom(name, tuple(outer))} {text if has_comment else formula})"
            place = end_of_line(node.source.text, rule.node.end, self.comments)
            edits = [Edit(place, place, (line,))]
        helper = Atom(name, tuple(outer))
        edits.insert(0, Edit(node.start, node.end, (str(helper),)))
        message = f"{formula} is read for no {_listed(local.free)}: {helper} says that there is one"
        return Mend("negation", message, node.span, tuple(edits))

    def _distinct(self, local: Local) -> Mend:
        """Return the mend that leaves out what always holds: something else there is always."""
        formula: Not | Distinct = local.formula
        node = formula.node
        assert node is not None
        text = node.source.text
        start = node.start
        while text[start - 1] in " \t" and text[node.end : node.end + 1] in {")", "\n", "\r", " ", ""}:
            start -= 1
        message = f"{formula} is left out: nothing says what {_listed(local.free)} is, so it always holds"
        return Mend("distinct", message, node.span, (Edit(start, node.end, ("",)),))


def _listed(variables: Iterable[Variable]) -> str:
    return " and no ".join(sorted(map(str, variables)))
