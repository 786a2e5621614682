"""Games in extensive form, as in game theory: trees of histories with information sets and chance nodes.

In each joint move of the rules, the roles with a choice decide in turn, and a chance node for `random` comes
last. A role knows its own moves and percepts in GDL-II, and all moves in GDL-I.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from anygame.envs.extensive.survey import Survey, survey
from anygame.envs.turns import Turns, chance_of, find_turns
from anygame.errors import LimitError, RuleSheetError
from anygame.game.joint_moves import final_goals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.game import Game, Role, State
    from anygame.language.terms import Term

    #: A role's memory of a step: the number of the step (from 1), the moves and the percepts.
    Entry: TypeAlias = tuple[int, tuple[Term, ...], tuple[Term, ...]]
    #: The memories of all roles, in the order of the roles.
    Memories: TypeAlias = tuple[tuple[Entry, ...], ...]

__all__ = [
    "CHANCE",
    "MAX_STEPS",
    "MOST_HISTORIES",
    "SIMULTANEOUS",
    "TERMINAL",
    "ExtensiveForm",
    "Node",
    "Order",
    "Survey",
    "Turns",
    "find_turns",
    "gambit_text",
    "survey",
    "walk",
]

#: How roles that move at once decide: in one node, or in turn without seeing the other choices.
Order: TypeAlias = Literal["sequential", "simultaneous"]
#: Actor numbers, as in OpenSpiel, of nodes in which no single player decides.
CHANCE: Final = -1
SIMULTANEOUS: Final = -2
TERMINAL: Final = -4
#: Default number of joint moves after which a play is cut: more than in the longest games between people.
MAX_STEPS: Final = 1_000
#: Maximum number of cached nodes: enough for the whole tree of a small game.
_KEPT: Final = 32_768
#: Minimum number of histories for which it saves time to compile the game first.
_COMPILED: Final = 1_000
#: Default maximum number of histories in an exported tree, which takes a few seconds to write.
MOST_HISTORIES: Final = 100_000
#: A tree is refused without counting if the ratio of its estimated size to the limit exceeds this number.
#: The estimate is unbiased, so a tree within the limit is refused with a probability of at most 1 % (Markov's
#: inequality).
_CERTAINLY_MORE: Final = 100
#: Smallest number that messages write as a power of ten.
_READABLE: Final = 1e15


class ExtensiveForm:
    """A game as a tree of histories.

    Attributes:
        game: the game.
        turns: how the roles take turns.
        order: how roles that move at the same time decide; see ``Order``.
        max_steps: number of joint moves after which a play is cut.
        players: the roles besides `random`, in order. Nodes refer to a player by its index.
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
        roles = len(self.game.roles)
        return self._settled(self.game.initial_state(), 0, ((),) * roles, (0,) * roles)

    def role_index(self, player: int) -> int:
        """Return the index of a player among all roles."""
        return self._indices[player]

    @property
    def hides_moves(self) -> bool:
        """Whether there are nodes in which a role does not know all earlier moves."""
        return self._hides or (self.order == "sequential" and not self.turns.are_taken)

    def _settled(self, state: State, step: int, memories: Memories, since: Sequence[int]) -> Node:
        """Make forced moves from a state until a role has a decision; return the node of this decision."""
        while not state.is_terminal and step < self.max_steps:
            legal = [state.legal_moves(role) for role in self.game.roles]
            if not all(legal):
                break
            deciders = self.turns.deciders(legal, self.chance)
            is_drawn = self.chance is not None and len(legal[self.chance]) > 1
            if deciders or is_drawn:
                chosen = tuple(
                    None if index in deciders or (is_drawn and index == self.chance) else moves[0]
                    for index, moves in enumerate(legal)
                )
                return Node(self, state, step, memories, since, tuple(legal), deciders, chosen)
            joint = [moves[0] for moves in legal]
            memories = self._remembered(state, step, memories, joint, legal)
            state, step = state.next(joint), step + 1
        return Node(self, state, step, memories, since)

    def chosen(self, node: Node, choices: Sequence[tuple[int, Term]]) -> Node:
        """Return the node after the choices of roles; a choice is the index of a role and its move."""
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
        self, state: State, step: int, memories: Memories, joint: list[Term], legal: Sequence[Sequence[Term]]
    ) -> Memories:
        """Return the memories after a joint move."""
        if not self._hides:
            return ((*memories[0], (step + 1, tuple(joint), ())),) * len(memories)
        seen = state.percepts(joint)
        updated = []
        for index, (role, memory) in enumerate(zip(self.game.roles, memories, strict=True)):
            waits = len(legal[index]) == 1 and joint[index] in self.turns.waiting[index]
            own = () if waits else (joint[index],)
            updated.append((*memory, (step + 1, own, seen[role])) if own or seen[role] else memory)
        return tuple(updated)


