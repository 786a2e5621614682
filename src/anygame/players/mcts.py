"""The strong players: Monte Carlo tree search with proofs, or over information sets, by `anygame.search`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from anygame.errors import AnygameError, ModelError, TableError
from anygame.language.diagnostics import counted
from anygame.players.player import Player, check_option, in_both_forms
from anygame.search import load_table
from anygame.search.model import wanted_model
from anygame.search.searching import DEFAULT_MEMORY, Search, prepare

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.players.clock import Clock
    from anygame.search import Model, Table

#: Seconds between two looks at whether a match that is waited for has ended.
_LOOK: Final = 0.05
#: Thinking behind others' moves is ended at once, also where clocks are short.
_SHORT_SLICE: Final = 0.01
#: Of what is left of the start clock, the part for practice; and seconds that are too few for it.
_SHARE_OF_PRACTICE, _SHORT_PRACTICE = 0.85, 1.5
#: Of that, the part in which a game that needs none may be proven.
_FIRST_LOOK: Final = 0.05
#: Seconds of a clock that is longer than any practice needs to be.
_LONG_PRACTICE: Final = 300.0
#: Bytes; a tree of less has no room for a move and its answers in games with large states.
_LEAST_MEMORY: Final = 2**20
#: Seconds to wait for a thought to end; one that takes longer is in rules that are very slow.
_LONGEST_WAIT: Final = 10.0
#: Play clocks after which nobody will ask any more: a manager gives up earlier.
_PATIENCE: Final = 20
#: Joint moves of the expected line that are said.
_SAID: Final = 4


class MctsPlayer(Player):
    """Searches until the clock is up, or until there is nothing left to find.

    The tree is kept from move to move. A proven win is played by its shortest known line, a proven loss by
    its longest. The game is compiled on the start clock; where that does not do, it goes on behind the search
    by the reasoner. Where the rules hide information it searches what its role knows, as ``ismcts`` does, by
    one thread, and does not ponder. What is searched, `Search` chooses.

    Args:
        seed: of the random numbers.
        threads: how many cores to use.
        memory: bytes that the tree may take at most, about.
        pondering: whether to think while others are to move. Others who play on the same machine lose some of
            it.
        aloud: whether it says what it thinks of its move.
        iterations: leaves to evaluate for a move, if the clock allows; None for as many as it allows.
        practice: whether to practise on the start clock; see ``Search.practise``. With ``iterations`` it does
            not, so that the same seed plays the same.
        noise: the share of its moves that are drawn from the legal ones, from 0 to 1.
        table: a file of exact values, as ``anygame solve --table`` writes it. States that it has are played
            perfectly; one of another game says nothing.
        model: ``True`` for the model that ``anygame train`` has made of the game, if there is one; ``False``
            for none; or a file. None is ``True``, but ``False`` with ``iterations``, so that the same seed
            plays the same on every machine. A model that cannot be used is no harm: the player says why.

    Raises:
        FileNotFoundError: there is no such file.
        PlayerError: a number is out of range.
    """

    plays_unprepared = True

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
        """Compile the search itself, which takes some seconds once on a machine."""
        prepare()

    @in_both_forms
    def start(self, clock: Clock) -> None:
        """Compile the game, and search from the initial state."""
        game, role = self.game, self.role
        self._stop_pondering(clock)
        self._believes = self._is_to_believe(game)
        model = None if self._believes else self._found_model(game)
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
        # A line needs no tree.
        while (
            not clock.is_up
            and self._search.is_compiling
            and not (self.iterations is None and self._search.is_for_one)
        ):
            self._search.compile(min(_LOOK, clock.remaining()))
        self.needs_state = not self._search.believes
        if self._search.no_beliefs is not None:
            self.say(f"{self._search.no_beliefs}: searching one state that agrees with what was seen")
        if self._search.no_model is not None:
            self.say(f"{self._search.no_model}: playing without it")
        if not self._believes:
            if model is None or self._search.no_model is not None:
                self._practise(clock)
            if self.iterations is None:
                self._think(game.initial_state(), clock)

    def _is_to_believe(self, game: Game) -> bool:
        """Return whether to search what the role knows of a game, rather than states."""
        return game.is_gdl2

    def _found_model(self, game: Game) -> Model | None:
        """Return the model for a game; report which it is, or why there is none."""
        try:
            model = wanted_model(game, self.model)
        except ModelError as error:
            self.say(f"{error}: playing without it")
            return None
        if model is not None:
            self.say(f"model of {model.figures}")
        return model

    def _practise(self, clock: Clock) -> None:
        """Learn from self-play, if there is time for it."""
        left = clock.remaining()
        if not self.practice or self._search.is_compiling or left < _SHORT_PRACTICE:
            return
        with suppress(AnygameError):
            if self._search.run(self.game.initial_state(), seconds=_FIRST_LOOK * left).is_solved:
                return
            found = self._search.practise(
                seconds=_SHARE_OF_PRACTICE * min(clock.remaining(), _LONG_PRACTICE), stop=lambda: clock.is_up
            )
            if found is not None and self.aloud:
                self.say(found)

    def move(self, state: State, clock: Clock) -> Term:
        """Return the best move that is known when the clock is up."""
        legal = state.legal_moves(self.role)
        self.best = best = self.random.choice(legal)
        known = () if self._table is None else self._table.best_moves(state).get(self.role, ())
        if self.noise and self.random.random() < self.noise:
            if self.aloud:
                self.say(f"{best}: drawn")
        elif known:
            self.best = best = known[0]
        elif self._stop_pondering(clock) and (len(legal) > 1 or self._believes):
            self._think(state, clock)
            best = self.best or best
            if self.aloud:
                self._say_worth_of(best)
        if self.pondering and not self._believes and self._pondering is None:
            self._pondering = _Pondering(self._search, state, best, self.role, _PATIENCE * clock.seconds)
        return best

    def _think(self, state: State, clock: Clock) -> None:
        """Search, and keep `best` up to date; say where no state agrees with what was seen."""
        search, was_lost = self._search, self._search.is_lost
        if clock.is_up and not self._believes:
            return
        role = self.game.role_index(self.role)
        # The rules may not be evaluable somewhere: what is known so far must do.
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
            self.say("belief has run empty: no state that was tried agrees with all that was seen")

    def _say_worth_of(self, best: Term) -> None:
        """Say what the search knows of a move, and how it expects play to go on."""
        with suppress(ValueError):
            found = self._search.analysis()
            moves = found.moves.get(self.role, ())
            for each in moves:
                if each.move != best or each.goal is None:
                    continue
                worth = (
                    f"mean goal {each.goal:.1f}" if each.proven is None else f"goal {each.proven:g}, proven"
                )
                share = each.visits / max(1, sum(other.visits for other in moves))
                line = ", ".join(" ".join(map(str, joint)) for joint in each.line[1:_SAID])
                then = "; ".join(["", *filter(None, [found.believed, line and f"then {line}"])])
                self.say(f"{best}: {worth}, {share:.0%} of {counted(found.iterations, 'try')}{then}")

    def _prefer(self, state: State, role: int) -> None:
        if state.legal_moves(self.role):
            self.best = self._search.best(role)

    # -- thinking while others are to move ---------------------------------------------------------

    def _stop_pondering(self, clock: Clock) -> bool:
        """Return whether nobody searches any more; it may take a while where rules are slow."""
        if self._pondering is not None and self._pondering.stop(min(clock.remaining() / 2, _LONGEST_WAIT)):
            self._pondering = None
        return self._pondering is None

    def stop(self, goals: Mapping[Role, int | None]) -> None:
        """Think no more."""
        self.abort()

    def abort(self) -> None:
        """Think no more."""
        if self._pondering is not None and self._pondering.stop(0.0):
            self._pondering = None


class _Pondering:
    """A thread that searches on after a move was chosen."""

    def __init__(self, search: Search, state: State, move: Term, role: Role, seconds: float) -> None:
        self._search, self._state, self._move, self._role = search, state, move, role
        self._seconds = seconds
        self._ended = Event()
        self._thread = Thread(target=self._run, name="pondering", daemon=True)
        self._thread.start()

    def stop(self, seconds: float) -> bool:
        """End it; return whether it has ended within so many seconds."""
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
        """Return the state after the move, where it is known: nobody else has a choice."""
        state, roles = self._state, self._state.game.roles
        legal = [(self._move,) if role == self._role else state.legal_moves(role) for role in roles]
        return state if any(len(moves) != 1 for moves in legal) else state.next([moves[0] for moves in legal])


class IsmctsPlayer(MctsPlayer):
    """Searches information sets in every game, and plays the move that it tried most.

    What it believes are all states that agree with what it did and saw, with their probabilities, as long as
    they fit; beyond that many of them, drawn. It only plays what is legal in all of them, if anything is. On
    games without hidden information it searches from the state itself. Where the game has no network that
    knows what roles see, it searches a state that agrees with what it saw.

    Args:
        seed: of the random numbers.
        iterations: leaves to evaluate for a move, if the clock allows; None for as many as it allows.
        memory: bytes that the trees may take at most, about.
        aloud: whether it says what it thinks of its move.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        iterations: int | None = None,
        memory: int = DEFAULT_MEMORY,
        aloud: bool = False,
    ) -> None:
        super().__init__(seed, memory=memory, aloud=aloud, iterations=iterations)

    def _is_to_believe(self, game: Game) -> bool:
        return True
