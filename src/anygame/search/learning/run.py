"""Run of a training: self-play, trials against earlier weights, and checkpoints.

Every ten seconds, the run writes a checkpoint beside the model file, so a crash loses at most ten seconds of
play. The name of the checkpoint contains the seed, so concurrent trainings of a game have different
checkpoints. A lock keeps other processes from writing the same checkpoint.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, replace
from glob import escape as glob_escape
from math import inf
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from anygame.errors import LimitError, ModelError
from anygame.game.encoding import rules_digest
from anygame.search.array_file import read_arrays, write_arrays
from anygame.search.learning import FORMAT, MOST_THREADS, SUFFIX
from anygame.search.learning.learner import units_of_training
from anygame.search.learning.learners import Learners
from anygame.search.learning.practice import MOST_ROLES, obstacle_to_learning
from anygame.search.learning.remote import searcher_of
from anygame.search.learning.trial import LEAVES, judge, try_out
from anygame.search.model import Model, ModelFigures, TrainingProgress, history_of, inputs_of
from anygame.search.solving import solve
from anygame.search.tree.searcher import TreeSearcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from anygame.game.game import Game
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.search.learning.remote import Hosts
    from anygame.search.learning.trial import Weights
    from anygame.search.table import Table

#: Seconds between two checkpoints. The weights do not depend on the interval.
_CHECKPOINT_SECONDS: Final = 10.0
#: Number of games before the first trial against earlier weights. The next trial follows whenever the number
#: of games has doubled.
_FIRST_TRIAL: Final = 1_000
#: Number of matches of a trial against earlier weights.
_MATCHES: Final = 12
#: Number of leaves per move in a trial against earlier weights.
_LEAVES: Final = 500
#: Ratio of the number of training games to the number of leaves per move in the last trial. So a longer
#: training has a longer trial.
_GAMES_FOR_A_LEAF: Final = 5
#: Maximum number of leaves per move in the last trial. With few leaves, estimates look too good: estimates of
#: connect four after 900,000 games scored 55 % with 2,000 leaves per move, but 29 % with 20,000.
_MOST_LEAVES: Final = 20_000
#: The trial of a training with a time limit takes at most as long as self-play, or this number of seconds.
_SHORTEST_TRIAL: Final = 60.0
#: Maximum factor for the number of matches of the last trial, once the number of leaves is at its maximum.
_MOST_PRECISION: Final = 4
#: Size in bytes of the tree of a search whose moves are compared with exact values.
_MEMORY: Final = 1 << 24
#: Maximum number of states of a game that the solver solves, on most public sheets within a second.
_MOST_STATES: Final = 300_000
#: Size in bytes of the solver's table of states.
_MEMORY_OF_TABLE: Final = 1 << 28
#: Maximum number of states in which moves of searches are compared with the values of a solved game.
_COMPARED: Final = 100
#: Maximum number of random playouts that sample states of a solved game.
_PLAYOUTS: Final = 400


class TrainingRun:
    """A training that can be resumed."""

    def __init__(self, game: Game, path: Path, seed: int, threads: int, seconds: float) -> None:
        self._searcher, self._path = searcher_to_learn(game), path
        self._begin(seed, threads, units_of_training(self._searcher, seconds))

    def _begin(self, seed: int, threads: int, units: int) -> None:
        self._learners, self._seed = Learners(self._searcher, seed, threads, units), seed
        self._seconds = 0.0
        self._earlier: Weights = self._learners.weights
        self._next_trial = _FIRST_TRIAL
        self._reported = 0.0, 0
        self._history: list[TrainingProgress] = []

    @property
    def _checkpoint(self) -> Path:
        return self._path.with_name(f"{self._path.name}.{self._seed}{SUFFIX}")

    def learn(self, seconds: float, games: float, progress: Callable[[TrainingProgress], object]) -> None:
        """Play up to a total number of seconds or games, and write checkpoints periodically."""
        try:
            while self._seconds < seconds and not self._learners.have_played(games):
                begin = perf_counter()
                deadline = begin + min(_CHECKPOINT_SECONDS, seconds - self._seconds)
                if not self._learners.play(min(games, self._next_trial), deadline=deadline):
                    raise _unsuitable(self._searcher.game, "the game has too many joint moves")
                self._seconds += perf_counter() - begin
                figures = self._so_far()
                if self._learners.have_played(self._next_trial):
                    figures = self._compared(figures)
                left = min(seconds - self._seconds, self._seconds * (games / max(1, figures.games) - 1))
                progress(replace(figures, left=max(0.0, left)) if left < inf else figures)
                self._write()
        except KeyboardInterrupt:
            self._write()
            raise

    def _so_far(self) -> TrainingProgress:
        progress = self._learners.progress
        error, positions = self._reported
        return TrainingProgress(
            games=progress.games,
            positions=progress.positions,
            seconds=self._seconds,
            error=(progress.squared_error - error) / max(1, progress.positions - positions),
        )

    def _compared(self, figures: TrainingProgress) -> TrainingProgress:
        """Return the figures with the result of a trial against the weights after half of the games."""
        weights, progress = self._learners.weights, self._learners.progress
        trial = try_out(
            self._searcher.game,
            weights,
            rivals=self._earlier,
            seed=self._next_trial,
            matches=_MATCHES,
            leaves=_LEAVES,
        )
        self._reported = progress.squared_error, progress.positions
        self._earlier, self._next_trial = weights, 2 * self._next_trial
        figures = replace(figures, score=trial.score, matches=len(trial.leads), interval=trial.interval)
        self._history.append(figures)
        return figures

    def model(self, has_limit: bool, progress: Callable[[TrainingProgress], object]) -> Model:
        """Return the model, after a trial that compares searches with and without its estimates.

        ``has_limit`` says whether the trial has a time limit. ``progress`` receives its number of matches.
        """
        game, weights, played = self._searcher.game, self._learners.weights, self._learners.progress
        affordable = played.games / _GAMES_FOR_A_LEAF
        leaves = min(_MOST_LEAVES, max(LEAVES, int(affordable)))
        precision = min(_MOST_PRECISION, max(1, affordable / _MOST_LEAVES))
        figures, limit = self._so_far(), max(_SHORTEST_TRIAL, self._seconds)
        trust, trial = judge(
            game,
            weights,
            played,
            seed=self._seed,
            leaves=leaves,
            precision=precision,
            end=perf_counter() + limit if has_limit else inf,
            report=lambda matches: progress(replace(figures, trial_matches=matches)),
        )
        if trust and errs_more(game, weights, trust, seed=self._seed, leaves=leaves):
            trust = 0.0
        model_figures = ModelFigures(
            game=game.name,
            rules=rules_digest(game),
            games=played.games,
            positions=played.positions,
            seconds=self._seconds,
            trial_leaves=leaves,
            trial_matches=len(trial.leads),
            trial_score=sum(trial.leads),
            trust=trust,
            history=tuple(self._history),
        )
        return Model(model_figures, inputs_of(self._searcher), weights)

    def _write(self) -> None:
        header = {
            "format": FORMAT,
            "game": self._searcher.game.name,
            "games": self._learners.progress.games,
            "rules": rules_digest(self._searcher.game),
            "fluents": inputs_of(self._searcher),
            "seed": self._seed,
            "threads": len(self._learners),
            "seconds": self._seconds,
            "next_trial": self._next_trial,
            "reported": self._reported,
            "history": list(map(asdict, self._history)),
        }
        try:
            write_arrays(self._checkpoint, header, {**self._learners.state(), "earlier": self._earlier})
        except ModelError as error:
            raise ModelError(f"{error}; the previous checkpoint is intact: try --resume") from error

    def placed(self, hosts: Hosts | None) -> AbstractContextManager[None]:
        """Have the workers of a cluster play until the block ends. None means no cluster."""
        return nullcontext() if hosts is None else self._learners.placed(hosts)

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Lock a new training until the block ends; raise ModelError if another process holds the lock."""
        with _alone(self._checkpoint) as is_alone:
            if not is_alone:
                raise ModelError(
                    f"another process trains {self._path} with the seed {self._seed}: choose another seed"
                )
            yield

    @contextmanager
    def resumed(self, threads: int | None) -> Iterator[None]:
        """Resume from the checkpoint with the most games, and lock the checkpoint until the block ends.

        ``threads`` is the expected number of learners; None allows any number. Raises ModelError if no
        checkpoint can be used.
        """
        reasons, checkpoints = "", []
        for path in self._path.parent.glob(f"{glob_escape(self._path.name)}.*{SUFFIX}"):
            try:
                self._read(path, threads)
            except (ModelError, ValueError, TypeError, KeyError) as error:
                reasons += f"; {path} cannot be used: {error}"
                continue
            checkpoints.append((self._learners.progress.games, path))
        for _, path in sorted(checkpoints, reverse=True):
            with _alone(path) as is_alone:
                if is_alone:
                    self._read(path, threads)
                    yield
                    return
            reasons += f"; another process has resumed {path}"
        raise ModelError(
            f"no training of {self._searcher.game.name} in the folder of {self._path} can be resumed"
            f"{reasons or '; if the rules have changed, start a new training'}"
        )

    def _read(self, path: Path, threads: int | None) -> None:
        """Restore a checkpoint; raise ModelError, ValueError, TypeError or KeyError if that fails."""
        header, arrays = read_arrays(path, FORMAT)
        game = self._searcher.game
        if header["rules"] != rules_digest(game) or tuple(header["fluents"]) != inputs_of(self._searcher):
            raise ValueError("the checkpoint was made for other rules")
        seed, count = int(header["seed"]), int(header["threads"])
        if not 1 <= count <= MOST_THREADS or threads not in {None, count}:
            raise ValueError(f"the thread count is {count}, expected {threads or f'1 to {MOST_THREADS}'}")
        earlier = arrays["earlier"]
        if earlier.ndim != 2 or earlier.dtype != np.float32 or not self._searcher.can_use(earlier):
            raise ValueError("the array of earlier weights has the wrong shape or type")
        self._begin(seed, count, earlier.shape[1])
        self._learners.restore(arrays)
        error, positions = header["reported"]
        self._reported = float(error), int(positions)
        self._seconds, self._next_trial = float(header["seconds"]), int(header["next_trial"])
        self._history = list(history_of(header["history"]))
        self._earlier = earlier.copy()


