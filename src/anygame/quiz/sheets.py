"""Rule sheets for questions: in KIF, infix or prose, optionally with other names."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, get_args

from anygame.errors import QuizError
from anygame.game.loading import game_of
from anygame.language.parser import parse_program
from anygame.language.rules import format_program
from anygame.language.source import Source
from anygame.quiz.wording import infix_term, prose_rule
from anygame.sheets.layout import format_rules
from anygame.sheets.scrambling import Scrambling, Style

if TYPE_CHECKING:
    from anygame.game.game import Game
    from anygame.language.terms import Term
    from anygame.quiz.question import QuizForm

#: Styles of names that can replace the names of a sheet.
STYLES: Final[tuple[str, ...]] = get_args(Style)


class Sheet:
    """A game, and its rules in the form of a quiz.

    Attributes:
        name: the name of the sheet, without folder and suffix.
        game: the game with the original names, on the reasoner.
        program: the rules with the names of the quiz.
        rules: the same rules in KIF.
        digest: a hash of the rules with the original names.
        text: the rules in the form of the quiz, with the names of the quiz.

    Args:
        game: the game.
        form: the form of the rules: ``kif``, ``infix`` or ``prose``.
        scramble: the style of the new names, one of ``STYLES``; None keeps the names of the sheet.
        seed: random seed of the new names.

    >>> import anygame
    >>> game = anygame.loads("(role x) (legal x noop) (<= terminal (true done))")
    >>> print(Sheet(game, scramble="symbols", seed=1).text)
    (role qs3)
    <BLANKLINE>
    (legal qs3 fc3)
    <BLANKLINE>
    (<= terminal
        (true af7))
    <BLANKLINE>
    """

    def __init__(
        self, game: Game, form: QuizForm = "kif", scramble: Style | None = None, seed: int = 0
    ) -> None:
        self.game = game_of(
            game.program, case_sensitive=game.case_sensitive, limits=game.limits, machine="reasoner"
        )
        self.name = game.name.replace("\\", "/").rpartition("/")[2].partition(".")[0] or game.name
        self.form = form
        rules = list(map(str, game.program.rules))
        self.digest = sha256("\n".join(rules).encode()).hexdigest()
        self.program = game.program
        self._words = None
        if scramble is not None:
            self._words = Scrambling(rules, f"{seed}/{self.digest}", scramble)
            source = Source("scrambled.kif", "\n".join(map(self._words.scramble, rules)))
            self.program = parse_program(source)
        self.rules = format_program(self.program)
        if self.form == "kif":
            self.text = self.rules
        elif self.form == "infix":
            self.text = format_rules(self.program.rules, "infix")
        else:
            self.text = "".join(f"{prose_rule(rule)}\n" for rule in self.program.rules)

    def shown(self, term: Term) -> Term:
        """Translate a term of the game to the names of the quiz."""
        return self._words.scramble_term(term) if self._words else term

    def shown_text(self, text: str) -> str:
        """Translate a term or a literal in KIF to the names of the quiz."""
        return self._words.scramble(text) if self._words else text

    def spelled(self, term: Term) -> str:
        """Return the text of a translated term, in KIF if the quiz is in KIF, or else in infix."""
        return str(term) if self.form == "kif" else infix_term(term)

    def map_text(self, game: Game) -> str:
        """Return a map for `anygame equal` from roles and moves to their names in the quiz.

        Raises:
            LimitError: the game has no network, so its moves are unknown.
        """
        moves = {move for role in game.roles for move in game.actions(role)}
        terms = dict.fromkeys([*(role.term for role in game.roles), *sorted(moves)])
        return "".join(f"{term} {self.shown(term)}\n" for term in terms if self.shown(term) is not term)


def sheets_of(games: list[Game], form: QuizForm, scramble: Any, seed: int) -> list[Sheet]:
    """Return the sheet of each game; sheets with the same name get numbers.

    Raises:
        QuizError: there are no games, or two games have the same rules.
    """
    if not games:
        raise QuizError("expected at least one rule sheet to ask about")
    sheets: dict[str, Sheet] = {}
    names: set[str] = set()
    for game in games:
        sheet = Sheet(game, form, scramble, seed)
        if sheet.digest in sheets:
            raise QuizError(f"{game.name} and {sheets[sheet.digest].game.name} have the same rules: omit one")
        name, number = sheet.name, 1
        while sheet.name in names:
            number += 1
            sheet.name = f"{name}_{number}"
        names.add(sheet.name)
        sheets[sheet.digest] = sheet
    return list(sheets.values())
