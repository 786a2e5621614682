"""The extensive form of a game: histories, decisions, information, and its export to Gambit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from anygame.envs.turns import chance_of, find_turns
from anygame.errors import LimitError, RuleSheetError
from anygame.game.joint_moves import final_goals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.envs.turns import Turns
    from anygame.game import Game, Role, State
    from anygame.language.terms import Term

    #: A role's memory of a step: the number of the step from 1, moves, percepts.
    Entry: TypeAlias = tuple[int, tuple[Term, ...], tuple[Term, ...]]
    #: The memories of all roles, in the order of the roles.
    Memories: TypeAlias = tuple[tuple[Entry, ...], ...]

#: Whether roles that move at once decide in one node, or in turn without seeing each other's choices.
Order: TypeAlias = Literal["sequential", "simultaneous"]
#: The actors of nodes without a player; the numbers are those of OpenSpiel.
CHANCE: Final = -1
SIMULTANEOUS: Final = -2
TERMINAL: Final = -4
#: Default maximum of joint moves before a play is cut: more than in the longest games of people.
MAX_STEPS: Final = 1_000
#: Maximum number of cached nodes: the whole tree of a small game, a part of a large one.
_KEPT: Final = 32_768
#: From this number of histories on, compiling the game first saves time.
_COMPILED: Final = 1_000
#: Default limit on histories of an exported tree; writing this many takes some seconds.
MOST_HISTORIES: Final = 100_000
#: A tree is refused without counting if its estimated size is this many times the limit. The estimate is
#: unbiased, so this happens to a tree within the limit for at most 1 % of random seeds (Markov's inequality).
_CERTAINLY_MORE: Final = 100
#: Larger numbers are written as powers of ten.
_READABLE: Final = 1e15


class ExtensiveForm:
    """A game as a tree of histories.

    Attributes:
        game: the game.
        turns: the way in which roles decide.
        order: the treatment of simultaneous moves.
        max_steps: joint moves after which a play is cut.
        players: the roles besides `random`, in order; nodes name them by index.
    """

    def __init__(
        self,
        game: Game,
        order: Order | None = None,
        *,
        turns: Turns[Term] | None = None,
        max_steps: int = MAX_STEPS,
    ) -> None:
        self.game = game
        self.turns = turns or find_turns(game)
        self.order: Order = order or ("sequential" if self.turns.are_taken else "simultaneous")
        self.max_steps = max_steps
        self.players: tuple[Role, ...] = tuple(role for role in game.roles if not role.is_random)
        self.chance = chance_of(game)
        self._indices = [index for index in range(len(game.roles)) if index != self.chance]
        self._player = {index: player for player, index in enumerate(self._indices)}
        self._hides = game.is_gdl2
        self._kept = 0

    def root(self) -> Node:
        """Return the root node."""
        return self._settled(
            self.game.initial_state(), 0, ((),) * len(self.game.roles), (0,) * len(self.game.roles)
        )

    def role_index(self, player: int) -> int:
        """Return the index of a player among all roles."""
        return self._indices[player]

    @property
    def hides_moves(self) -> bool:
        """Whether a role may know less than all moves made."""
        return self._hides or (self.order == "sequential" and not self.turns.are_taken)

    def _settled(self, state: State, step: int, memories: Memories, since: Sequence[int]) -> Node:
        """Return the first node, from a state on, in which a role decides; earlier moves are forced."""
        while True:
            is_over = state.is_terminal or step >= self.max_steps
            legal = [] if is_over else [state.legal_moves(role) for role in self.game.roles]
            if is_over or not all(legal):
                return Node(self, state, step, memories, since)
            deciders = self.turns.deciders(legal, self.chance)
            drawn = self.chance is not None and len(legal[self.chance]) > 1
            if deciders or drawn:
                chosen = tuple(
                    None if index in deciders or (drawn and index == self.chance) else moves[0]
                    for index, moves in enumerate(legal)
                )
                return Node(self, state, step, memories, since, tuple(legal), deciders, chosen)
            joint = [moves[0] for moves in legal]
            memories = self._remembered(state, step, memories, joint, legal)
            state, step = state.next(joint), step + 1

    def chosen(self, node: Node, choices: Sequence[tuple[int, Term]]) -> Node:
        """Return the node after decisions of roles, which are given by index."""
        chosen = list(node.chosen)
        for index, move in choices:
            chosen[index] = move
        joint = [move for move in chosen if move is not None]
        if len(joint) < len(chosen):
            return replace(node, chosen=tuple(chosen))
        memories = self._remembered(node.state, node.step, node.memories, joint, node.legal)
        since = [
            node.step if len(legal) > 1 else step for legal, step in zip(node.legal, node.since, strict=True)
        ]
        return self._settled(node.state.next(joint), node.step + 1, memories, since)

    def _remembered(
        self,
        state: State,
        step: int,
        memories: Memories,
        joint: list[Term],
        legal: Sequence[Sequence[Term]],
    ) -> Memories:
        """Return the memories after a joint move; each has only the moves and percepts that its role sees."""
        if not self._hides:
            return ((*memories[0], (step + 1, tuple(joint), ())),) * len(memories)
        seen = state.percepts(joint)
        updated = []
        for index, (role, memory) in enumerate(zip(self.game.roles, memories, strict=True)):
            waits = len(legal[index]) == 1 and joint[index] in self.turns.waiting[index]
            own = () if waits else (joint[index],)
            updated.append((*memory, (step + 1, own, seen[role])) if own or seen[role] else memory)
        return tuple(updated)

    def may_keep(self) -> bool:
        """Return whether one more node may be cached by its parent."""
        self._kept += 1
        return self._kept <= _KEPT


@dataclass(eq=False, repr=False, slots=True)
class Node:
    """A history: the last state, and the decisions of the current step.

    Immutable, so copies share it.

    Attributes:
        form: the tree.
        state: the state before the current step.
        step: the number of joint moves made.
        memories: the memory of each role.
        since: per role, the number of joint moves made before its last choice.
        legal: the legal moves of all roles; empty at the end of the play.
        deciders: the indices of the roles that decide in this step.
        chosen: the moves of this step; None for a move that is not decided yet.
        actor: the player who decides, or `CHANCE`, `SIMULTANEOUS`, `TERMINAL`.
    """

    form: ExtensiveForm
    state: State
    step: int
    memories: Memories
    since: Sequence[int]
    legal: tuple[tuple[Term, ...], ...] = ()
    deciders: tuple[int, ...] = ()
    chosen: tuple[Term | None, ...] = ()
    actor: int = field(init=False)
    _children: dict[Any, Node] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.actor = self._actor()

    def _actor(self) -> int:
        if not self.legal:
            return TERMINAL
        open_roles = [index for index in self.deciders if self.chosen[index] is None]
        if not open_roles:
            return CHANCE
        if self.form.order == "simultaneous" and len(self.form.players) > 1:
            return SIMULTANEOUS
        return self.form._player[open_roles[0]]

    def moves(self, player: int) -> tuple[Term, ...]:
        """Return the legal moves of a player, who decides here or together with all others."""
        if player != self.actor and self.actor != SIMULTANEOUS:
            return ()
        return self.legal[self.form.role_index(player)]

    def draws(self) -> tuple[Term, ...]:
        """Return the moves of `random` here, which are equally likely."""
        assert self.form.chance is not None
        return self.legal[self.form.chance]

    def child(self, move: Term) -> Node:
        """Return the node after a move of the player who decides here, or of `random`."""
        index = self.form.role_index(self.actor) if self.actor >= 0 else self.form.chance
        assert index is not None
        return self._after(move, [(index, move)])

    def child_of_all(self, moves: tuple[Term, ...]) -> Node:
        """Return the node after moves of all players, in their order."""
        return self._after(moves, [(self.form.role_index(place), move) for place, move in enumerate(moves)])

    def _after(self, key: Any, choices: Sequence[tuple[int, Term]]) -> Node:
        child = self._children.get(key)
        if child is None:
            child = self.form.chosen(self, choices)
            if self.form.may_keep():
                self._children[key] = child
        return child

    def goals(self) -> list[int]:
        """Return the goals of the players in this node; for a cut play, 0 if the rules give none.

        Raises:
            GoalError: the game is over, and the rules give a player no goal, or several.
        """
        if self.state.is_terminal:
            final_goals(self.state)
        return [self.state.goal(role) or 0 for role in self.form.players]

    def information(self, player: int) -> str:
        """Return a player's moves and percepts as text, the same in all histories it cannot distinguish.

        All players know the number of steps. Two players never have the same text.
        """
        index = self.form.role_index(player)
        parts = [f"{self.form.players[player]} at step {self.step + 1}"]
        for step, moves, percepts in self.memories[index]:
            parts.append(" ".join([f"{step}:", *map(str, moves), *(f"sees {seen}" for seen in percepts)]))
        own = self.decided(player)
        return "; ".join(parts if own is None else [*parts, f"now: {own}"])

    def decided(self, player: int) -> Term | None:
        """Return a player's decision in the current step, or None."""
        index = self.form.role_index(player)
        return self.chosen[index] if index in self.deciders else None

    def percepts(self, player: int) -> tuple[Term, ...]:
        """Return a player's percepts since its last choice (GDL-II `sees`)."""
        index = self.form.role_index(player)
        memory, since = self.memories[index], self.since[index]
        return tuple(seen for step, _, percepts in memory if step > since for seen in percepts)

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __str__(self) -> str:
        """Return the facts and the decisions so far, which determine the rest of the play."""
        facts = " ".join(sorted(map(str, self.state.facts)))
        decided = [
            f"{role} chose {move}"
            for index, (role, move) in enumerate(zip(self.form.game.roles, self.chosen, strict=False))
            if move is not None and index in self.deciders
        ]
        return "; ".join([f"step {self.step + 1}: {facts}", *decided])