def searcher_to_learn(game: Game) -> TreeSearcher:
    """Return a searcher for the training of a game; raise ModelError if the game cannot be learned."""
    try:
        searcher = searcher_of(game)
    except LimitError as error:
        raise ModelError(f"{game.name} cannot be trained: {error}") from error
    obstacle = "the roles have incomplete information" if game.is_gdl2 else obstacle_to_learning(searcher)
    if obstacle is not None:
        raise _unsuitable(game, obstacle)
    return searcher


def _unsuitable(game: Game, obstacle: str) -> ModelError:
    return ModelError(
        f"{game.name} cannot be trained: {obstacle}; expected a game of two to {MOST_ROLES} roles with"
        " perfect information, no chance, and few joint moves"
    )


@contextmanager
def _alone(checkpoint: Path) -> Iterator[bool]:
    """Lock a checkpoint until the block ends; yield False if another process holds the lock.

    An SQLite database holds the lock, so the operating system releases the lock when the process ends.
    """
    lock = checkpoint.with_name(f"{checkpoint.name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(lock, timeout=0, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise ModelError(f"cannot write {lock}: {getattr(error, 'strerror', None) or error}") from error
    with closing(connection):
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            yield False
            return
        # Delete incomplete temporary files that a killed process has left behind.
        for part in checkpoint.parent.glob(f".{glob_escape(checkpoint.name)}.*"):
            part.unlink(missing_ok=True)
        try:
            yield True
        finally:
            connection.close()
            lock.unlink(missing_ok=True)


def errs_more(game: Game, weights: Weights, trust: float, *, seed: int, leaves: int) -> bool:
    """Return whether moves of searches with estimates lose more value than moves of searches without.

    The exact values of the game show how much value a move loses. If the game has too many states to be
    solved, the result is False.
    """
    table = solve(
        game, table=True, states=_MOST_STATES, memory=_MEMORY_OF_TABLE, progress=lambda *_: None
    ).table
    if table is None:
        return False
    excess = 0.0
    for state, role, losses in _decisions(table, Random(seed)):
        with_estimates, without = (TreeSearcher(game, seed=seed, memory=_MEMORY) for _ in range(2))
        with_estimates.use_estimates(weights, trust)
        for searcher in (with_estimates, without):
            searcher.begin(state)
            searcher.advance(inf, leaves)
        excess += losses[with_estimates.best(role)] - losses[without.best(role)]
    return excess > 0


def _decisions(table: Table, random: Random) -> Iterator[tuple[State, int, dict[Term, float]]]:
    """Yield states in which the moves of a role differ in value, with the role and the loss of each move."""
    game, seen = table.game, set()
    for _ in range(_PLAYOUTS):
        states = [game.initial_state()]
        while not states[-1].is_terminal and states[-1].stuck_role is None:
            state = states[-1]
            states.append(state.next([random.choice(state.legal_moves(role)) for role in game.roles]))
        state = random.choice(states)
        for role, moves in table.moves(state).items():
            values = {move: bounds.least for move, bounds in moves.items()}
            best = max(values.values())
            if min(values.values()) < best and state not in seen:
                seen.add(state)
                yield state, game.role_index(role), {move: best - values[move] for move in values}
        if len(seen) == _COMPARED:
            return
