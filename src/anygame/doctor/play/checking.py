"""Checks of a game by the reasoner and by play.

Each fault of play is reported with the shortest known line of play that shows the fault.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import islice, product
from random import Random
from typing import TYPE_CHECKING, Final

from anygame.doctor.codes import CODES
from anygame.doctor.finding import Finding
from anygame.doctor.play.monitors import DoubleValues, Fault, LostValues, rule_behind
from anygame.doctor.work import LAST_RESORT, Budget, work_of_state
from anygame.errors import GoalError, LimitError, RuleSheetError
from anygame.game.game import Game
from anygame.language.diagnostics import Diagnostic, Note, Severity, counted, shown
from anygame.language.rules import Literal, atoms_in
from anygame.language.terms import Constant, Variable
from anygame.language.unification import unify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from anygame.doctor.finding import Line
    from anygame.game.roles import Role
    from anygame.game.state import State
    from anygame.language.limits import Limits
    from anygame.language.rules import Program, Rule
    from anygame.language.source import Span
    from anygame.language.terms import Term

#: Codes about the length of play.
_OF_LENGTH: Final = frozenset(("endless", "play-cut"))
#: Codes of findings without a line of play.
_WITHOUT_LINE: Final = frozenset(("play-cut", "limit-reached"))
_HIGHEST_GOAL: Final = 100
#: Maximum number of attempts to make a game; each attempt omits the rules with known faults.
_ROUNDS: Final = 6
#: Maximum number of joint moves of a line that notes show.
_SHOWN_MOVES: Final = 12
#: Maximum number of characters of a joint move that a note shows: one line of a terminal.
_SHOWN_CHARACTERS: Final = 90
#: Maximum number of joint moves shown of an endless playout; a few moves show the repetition.
_SHOWN_OF_ENDLESS: Final = 6
#: Maximum number of joint moves that the search tries in a state, so one state cannot use up the budget.
_JOINTS_A_STATE: Final = 64
#: Advice for games in which a match may not end.
_COUNTER: Final = "add a counter of steps that ends the game"

JointMove = tuple["Term", ...]


# -- the rules ----------------------------------------------------------------------------------------


def game_or_faults(
    program: Program, *, case_sensitive: bool = True, limits: Limits | None = None
) -> tuple[Game | None, list[Diagnostic]]:
    """Return the game of a program, or else the faults that the reasoner reports, sorted by place.

    Each round retries without the faulty rules, so one fault does not hide another.
    """
    all_faults: dict[Diagnostic, None] = {}
    for _ in range(_ROUNDS):
        try:
            game = Game(program, case_sensitive=case_sensitive, limits=limits)
            if not all_faults:
                return game, []
        except RuleSheetError as error:
            faults = [fault for fault in error.diagnostics if isinstance(fault, Diagnostic)]
            all_faults.update(dict.fromkeys(faults))
            kept = tuple(rule for rule in program.rules if not any(_concerns(f, rule) for f in faults))
            if len(kept) == len(program.rules):
                break
            program = replace(program, rules=kept)
            continue
        except LimitError as error:
            all_faults[limit_reached(error, program.rules)] = None
        break
    return None, sorted(all_faults)


def _concerns(fault: Diagnostic, rule: Rule) -> bool:
    node, span = rule.node, fault.span
    return node is not None and span is not None and node.start <= span.start < node.end


def limit_reached(error: LimitError, rules: Sequence[Rule], prefix: str = "") -> Diagnostic:
    """Return the diagnostic of a limit, at a recursive rule of the relation that reached the limit."""
    blamed = [rule for rule in rules if error.relation == f"{rule.head.predicate}/{len(rule.head.arguments)}"]
    recursive = [rule for rule in blamed if any(atom.key == rule.head.key for atom, _ in atoms_in(rule.body))]
    hint = "let the recursion end: count with facts such as (succ 1 2), or limit the size of the terms"
    span = _first(recursive) or _first(blamed) or _first(rules)
    return Diagnostic(
        "limit-reached", Severity.ERROR, prefix + error.message, span, hint=hint if recursive else ""
    )


def cut_short(message: str, program: Program) -> Diagnostic:
    """Return the diagnostic of work that ended early."""
    return CODES["play-cut"].found(message, _first(program.rules))


def _first(rules: Iterable[Rule]) -> Span | None:
    return next((rule.span for rule in rules), None)


# -- play ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds on play."""

    #: The number of random playouts.
    playouts: int = 10
    seed: int = 0
    #: The number of joint moves after which a playout counts as endless.
    steps: int = 500
    #: The maximum number of states in the search for short lines.
    states: int = 500
    #: The maximum work, in units of about a microsecond; the search can use a third of this work.
    work: float = 30_000_000
    #: A time limit in seconds, which only very slow machines reach.
    seconds: float = LAST_RESORT * 4
    #: Whether to omit findings about the length of play.
    brief: bool = False


