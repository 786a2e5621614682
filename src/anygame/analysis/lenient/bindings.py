"""Variables of heads that nothing binds: by ``role``, ``base`` or ``input``, or by what can stand there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.analysis.edits import Edit, Mend, end_of_line
from anygame.analysis.sorts import ROLE, Sorts
from anygame.language.rules import Atom, Literal, Rule
from anygame.language.terms import Compound, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anygame.analysis.declarations import ValueRelations
    from anygame.analysis.sorts import Place
    from anygame.language.rules import Program
    from anygame.language.terms import Term

#: What declares the last argument of a head.
_DECLARES: Final = {"next": "base", "init": "base", "legal": "input"}
#: Heads that describe a state: here "any" is not what a rule says that forgets to say which.
_TELLS: Final = frozenset(("next", "legal", "goal", "sees", "percept", "role"))
_LINE: Final = 110


class Binder:
    """Finds what binds variables of heads.

    Args:
        program: the rules.
        relations: for sets of constants.
        unbound: which variables of which rules nothing binds.
    """

    def __init__(
        self, program: Program, relations: ValueRelations, unbound: Mapping[int, frozenset[Variable]]
    ) -> None:
        self._rules = program.rules
        self._relations = relations
        self._unbound = unbound
        self._sorts = Sorts(program.rules)
        self._made: dict[Place, str] = {}
        self._new: list[Rule] = []

    def binding(
        self, rule: Rule, unbound: frozenset[Variable], comments: Sequence[tuple[int, int]]
    ) -> Mend | None:
        """Return the mend that binds the unbound variables of a head, None if something is left unbound."""
        head = rule.head
        left = [variable for variable in dict.fromkeys(head.variables()) if variable in unbound]
        if head.predicate in {"legal", "goal"} and rule.body and left and left[0] is head.arguments[0]:
            del left[0]  # that is a mend of its own
        if not left:
            return None
        declared = self._declared(head, left)
        atoms = [declared] if declared else []
        left = [variable for variable in left if declared is None or variable not in declared.variables()]
        kind = "binding"
        if any(self._sorts.of_variable(rule, variable) != self._sorts.of(ROLE) for variable in left):
            if head.predicate in _TELLS:
                return None
            kind = "domain"
        for variable in left:
            name = self._relation(self._sorts.of_variable(rule, variable))
            if name is None:
                return None
            atoms.append(Atom(name, (variable,)))
        return self._mend(rule, kind, atoms, comments)

    # -- base and input

    def _declared(self, head: Atom, left: Sequence[Variable]) -> Atom | None:
        """Return what `base` or `input` says of a head, if they declare it and it has what is unbound."""
        name = _DECLARES.get(head.predicate)
        if name is None or not set(left).intersection(Atom("", head.arguments[-1:]).variables()):
            return None
        atom = Atom(name, head.arguments)
        wanted = _functor(atom.arguments[-1])
        heads = [rule.head for rule in self._rules if rule.head.key == atom.key]
        return atom if any(_functor(each.arguments[-1]) in {wanted, None} for each in heads) else None

    # -- what can stand there

    def _relation(self, sort: Place) -> str | None:
        """Return the name of a relation that holds of the terms of a sort; of none, if nothing asks.

        Where terms nest without end, as lists do, it holds of them all: such a relation can only be asked
        about terms that are known, which is what Prolog does with a variable that a call binds.
        """
        inside = self._sorts.inside(sort)
        new = [each for each in inside if each not in self._made]
        for each in new:
            name = self._new_relation(each)
            if name is None:
                return None
            self._made[each] = name
        for each in new:
            self._new += self._compound_rules(each)
        return self._made[sort]

    def _new_relation(self, sort: Place) -> str | None:
        """Return the name for a relation of the terms of a sort; no compound term is left out."""
        if sort == self._sorts.of(ROLE):
            return "role"
        constants = self._sorts.constants(sort)
        if not self._sorts.functors(sort):
            name = self._relations.relation(constants)
            self._new += self._relations.take_facts()
            return name
        name = self._relations.new_name("domain1")
        self._new += [Rule(Atom(name, (constant,))) for constant in sorted(constants)]
        return name

    def _compound_rules(self, sort: Place) -> Iterator[Rule]:
        if sort == self._sorts.of(ROLE):
            return
        for functor in sorted(self._sorts.functors(sort)):
            inner = [self._made[each] for each in self._sorts.of_arguments(functor)]
            variables = tuple([Variable(f"x{number}") for number in range(1, len(inner) + 1)])
            body = [Literal(Atom(name, (x,))) for name, x in zip(inner, variables, strict=True)]
            yield Rule(Atom(self._made[sort], (Compound(functor[0], variables),)), tuple(body))

    # -- the text

    def _mend(
        self, rule: Rule, kind: str, atoms: Sequence[Atom], comments: Sequence[tuple[int, int]]
    ) -> Mend:
        node, head = rule.node, rule.head.node
        assert node is not None
        assert head is not None
        text = node.source.text
        more = " ".join(map(str, atoms))
        if head is node:  # a fact
            edits = [Edit(node.start, node.start, ("(<= ",)), Edit(node.end, node.end, (f" {more})",))]
        else:
            place = end_of_line(text, head.end, comments)
            gap = "\n    " if place > head.end else " "
            edits = [Edit(place, place, (f"{gap}{more}",))]
        if self._new:
            place = end_of_line(text, node.end, comments)
            edits.append(Edit(place, place, tuple(f"\n{line}" for line in self._take_lines())))
        names = " and ".join(str(variable) for atom in atoms for variable in dict.fromkeys(atom.variables()))
        message = f"nothing binds {names}: {more} {'is' if len(atoms) == 1 else 'are'} added"
        return Mend(kind, message, head.span, tuple(edits))

    def _take_lines(self) -> Iterator[str]:
        """Yield the lines of the relations that were made."""
        line = ""
        for rule in self._new:
            if line and len(line) + len(str(rule)) >= _LINE:
                yield line
                line = ""
            line += f"{' ' if line else ''}{rule}"
        self._new = []
        yield line


def _functor(term: Term) -> object:
    if isinstance(term, Compound):
        return term.functor, len(term.arguments)
    return term.name if isinstance(term, Constant) else None
