"""Properties as formulas: they mean what an evaluator says that knows nothing of rules."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anygame
from anygame.errors import QueryError, TermSyntaxError
from anygame.language.parser import parse_nodes
from anygame.language.terms import Compound
from anygame.network.compiled import compile_game
from anygame.proving.bounded import shortest
from anygame.proving.formulas import read_formulas
from anygame.proving.model import Model
from anygame.proving.patience import Patience
from anygame.proving.reachability import reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anygame.game.game import Game
    from anygame.language.source import Node
    from anygame.language.terms import Term
    from anygame.proving.formulas import FormulaGame, TemporalFormula

#: Two walk round a ring of three places at the same time, or wait; who is met is caught. Places are marked.
_RING = """
    (role fox) (role hen) (place a) (place b) (place c)
    (succ a b) (succ b c) (succ c a)
    (init (at fox a)) (init (at hen b)) (init (left 3))
    (minus 3 2) (minus 2 1) (minus 1 0)
    (<= (legal ?r (go ?y)) (true (at ?r ?x)) (succ ?x ?y))
    (<= (legal hen wait) (not (true (marked b))))
    (<= (legal fox wait) (role fox))
    (<= (next (at ?r ?y)) (does ?r (go ?y)))
    (<= (next (at ?r ?x)) (does ?r wait) (true (at ?r ?x)))
    (<= (next (marked ?x)) (true (at hen ?x)))
    (<= (next (marked ?x)) (true (marked ?x)))
    (<= (next (left ?y)) (true (left ?x)) (minus ?x ?y))
    (<= (sees fox ?x) (does hen (go ?x)))
    (<= caught (true (at fox ?x)) (true (at hen ?x)))
    (<= (ahead ?x ?y) (succ ?x ?y) (not (true (marked ?y))))
    (<= (ahead ?x ?z) (ahead ?x ?y) (ahead ?y ?z))
    (<= terminal caught)
    (<= terminal (true (left 0)))
    (<= (goal fox 100) caught)
    (<= (goal hen 100) (not caught))
    (<= (goal fox 0) (not caught))
    (<= (goal hen 0) caught)
