"""Generator of questions about states of random matches."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple
from warnings import catch_warnings, simplefilter

from anygame.errors import GoalError, LimitError, QuizError
from anygame.game.loading import game_of
from anygame.game.machine import FallbackWarning
from anygame.language.parser import parse_atom
from anygame.language.rules import Atom
from anygame.language.terms import Compound, Constant, Variable
from anygame.quiz.instances import Instances
from anygame.quiz.question import KINDS, Question
from anygame.quiz.sheets import sheets_of
from anygame.quiz.wording import prompt_of
from anygame.search import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anygame.game.game import Game
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.terms import Term
    from anygame.quiz.question import QuestionKind, QuizForm
    from anygame.quiz.sheets import Sheet
    from anygame.sheets.scrambling import Style

#: Default maximum number of states reachable from the position of a ``winner`` question.
DEFAULT_STATES: Final = 20_000
#: Maximum number of random matches tried for a question that needs no solver.
_ATTEMPTS: Final = 60
#: Maximum number of random matches tried for a ``winner`` question, which needs a solver.
_ATTEMPTS_TO_SOLVE: Final = 12
#: Maximum number of terms of an answer.
_LONGEST_ANSWER: Final = 300
#: Maximum number of conditions in the answer to a ``why`` question.
_MOST_CONDITIONS: Final = 20
#: Maximum number of compiler steps for a game to be solved: several seconds.
_STEPS: Final = 50_000_000
#: Solver methods with exact values that depend on neither chance nor mixed strategies.
_CERTAIN: Final = frozenset(("best goal", "minimax"))
_VALUE: Final = Variable("value")


class _Position(NamedTuple):
    state: State
    depth: int
    is_open: bool


class _Draft(NamedTuple):
    """A question and its answer, with the original names of the sheet."""

    position: _Position
    answer: tuple[Term | str, ...]
    role: Role | None = None
    moves: tuple[Term, ...] = ()
    atom: Term | None = None


def questions(
    games: Sequence[Game],
    *,
    kinds: Sequence[QuestionKind] = KINDS,
    count: int = 10,
    seed: int = 0,
    depth: int = 10,
    scramble: Style | None = None,
    form: QuizForm = "kif",
    states: int = DEFAULT_STATES,
) -> Iterator[Question]:
    """Yield distinct questions about games, in turn for each kind and each sheet.

    The same arguments give the same questions. A smaller ``count`` yields the first questions of the same
    sequence.

    Args:
        games: the games.
        kinds: kinds of questions; see ``Question``.
        count: number of questions.
        seed: random seed of states, questions and names.
        depth: maximum number of joint moves from the initial state to the state of a question.
        scramble: style of names that replace the names of the sheet (``words`` or ``symbols``); None keeps
            the names. Keywords, the role ``random`` and integers are always kept.
        form: the form of rules, states and moves: ``kif``, ``infix`` or ``prose``.
        states: for ``winner`` questions, maximum number of states reachable from a position.

    Raises:
        QuizError: the sheets do not have enough questions. The QuizError is raised after the last question.
    """
    sheets = sheets_of(list(games), form, scramble, seed)
    ring = [_Asker(sheet, kind, seed, depth, states) for kind in dict.fromkeys(kinds) for sheet in sheets]
    asked = 0
    while ring and asked < count:
        for asker in ring[:]:
            question = asker.next()
            if question is None:
                ring.remove(asker)
            else:
                yield question
                asked += 1
            if asked == count:
                return
    if asked < count:
        raise QuizError(
            f"found only {asked:,} different questions, expected {count:,}: "
            "give more sheets or kinds, or a greater depth"
        )


class _Asker:
    def __init__(self, sheet: Sheet, kind: QuestionKind, seed: int, depth: int, states: int) -> None:
        self._sheet, self._kind, self._depth, self._states = sheet, kind, depth, states
        self._random = Random(f"{seed}/{sheet.digest}/{kind}")
        self._asked: set[tuple[object, ...]] = set()
        self._compiled: Game | None = None
        drafters: dict[str, Callable[[list[_Position]], _Draft | None]] = {
            "legal": self._legal,
            "next": self._next,
            "terminal": self._terminal,
            "goal": self._goal,
            "winner": self._winner,
            "why": self._why,
        }
        self._draft = drafters[kind]

    def next(self) -> Question | None:
        """Return a new question, or None if all attempts fail."""
        if self._kind == "winner" and not self._is_solvable():
            return None
        for _ in range(_ATTEMPTS_TO_SOLVE if self._kind == "winner" else _ATTEMPTS):
            draft = self._draft(self._match())
            if draft is None or not 0 < len(draft.answer) <= _LONGEST_ANSWER:
                continue
            key = (draft.position.state.facts, draft.role, draft.moves, draft.atom)
            if key not in self._asked:
                self._asked.add(key)
                return self._question(draft)
        return None

    def _match(self) -> list[_Position]:
        """Return the states of a random match of a random length."""
        state = self._sheet.game.initial_state()
        length = self._random.randint(0, self._depth)
        match: list[_Position] = []
        while True:
            is_open = not state.is_terminal and state.stuck_role is None
            match.append(_Position(state, len(match), is_open))
            if not is_open or len(match) > length:
                return match
            state = state.next(self._joint(state))

    def _joint(self, state: State) -> list[Term]:
        return [self._random.choice(state.legal_moves(role)) for role in state.game.roles]

    def _open(self, match: list[_Position]) -> _Position | None:
        """Return the last position if it is open, or else a random open position, or else None."""
        if match[-1].is_open:
            return match[-1]
        open_positions = [position for position in match if position.is_open]
        return self._random.choice(open_positions) if open_positions else None

    def _pick(self, positions: list[_Position], share_of_last: float) -> _Position:
        """Return the last position with the given probability, else a random position."""
        return positions[-1] if self._random.random() < share_of_last else self._random.choice(positions)

    # -- kinds -------------------------------------------------------------------------------------

    def _legal(self, match: list[_Position]) -> _Draft | None:
        position = self._open(match)
        if position is None:
            return None
        # If some roles have a choice, the question is about one of them.
        role = self._random.choice(position.state.movers or position.state.game.roles)
        return _Draft(position, position.state.legal_moves(role), role)

    def _next(self, match: list[_Position]) -> _Draft | None:
        position = self._open(match)
        if position is None:
            return None
        moves = self._joint(position.state)
        return _Draft(position, tuple(sorted(position.state.next(moves).facts)), None, tuple(moves))

    def _terminal(self, match: list[_Position]) -> _Draft | None:
        position = self._pick(match, 0.5)
        return _Draft(position, ("yes" if position.state.is_terminal else "no",))

    def _goal(self, match: list[_Position]) -> _Draft | None:
        position = self._pick(match, 0.75)
        role = self._random.choice([role for role in position.state.game.roles if not role.is_random])
        try:
            goal = position.state.goal(role)
        except GoalError:
            return None  # the role has several goals, so the question has no single answer
        return _Draft(position, ("none" if goal is None else str(goal),), role)

    def _is_solvable(self) -> bool:
        """Compile the game for the solver; return whether the compilation succeeded."""
        game = self._sheet.game
        if any(role.is_random for role in game.roles):
            return False  # the final goal depends on chance
        if self._compiled is None:
            self._compiled = game_of(game.program, case_sensitive=game.case_sensitive, limits=game.limits)
            if not self._compiled.is_gdl2:
                with catch_warnings():
                    simplefilter("ignore", FallbackWarning)
                    self._compiled.compile(steps=_STEPS)
        return self._compiled.backends.network is not None

    def _winner(self, match: list[_Position]) -> _Draft | None:
        open_positions = [position for position in match if position.is_open]
        if not open_positions:
            return None
        # The last position is usually picked, because it reaches the fewest states.
        position = self._pick(open_positions, 0.75)
        assert self._compiled is not None
        solution = solve(self._compiled, self._compiled.state(position.state.facts), states=self._states)
        role = self._random.choice([role for role in position.state.game.roles if not role.is_random])
        value = solution.goals.get(role)
        if not solution.solved or solution.method not in _CERTAIN or value is None:
            return None
        return _Draft(position, (f"{value:g}",), role)

    def _why(self, match: list[_Position]) -> _Draft | None:
        position = self._pick(match, 0.5)
        state = position.state
        moves = tuple(self._joint(state)) if position.is_open else ()
        legal: list[Term] = []
        goals: list[Term] = []
        for role in state.game.roles:
            legal += [Compound("legal", (role.term, move)) for move in state.legal_moves(role)]
            rows = state.query(Atom("goal", (role.term, _VALUE)))
            goals += sorted([Compound("goal", (role.term, row["value"])) for row in rows])
        after = sorted(state.next(moves).facts) if moves else []
        following: list[Term] = [Compound("next", (fact,)) for fact in after]
        terminal: list[Term] = [Constant("terminal")] if state.is_terminal else []
        groups = [heads for heads in (legal, goals, following, terminal) if heads]
        if not groups:
            return None
        atom = self._random.choice(self._random.choice(groups))
        needed_moves = moves if str(atom).startswith("(next ") else ()
        try:
            instances = list(Instances(state, needed_moves).of(parse_atom(str(atom))))
        except LimitError:
            return None  # grading needs all instances
        for conditions in instances:
            if len(conditions) <= _MOST_CONDITIONS and str(atom) not in conditions:
                return _Draft(position, conditions, None, needed_moves, atom)
        return None

    # -- words -------------------------------------------------------------------------------------

    def _question(self, draft: _Draft) -> Question:
        sheet = self._sheet
        shown = sheet.shown
        facts = sorted(map(shown, draft.position.state.facts))
        moves = list(map(shown, draft.moves))
        answer = map(sheet.shown_text, map(str, draft.answer))
        role = "" if draft.role is None else str(shown(draft.role.term))
        atom = "" if draft.atom is None else str(shown(draft.atom))
        return Question(
            id=f"{sheet.name}-{self._kind}-{len(self._asked)}",
            kind=self._kind,
            form=sheet.form,
            sheet=sheet.name,
            prompt=prompt_of(sheet, self._kind, facts, moves, role, atom),
            answer=tuple(sorted(answer)),
            rules=sheet.rules,
            facts=tuple(map(str, facts)),
            moves=tuple(map(str, moves)),
            role=role,
            atom=atom,
            difficulty={
                "facts": len(facts),
                "rules": len(sheet.program.rules),
                "depth": draft.position.depth,
            },
        )
