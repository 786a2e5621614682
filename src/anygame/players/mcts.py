"""Strong players, which use `anygame.search`: tree search with proofs, and search of information sets."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from anygame.errors import AnygameError, ModelError, TableError
from anygame.language.diagnostics import counted
from anygame.players.player import Player, check_option
from anygame.search import load_table
from anygame.search.model import wanted_model
from anygame.search.searching import DEFAULT_MEMORY, Search, prepare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.player import Clock
    from anygame.search import Model, Table

#: Duration of a slice of compiling in seconds. The clock is checked between two slices.
_LOOK: Final = 0.05
#: Duration of a slice of pondering in seconds; short, so that pondering ends quickly.
_SHORT_SLICE: Final = 0.01
#: Share of the remaining start clock that practice takes.
_SHARE_OF_PRACTICE: Final = 0.85
#: Minimum number of seconds of the remaining start clock for practice to start.
_SHORT_PRACTICE: Final = 1.5
#: Share of the remaining start clock for a search before practice. If the search solves the game, there is no
#: practice.
_FIRST_LOOK: Final = 0.05
#: Practice takes a share of the start clock. Of a longer start clock, it counts only this many seconds.
_LONG_PRACTICE: Final = 300.0
#: Minimum size of a tree in bytes. With large states, a smaller tree cannot hold a move and its replies.
_LEAST_MEMORY: Final = 2**20
#: Maximum number of seconds to wait until pondering ends; only very slow rules take longer.
_LONGEST_WAIT: Final = 10.0
#: Maximum duration of pondering, in multiples of the play clock. Game managers abort idle matches sooner.
_PATIENCE: Final = 20
#: Maximum number of joint moves, with the chosen move, of the expected line of play in a player's comment.
_SAID: Final = 4


class MctsPlayer(Player):
    """Searches until the clock is up, or until the position is solved.

    The tree is kept from move to move. The player follows a proven win along the shortest known line, and a
    proven loss along the longest. The game is compiled during the start clock. If the start clock is too
    short, the search uses the reasoner until the game is compiled. In games with hidden information, the
    player searches information sets, as ``ismcts`` does, in one thread and without pondering.

    Args:
        seed: seed of the random numbers.
        threads: number of threads.
        memory: approximate maximum size of the tree in bytes.
        pondering: whether to search while other roles choose, which slows other players on the machine.
        aloud: whether to comment on each move.
        iterations: maximum number of leaves evaluated for a move; None if only the clock is the limit.
        practice: whether to practise during the start clock; see ``Search.practise``. With ``iterations``,
            there is no practice, so that a seed determines the moves.
        noise: share of random moves, from 0 to 1.
        table: file of exact values, as written by ``anygame solve --table``. The player plays perfectly in
            the states of the table. A table of another game is ignored.
        model: ``True`` for the model that ``anygame train`` has trained for the game, if the model exists;
            ``False`` for no model; or a file. None means ``True`` without ``iterations``, and ``False`` with
            ``iterations``, so that a seed determines the moves on every machine. If a model cannot be used,
            the player says why, and plays without the model.

    Raises:
        FileNotFoundError: the file of the table or model does not exist.
        PlayerError: a number is out of range.
    """

    plays_unprepared = True
    #: Whether to search information sets in every game, even if the rules hide no information.
    _always_believes = False

    def __init__(
        self,
        seed: int | None = None,
        *,
        threads: int = 1,
        memory: int = DEFAULT_MEMORY,
        pondering: bool = False,
        aloud: bool = False,
        iterations: int | None = None,
        practice: bool = True,
        noise: float = 0.0,
        table: str | None = None,
        model: bool | str | None = None,
    ) -> None:
        super().__init__(seed)
        check_option("threads", threads, 1, 4096)
        check_option("memory in bytes", memory, _LEAST_MEMORY)
        check_option("iterations", iterations, 1)
        check_option("noise", noise, 0, 1)
        self.threads, self.memory = threads, memory
        self.pondering, self.iterations = pondering, iterations
        self.remembers = iterations is not None and threads == 1 and not pondering
        if table is not None and not Path(table).is_file():
            raise FileNotFoundError(f"there is no file {table}")
        if isinstance(model, str) and not Path(model).is_file():
            raise FileNotFoundError(f"there is no file {model}")
        self.model = iterations is None if model is None else model
        self.aloud = aloud
        self.practice = practice and iterations is None
        self.noise = noise
        self._seed, self._path = seed, table
        self._pondering: _Pondering | None = None

    @classmethod
    def prepare(cls) -> None:
        """Compile the code of the search, which takes several seconds the first time on a machine."""
        prepare()

    def start(self, clock: Clock) -> None:
        """Compile the game, and search from the initial state."""
        game, role = self.game, self.role
        self._stop_pondering(clock.remaining() / 2)
        self._believes = self._always_believes or game.is_gdl2
        model = None if self._believes else self._model_of(game)
        self._search = Search(
            game,
            seed=self.random.getrandbits(32) if self._believes else self._seed,
            threads=self.threads,
            memory=self.memory,
            role=role if self._believes else None,
            model=model,
        )
        self._table: Table | None = None
        if self._path is not None:
            with suppress(TableError):
                self._table = load_table(self._path, game)
        self._search.compile(0.0)
        # The search of a game with one role can start before the game is compiled.
        while (
            not clock.is_up
            and self._search.is_compiling
            and not (self.iterations is None and self._search.is_for_one)
        ):
            self._search.compile(min(_LOOK, clock.remaining()))
        self.needs_state = not self._search.believes
        if self._search.no_beliefs is not None:
            self.say(f"{self._search.no_beliefs}: searching one state that agrees with the observations")
        if self._search.no_model is not None:
            self.say(f"{self._search.no_model}: playing without it")
        if not self._believes:
            if model is None or self._search.no_model is not None:
                self._practise(clock)
            if self.iterations is None:
                self._think(game.initial_state(), clock)

    def _model_of(self, game: Game) -> Model | None:
        """Return the model of a game; comment on the model, or say why the model cannot be used."""
        try:
            model = wanted_model(game, self.model)
        except ModelError as error:
            self.say(f"{error}: playing without it")
            return None
        if model is not None:
            self.say(f"model of {model.figures}")
        return model

    def _practise(self, clock: Clock) -> None:
        remaining = clock.remaining()
        if not self.practice or self._search.is_compiling or remaining < _SHORT_PRACTICE:
            return
        with suppress(AnygameError):
            if self._search.run(self.game.initial_state(), seconds=_FIRST_LOOK * remaining).is_solved:
                return
            report = self._search.practise(
                seconds=_SHARE_OF_PRACTICE * min(clock.remaining(), _LONG_PRACTICE), stop=lambda: clock.is_up
            )
            if report is not None and self.aloud:
                self.say(report)

    def move(self, state: State, clock: Clock) -> Term:
        """Return the best move found when the clock is up."""
        legal = state.legal_moves(self.role)
        self.best = best = self.random.choice(legal)
        perfect = () if self._table is None else self._table.best_moves(state).get(self.role, ())
        if self.noise and self.random.random() < self.noise:
            if self.aloud:
                self.say(f"{best}: random")
        elif perfect:
            self.best = best = perfect[0]
        elif self._stop_pondering(clock.remaining() / 2) and (len(legal) > 1 or self._believes):
            self._think(state, clock)
            best = self.best or best
            if self.aloud:
                self._say_value_of(best)
        if self.pondering and not self._believes and self._pondering is None:
            self._pondering = _Pondering(self._search, state, best, self.role, _PATIENCE * clock.seconds)
        return best

    def _think(self, state: State, clock: Clock) -> None:
        """Search and update `best`; comment if the search loses track of the state."""
        search, was_lost = self._search, self._search.is_lost
        if clock.is_up and not self._believes:
            return
        role = self.game.role_index(self.role)
        # If the rules have an error in some state, the player uses the results so far.
        with suppress(AnygameError):
            for _ in search.slices(
                state,
                seconds=clock.remaining(),
                iterations=self.iterations,
                stop=lambda: clock.is_up,
                view=self.view,
            ):
                self._prefer(state, role)
            self._prefer(state, role)
        self.needs_state = not search.believes
        if search.is_lost and not was_lost:
            self.say("no state was found that agrees with all observations")

    def _say_value_of(self, best: Term) -> None:
        """Comment on a move: its value, its share of the search, and the expected line."""
        with suppress(ValueError):
            analysis = self._search.analysis()
            moves = analysis.moves.get(self.role, ())
            chosen = next((each for each in moves if each.move == best and each.goal is not None), None)
            if chosen is None:
                return
            value = f"mean goal {chosen.goal:.1f}"
            if chosen.proven is not None:
                value = f"goal {chosen.proven:g}, proven"
            share = chosen.visits / max(1, sum(each.visits for each in moves))
            line = ", ".join(" ".join(map(str, joint)) for joint in chosen.line[1:_SAID])
            then = "; ".join(["", *filter(None, [analysis.believed, line and f"then {line}"])])
            self.say(f"{best}: {value}, {share:.0%} of {counted(analysis.iterations, 'try')}{then}")

    def _prefer(self, state: State, role: int) -> None:
        if state.legal_moves(self.role):
            self.best = self._search.best(role)

    def _stop_pondering(self, seconds: float) -> bool:
        """Stop pondering; return whether the thread has ended in time, which slow rules can prevent."""
        if self._pondering is not None and self._pondering.stop(min(seconds, _LONGEST_WAIT)):
            self._pondering = None
        return self._pondering is None

    def stop(self, goals: Mapping[Role, int | None]) -> None:
        """Stop pondering."""
        self.abort()

    def abort(self) -> None:
        """Stop pondering."""
        self._stop_pondering(0.0)


class _Pondering:
    """Thread that continues the search after a move has been chosen."""

    def __init__(self, search: Search, state: State, move: Term, role: Role, seconds: float) -> None:
        self._search, self._state, self._move, self._role = search, state, move, role
        self._seconds = seconds
        self._ended = Event()
        self._thread = Thread(target=self._run, name="pondering", daemon=True)
        self._thread.start()

    def stop(self, seconds: float) -> bool:
        """Stop the thread; return whether the thread has ended within a number of seconds."""
        self._ended.set()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for _ in self._search.slices(
                self._reached(), seconds=self._seconds, stop=self._ended.is_set, slice_seconds=_SHORT_SLICE
            ):
                pass
        except AnygameError:
            return

    def _reached(self) -> State:
        """Return the state after the move, or the state before the move if another role has a choice."""
        state, roles = self._state, self._state.game.roles
        legal = [(self._move,) if role == self._role else state.legal_moves(role) for role in roles]
        return state if any(len(moves) != 1 for moves in legal) else state.next([moves[0] for moves in legal])


class IsmctsPlayer(MctsPlayer):
    """Searches information sets in every game, and plays the move with the most visits.

    The belief contains the states that agree with the moves and percepts of the role, or a sample of these
    states, with their probabilities. If any moves are legal in all states of the belief, the player chooses
    one of these moves. In games without hidden information, the player searches from the current state. If
    the game cannot be compiled with percepts, the player searches one state that agrees with the percepts.

    Args:
        seed: seed of the random numbers.
        iterations: maximum number of leaves evaluated for a move; None if only the clock is the limit.
        memory: approximate maximum size of the trees in bytes.
        aloud: whether to comment on each move.
    """

    _always_believes = True

    def __init__(
        self,
        seed: int | None = None,
        *,
        iterations: int | None = None,
        memory: int = DEFAULT_MEMORY,
        aloud: bool = False,
    ) -> None:
        super().__init__(seed, memory=memory, aloud=aloud, iterations=iterations)
