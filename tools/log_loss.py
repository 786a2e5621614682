"""Compare models by their predictions: the log-loss on states of matches between them.

    python tools/log_loss.py reversi.kif one.npz two.npz
    python tools/log_loss.py hex_pie one.npz two.npz --matches 200 --leaves 1000

The models play each other, each against each, with estimates alone. A match begins with four to eleven random
moves. Each model then predicts the results of the same states, which follow these random moves. A prediction
is the value of a search with one expanded state. The output has a row per model: the log-loss, and its
difference from the first model with a 95 % interval over matches. The last columns are the log-loss of states
by the number of joint moves to the end. The loss of a model that knows nothing is 0.693.

A model with a lower log-loss usually wins matches against the other, and a comparison needs far fewer
matches. The estimates of a model are compared even if the model lost its trial. The sheet must have two
roles, and goals from 0 to 100.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import cycle, islice, permutations
from math import log
from pathlib import Path
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.arguments import some_count

import anygame
from anygame.errors import ModelError
from anygame.search import Search, load_model
from anygame.tournament.standings import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anygame.search.model import Model

#: Minimum and maximum number of random moves before a match.
_OPENING: Final = (4, 11)
#: Greatest number of joint moves to the end in each column.
_COLUMNS: Final = (10, 20, 30, 40)
#: Predictions are at least this far from 0 and 1, so that one sure and wrong prediction does not decide.
_LEAST: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Example:
    """A state in which one role chooses, its result from 0 to 1, and the number of joint moves to the end."""

    state: anygame.State
    mover: anygame.Role
    result: float
    left: int
    match: int


def used_alone(model: Model) -> Model:
    """Return a model whose estimates replace playouts, whatever the result of its trial."""
    return replace(model, figures=replace(model.figures, trust=1.0))


def examples(game: anygame.Game, models: Sequence[Model], matches: int, leaves: int) -> Iterator[Example]:
    """Play matches between the models, and yield the states after the random moves."""
    random = Random(1)
    pairs = list(permutations(models, 2)) or [(models[0], models[0])]
    for number, pair in enumerate(islice(cycle(pairs), matches)):
        sides = [Search(game, seed=2 * number + seat, model=model) for seat, model in enumerate(pair)]
        state, opening, passed = game.initial_state(), random.randint(*_OPENING), list[anygame.State]()
        while not state.is_terminal and state.stuck_role is None:
            joint = [random.choice(state.legal_moves(role)) for role in game.roles]
            if len(passed) >= opening:
                for role in state.movers:
                    seat = game.role_index(role)
                    joint[seat] = sides[seat].run(state, iterations=leaves).best(role)
            passed.append(state)
            state = state.next(joint)
        if not state.is_terminal:
            continue
        first, second = (state.goal(role) or 0 for role in game.roles)
        for at, earlier in enumerate(passed):
            if at >= opening and len(earlier.movers) == 1:
                (mover,) = earlier.movers
                lead = first - second if mover == game.roles[0] else second - first
                yield Example(earlier, mover, (100 + lead) / 200, len(passed) - at, number)


def losses(game: anygame.Game, model: Model, states: Sequence[Example]) -> list[float]:
    """Return the log-loss of a model's prediction of each state.

    Raises:
        ModelError: the search cannot use the model.
    """
    found = []
    for example in states:
        # A search keeps its tree, so each state has a new search.
        search = Search(game, seed=1, model=model, memory=1 << 20)
        estimate = search.run(example.state, iterations=1).moves[example.mover][0].estimate
        if estimate is None:
            raise ModelError(f"the search cannot use the model: {search.no_model or search.fallback}")
        predicted = min(max(estimate / 100, _LEAST), 1 - _LEAST)
        found.append(-example.result * log(predicted) - (1 - example.result) * log(1 - predicted))
    return found


def row(states: Sequence[Example], loss: Sequence[float], first: Sequence[float]) -> list[str]:
    """Return the cells of a row: the mean, the mean difference from the first model, and each column's mean.

    >>> states = [Example(None, 0, 1.0, left, match) for match in range(2) for left in (15, 5)]
    >>> row(states, [0.7, 0.1, 0.5, 0.3], [0.8, 0.2, 0.5, 0.3])
    ['0.4000', '-0.0500 ± 0.6353', '0.200', '0.600', '-', '-']
    """
    of_match, of_column = defaultdict(list), defaultdict(list)
    for example, each, base in zip(states, loss, first, strict=True):
        of_match[example.match].append(each - base)
        of_column[next((most for most in _COLUMNS if example.left <= most), 0)].append(each)
    difference = Estimate.of([fmean(each) for each in of_match.values()])
    assert difference is not None, "without states there is no row"
    columns = [f"{fmean(of_column[most]):.3f}" if most in of_column else "-" for most in _COLUMNS]
    return [f"{fmean(loss):.4f}", f"{difference.mean:+.4f} ± {difference.margin:.4f}", *columns]


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the matches and print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Compare models by the log-loss of their predictions.")
    parser.add_argument("sheet", metavar="SHEET", help="a rule sheet, or the name of an installed game")
    parser.add_argument("models", metavar="MODEL", nargs="+", help="files from `anygame train`")
    parser.add_argument("--matches", type=some_count, default=100, metavar="N", help="matches in all (100)")
    parser.add_argument("--leaves", type=some_count, default=500, metavar="N", help="leaves per move (500)")
    options = parser.parse_args(arguments)
    try:
        game = anygame.load(options.sheet)
        if len(game.roles) != 2:
            parser.error(f"expected a sheet with two roles, found {len(game.roles)} in {game.name}")
        models = [load_model(path, game) for path in options.models]
    except anygame.AnygameError as error:
        parser.error(str(error))
    game.compile(wait=True)
    used = [used_alone(model) for model in models]
    states = list(examples(game, used, options.matches, options.leaves))
    print(f"{len(states)} states of {options.matches} matches of {game.name}")
    if not states:
        return 0
    width = max(map(len, options.models))
    heads = ["model".ljust(width), "log-loss", "against the first".rjust(18)]
    print("  ".join([*heads, *(f"to {most}".rjust(5) for most in _COLUMNS)]))
    first: list[float] = []
    for name, model in zip(options.models, used, strict=True):
        found = losses(game, model, states)
        first = first or found
        loss, against, *columns = row(states, found, first)
        cells = [name.ljust(width), loss.rjust(8), against.rjust(18), *(cell.rjust(5) for cell in columns)]
        print("  ".join(cells), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
