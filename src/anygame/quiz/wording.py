"""The text of a question: rules, state, question, and form of the reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.language.parser import parse_term
from anygame.quiz.instances import literal_of
from anygame.quiz.prose import infix_formula, infix_term, prose_formula

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.terms import Term
    from anygame.quiz.question import Question, QuestionKind, QuizForm
    from anygame.quiz.sheets import Sheet

_FORMS: Final[dict[QuizForm, str]] = {
    "kif": "in the Game Description Language (GDL). `(<= head body ...)` is a rule: its head is true if all "
    "conditions of its body are true. Names that begin with ? are variables.",
    "infix": "in the infix form of the Game Description Language (GDL). `head :- body` is a rule: its head "
    "is true if its body is true; & is `and`, | is `or`, ~ is `not`. Names that begin with a capital letter "
    "or an underscore are variables.",
    "prose": "one per sentence. Names that begin with a capital letter or an underscore are variables. "
    "Square brackets group the clauses that `or` and `and` join.",
}
_MEANINGS: Final = (
    "A fact that no rule derives is false. All roles move at the same time, and each makes one of its legal "
    "moves. In the next state, only the facts that the rules derive are true."
)
_LIST: Final = "End your reply with all of them, one per line, between two lines of ```."
_WORD: Final = "End your reply with {} between two lines of ```."


def prompt_of(
    sheet: Sheet, kind: QuestionKind, facts: Sequence[Term], moves: Sequence[Term], role: str, atom: str
) -> str:
    """Return the text of a question, with the names of the quiz."""
    is_true = " is true." if sheet.form == "prose" else ""
    parts = [
        f"These are the rules of a game, {_FORMS[sheet.form]} {_MEANINGS}",
        sheet.text.rstrip("\n"),
        "In the current state, these facts are true, and all others are false:",
        "\n".join(f"{sheet.spelled(fact)}{is_true}" for fact in facts) or "(none)",
        _asked(sheet, kind, moves, role, atom),
    ]
    return "\n\n".join(parts) + "\n"


def _asked(sheet: Sheet, kind: QuestionKind, moves: Sequence[Term], role: str, atom: str) -> str:
    roles = [sheet.spelled(sheet.shown(each.term)) for each in sheet.game.roles]
    made = [f"{name} makes the move {sheet.spelled(move)}" for name, move in zip(roles, moves, strict=False)]
    now = f"Now {', '.join(made)}."
    if kind == "legal":
        return f"Which moves are legal for {role} in the current state? {_LIST}"
    if kind == "next":
        return f"{now} Which facts are true in the next state? {_LIST}"
    if kind == "terminal":
        return f"Is the match over in the current state? {_WORD.format('yes or no')}"
    if kind == "goal":
        number = _WORD.format("a number, or none if the rules give no goal,")
        return f"What is the goal of {role} in the current state? {number}"
    if kind == "winner":
        return (
            "From the current state on, each role plays as well as possible for its own goal. "
            f"Which goal does {role} have at the end? {_WORD.format('a number')}"
        )
    holds = f"{now} Then this is true" if moves else "This is true in the current state"
    return (
        f"{holds}: {literal_text(sheet.form, atom)}\n"
        "Which rule derives it, and for which values of its variables? Write all conditions of the body of "
        f"that rule, including negated conditions, with these values instead of the variables. {_LIST}"
    )


def literal_text(form: QuizForm, text: str) -> str:
    """Translate a literal from KIF into a form of questions."""
    if form == "kif":
        return text
    return (infix_formula if form == "infix" else prose_formula)(literal_of(text))


def reply_of(question: Question) -> str:
    """Return a reply that gives the answer in the form of the question."""
    form, answer = question.form, question.answer
    if question.kind in ("legal", "next") and form != "kif":
        answer = tuple(infix_term(parse_term(text)) for text in answer)
    if question.kind == "why":
        answer = tuple(literal_text(form, text) for text in answer)
    return "\n".join(["```", *answer, "```"])