def _rounded(number: float) -> str:
    """Return a number to one digit, as text.

    >>> _rounded(58.3), _rounded(483_000.0), _rounded(2.6e21)
    ('60', '500,000', '3e+21')
    """
    return f"{float(f'{number:.1g}'):,.0f}" if number < _READABLE else f"{number:.1g}"


def walk(form: ExtensiveForm, limit: int = MOST_HISTORIES) -> Iterator[Node]:
    """Yield every history, parents before their children, in the order of the moves' text.

    Raises:
        LimitError: there are more histories than the limit, or far more according to an estimate.
    """
    estimate = f"about {_rounded(form.turns.tree_size)}, by an estimate from random play"
    if form.turns.tree_size > _CERTAINLY_MORE * limit:
        message = f"the tree of {form.game.name} has too many histories: {estimate}; the limit is {limit:,}"
        raise LimitError(message, "histories", limit)
    if form.turns.tree_size > _COMPILED:
        form.game.compile_if_worth_it()
    open_nodes, number = [form.root()], 0
    while open_nodes:
        node = open_nodes.pop()
        number += 1
        if number > limit:
            raise LimitError(
                f"the tree of {form.game.name} has more than {limit:,} histories; {estimate}",
                "histories",
                limit,
            )
        yield node
        open_nodes.extend(reversed(list(_children(node))))