@dataclass(eq=False, repr=False, slots=True)
class Node:
    """A history: the last state, and the decisions of the current step. Nodes are immutable.

    Attributes:
        form: the tree.
        state: the state before the current step.
        step: the number of joint moves made.
        memories: the memory of each role.
        since: per role, the number of joint moves before its last choice.
        legal: the legal moves of all roles; empty at the end of the play.
        deciders: the indices of the roles that decide in this step.
        chosen: per role, its move in this step; None before the decision of the role.
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
        undecided = [index for index in self.deciders if self.chosen[index] is None]
        if not self.legal:
            self.actor = TERMINAL
        elif not undecided:
            self.actor = CHANCE
        elif self.form.order == "simultaneous" and len(self.form.players) > 1:
            self.actor = SIMULTANEOUS
        else:
            self.actor = self.form._player[undecided[0]]

    def moves(self, player: int) -> tuple[Term, ...]:
        """Return the legal moves of a player; none if the player does not decide in this node."""
        if player != self.actor and self.actor != SIMULTANEOUS:
            return ()
        return self.legal[self.form.role_index(player)]

    def draws(self) -> tuple[Term, ...]:
        """Return the moves of `random` in this node, which are equally likely."""
        assert self.form.chance is not None
        return self.legal[self.form.chance]

    def child(self, move: Term) -> Node:
        """Return the node after a move of the player who decides in this node, or of `random`."""
        index = self.form.role_index(self.actor) if self.actor >= 0 else self.form.chance
        assert index is not None
        return self._after(move, [(index, move)])

    def child_of_all(self, moves: tuple[Term, ...]) -> Node:
        """Return the node after moves of all players, in the order of the players."""
        return self._after(moves, [(self.form.role_index(place), move) for place, move in enumerate(moves)])

    def _after(self, key: Any, choices: Sequence[tuple[int, Term]]) -> Node:
        child = self._children.get(key)
        if child is None:
            child = self.form.chosen(self, choices)
            self.form._kept += 1
            if self.form._kept <= _KEPT:
                self._children[key] = child
        return child

    def goals(self) -> list[int]:
        """Return the goals of the players in this node. In a cut play, a missing goal counts as 0.

        Raises:
            GoalError: the state is terminal, and the rules give a player no goal, or several goals.
        """
        if self.state.is_terminal:
            final_goals(self.state)
        return [self.state.goal(role) or 0 for role in self.form.players]

    def information(self, player: int) -> str:
        """Return the moves and percepts of a player as text.

        Two histories have the same text if and only if the player cannot distinguish the histories. The text
        begins with the player and the number of steps, which all players know.
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
        """Return the facts and the decisions in this step, which determine the rest of the play."""
        facts = " ".join(sorted(map(str, self.state.facts)))
        decided = [
            f"{role} chose {move}"
            for index, (role, move) in enumerate(zip(self.form.game.roles, self.chosen, strict=False))
            if move is not None and index in self.deciders
        ]
        return "; ".join([f"step {self.step + 1}: {facts}", *decided])


def _rounded(number: float) -> str:
    """Return a number as text with one significant digit.

    >>> _rounded(58.3), _rounded(483_000.0), _rounded(2.6e21)
    ('60', '500,000', '3e+21')
    """
    return f"{float(f'{number:.1g}'):,.0f}" if number < _READABLE else f"{number:.1g}"


def walk(form: ExtensiveForm, limit: int = MOST_HISTORIES) -> Iterator[Node]:
    """Yield every history in depth-first preorder, with siblings in the order of their moves' text.

    Raises:
        LimitError: there are more histories than the limit, or the estimated number is far above the limit.
    """
    estimate = f"about {_rounded(form.turns.tree_size)} (estimated from random play)"
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
            message = f"the tree of {form.game.name} has more than {limit:,} histories: {estimate}"
            raise LimitError(message, "histories", limit)
        yield node
        if node.actor == TERMINAL:
            continue
        if node.actor == SIMULTANEOUS:
            moves = product(*map(node.moves, range(len(form.players))))
            children = [node.child_of_all(joint) for joint in moves]
        elif node.actor == CHANCE:
            children = list(map(node.child, node.draws()))
        else:
            children = list(map(node.child, node.moves(node.actor)))
        open_nodes.extend(reversed(children))


def gambit_text(
    game: Game, *, scale: Fraction | float = 1, offset: Fraction | float = 0, limit: int = MOST_HISTORIES
) -> Iterator[str]:
    """Yield the lines of a game tree in Gambit's format ``.efg``, with information sets and chance.

    The format is described at https://gambitproject.readthedocs.io/en/latest/formats.efg.html.

    Roles that move at the same time decide one after the other, without seeing the other choices. The role
    `random` decides last.

    Args:
        game: the game.
        scale: the factor in a payoff, which is ``scale * goal + offset``. Payoffs are exact.
        offset: the number that is added to ``scale * goal``.
        limit: maximum number of histories.

    Raises:
        LimitError: there are more histories than the limit.
        RuleSheetError: a role has different moves in histories that the role cannot distinguish.
        GoalError: in a terminal state, the rules give a role no goal, or several goals.
    """
    form = ExtensiveForm(game, "sequential")
    factor, added = Fraction(str(scale)), Fraction(str(offset))
    yield f"EFG 2 R {_quoted(game.name)} {{ {_quoted(*form.players)} }}"
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
            draws = node.draws()
            branches = " ".join(f"{_quoted(str(move))} 1/{len(draws)}" for move in draws)
            yield f'c "" {draw} "" {{ {branches} }} 0'
        else:
            moves, text = node.moves(node.actor), node.information(node.actor)
            known_sets = information_sets[node.actor]
            number, former_moves = known_sets.setdefault(text, (len(known_sets) + 1, moves))
            if former_moves != moves:
                raise RuleSheetError(
                    f"{form.players[node.actor]} has different legal moves in histories that it cannot "
                    f"distinguish: {', '.join(map(str, former_moves))}, or {', '.join(map(str, moves))}; in "
                    f"both histories, it knows only `{text}`: add a percept (`sees`) that distinguishes them"
                )
            yield f'p "" {node.actor + 1} {number} {_quoted(text)} {{ {_quoted(*map(str, moves))} }} 0'


def _quoted(*texts: str) -> str:
    escaped = [text.replace("\\", "\\\\").replace('"', '\\"') for text in texts]
    return " ".join(f'"{text}"' for text in escaped)
