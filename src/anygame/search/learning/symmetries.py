"""Symmetries: permutations of the fluents of a game that preserve play.

Examples are rotations of a board and exchanged roles (Schiffel 2010, "Symmetry detection in general game
playing"). Candidates combine reversed coordinates, exchanged coordinates and exchanged names. Random play
tests each candidate: the candidate must map the children of a state to the children of the state's image. A
role must have the same number of moves and the same goals as the role whose place it takes. The test is not a
proof, but suffices for learning.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from itertools import chain, combinations, islice, product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from anygame.analysis.axes import chains, ordered
from anygame.analysis.counterparts import counterparts
from anygame.analysis.groups import grouped
from anygame.errors import PositionError
from anygame.language.terms import Compound
from anygame.search.evaluation.patterns import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anygame.game.game import Game
    from anygame.language.terms import Term

    Words = tuple[str, ...]
    Change = Callable[[Words], Words]
    Key = tuple[str, int]
    #: Arrays of type bool: one state [fluents], and several states [states, fluents].
    State = NDArray[np.bool_]
    States = NDArray[np.bool_]

#: Minimum number of values of a coordinate.
_FEWEST_VALUES: Final = 3
#: Names of an argument's values are exchanged only if the argument has at most this many values.
_MOST_NAMES: Final = 4
#: Maximum number of pairs of roles whose names are exchanged.
_MOST_PAIRS: Final = 6
_MOST_RENAMINGS: Final = 64
#: Maximum length of a piece's name that begins with the first letter of its role, such as ``wp``.
_LONGEST_PIECE: Final = 3
#: Maximum number of terms in a table of images, divided by the number of fluents of the game. A change can
#: map a fluent to a term that is not a fluent, and a second change can map this term to a fluent.
_MOST_IMAGES: Final = 8
#: Maximum number of tested compositions of changes.
_MOST_MAPS: Final = 4096
#: Maximum number of candidates that random play tests.
_MOST_TRIED: Final = 256
_MOST_SYMMETRIES: Final = 32
#: Number of lanes of random play.
_LANES: Final = 512
#: Maximum number of joint moves of random play.
_LONGEST: Final = 256
#: Maximum number of terminal states, and of non-terminal states, that random play keeps per joint move.
_KEPT: Final = 8
#: Maximum number of states whose children are compared with the children of the image.
_STATES: Final = 12
#: Maximum number of children of a state whose children are compared.
_MOST_CHILDREN: Final = 128
#: Maximum number of terminal states whose images are tested.
_ENDS: Final = 256
#: Maximum number of actions of all roles in a tested game. Masks of more actions are slow.
_MOST_MOVES: Final = 1 << 14
_SEED: Final = 1


class Symmetries(NamedTuple):
    """Symmetries of a game. The first symmetry is the identity."""

    fluents: NDArray[np.int32]  # [symmetries, fluents]; the image of each fluent.
    roles: NDArray[np.int32]  # [symmetries, roles]; for each role, the role whose place it takes.


def symmetries_of(game: Game) -> Symmetries:
    """Return the symmetries of a compiled game: the candidates that pass the test by random play.

    >>> import anygame
    >>> game = anygame.load("tic_tac_toe")
    >>> game.compile()
    True
    >>> len(symmetries_of(game).fluents)  # 8 of the square, with and without exchanged roles
    16
    """
    identity = _Symmetry(tuple(range(len(game.fluent_terms))), tuple(range(len(game.roles))))
    group = {identity.fluents: identity}
    is_large = sum(len(game.actions(str(role))) for role in game.roles) > _MOST_MOVES
    play = None if is_large else _Play(game)
    if play is not None and play.says_something:
        generators: list[_Symmetry] = []
        candidates = (image for image in _maps(game) if tuple(image.tolist()) not in group)
        for image in islice(candidates, _MOST_TRIED):
            roles_taken = play.roles_under(image)
            if roles_taken is not None and len(group) < _MOST_SYMMETRIES:
                generators.append(_Symmetry(tuple(image.tolist()), roles_taken))
                group = _composed(identity, generators)
    fluents, roles = zip(*group.values(), strict=True)
    return Symmetries(np.array(fluents, np.int32), np.array(roles, np.int32))


class _Symmetry(NamedTuple):
    """One symmetry: the image of each fluent, and for each role the role whose place it takes."""

    fluents: tuple[int, ...]
    roles: tuple[int, ...]

    def after(self, other: _Symmetry) -> _Symmetry:
        """Return the composition of two symmetries that applies ``other`` first."""
        return _Symmetry(
            *(tuple(second[n] for n in first) for second, first in zip(self, other, strict=True))
        )


def _composed(identity: _Symmetry, generators: Sequence[_Symmetry]) -> dict[tuple[int, ...], _Symmetry]:
    """Return at most ``_MOST_SYMMETRIES`` compositions of the generators, by the images of fluents."""
    group = {identity.fluents: identity}
    pending = deque(group.values())
    while pending:
        last = pending.popleft()
        for composed in (generator.after(last) for generator in generators):
            if composed.fluents not in group and len(group) < _MOST_SYMMETRIES:
                group[composed.fluents] = composed
                pending.append(composed)
    return group


# -- candidates -------------------------------------------------------------------------------------------


class _Column(NamedTuple):
    """An argument position of the fluents of a relation."""

    key: Key  # Functor and arity of the fluents.
    place: int  # Position of the argument, from 1.
    values: frozenset[str]  # Values of the argument.
    # The values in order, or a longer axis in which they are symmetric; empty if there is no axis.
    axis: Words
    number: int  # Number of earlier arguments that have the same axis.


def _maps(game: Game) -> Iterator[NDArray[np.int32]]:
    """Yield candidates as permutations of fluents, int32 [fluents], beginning with the fewest changes."""
    fluents = [words_of(fluent) for fluent in game.fluent_terms]
    columns = _columns(game)
    turns = [*_reversals(columns), *_exchanges(columns)]
    names = _names([str(role) for role in game.roles], columns)
    tables = _tables(fluents, [*turns, *map(_renaming, names)])
    subsets = chain.from_iterable(combinations(tables[: len(turns)], n) for n in range(len(turns) + 1))
    identity = np.arange(len(tables[0]) if tables else len(fluents), dtype=np.int32)
    renamings = (identity, *tables[len(turns) :])
    compositions = ((*subset, renaming) for subset in subsets for renaming in renamings)
    for composition in islice(compositions, _MOST_MAPS):
        image = identity[: len(fluents)]
        for table in composition:
            image = table[image]
        if image.max(initial=-1) < len(fluents) == len(np.unique(image)):
            yield image


def _tables(fluents: Sequence[Words], changes: Sequence[Change]) -> list[NDArray[np.int32]]:
    """Return a table of images for each change. The last number represents all images beyond the limit."""
    numbers = {words: n for n, words in enumerate(fluents)}
    numbered = list(fluents)
    for words in numbered:  # The loop also visits the terms that it appends.
        for change in changes if len(numbered) < _MOST_IMAGES * len(fluents) else ():
            image = change(words)
            if image not in numbers:
                numbers[image] = len(numbered)
                numbered.append(image)
    beyond = len(numbered)
    return [
        np.array([*(numbers.get(change(words), beyond) for words in numbered), beyond], np.int32)
        for change in changes
    ]


def _columns(game: Game) -> list[_Column]:
    values: dict[tuple[Key, int], set[Term]] = defaultdict(set)
    for fluent in game.fluent_terms:
        if isinstance(fluent, Compound):
            for place, value in enumerate(fluent.arguments, 1):
                values[(fluent.functor, len(fluent.arguments)), place].add(value)
    successions = chains(game.program.rules)
    own = {where: tuple(map(str, ordered(terms, successions))) for where, terms in values.items()}
    long = sorted({axis for axis in own.values() if len(axis) >= _FEWEST_VALUES}, key=lambda a: (len(a), a))
    columns: list[_Column] = []
    for (key, place), terms in sorted(values.items()):
        names = frozenset(map(str, terms))
        axis = next((axis for axis in long if _is_kept_by_reversal(names, axis)), ())
        number = sum(column.key == key and column.axis == axis for column in columns)
        columns.append(_Column(key, place, names, axis, number))
    return columns


def _is_kept_by_reversal(names: frozenset[str], axis: Words) -> bool:
    """Return whether the positions of names on an axis are symmetric about the middle of the axis."""
    return len(names) > 1 and names == {axis[-1 - n] for n, value in enumerate(axis) if value in names}


def _reversals(columns: Sequence[_Column]) -> Iterator[Change]:
    """Yield reversals of axes: separately in each relation with one coordinate, jointly in all others."""
    coordinates = [column for column in columns if column.axis]
    counts = Counter(column.key for column in coordinates)
    groups = grouped(
        ((column.axis, column.number, column.key if counts[column.key] == 1 else None), column)
        for column in coordinates
    )
    for (axis, _, _), group in groups.items():
        reversal = dict(zip(axis, reversed(axis), strict=True))
        yield _change({column.key: {column.place: (column.place, reversal)} for column in group})


def _exchanges(columns: Sequence[_Column]) -> Iterator[Change]:
    """Yield exchanges of two coordinates with equal numbers of values, in all relations at once."""
    groups = grouped(
        ((one.axis, two.axis, one.number, two.number), (one, two))
        for one, two in combinations(columns, 2)
        if one.axis and one.key == two.key and len(one.axis) == len(two.axis)
    )
    for (axis, other, _, _), pairs in groups.items():
        there, back = dict(zip(axis, other, strict=True)), dict(zip(other, axis, strict=True))
        yield _change(
            {one.key: {one.place: (two.place, back), two.place: (one.place, there)} for one, two in pairs}
        )


def _change(parts: Mapping[Key, Mapping[int, tuple[int, Mapping[str, str]]]]) -> Change:
    """Return a change that sets arguments to renamed values of the same or of other arguments."""

    def change(words: Words) -> Words:
        changed = parts.get((words[0], len(words) - 1), {})
        origins = (changed.get(n, (n, {})) for n in range(len(words)))
        return tuple(names.get(words[origin], words[origin]) for origin, names in origins)

    return change


def _renaming(names: Mapping[str, str]) -> Change:
    return lambda words: tuple(names.get(word, word) for word in words)


def _names(roles: Sequence[str], columns: Sequence[_Column]) -> list[dict[str, str]]:
    """Return renamings: exchanges of two roles, of two values or of both, and rotations of all roles."""
    words = {*roles, *(column.key[0] for column in columns)}.union(*(column.values for column in columns))
    names = {word for word in words if not word.isdecimal()}
    small = [column.values for column in columns if len(column.values) <= _MOST_NAMES and not column.axis]
    swaps = [{one: other, other: one} for values in small for one, other in combinations(sorted(values), 2)]
    of_roles: list[dict[str, str]] = []
    for one, other in islice(combinations(roles, 2), _MOST_PAIRS):
        exchange = counterparts(one, other, names)
        pieces = _pieces(one[0], other[0], names - exchange.keys())
        of_roles += [exchange, *([exchange | pieces] if pieces else ())]
        of_roles += [exchange | swap for swap in swaps if not exchange.keys() & swap.keys()]
    rotations = [dict(zip(roles, (*roles[n:], *roles[:n]), strict=True)) for n in range(1, len(roles))]
    distinct = {tuple(sorted(renaming.items())): renaming for renaming in (*of_roles, *swaps, *rotations)}
    return list(distinct.values())[:_MOST_RENAMINGS]


def _pieces(one: str, other: str, names: Collection[str]) -> dict[str, str]:
    """Return the exchange of short names that differ only in the first letter, such as wp and bp."""
    pairs = ((name, other + name[1:]) for name in names if name[0] == one and len(name) <= _LONGEST_PIECE)
    return dict(
        chain.from_iterable((pair, pair[::-1]) for pair in pairs if pair[1] in names and one != other)
    )


# -- test by random play ----------------------------------------------------------------------------------


class _Play:
    """States that random play of a compiled game reaches, with their children."""

    def __init__(self, game: Game) -> None:
        self._roles = [str(role) for role in game.roles]
        self._batch = game.batch(_LANES, _SEED)
        states, self._ends = self._sampled()
        families = ((state, self._children(state)) for state in states)
        small = ((state, children) for state, children in families if children is not None)
        self._families = list(islice(small, _STATES))
        self._seen = np.concatenate([self._ends, *(state[None] for state, _ in self._families)])
        self._looks = self._look(self._seen) if self.says_something else []

    @property
    def says_something(self) -> bool:
        """Whether random play found terminal states, and states with few enough children."""
        return len(self._ends) > 0 and len(self._families) > 0

    def _sampled(self) -> tuple[States, States]:
        """Return shuffled states that random play reached: non-terminal states, and terminal states."""
        batch, random = self._batch, np.random.default_rng(_SEED)
        states, is_over = batch.observation(), batch.terminal
        running, ended = [states[:1]], [states[:0]]
        for _ in range(_LONGEST):
            batch.step_random()
            states, is_over = batch.observation(), batch.terminal
            running.append(states[~is_over & ~batch.stuck][:_KEPT])
            ended.append(states[is_over][:_KEPT])
            if is_over.all():
                break
        going, ends = (
            random.permutation(np.unique(np.concatenate(parts), axis=0)) for parts in (running, ended)
        )
        return going, ends[:_ENDS]

    def _load(self, states: States) -> None:
        """Load states into the first lanes, and copies of the first state into all other lanes."""
        copies = np.repeat(states[:1], _LANES - len(states), axis=0)
        self._batch.set_observation(np.concatenate([states, copies]))

    def _look(self, states: States) -> list[bytes]:
        """Return as bytes which states are terminal, then for each role the numbers of moves and goals."""
        self._load(states)
        is_over = self._batch.terminal
        looks = [is_over[: len(states)].tobytes()]
        for role, mask in zip(self._roles, self._batch.legal_masks(), strict=True):
            columns = (mask.sum(axis=1), np.where(is_over, self._batch.goals(role), 0))
            looks.append(b"".join(column[: len(states)].tobytes() for column in columns))
        return looks

    def _children(self, state: State) -> States | None:
        """Return the children of a state; None if the state has no child or too many."""
        self._load(state[None])
        legal = [np.flatnonzero(mask[0]) for mask in self._batch.legal_masks()]
        count = prod(map(len, legal))
        if self._batch.terminal[0] or not 0 < count <= _MOST_CHILDREN:
            return None
        moves = np.array(list(product(*legal)), np.int32)
        moves = np.concatenate([moves, np.repeat(moves[:1], _LANES - count, axis=0)])
        self._batch.step(dict(zip(self._roles, moves.T, strict=True)))
        return np.unique(self._batch.observation()[:count], axis=0)

    def roles_under(self, image: NDArray[np.int32]) -> tuple[int, ...] | None:
        """Return for each role the role whose place it takes; None if the candidate is not a symmetry."""
        try:
            is_over, *looks = self._look(_moved(self._seen, image))
            if is_over != self._looks[0] or sorted(looks) != sorted(self._looks[1:]):
                return None
            if not all(self._is_kept(image, *family) for family in self._families):
                return None
        except PositionError:  # The image contains fluents that exclude each other.
            return None
        roles = []
        for look in self._looks[1:]:
            roles.append(looks.index(look))
            looks[roles[-1]] = b""
        return tuple(roles)

    def _is_kept(self, image: NDArray[np.int32], state: State, children: States) -> bool:
        """Return whether the children of a state's image are the images of the state's children."""
        of_image = self._children(_moved(state, image))
        return of_image is not None and _rows(of_image) == _rows(_moved(children, image))


def _moved(states: States, image: NDArray[np.int32]) -> States:
    moved = np.empty_like(states)
    moved[..., image] = states
    return moved


def _rows(states: States) -> frozenset[bytes]:
    return frozenset(map(bytes, np.packbits(states, axis=1)))
