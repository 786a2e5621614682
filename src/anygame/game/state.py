"""States of a game, and queries on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from anygame.datalog.derivations import Failure
from anygame.errors import GoalError, IllegalMoveError, LimitError, QueryError, SimultaneousMovesError
from anygame.game.outcomes import goal_of, no_legal_move
from anygame.game.roles import legal_move, moves_in_order
from anygame.game.showing import show
from anygame.language.diagnostics import shown
from anygame.language.parser import parse_atom, parse_term
from anygame.language.terms import Term, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.datalog.derivations import Derivation
    from anygame.game.game import Game
    from anygame.game.machine import Machine, Position, View
    from anygame.game.roles import JointMove, Role
    from anygame.game.showing import BoardView
    from anygame.language.rules import Atom


#: Maximum number of characters of facts that `repr` shows in full.
_LONGEST_REPR: Final = 300
#: Number of facts that `repr` shows from each end of a longer state.
_SHOWN_FACTS: Final = 3
#: Maximum number of states with cached intermediate results, which take hundreds of kilobytes in large games.
_MOST_RECENT: Final = 512

_Default = TypeVar("_Default")


class Bindings(Mapping[str, Term]):
    """The values of variables in an answer: ``binding["?x"]``, ``binding["x"]``, or by ``Variable``."""

    __slots__ = ("_terms",)

    def __init__(self, terms: Mapping[Variable, Term]) -> None:
        self._terms = {str(variable): term for variable, term in terms.items()}

    def __getitem__(self, key: str | Variable) -> Term:
        name = str(key)
        return self._terms[name if name.startswith("?") else "?" + name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._terms)

    def __len__(self) -> int:
        return len(self._terms)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name}: {term}" for name, term in self._terms.items()) + "}"

    def __hash__(self) -> int:
        return hash(frozenset(self._terms.items()))


class State:
    """A state of a game: immutable, hashable, comparable and picklable. A state caches its answers.

    ``game.initial_state()``, ``game.state(facts)`` and ``state.next(moves)`` return states. Methods raise
    UnknownRoleError for a ``role`` that the game does not have.

    >>> import anygame
    >>> game = anygame.loads('''
    ...   (role robot) (init (at 1)) (succ 1 2) (succ 2 3)
    ...   (<= (legal robot go) (true (at ?x)) (succ ?x ?y))
    ...   (<= (next (at ?y)) (does robot go) (true (at ?x)) (succ ?x ?y))
    ...   (<= terminal (true (at 3)))
    ...   (<= (goal robot 100) (true (at 3)))''')
    >>> state = game.initial_state()
    >>> state.legal_moves("robot")
    (go,)
    >>> state = state.next({"robot": "go"}).next(["go"])
    >>> state
    <State of <text>, terminal: (at 3)>
    >>> state.goal("robot")
    100
    """

    __slots__ = ("_facts", "_game", "_goals", "_legal", "_machine", "_position", "_terminal", "_view")

    def __init__(self, game: Game, machine: Machine, position: Position) -> None:
        self._game = game
        self._machine = machine
        self._position = position
        self._facts: frozenset[Term] | None = None
        self._view: View | None = None
        self._legal: tuple[tuple[Term, ...], ...] | None = None
        self._terminal: bool | None = None
        self._goals: dict[str, int | None] = {}

    @property
    def game(self) -> Game:
        """The game of this state."""
        return self._game

    def position_in(self, machine: Machine) -> Position | None:
        """Return this state as a position of a machine; None if that machine cannot represent the state."""
        return self._position if machine is self._machine else machine.position(self.facts)

    @property
    def facts(self) -> frozenset[Term]:
        """All facts that are true in this state, as terms without ``true``."""
        if self._facts is None:
            self._facts = self._machine.facts(self._position)
        return self._facts

    @property
    def is_terminal(self) -> bool:
        """Whether the match ends in this state."""
        if self._terminal is None:
            self._terminal = self._machine.is_terminal(self._seen())
        return self._terminal

    def _seen(self) -> View:
        # Another thread can clear the attribute at any moment, so the code reads the attribute once.
        view = self._view
        if view is None:
            view = self._view = self._machine.view(self._position)
            # A search tree has many states, and views are much larger than states.
            recent = self._game.recent
            recent.append(self)
            if len(recent) > _MOST_RECENT:
                recent.popleft().forget()
        return view

    def forget(self) -> None:
        """Clear the cached intermediate results."""
        self._view = None

    def legal_moves(self, role: str | Term) -> tuple[Term, ...]:
        """Return the legal moves of a role, sorted by text, also in terminal states."""
        return self._all_legal()[self._game.role_index(role)]

    def _all_legal(self) -> tuple[tuple[Term, ...], ...]:
        if self._legal is None:
            self._legal = self._machine.legal(self._seen())
        return self._legal

    @property
    def movers(self) -> tuple[Role, ...]:
        """The roles with several legal moves, including ``random``, in order; empty in a terminal state."""
        if self.is_terminal:
            return ()
        roles = zip(self._game.roles, self._all_legal(), strict=True)
        return tuple(role for role, moves in roles if len(moves) > 1)

    @property
    def stuck_role(self) -> Role | None:
        """The first role without a legal move in a nonterminal state; None if no role is stuck."""
        if self.is_terminal or all(self._all_legal()):
            return None
        return self._game.roles[self._all_legal().index(())]

    def goal(self, role: str | Term) -> int | None:
        """Return the goal of a role, or None if the rules give the role no goal.

        Raises:
            GoalError: the rules give several goals, or a goal that is not an integer.
        """
        name = self._game.roles[self._game.role_index(role)]
        if name not in self._goals:
            self._goals[name] = goal_of(name, self._machine.goals(self._seen(), name.term))
        return self._goals[name]

    @overload
    def goals(self) -> dict[Any, int | None]: ...
    @overload
    def goals(self, *, default: _Default) -> dict[Any, int | _Default]: ...
    def goals(self, *, default: object = None) -> dict[Any, Any]:
        """Return the goals by role, in the order of the roles. Unlike ``goal``, ``goals`` raises no error.

        Args:
            default: the value for a role to which the rules give no goal, several goals, or a goal that is
                not an integer.
        """
        goals: dict[Any, object] = {}
        for role in self._game.roles:
            try:
                goal = self.goal(role)
            except GoalError:
                goal = None
            goals[role] = default if goal is None else goal
        return goals

    @property
    def derived(self) -> int:
        """The number of rows that the reasoner has derived for this state: a measure of the work."""
        return self._machine.derived(self._seen())

    # -- moving ------------------------------------------------------------------------------------

    def next(self, moves: JointMove) -> State:
        """Return the state after a joint move; this state does not change.

        Args:
            moves: one move per role: a mapping from roles, or a sequence in the order of the roles.

        Raises:
            IllegalMoveError: a move is not legal here, or there is not exactly one move per role.
            UnknownRoleError: a key of the mapping is not a role.
        """
        joint = self._joint(moves)
        position = self._machine.next(self._seen(), joint)
        machine = self._game.backends.machine
        if machine is not self._machine:
            # The game was compiled in the meantime, or the network cannot represent this state.
            moved = machine.position(self._machine.facts(position))
            if moved is not None:
                return State(self._game, machine, moved)
        return State(self._game, self._machine, position)

    def play(self, role: str | Term, move: str | Term | None = None, /) -> State:
        """Return the state after a move of one role; every other role makes its only legal move.

        ``play(role, move)`` makes the move of a role. ``play(move)`` makes a move of the only role with a
        choice. If no role has a choice, ``play(move)`` makes the move of a role for which the move is legal.

        >>> import anygame
        >>> state = anygame.load("tic_tac_toe").initial_state()
        >>> state.movers, state.play("(mark 2 2)").play("o", "(mark 1 1)").movers
        (('x',), ('x',))

        Raises:
            IllegalMoveError: the move is not legal, the match is over, or a role has no legal move.
            SimultaneousMovesError: another role has several legal moves.
            TermSyntaxError: the move cannot be read.
        """
        game, choosing = self._game, self.movers
        legal = list(zip(game.roles, self._all_legal(), strict=True))
        if self.is_terminal:
            raise IllegalMoveError("the game is over: nobody can move any more")
        if self.stuck_role is not None:
            raise no_legal_move(self.stuck_role, self.facts)
        if move is not None:
            mover = game.roles[game.role_index(role)]
        else:
            move, term = role, role
            if isinstance(role, str) and not choosing:
                term = parse_term(role, case_sensitive=game.case_sensitive)
            # If no role has a choice, the joint move is the same for every mover.
            mover = next((name for name, moves in legal if name in choosing or term in moves), game.roles[0])
        if any(name != mover for name in choosing):
            roles = " and ".join(choosing)
            raise SimultaneousMovesError(f"{roles} can choose here: give `next` a move of each role")
        return self.next([move if name == mover else moves[0] for name, moves in legal])

    def skip_forced(self, limit: int = 10_000) -> State:
        """Make forced joint moves from here; return the first state in which a role has a choice.

        Play also stops in a terminal state, and in a state in which a role has no legal move. The percepts of
        the forced joint moves (GDL-II) are not returned.

        Args:
            limit: maximum number of joint moves.

        Raises:
            LimitError: no role has a choice after ``limit`` joint moves.
        """
        state = self
        for _ in range(limit + 1):
            legal = state._all_legal()
            if state.is_terminal or any(len(moves) != 1 for moves in legal):
                return state
            state = state.next([moves[0] for moves in legal])
        raise LimitError(f"no role has a choice within {limit:,} joint moves", "moves", limit)

    def percepts(self, moves: JointMove) -> Mapping[str, tuple[Term, ...]]:
        """Return each role's percepts of a joint move in this state (GDL-II ``sees``), sorted by text.

        Raises:
            IllegalMoveError: as for ``next``.
        """
        seen = self._machine.percepts(self._seen(), self._joint(moves))
        return {role: seen[role.term] for role in self._game.roles}

    def _joint(self, moves: JointMove) -> list[Term]:
        """Return a joint move as legal terms, in the order of the roles; raises the errors of ``next``."""
        game = self._game
        given = moves_in_order(moves, game.roles, game.role_index)
        # Searches pass legal terms, which need no parsing.
        return [
            move
            if isinstance(move, Term) and move in legal
            else legal_move(role, move, legal, case_sensitive=game.case_sensitive)
            for role, move, legal in zip(game.roles, given, self._all_legal(), strict=True)
        ]

    # -- queries -----------------------------------------------------------------------------------

    def query(self, pattern: str | Atom, moves: JointMove | None = None) -> Iterator[Bindings]:
        """Yield the bindings of the variables for which an atom holds, in a fixed order.

        A pattern without variables yields one empty binding if the atom holds, and otherwise no binding.

        Args:
            pattern: an atom such as ``(legal ?role (move ?x ?y))`` or ``(true (cell 1 ?y ?c))``.
            moves: a joint move, for relations that depend on the moves (``next``, ``does``, ``sees``).

        Raises:
            QueryError: the relation does not exist, or depends on moves and ``moves`` is missing.
            TermSyntaxError: the pattern cannot be read.
        """
        return map(Bindings, self._machine.query(self._seen(), *self._asked(pattern, moves)))

    def _asked(self, pattern: str | Atom, moves: JointMove | None) -> tuple[Atom, list[Term] | None]:
        if isinstance(pattern, str):
            pattern = parse_atom(pattern, case_sensitive=self._game.case_sensitive)
        return pattern, None if moves is None else self._joint(moves)

    def explain(self, atom: str | Atom, moves: JointMove | None = None) -> Derivation:
        """Return a derivation of an atom from facts. The ``str()`` of a derivation is a tree.

        Raises:
            QueryError: the atom does not hold, for the reason in the message, or cannot be queried.
        """
        answer = self._machine.explain(self._seen(), *self._asked(atom, moves))
        if isinstance(answer, Failure):
            raise QueryError(str(answer))
        return answer

    def explain_failure(self, atom: str | Atom, moves: JointMove | None = None) -> Failure:
        """Return why an atom does not hold: for each rule that could derive the atom, the part that fails.

        Raises:
            QueryError: the atom holds, or cannot be queried.
        """
        asked, joint = self._asked(atom, moves)
        answer = self._machine.explain(self._seen(), asked, joint)
        if isinstance(answer, Failure):
            return answer
        raise QueryError(f"{asked} holds: ask why it holds")

    # -- display -----------------------------------------------------------------------------------

    def board(self, *, last: JointMove | None = None, before: State | None = None) -> BoardView:
        """Return the boards of this state; ``print`` shows them as text, and a notebook draws them.

        Args:
            last: the joint move that led to this state; the drawing shows it with marks and arrows.
            before: the previous state; the drawing marks the squares that have changed since that state.

        Raises:
            IllegalMoveError: ``last`` does not have one move per role.
        """
        return show(self, last, before)

    def _repr_html_(self) -> str:
        return self.board()._repr_html_()

    def _repr_svg_(self) -> str:
        return self.board()._repr_svg_()

    # -- equality, pickling, text ------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        if self._machine is other._machine:
            return bool(self._position == other._position)
        return self._game == other._game and self.facts == other.facts

    def __hash__(self) -> int:
        return hash(self.facts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._game, tuple(sorted(self.facts)))

    def __str__(self) -> str:
        return f"({' '.join(sorted(map(str, self.facts)))})"

    def __repr__(self) -> str:
        facts = list(map(str, sorted(self.facts)))
        omitted = len(facts) - 2 * _SHOWN_FACTS
        if omitted > 0 and sum(map(len, facts)) > _LONGEST_REPR:
            facts[_SHOWN_FACTS:-_SHOWN_FACTS] = [f"... {omitted:,} more ..."]
        text = " ".join([shown(fact) for fact in facts]) or "no facts"
        return f"<State of {self._game.name}{', terminal' if self.is_terminal else ''}: {text}>"


def _restore(game: Game, facts: tuple[Term, ...]) -> State:
    return game.state(facts)


@dataclass(frozen=True, slots=True)
class Observation:
    """A role's knowledge of one joint move.

    Attributes:
        move: the move of the role; None for a move that was not sent.
        percepts: the percepts of the role (GDL-II ``sees``).
        legal: the legal moves of the role after the joint move; None if the role must infer its legal moves.
    """

    move: Term | None
    percepts: tuple[Term, ...]
    legal: tuple[Term, ...] | None = None


@dataclass(frozen=True, slots=True)
class RoleView:
    """A role's knowledge of a match so far.

    Attributes:
        start: the first state, which all roles know.
        observations: an observation for each joint move since ``start``.
    """

    start: State
    observations: tuple[Observation, ...] = ()

    @classmethod
    def of(cls, role: Role, states: Sequence[State], joints: Sequence[Sequence[Term]]) -> RoleView:
        """Return a role's knowledge of a match.

        >>> import anygame
        >>> game = anygame.loads('''
        ...   (role me) (role random) (legal me wait) (legal random (hide a)) (legal random (hide b))
        ...   (<= (next (hidden ?x)) (does random (hide ?x))) (<= terminal (true (hidden ?x)))
        ...   (<= (sees me lucky) (does random (hide a)))''')
        >>> start = game.initial_state()
        >>> joint = [start.legal_moves(role)[0] for role in game.roles]
        >>> view = RoleView.of(game.roles[0], [start, start.next(joint)], [joint])
        >>> [(str(turn.move), *map(str, turn.percepts)) for turn in view.observations]
        [('wait', 'lucky')]

        Args:
            role: the role.
            states: all states of the match.
            joints: the joint moves made in all states except the last.
        """
        own = states[0].game.role_index(role)
        return cls(
            states[0],
            tuple(
                Observation(joint[own], before.percepts(joint)[role], after.legal_moves(role))
                for before, joint, after in zip(states, joints, states[1:], strict=False)
            ),
        )

    def continues(self, former: RoleView) -> bool:
        """Return whether this view begins with an earlier view of the same match."""
        earlier = former.observations
        return self.start == former.start and self.observations[: len(earlier)] == earlier