def _children(node: Node) -> Iterator[Node]:
    if node.actor == TERMINAL:
        return
    if node.actor == SIMULTANEOUS:
        players = range(len(node.form.players))
        yield from map(node.child_of_all, product(*map(node.moves, players)))
    else:
        yield from map(node.child, node.draws() if node.actor == CHANCE else node.moves(node.actor))


def gambit_text(
    game: Game, *, scale: Fraction | float = 1, offset: Fraction | float = 0, limit: int = MOST_HISTORIES
) -> Iterator[str]:
    """Yield the lines of a game tree in Gambit's format ``.efg``, with information sets and chance.

    The format is described at https://gambitproject.readthedocs.io/en/latest/formats.efg.html.

    Roles that move at the same time decide one after the other, without seeing the other choices. `random`
    comes last.

    Args:
        game: the game.
        scale: the factor in a payoff, which is ``scale * goal + offset``. Payoffs are exact.
        offset: the summand in a payoff.
        limit: the most histories.

    Raises:
        LimitError: there are more histories than the limit.
        RuleSheetError: a role has different moves in histories that it cannot distinguish.
        GoalError: the rules give a role no usable goal at the end of a play.
    """
    form = ExtensiveForm(game, "sequential")
    factor, added = Fraction(str(scale)), Fraction(str(offset))
    yield f"EFG 2 R {_quoted(game.name)} {{ {' '.join(map(_quoted, form.players))} }}"
    yield _quoted("")
    information_sets: list[dict[str, tuple[int, tuple[Term, ...]]]] = [{} for _ in form.players]
    outcome = draw = 0
    for node in walk(form, limit):
        if node.actor == TERMINAL:
            outcome += 1
            payoffs = " ".join(str(factor * goal + added) for goal in node.goals())
            yield f't "" {outcome} "" {{ {payoffs} }}'
        elif node.actor == CHANCE:
            draw += 1
            yield f'c "" {draw} "" {{ {_drawn(node)} }} 0'
        else:
            moves, text = node.moves(node.actor), node.information(node.actor)
            number, same_set = information_sets[node.actor].setdefault(
                text, (len(information_sets[node.actor]) + 1, moves)
            )
            if same_set != moves:
                raise _different(form.players[node.actor], text, same_set, moves)
            yield f'p "" {node.actor + 1} {number} {_quoted(text)} {{ {_listed(map(str, moves))} }} 0'


def _different(role: Role, text: str, moves: Iterable[Term], others: Iterable[Term]) -> RuleSheetError:
    """Return the error for different moves in histories that a role cannot distinguish."""
    listed = [", ".join(map(str, each)) for each in (moves, others)]
    return RuleSheetError(
        f"{role} has different legal moves in histories that it cannot distinguish: {listed[0]}, or "
        f"{listed[1]}; in both it knows only `{text}`: add a percept (`sees`) that tells them apart"
    )


def _drawn(node: Node) -> str:
    moves = node.draws()
    return " ".join(f"{_quoted(str(move))} 1/{len(moves)}" for move in moves)


def _listed(names: Iterable[str]) -> str:
    return " ".join(map(_quoted, names))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