"""
#: Relations of it by the number of their arguments, as they stand in formulas.
_ATOMS = {
    0: ["terminal", "caught", "(true (left 0))", "(goal fox 100)", "(does hen wait)", "(next (marked c))"],
    1: ["(role {})", "(place {})", "(true (marked {}))", "(true (left {}))", "(legal {} wait)",
        "(sees fox {})", "(does {} wait)", "(next (at hen {}))", "(ahead a {})", "(true (at fox {}))"],
    2: ["(true (at {} {}))", "(succ {} {})", "(ahead {} {})", "(goal {} {})", "(legal {} (go {}))",
        "(does {} {})", "(next (at {} {}))", "(distinct {} {})", "(not (distinct {} {}))"],
}  # fmt: skip


#: A state as facts, and the joint move that is made there.
_Moment = tuple[frozenset["Term"], tuple["Term", ...] | None]


class Evaluator:
    """Evaluates formulas in one state by looking up what holds; variables range over all terms there are."""

    def __init__(self, game: Game, facts: frozenset[Term], joint: tuple[Term, ...] | None) -> None:
        reasoner = game.backends.reasoner.reasoner
        frame = reasoner.frame(reasoner.fluents(facts)[0])
        if joint is not None:
            moves = [reasoner.move(role, move) for role, move in zip(reasoner.roles, joint, strict=True)]
            frame = reasoner.action_frame(frame, [move for move in moves if move is not None])
        self.holding: set[str] = set()
        terms: set[Term] = set()
        for key in reasoner.layout.keys():  # noqa: SIM118
            if joint is None and reasoner.depends_on_moves(key):
                continue
            relations = reasoner.layout.variants(key)
            reasoner.engine.evaluate(frame, reasoner.schema.sequence(relations))
            for arguments in [
                reasoner.arguments(r, row) for r in relations for row in reasoner.engine.rows(frame, r)
            ]:
                self.holding.add(f"({' '.join([key[0], *map(str, arguments)])})" if arguments else key[0])
                terms.update(arguments)
        for term in list(terms):
            terms.update(term.arguments if isinstance(term, Compound) else ())
        self.terms = sorted(map(str, terms))

    def holds(self, node: Node, scope: Mapping[str, str]) -> bool:
        if node.children is None:
            return node.text in self.holding
        head, *parts = node.children
        match head.text:
            case "not":
                return not self.holds(parts[0], scope)
            case "and":
                return all(self.holds(part, scope) for part in parts)
            case "or":
                return any(self.holds(part, scope) for part in parts)
            case "implies":
                return not self.holds(parts[0], scope) or self.holds(parts[1], scope)
            case "iff":
                return self.holds(parts[0], scope) == self.holds(parts[1], scope)
            case "exists" | "forall":
                names = [child.text for child in parts[0].children or ()]
                values = (
                    self.holds(parts[1], {**scope, **dict(zip(names, chosen, strict=True))})
                    for chosen in product(self.terms, repeat=len(names))
                )
                return any(values) if head.text == "exists" else all(values)
            case "distinct":
                return _filled(parts[0], scope) != _filled(parts[1], scope)
        return _filled(node, scope) in self.holding

    def instances(self, node: Node, names: tuple[str, ...], wanted: bool) -> set[tuple[str, ...]]:
        """Return the values of free variables for which a formula holds, or does not."""
        return {
            chosen
            for chosen in product(self.terms, repeat=len(names))
            if self.holds(node, dict(zip(names, chosen, strict=True))) == wanted
        }


def _filled(node: Node, scope: Mapping[str, str]) -> str:
    if node.children is None:
        return scope.get(node.text, node.text)
    return f"({' '.join(_filled(child, scope) for child in node.children)})"


def _moments(game: Game) -> Iterator[tuple[frozenset[Term], list[tuple[Term, ...]]]]:
    """Yield every state that play can lead to, as facts, with the joint moves that can be made there."""
    start = game.initial_state()
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        joints: list[tuple[Term, ...]] = []
        if not state.is_terminal:
            joints = list(product(*(state.legal_moves(role) for role in game.roles)))
            after = {state.next(joint) for joint in joints}
            waiting += after - seen
            seen |= after
        yield state.facts, joints


@cache
def _ring() -> tuple[Game, list[tuple[frozenset[Term], list[tuple[Term, ...]]]]]:
    game = anygame.loads(_RING)
    return game, list(_moments(game))


def _model(found: FormulaGame) -> Model:
    return Model(compile_game(found.game.backends.reasoner.reasoner))


def _rows(model: Model, moments: list[_Moment]) -> tuple[Any, Any]:
    """Return states and moves as a model reads them."""
    fluents = {term: number for number, term in enumerate(model.fluents)}
    states = np.zeros((len(moments), len(fluents)), np.bool_)
    moves = np.zeros((len(moments), len(model.legal)), np.bool_)
    for row, (facts, joint) in enumerate(moments):
        states[row, [fluents[fact] for fact in facts if fact in fluents]] = True
        for nodes, terms, move in zip(model.moves_of, model.actions, joint or (), strict=bool(joint)):
            moves[row, nodes[terms.index(move)] - model.first_action] = True
    return states, moves


def _check(game: Game, moments: Any, texts: list[str]) -> None:
    """Check what formulas mean in all states against the evaluator; but for ``until``."""
    found = read_formulas(game, texts)
    model = _model(found)
    still: list[_Moment] = [(facts, None) for facts, _ in moments]
    moving: list[_Moment] = [(facts, joint) for facts, joints in moments for joint in joints]
    at_rest = [Evaluator(game, *moment) for moment in still]
    in_play = [Evaluator(game, *moment) for moment in moving]
    for formula in found.formulas:
        evaluators, rows = (in_play, moving) if formula.of_moves else (at_rest, still)
        _, node = parse_nodes(formula.text)[0].children or ()
        wanted = formula.kind != "always"
        expected = [evaluator.instances(node, formula.variables, wanted) for evaluator in evaluators]
        bad = formula.bad(model)
        values = model.values([bad], *_rows(model, rows))[:, 0]
        assert values.tolist() == list(map(bool, expected)), formula.text
        place = next((number for number, instances in enumerate(expected) if instances), 0)
        for number in {place, len(expected) - 1}:
            facts, joint = rows[number]
            shown = formula.instances(found.game.state(facts), joint)
            texts_of = {tuple(str(one[name]) for name in formula.variables) for one in shown}
            assert texts_of == expected[number], formula.text
        match = shortest(model, bad, Patience(600)).match
        assert (match is None) == (not any(expected)), formula.text
        if match is not None:
            _confirm(found, model, formula, match)


def _confirm(found: FormulaGame, model: Model, formula: TemporalFormula, match: Any) -> None:
    state = found.game.initial_state()
    joints = [model.joint_of(joint) for joint in match]
    last = joints.pop() if model.depends_on_moves(formula.bad(model)) else None
    for joint in joints:
        state = state.next(joint)
    assert formula.instances(state, last)


@pytest.mark.parametrize(
    "text",
    [
        "(always (implies terminal (or caught (true (left 0)))))",
        "(always (not terminal))",
        "(always (exists (?v) (goal fox ?v)))",
        "(never (and (goal ?r 100) (goal ?s 100) (distinct ?r ?s)))",
        "(reachable (and (true (marked a)) (true (marked b)) (true (marked c))))",
        "(always (forall (?r) (implies (role ?r) (exists (?x) (true (at ?r ?x))))))",
        "(always (iff (true (at fox ?x)) (exists (?y) (and (true (at fox ?y)) (not (distinct ?x ?y))))))",
        "(always (iff (not (not (true (marked ?x)))) (and (place ?x) (not (ahead a ?x)))))",
        "(never (or (and (true (at ?r ?x)) (not (place ?x))) (and (true (marked ?x)) (role ?r))))",
        "(always (implies (does ?r wait) (legal ?r wait)))",
        "(always (exists (?m) (does hen ?m)))",
        "(always (implies (true (at ?r ?x)) (or (next (at ?r ?x)) (exists (?y) (does ?r (go ?y))))))",
        "(reachable (and (sees fox ?x) (next (at fox ?x))))",
        "(always (implies (and (true (at hen ?x)) (not (distinct ?x ?y)))"
        " (not (forall (?r) (implies (role ?r) (not (true (at ?r ?y))))))))",
        "(always (forall (?x ?y) (implies (and (place ?x) (not (distinct ?y ?x)))"
        " (exists (?r) (and (role ?r) (not (true (at ?r ?y))))))))",
        "(never (true ?f))",
        "(always (implies (true ?f) (exists (?g) (and (true ?g) (distinct ?f ?g)))))",
        "(reachable (true (true nothing)))",
        "(never (role nobody))",
        "(always (role hen))",
    ],
)
def test_the_prover_decides_formulas_about_the_ring(text: str) -> None:
    game, moments = _ring()
    _check(game, moments, [text])


_variables = st.sampled_from(["?x", "?y", "?z"])


def _atoms(draw: Any, scope: list[str]) -> str:
    count = draw(st.sampled_from([0, 1, 1, 2, 2, 2] if scope else [0]))
    names = [draw(st.sampled_from(scope)) for _ in range(count)]
    return str(draw(st.sampled_from(_ATOMS[count]))).format(*names)


@st.composite
def _formulas(draw: Any, scope: list[str], depth: int) -> str:
    if not depth:
        return _atoms(draw, scope)
    kind = draw(st.sampled_from(["atom", "not", "and", "or", "implies", "iff", "exists", "forall", "exists"]))
    inner = _formulas(scope, depth - 1)
    match kind:
        case "atom":
            return _atoms(draw, scope)
        case "not":
            return f"(not {draw(inner)})"
        case "exists" | "forall":
            name = draw(_variables)
            within = _formulas([*scope, name], depth - 1)
            guard = str(draw(st.sampled_from(_ATOMS[1]))).format(name)
            joined = "and" if kind == "exists" else "implies"
            return f"({kind} ({name}) ({joined} {guard} {draw(within)}))"
    return f"({kind} {draw(inner)} {draw(inner)})"


@st.composite
def _properties(draw: Any) -> str:
    kind = draw(st.sampled_from(["always", "never", "reachable"]))
    scope = draw(st.sampled_from([[], ["?x"], ["?x", "?y"]]))
    phi = draw(_formulas(scope, 3))
    guards = " ".join(str(draw(st.sampled_from(_ATOMS[1]))).format(name) for name in scope)
    if guards:
        phi = f"(implies (and {guards}) {phi})" if kind == "always" else f"(and {guards} {phi})"
    return f"({kind} {phi})"


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.lists(_properties(), min_size=1, max_size=4))
def test_random_formulas_agree_with_the_evaluator(texts: list[str]) -> None:
    game, moments = _ring()
    safe = []
    for text in texts:
        try:
            read_formulas(game, [text])
        except QueryError as error:
            assert "no atom limits" in str(error)  # noqa: PT017 - the others are checked
        else:
            safe.append(text)
    _check(game, moments, safe)


# -- until, and what only the end shows --------------------------------------------------------------------


def _refutes(game: Game, text: str) -> bool:
    """Whether some match refutes an ``until`` of one game, by looking at all states before its end."""
    _, first, second = parse_nodes(text)[0].children or ()
    waiting, seen = [game.initial_state()], {game.initial_state()}
    while waiting:
        state = waiting.pop()
        evaluator = Evaluator(game, state.facts, None)
        if evaluator.holds(second, {}):
            continue
        if not evaluator.holds(first, {}):
            return True
        if not state.is_terminal:
            joints = product(*(state.legal_moves(role) for role in game.roles))
            after = {state.next(joint) for joint in joints} - seen
            waiting += after
            seen |= after
    return False


@pytest.mark.parametrize(
    "text",
    [
        "(until (true (at hen b)) (true (marked b)))",
        "(until (not (true (marked c))) (true (left 1)))",
        "(until (not (true (marked c))) (true (left 2)))",
        "(until (not terminal) (or caught (true (left 0))))",
        "(until (not terminal) caught)",
        "(until (exists (?x) (true (left ?x))) (forall (?x) (implies (place ?x) (true (marked ?x)))))",
        "(until (true (left 3)) (true (left 3)))",
        "(until (true (left 0)) (true (left 3)))",
        "(until (true (left 0)) (true (left 2)))",
    ],
)
def test_until_is_refuted_exactly_if_a_match_refutes_it(text: str) -> None:
    game, _ = _ring()
    found = read_formulas(game, [text])
    model, (formula,) = _model(found), found.formulas
    match = reach(model, formula.bad(model), Patience(600)).match
    assert (match is not None) == _refutes(game, text)
    if match is not None:
        _confirm(found, model, formula, match)


def test_until_holds_for_each_instance_separately() -> None:
    """Each place is unmarked until the hen has been there, which is remembered place by place."""
    game, _ = _ring()
    texts = [
        "(until (implies (place ?x) (not (true (marked ?x)))) (true (at hen ?x)))",
        "(until (implies (place ?x) (not (true (at fox ?x)))) (true (at hen ?x)))",
    ]
    found = read_formulas(game, texts)
    model = _model(found)
    holds, fails = (reach(model, formula.bad(model), Patience(600)).match for formula in found.formulas)
    assert holds is None
    assert fails == ()
    shown = found.formulas[1].instances(found.game.initial_state())
    assert [str(one["?x"]) for one in shown] == ["a"]


def test_a_state_in_which_somebody_cannot_move_counts() -> None:
    game = anygame.loads(
        "(role me) (init (at 1)) (<= (legal me go) (true (at 1))) (<= (next (at 2)) (does me go))"
        "(<= terminal (true (at 3)))"
    )
    found = read_formulas(game, ["(never (true (at 2)))", "(always (does me go))", "(never (next (at 1)))"])
    model = _model(found)
    matches = [reach(model, formula.bad(model), Patience(600)).match for formula in found.formulas]
    assert matches == [((0,),), None, None]
    stuck = found.game.initial_state().next(["go"])
    assert [formula.instances(stuck) for formula in found.formulas] == [[{}], [], []]


# -- sheets that make it hard ------------------------------------------------------------------------------


def _is_own(found: FormulaGame, fluent: Term) -> bool:
    """Whether a fluent belongs to a property."""
    prefix = str(found.formulas[0].fluent).removesuffix("_property_1")
    return str(fluent).lstrip("(").startswith(prefix)


def test_names_of_the_sheet_stay_free() -> None:
    game = anygame.loads(
        "(role me) (legal me go) (init anygame_property_1) (<= (next anygame_held_1) (does me go))"
        "(<= anygame_bad_1 (true anygame_held_1)) (<= terminal anygame_bad_1)"
    )
    texts = [
        "(always (iff terminal anygame_bad_1))",
        "(until (true anygame_property_1) terminal)",
        "(never (true anygame__property_2))",
    ]
    found = read_formulas(game, texts)
    model = _model(found)
    matches = [reach(model, formula.bad(model), Patience(600)).match for formula in found.formulas]
    assert matches == [None, None, None]
    assert [str(term) for term in model.fluents if not _is_own(found, term)] == [
        "anygame_held_1",
        "anygame_property_1",
    ]


@pytest.mark.parametrize("text", ["(never (true (at 3)))", "(until (not (true (at ?x))) (true (lit ?x)))"])
def test_a_sheet_that_speaks_of_any_fluent_does_not_see_those_of_properties(text: str) -> None:
    game = anygame.loads(
        """
        (role me) (init (at 1)) (init (lit 1)) (succ 1 2) (succ 2 3)
        (<= (legal me (drop ?f)) (true ?f)) (<= (legal me go) (true (at ?x)) (succ ?x ?y))
        (<= (next ?f) (true ?f) (not (dropped ?f)))
        (<= (dropped ?f) (does me (drop ?f)))
        (<= (next (at ?y)) (does me go) (true (at ?x)) (succ ?x ?y))
        (<= terminal (or (not (true (lit 1))) (not (true (at 1)))))
        """
    )
    found = read_formulas(game, [text, "(reachable (true ?f))"])
    states = list(_moments(found.game))
    own = [{fact for fact in facts if not _is_own(found, fact)} for facts, _ in states]
    assert set(map(frozenset, own)) == {facts for facts, _ in _moments(game)}
    moves = {str(joint[0]) for _, joints in states for joint in joints}
    assert moves == {str(joint[0]) for _, joints in _moments(game) for joint in joints}
    instances = [found.formulas[1].instances(found.game.state(facts)) for facts, _ in states]
    assert not any(_is_own(found, one["?f"]) for shown in instances for one in shown)


def test_the_game_stays_as_it_was() -> None:
    game, moments = _ring()
    found = read_formulas(game, ["(until (true (at hen b)) caught)", "(never (true (marked ?x)))"])
    old, new = Model(compile_game(game.backends.reasoner.reasoner)), _model(found)
    assert [term for term in new.fluents if not _is_own(found, term)] == list(old.fluents)
    assert new.actions == old.actions
    still: list[_Moment] = [(facts, None) for facts, _ in moments]
    values = []
    for model in (old, new):
        goals = [literal for role in model.goals for _, literal in role]
        values.append(model.values([*model.legal, model.terminal, *goals], *_rows(model, still)))
    assert (values[0] == values[1]).all()


def _verdicts(name: str, texts: list[str], most: int | None = None) -> list[int | None]:
    """Return the length of a shortest match to each bad state, confirmed by the reasoner; None for none."""
    game = anygame.load(name)
    found = read_formulas(game, texts)
    model = _model(found)
    lengths: list[int | None] = []
    for formula in found.formulas:
        assert not formula.doubts
        match = shortest(model, formula.bad(model), Patience(600), most=most).match
        if match is not None:
            _confirm(found, model, formula, match)
        lengths.append(None if match is None else len(match))
    return lengths


def test_formulas_about_tic_tac_toe_have_known_verdicts() -> None:
    texts = [
        "(always (implies terminal (exists (?r) (goal ?r 100))))",
        "(never (and (line x) (line o)))",
        "(always (implies (and (true (cell ?x ?y b)) (true (control ?r))) (legal ?r (mark ?x ?y))))",
        "(reachable (and (line x) (not (exists (?x ?y) (true (cell ?x ?y b))))))",
        "(until (exists (?x ?y) (true (cell ?x ?y b))) terminal)",
        "(always (implies (true (cell ?x ?y x)) (or terminal (next (cell ?x ?y x)))))",
        "(never (and (line ?r) (true (control ?r))))",
        "(reachable (line o))",
    ]
    assert _verdicts("gdl/tic_tac_toe.kif", texts) == [9, None, None, 9, None, None, None, 6]


def test_formulas_about_connect_four_have_known_verdicts() -> None:
    texts = [
        "(always (implies (role ?r) (exists (?m) (legal ?r ?m))))",
        "(never (and (true (control ?r)) (true (control ?s)) (distinct ?r ?s)))",
        "(reachable terminal)",
    ]
    assert _verdicts("gdl/connect_four.kif", texts, most=8)[1:] == [None, 7]


def test_formulas_about_percepts_have_known_verdicts() -> None:
    texts = [
        "(always (implies (does candidate (choose ?d)) (next (chosen ?d))))",
        "(never (and (sees candidate ?x) (sees candidate ?y) (distinct ?x ?y)))",
        "(reachable (exists (?x) (sees candidate ?x)))",
    ]
    assert _verdicts("gdl/monty_hall.kif", texts) == [None, None, 3]


# -- what is wrong or odd in a property --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a property"),
        ("terminal", "expected one property"),
        ("always terminal", "try: (always terminal)"),
        ("(always terminal) (never terminal)", "found a second property"),
        ("(alway terminal)", "try: (always (implies"),
        ("(always (lin x))", "did you mean line?\n  (always (lin x))\n          ^~~~~~~"),
        ("(always (line x o))", "line takes 1 argument"),
        ("(always (cell 1 1 b))", "ask for (true (cell 1 1 b))"),
        ("(always (goal x))", "`goal` takes two arguments, found 1"),
        ("(always (true (cell ?x 1 b)))", "no atom limits the values of ?x in a counterexample of `always`"),
        ("(always (true (cell ?x 1 b)))", "try: (implies (index ?x) ...)"),
        ("(never (not (line ?who)))", "no atom limits the values of ?who for `never`"),
        ("(always (forall (?r) (goal ?r 100)))", "try: (implies (role ?r) ...)"),
        (
            "(until terminal (not (line ?x)))",
            "no atom limits the values of ?x in a counterexample or end of `until`",
        ),
        ("(always (always terminal))", "must be the outermost operator"),
        ("(always (until terminal terminal))", "must be the outermost operator"),
        ("(always (exists () terminal))", "needs variables in parentheses"),
        ("(always (exists ?x terminal))", "needs variables in parentheses"),
        ("(always (exists (x) terminal))", "expects a variable here"),
        ("(always (implies terminal))", "`implies` takes two formulas, found 1"),
        ("(always (and))", "`and` takes at least one formula"),
        ("(always (distinct a))", "`distinct` takes two terms, found 1"),
        ("(always ?x)", "found the variable ?x"),
        ("(always (<= terminal terminal))", "found `<=`"),
        ("(always (next ?f))", "the name of a fluent"),
        ("(always (implies terminal", "never closed"),
        ("(always terminal))", "no opening one"),
        (f"(always {'(not ' * 50}terminal{')' * 51}", "nested more than 50 deep"),
        (f"(always {'x' * 10_000})", "at most 10,000 characters"),
        ("(always (line \0))", "U+0000"),
    ],
)
def test_faulty_formulas_raise_errors(text: str, said: str) -> None:
    with pytest.raises((QueryError, TermSyntaxError)) as caught:
        read_formulas(anygame.load("gdl/tic_tac_toe.kif"), [text])
    assert said in str(caught.value)


def test_too_many_properties_raise_an_error() -> None:
    with pytest.raises(QueryError, match="at most 100 formulas"):
        read_formulas(anygame.load("gdl/tic_tac_toe.kif"), ["(always terminal)"] * 101)


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("(never (true (cell 1 1 q)))", "possible terms: b o x\n  (never (true (cell 1 1 q)))\n"),
        ("(never (true (cel 1 1 b)))", "has (cel ? ? ?) here; possible terms: (cell ? ? ?)"),
        ("(never (legal ?r (mark ?x)))", "(mark ? ?)"),
        ("(never (sees x ?y))", "`sees` never holds in this game"),
        ("(never (exists (?x) terminal))", "binds ?x, which does not occur in its formula"),
    ],
)
def test_doubtful_formulas_have_one_doubt(text: str, doubt: str) -> None:
    (formula,) = read_formulas(anygame.load("gdl/tic_tac_toe.kif"), [text]).formulas
    assert len(formula.doubts) == 1
    assert doubt in formula.doubts[0]


def test_comments_and_letter_case_do_not_matter() -> None:
    text = "(Never ; this\n (Exists (?X) (And (line ?X)\n (TRUE (control ?x)))))"
    (formula,) = read_formulas(anygame.load("gdl/tic_tac_toe.kif"), [text]).formulas
    assert formula.kind == "never"
    assert formula.text == "(Never (Exists (?X) (And (line ?X) (TRUE (control ?x)))))"
    assert formula.variables == ("?x",)


@pytest.mark.parametrize(
    "text",
    [
        "(always " + "(iff caught " * 47 + "terminal" + ")" * 48,
        "(always " + "(implies (iff caught terminal) " * 47 + "terminal" + ")" * 48,
        "(never (or " + "(and caught terminal) " * 400 + "))",
        "(never (and " + "(or caught terminal) " * 400 + "))",
        "(never (exists (?x) (and (place ?x) " + "(or (true (marked ?x)) (true (at fox ?x))) " * 200 + ")))",
    ],
)
def test_long_and_deep_formulas_become_few_rules(text: str) -> None:
    game, _ = _ring()
    found = read_formulas(game, [text])
    assert len(found.game.program.rules) - len(game.program.rules) < 1500
    _model(found)
