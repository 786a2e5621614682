"""The text of questions: the rules, the state, the question, and the form of the reply."""

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
    "kif": "in the Game Description Language (GDL). `(<= head body ...)` is a rule: its head holds where all "
    "of its body does. Names that begin with ? are variables.",
    "infix": "in the infix form of the Game Description Language (GDL). `head :- body` is a rule: its head "
    "holds where its body does; & is `and`, | is `or`, ~ is `not`. Names that begin with a capital letter or "
    "an underscore are variables.",
    "prose": "of which each sentence is one. Names that begin with a capital letter or an underscore are "
    "variables. Square brackets hold together what `or` and `and` join.",
}
_MEANINGS: Final = (
    "What no rule gives is false. All roles move at once, each makes one of its legal moves, and what holds "
    "in the next state is what the rules say and nothing else."
)
_LIST: Final = "End your reply with all of them, one on each line, between two lines of ```."
_WORD: Final = "End your reply with {} between two lines of ```."


def prompt_of(
    sheet: Sheet, kind: QuestionKind, facts: Sequence[Term], moves: Sequence[Term], role: str, atom: str
) -> str:
    """Return the text of a question, with the shown names."""
    state = "\n".join(map(sheet.spelled, facts)) or "(none)"
    if sheet.form == "prose":
        state = "\n".join(f"{sheet.spelled(fact)} is true." for fact in facts) or "(none)"
    parts = [
        f"These are the rules of a game, {_FORMS[sheet.form]} {_MEANINGS}",
        sheet.text.rstrip("\n"),
        "In the present state these facts are true, and no others:",
        state,
        _asked(sheet, kind, moves, role, atom),
    ]
    return "\n\n".join(parts) + "\n"


def _asked(sheet: Sheet, kind: QuestionKind, moves: Sequence[Term], role: str, atom: str) -> str:
    if kind == "legal":
        return f"Which moves are legal for {role} in the present state? {_LIST}"
    if kind == "next":
        return f"{_done(sheet, moves)} Which facts are true in the next state? {_LIST}"
    if kind == "terminal":
        return f"Is the match over in the present state? {_WORD.format('yes or no')}"
    number = _WORD.format("a number, or none where the rules give none,")
    if kind == "goal":
        return f"What is the goal of {role} in the present state? {number}"
    if kind == "winner":
        return (
            "From the present state on each role plays as well as can be for its own goal. "
            f"Which goal does {role} have at the end? {_WORD.format('a number')}"
        )
    holds = f"{_done(sheet, moves)} Then this holds" if moves else "This holds in the present state"
    return (
        f"{holds}: {literal_text(sheet.form, atom)}\n"
        "Which rule gives it, and for which values of its variables? Write the conditions of its body with "
        f"these values in place of the variables, negations among them. {_LIST}"
    )


def _done(sheet: Sheet, moves: Sequence[Term]) -> str:
    if not moves:
        return ""
    pairs = zip(map(sheet.shown, (role.term for role in sheet.game.roles)), moves, strict=True)
    made = [f"{sheet.spelled(role)} makes the move {sheet.spelled(move)}" for role, move in pairs]
    return f"Now {', '.join(made)}."


def literal_text(form: QuizForm, text: str) -> str:
    """Return a literal in KIF in another form."""
    if form == "kif":
        return text
    return (infix_formula if form == "infix" else prose_formula)(literal_of(text))


def reply_of(question: Question) -> str:
    """Return a reply with the answer of a question, in its form."""
    form, answer = question.form, question.answer
    if question.kind in ("legal", "next") and form != "kif":
        answer = tuple(infix_term(parse_term(text)) for text in answer)
    if question.kind == "why":
        answer = tuple(literal_text(form, text) for text in answer)
    return "\n".join(["```", *answer, "```"])