#: The default bounds, within which play shows most faults.
BRIEF: Final = Bounds(playouts=10, steps=500, states=100, work=400_000, seconds=LAST_RESORT, brief=True)


@dataclass(slots=True)
class PlayCheck:
    """Search for faults by random playouts, and by breadth-first search from the initial state.

    The same seed gives the same findings unless the time limit is reached.
    """

    game: Game
    bounds: Bounds
    #: The number of random playouts begun so far.
    played: int = 0
    #: The number of states examined so far.
    looked: int = 0
    #: The number of joint moves of the longest playout so far.
    longest: int = 0
    _faults: dict[tuple[str, str], tuple[Fault, Line]] = field(default_factory=dict)
    _work: Budget = field(init=False)
    _is_late: bool = False
    _endless: int = 0
    _lost: LostValues = field(init=False)
    _monitors: tuple[Callable[[State, Line], Iterator[Fault]], ...] = ()
    _progress: Callable[[int, int], None] | None = None

    def run(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Search near the initial state, then run playouts. An interrupt keeps the findings so far.

        ``progress`` is called with the numbers of states and playouts so far.
        """
        self._progress = progress
        self._work = Budget(self.bounds.work, self.bounds.seconds)
        try:
            self._run()
        except LimitError as error:
            limit = limit_reached(error, self.game.program.rules, "playing stopped: ")
            self._note(Fault(limit.code, "", limit.message, limit.span, limit.hint), ())

    @property
    def work(self) -> float:
        """The units of work done so far."""
        return self.bounds.work - self._work.left

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The diagnostics of the findings so far."""
        return [each.diagnostic for each in self.findings()]

    @property
    def boards(self) -> int:
        """The number of boards; see `LostValues`."""
        return self._lost.boards

    def findings(self) -> list[Finding]:
        """Return the findings so far, sorted by place."""
        findings = []
        for (code, _), (fault, line) in self._faults.items():
            if self.bounds.brief and code in _OF_LENGTH and not (code == "play-cut" and self._is_late):
                continue
            if code == "endless":
                playouts = f"{self._endless} of {self.played} random playouts"
                message = f"{playouts} did not end within {self.bounds.steps} joint moves"
                findings.append(_finding(fault._replace(message=message), line, _SHOWN_OF_ENDLESS))
            else:
                findings.append(_finding(fault, None if code in _WITHOUT_LINE else line))
        return sorted(findings, key=lambda finding: finding.diagnostic)

    def _run(self) -> None:
        game = self.game
        self._lost = LostValues(game)
        monitors = (_Declared(game), self._lost, DoubleValues(game), _Ends(game))
        self._monitors = tuple([monitor.faults for monitor in monitors])
        self._search()
        random = Random(self.bounds.seed)
        for number in range(self.bounds.playouts):
            if self._work.is_done:
                self._note_cut(number)
                break
            self.played += 1
            self._play_out(random)

    def _note_cut(self, playouts: int) -> None:
        self._is_late = self._work.is_late
        why = "the time limit was reached" if self._is_late else "the work budget was used up"
        message = f"only {playouts} of {self.bounds.playouts} playouts were played: {why}"
        self._note(Fault("play-cut", "", message, _first(self.game.program.rules)), ())

    def _search(self) -> None:
        """Examine the states near the start in breadth-first order, so lines are short."""
        start = self.game.initial_state()
        seen = {start}
        waiting: deque[tuple[State, Line]] = deque([(start, ())])
        least = self._work.left * 2 / 3
        while waiting and self._work.left > least and not self._work.is_late:
            state, line = waiting.popleft()
            if not self._look(state, line) or len(seen) > self.bounds.states:
                self._work.left -= work_of_state(state, 0)
                continue
            legal = [state.legal_moves(role) for role in self.game.roles]
            joints = list(islice(product(*legal), _JOINTS_A_STATE + 1))
            reached = {joint: state.next(joint) for joint in joints[:_JOINTS_A_STATE]}
            for joint, next_state in reached.items():
                if next_state not in seen:
                    seen.add(next_state)
                    waiting.append((next_state, (*line, joint)))
            self._work.left -= work_of_state(state, len(reached))
            if len(joints) <= _JOINTS_A_STATE and set(reached.values()) == {state}:
                message = "no move changes this state, and the game is not over"
                hint = "add a rule that changes the state"
                fault = Fault("standstill", "", message, _terminal_span(self.game), hint)
                self._note(fault, line)

    def _play_out(self, random: Random) -> None:
        state = self.game.initial_state()
        line: list[JointMove] = []
        while len(line) <= self.bounds.steps:
            if self._work.is_done:
                self._note_cut(self.played - 1)
                return
            if not self._look(state, tuple(line)):
                return
            joint = tuple([random.choice(state.legal_moves(role)) for role in self.game.roles])
            line.append(joint)
            self.longest = max(self.longest, len(line))
            after = state.next(joint)
            self._work.left -= work_of_state(state, 1)
            state = after
        self._endless += 1
        del line[self.bounds.steps :]
        self._note(Fault("endless", "", "", _terminal_span(self.game), _COUNTER), tuple(line))

    def _look(self, state: State, line: Line) -> bool:
        """Note the faults of a state; return whether play can continue from this state."""
        self.looked += 1
        if self._progress is not None:
            self._progress(self.looked, self.played)
        for faults in self._monitors:
            for fault in faults(state, line):
                self._note(fault, line)
        return not state.is_terminal and state.stuck_role is None

    def _note(self, fault: Fault, line: Line) -> None:
        """Keep a fault with its span, unless a known line with the same fault is as short or shorter."""
        _, known = self._faults.get((fault.code, fault.key), (None, None))
        if known is None or len(line) < len(known):
            self._faults[fault.code, fault.key] = fault._replace(span=_span_of(fault)), line


def _span_of(fault: Fault) -> Span | None:
    return fault.span() if callable(fault.span) else fault.span


def _finding(fault: Fault, line: Line | None, most: int = _SHOWN_MOVES) -> Finding:
    notes = () if line is None else _notes(line, most)
    return Finding(CODES[fault.code].found(fault.message, _span_of(fault), *notes, hint=fault.hint), line)


def faults_at_end(game: Game, line: Line) -> list[Finding]:
    """Return the faulty moves and goals in the state that a line of play reaches."""
    state = game.initial_state()
    for joint in line:
        state = state.next(joint)
    return [_finding(fault, line) for fault in _Ends(game).faults(state, line)]


def endless_at(game: Game, line: Line, message: str) -> Finding:
    """Return the finding that play can continue forever from the end of a line."""
    return _finding(Fault("endless", "", message, _terminal_span(game), _COUNTER), line)


def play_commands(line: Line) -> list[str]:
    """Return the prompt commands that play a line."""
    return [f"play {' '.join(map(str, joint))}" for joint in line]


def _notes(line: Line, most: int) -> Iterator[Note]:
    if not line:
        yield Note("in the initial state")
        return
    yield Note(f"after {counted(len(line), 'joint move')}:")
    commands = play_commands(line)
    for command in commands[:most]:
        yield Note(f"  {shown(command, _SHOWN_CHARACTERS)}")
    if len(line) > most:
        yield Note(f"  ... and {len(line) - most} more (`--lines FILE` writes all of them)")


class _Ends:
    """Finds faulty goals in terminal states, and missing moves in other states."""

    def __init__(self, game: Game) -> None:
        self._game = game

    def faults(self, state: State, line: Line) -> Iterator[Fault]:
        """Yield faulty goals, an end before the first move, and roles without a move."""
        if not state.is_terminal:
            yield from self._without_move(state)
            return
        if not line:
            message = "the game is over before anybody moves"
            ending = rule_behind(state.explain("terminal"), self._game.program)
            span = (ending and ending.span) or _terminal_span(self._game)
            hint = "add a condition that does not hold at the start"
            yield Fault("over-at-start", "", message, span, hint)
        for role in self._game.roles:
            if not role.is_random and (fault := self._of_goal(state, role)):
                yield fault

    def _without_move(self, state: State) -> Iterator[Fault]:
        stuck = [role for role in self._game.roles if not state.legal_moves(role)]
        for role in stuck:
            message = f"{role} has no legal move here, and the game is not over"
            hint = f"add a move such as noop for {role}, or a rule that makes the state terminal"
            span = _waiting_span(self._game, role) if len(stuck) < len(self._game.roles) else None
            yield Fault("no-move", role, message, span or _role_span(self._game, role), hint)

    def _of_goal(self, state: State, role: Role) -> Fault | None:
        span = _role_span(self._game, role)
        try:
            goal = state.goal(role)
        except GoalError as error:
            if len(error.values) == 1:
                return _odd_goal(role, shown(error.values[0]), span)
            message = f"the game is over here, and {role} has the goals {', '.join(error.values[:5])}"
            blamed = _goal_span(self._game, role, error.values) or span
            hint = "add the negations of the other goals' conditions to each goal rule"
            return Fault("goal-conflict", role, message, blamed, hint)
        if goal is None:
            message = f"the game is over here, and the rules give {role} no goal"
            hint = f"add a goal of 0 for {role} in all other cases"
            return Fault("goal-missing", role, message, span, hint)
        return None if 0 <= goal <= _HIGHEST_GOAL else _odd_goal(role, str(goal), span)


def _odd_goal(role: Role, goal: str, span: Span | None) -> Fault:
    return Fault("goal-in-play", role, f"a goal is an integer from 0 to 100, but {role} has {goal}", span)


def _rules(game: Game, predicate: str, first: Term | None = None) -> list[Rule]:
    """Return the rules for a relation; with a term, only the rules whose first argument matches the term."""
    rules = [rule for rule in game.program.rules if rule.head.predicate == predicate]
    return [rule for rule in rules if not first or unify(rule.head.arguments[0], first, {}) is not None]


def _role_span(game: Game, role: Role) -> Span | None:
    return _first(_rules(game, "role", role.term)) or _first(_rules(game, "role"))


def _terminal_span(game: Game) -> Span | None:
    return _first(_rules(game, "terminal")) or _first(game.program.rules)


def _waiting_span(game: Game, role: Role) -> Span | None:
    """Return the span of a rule that allows a role a move without arguments, such as noop."""
    heads = [rule.head for rule in _rules(game, "legal", role.term)]
    return next((head.span for head in heads if isinstance(head.arguments[1], Constant)), None)


def _goal_span(game: Game, role: Role, values: Iterable[str]) -> Span | None:
    """Of the goal rules for the given values, return the span of the rule with the fewest conditions."""
    goals = {*values}
    rules = [
        rule
        for rule in _rules(game, "goal", role.term)
        if isinstance(rule.head.arguments[1], Variable) or str(rule.head.arguments[1]) in goals
    ]

    def conditions(rule: Rule) -> int:
        return sum(not (isinstance(part, Literal) and part.atom.key == ("role", 1)) for part in rule.body)

    return min(rules, key=conditions).span if rules else None


class _Declared:
    """Finds fluents and moves that the ``base`` and ``input`` of the sheet do not declare."""

    def __init__(self, game: Game) -> None:
        self._game = game
        start = game.initial_state()
        declared = {rule.head.key for rule in game.program.rules}
        self._base: frozenset[Term] | None = None
        self._input: frozenset[tuple[Term, Term]] | None = None
        if ("base", 1) in declared:
            self._base = frozenset([binding["?fluent"] for binding in start.query("(base ?fluent)")])
        if ("input", 2) in declared:
            query = start.query("(input ?role ?move)")
            self._input = frozenset([(binding["?role"], binding["?move"]) for binding in query])

    def faults(self, state: State, _line: Line) -> Iterator[Fault]:
        """Yield the fluents and moves of a state that are not declared."""
        if self._base is not None:
            for fact in sorted(state.facts - self._base)[:5]:
                message = f"{shown(str(fact))} becomes true, but `base` does not declare it"
                span = self._head_with(fact, "init", "next")
                yield Fault("fluent-outside-base", _kind(fact), message, span)
        if self._input is not None and not state.is_terminal:
            for role in self._game.roles:
                for move in state.legal_moves(role):
                    if (role.term, move) not in self._input:
                        message = f"{shown(str(move))} is legal for {role}, but `input` does not declare it"
                        key = f"{role} {_kind(move)}"
                        yield Fault("move-outside-input", key, message, self._head_with(move, "legal"))

    def _head_with(self, term: Term, *predicates: str) -> Span | None:
        heads = (rule.head for rule in self._game.program.rules if rule.head.predicate in predicates)
        return next((head.span for head in heads if unify(head.arguments[-1], term, {}) is not None), None)


def _kind(term: Term) -> str:
    return str(term).removeprefix("(").partition(" ")[0]
