"""Symmetries: maps of the fluents of a game that do not change play.

A board looks the same from several sides, and roles change places (Schiffel, "Symmetry Detection in General
Game Playing", AAAI 2010). Names suggest the parts of maps: reversed coordinates, exchanged coordinates, and
exchanged names. A map is kept if random play confirms it. The children of the image of a state must be the
images of its children. Each role must have as many moves, and the same goals at ends, as the role whose place
it takes. That is no proof, but enough for learning.
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
    #: bool [fluents], and [states, fluents].
    State = NDArray[np.bool_]
    States = NDArray[np.bool_]

#: The fewest values of a coordinate, and the most of an argument whose names may be exchanged.
_FEWEST_VALUES, _MOST_NAMES = 3, 4
#: Upper bounds: pairs of roles whose names are exchanged, and maps of names.
_MOST_PAIRS, _MOST_RENAMINGS = 6, 64
#: The longest name of a piece that begins with the initial of its role.
_LONGEST_PIECE: Final = 3
#: Images that are no fluents, per fluent: another map may lead back from them.
_MOST_IMAGES: Final = 8
#: Upper bounds: maps that are composed, maps that are tried in play, and symmetries.
_MOST_MAPS, _MOST_TRIED, _MOST_SYMMETRIES = 4096, 256, 32
#: Lanes of random play, its joint moves, and states kept of each.
_LANES, _LONGEST, _KEPT = 512, 256, 8
#: States whose children are compared, their children at most, and ends.
_STATES, _MOST_CHILDREN, _ENDS = 12, 128, 256
#: Moves of all roles together: masks of more are slow.
_MOST_MOVES = 1 << 14
_SEED: Final = 1


class Symmetries(NamedTuple):
    """Symmetries of a game, the identity first.

    Attributes:
        fluents: int32 [symmetries, fluents]; the image of each fluent.
        roles: int32 [symmetries, roles]; the role whose place each takes.
    """

    fluents: NDArray[np.int32]
    roles: NDArray[np.int32]


def symmetries_of(game: Game) -> Symmetries:
    """Return the symmetries of a compiled game that names suggest and play confirms.

    >>> import anygame
    >>> game = anygame.load("tic_tac_toe")
    >>> game.compile()
    True
    >>> len(symmetries_of(game).fluents)  # eight of the square, and in each the roles may change places
    16
    """
    none = _Symmetry(tuple(range(len(game.fluent_terms))), tuple(range(len(game.roles))))
    found = {none.fluents: none}
    is_large = sum(len(game.actions(str(role))) for role in game.roles) > _MOST_MOVES
    play = None if is_large else _Play(game)
    if play is not None and play.says_something:
        generators: list[_Symmetry] = []
        untried = (each for each in _maps(game) if tuple(each.tolist()) not in found)
        for each in islice(untried, _MOST_TRIED):
            order = play.roles_under(each)
            if order is not None and len(found) < _MOST_SYMMETRIES:
                generators.append(_Symmetry(tuple(each.tolist()), order))
                found = _composed(none, generators)
    fluents, roles = zip(*found.values(), strict=True)
    return Symmetries(np.array(fluents, np.int32), np.array(roles, np.int32))


class _Symmetry(NamedTuple):
    """The image of each fluent, and the role whose place each role takes."""

    fluents: tuple[int, ...]
    roles: tuple[int, ...]

    def after(self, other: _Symmetry) -> _Symmetry:
        """Return the composition, the other first."""
        return _Symmetry(*(tuple(own[n] for n in first) for own, first in zip(self, other, strict=True)))


def _composed(none: _Symmetry, generators: Sequence[_Symmetry]) -> dict[tuple[int, ...], _Symmetry]:
    """Return the group of some symmetries, by the images of fluents, or a part of a large one."""
    found = {none.fluents: none}
    pending = deque(found.values())
    while pending:
        last = pending.popleft()
        for each in (generator.after(last) for generator in generators):
            if each.fluents not in found and len(found) < _MOST_SYMMETRIES:
                found[each.fluents] = each
                pending.append(each)
    return found


# -- maps suggested by names ------------------------------------------------------------------------------


class _Column(NamedTuple):
    """An argument of fluents.

    Attributes:
        key: functor and arity of the fluents.
        place: its number, from 1.
        values: of the argument.
        axis: the values in order, or the axis of another argument with more values; empty if there is none.
        number: number of earlier arguments with the same axis.
    """

    key: Key
    place: int
    values: frozenset[str]
    axis: Words
    number: int


def _maps(game: Game) -> Iterator[NDArray[np.int32]]:
    """Yield maps of fluents, those with the fewest changes first: int32 [fluents]."""
    fluents = [words_of(fluent) for fluent in game.fluent_terms]
    columns = _columns(game)
    turns = [*_reversals(columns), *_exchanges(columns)]
    names = _names([str(role) for role in game.roles], columns)
    tables = _tables(fluents, [*turns, *map(_renaming, names)])
    subsets = chain.from_iterable(combinations(tables[: len(turns)], n) for n in range(len(turns) + 1))
    none = np.arange(len(tables[0]) if tables else len(fluents), dtype=np.int32)
    composed = ((*subset, renaming) for subset in subsets for renaming in (none, *tables[len(turns) :]))
    for each in islice(composed, _MOST_MAPS):
        image = none[: len(fluents)]
        for table in each:
            image = table[image]
        if image.max(initial=-1) < len(fluents) == len(np.unique(image)):
            yield image


def _tables(fluents: Sequence[Words], changes: Sequence[Change]) -> list[NDArray[np.int32]]:
    """Return the images of fluents, and of their images, under changes; the last number is for others."""
    number = {words: n for n, words in enumerate(fluents)}
    known = list(fluents)
    for words in known:  # it grows meanwhile
        for change in changes if len(known) < _MOST_IMAGES * len(fluents) else ():
            image = change(words)
            if image not in number:
                number[image] = len(known)
                known.append(image)
    return [
        np.array([*(number.get(change(words), len(known)) for words in known), len(known)], np.int32)
        for change in changes
    ]


def _columns(game: Game) -> list[_Column]:
    """Return the arguments of all fluents, in order."""
    values: dict[tuple[Key, int], set[Term]] = defaultdict(set)
    for fluent in game.fluent_terms:
        if isinstance(fluent, Compound):
            for place, value in enumerate(fluent.arguments, 1):
                values[(fluent.functor, len(fluent.arguments)), place].add(value)
    successions = chains(game.program.rules)
    own = {where: tuple(map(str, ordered(some, successions))) for where, some in values.items()}
    long = sorted({axis for axis in own.values() if len(axis) >= _FEWEST_VALUES}, key=lambda a: (len(a), a))
    found: list[_Column] = []
    for (key, place), some in sorted(values.items()):
        names = frozenset(map(str, some))
        axis = next((axis for axis in long if _is_kept_by_reversal(names, axis)), ())
        number = sum(each.key == key and each.axis == axis for each in found)
        found.append(_Column(key, place, names, axis, number))
    return found


def _is_kept_by_reversal(names: frozenset[str], axis: Words) -> bool:
    """Return whether names are values of an axis, and the same values of the reversed axis."""
    return len(names) > 1 and names == {axis[-1 - n] for n, value in enumerate(axis) if value in names}


def _reversals(columns: Sequence[_Column]) -> Iterator[Change]:
    """Yield reversals of an axis, in all fluents with several coordinates, or in one with one alone."""
    long = [each for each in columns if each.axis]
    coordinates = Counter(each.key for each in long)
    like = grouped(
        ((each.axis, each.number, each.key if coordinates[each.key] == 1 else None), each) for each in long
    )
    for (axis, _, _), some in like.items():
        other = dict(zip(axis, reversed(axis), strict=True))
        yield _change({each.key: {each.place: (each.place, other)} for each in some})


def _exchanges(columns: Sequence[_Column]) -> Iterator[Change]:
    """Yield exchanges of two coordinates with the same number of values, in all fluents."""
    like = grouped(
        ((one.axis, two.axis, one.number, two.number), (one, two))
        for one, two in combinations(columns, 2)
        if one.axis and one.key == two.key and len(one.axis) == len(two.axis)
    )
    for (axis, other, _, _), pairs in like.items():
        there, back = dict(zip(axis, other, strict=True)), dict(zip(other, axis, strict=True))
        yield _change(
            {one.key: {one.place: (two.place, back), two.place: (one.place, there)} for one, two in pairs}
        )


def _change(parts: Mapping[Key, Mapping[int, tuple[int, Mapping[str, str]]]]) -> Change:
    """Return a change of fluents: for some places, the place of origin and the map of names."""

    def change(words: Words) -> Words:
        changed = parts.get((words[0], len(words) - 1), {})
        origins = (changed.get(n, (n, {})) for n in range(len(words)))
        return tuple(names.get(words[origin], words[origin]) for origin, names in origins)

    return change


def _renaming(names: Mapping[str, str]) -> Change:
    return lambda words: tuple(names.get(word, word) for word in words)


def _names(roles: Sequence[str], columns: Sequence[_Column]) -> list[dict[str, str]]:
    """Return exchanges of names: of roles, two or all in turn, of two things on a board, or of both."""
    words = {*roles, *(each.key[0] for each in columns)}.union(*(each.values for each in columns))
    names = {word for word in words if not word.isdecimal()}
    few = [sorted(each.values) for each in columns if len(each.values) <= _MOST_NAMES and not each.axis]
    things = [{one: other, other: one} for values in few for one, other in combinations(values, 2)]
    found: list[dict[str, str]] = []
    for one, other in islice(combinations(roles, 2), _MOST_PAIRS):
        like = counterparts(one, other, names)
        pieces = _pieces(one[0], other[0], names - like.keys())
        found += [like, *([like | pieces] if pieces else ())]
        found += [like | each for each in things if not like.keys() & each.keys()]
    rotations = [dict(zip(roles, (*roles[n:], *roles[:n]), strict=True)) for n in range(1, len(roles))]
    distinct = {tuple(sorted(each.items())): each for each in (*found, *things, *rotations)}
    return list(distinct.values())[:_MOST_RENAMINGS]


def _pieces(one: str, other: str, names: Collection[str]) -> dict[str, str]:
    """Return pairs of short names that differ in the first letter alone, as wp and bp."""
    pairs = ((name, other + name[1:]) for name in names if name[0] == one and len(name) <= _LONGEST_PIECE)
    return dict(
        chain.from_iterable((pair, pair[::-1]) for pair in pairs if pair[1] in names and one != other)
    )


# -- confirmation by play ---------------------------------------------------------------------------------


class _Play:
    """States of random play of a compiled game, and their children."""

    def __init__(self, game: Game) -> None:
        self._roles = [str(role) for role in game.roles]
        self._batch = game.batch(_LANES, _SEED)
        met, self._ends = self._met()
        found = ((state, self._children(state)) for state in met)
        self._families = list(islice(((state, each) for state, each in found if each is not None), _STATES))
        self._seen = np.concatenate([self._ends, *(state[None] for state, _ in self._families)])
        self._looks = self._look(self._seen) if self.says_something else []

    @property
    def says_something(self) -> bool:
        """Whether there are ends, and states with few enough children."""
        return len(self._ends) > 0 and len(self._families) > 0

    def _met(self) -> tuple[States, States]:
        """Return states before the end, and ends, in random order: bool [states, fluents]."""
        batch, random = self._batch, np.random.default_rng(_SEED)
        states, is_over = batch.observation(), batch.terminal
        on, over = [states[:1]], [states[:0]]
        for _ in range(_LONGEST):
            batch.step_random()
            states, is_over = batch.observation(), batch.terminal
            on.append(states[~is_over & ~batch.stuck][:_KEPT])
            over.append(states[is_over][:_KEPT])
            if is_over.all():
                break
        some, ends = (random.permutation(np.unique(np.concatenate(each), axis=0)) for each in (on, over))
        return some, ends[:_ENDS]

    def _load(self, states: States) -> None:
        """Put states into the first lanes, and the first of them into all others."""
        rest = np.repeat(states[:1], _LANES - len(states), axis=0)
        self._batch.set_observation(np.concatenate([states, rest]))

    def _look(self, states: States) -> list[bytes]:
        """Return which states are ends, and for each role the number of its moves and its goals at ends."""
        self._load(states)
        is_over = self._batch.terminal
        found = [is_over[: len(states)].tobytes()]
        for role, mask in zip(self._roles, self._batch.legal_masks(), strict=True):
            columns = (mask.sum(axis=1), np.where(is_over, self._batch.goals(role), 0))
            found.append(b"".join(column[: len(states)].tobytes() for column in columns))
        return found

    def _children(self, state: State) -> States | None:
        """Return the children of a state: bool [states, fluents]; None if there are too many."""
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
        """Return the role whose place each takes under a map; None if it is no symmetry."""
        try:
            is_over, *looks = self._look(_moved(self._seen, image))
            if is_over != self._looks[0] or sorted(looks) != sorted(self._looks[1:]):
                return None
            if not all(self._is_kept(image, *family) for family in self._families):
                return None
        except PositionError:  # of facts that cannot hold at once
            return None
        found = []
        for look in self._looks[1:]:
            found.append(looks.index(look))
            looks[found[-1]] = b""
        return tuple(found)

    def _is_kept(self, image: NDArray[np.int32], state: State, children: States) -> bool:
        """Return whether the children of a state's image are the images of its children."""
        found = self._children(_moved(state, image))
        return found is not None and _rows(found) == _rows(_moved(children, image))


def _moved(states: States, image: NDArray[np.int32]) -> States:
    """Return the images of states: bool [..., fluents]."""
    moved = np.empty_like(states)
    moved[..., image] = states
    return moved


def _rows(states: States) -> frozenset[bytes]:
    return frozenset(map(bytes, np.packbits(states, axis=1)))
