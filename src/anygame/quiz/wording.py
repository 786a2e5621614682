"""Texts of questions: rules and facts in each form, and the prompt.

Prose is controlled English, with one sentence for each rule or fact. Terms in prose are in infix form without
blanks. Each sentence of prose is therefore unambiguous and can be parsed again.

>>> from anygame.language.parser import parse_program
>>> for rule in parse_program("(role x) (<= (legal ?r (mark ?n)) (role ?r) (not (true (marked ?n))))").rules:
...     print(prose_rule(rule))
x is a role.
If R is a role, and it is not so that marked(N) is true, then R may do mark(N).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from anygame.errors import TermSyntaxError
from anygame.language.forms import infix_constant, infix_variable
from anygame.language.limits import ReadingLimits
from anygame.language.parser import parse_nodes, parse_term
from anygame.language.rules import And, Distinct, Literal, Not, Or
from anygame.language.sentences import Reader
from anygame.language.terms import Compound, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anygame.language.rules import Formula, Rule
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
#: The sentence of each relation of GDL.
_SENTENCES: Final = {
    ("role", 1): "{} is a role",
    ("init", 1): "{} is true at the start",
    ("true", 1): "{} is true",
    ("next", 1): "{} is true in the next state",
    ("does", 2): "{} does {}",
    ("legal", 2): "{} may do {}",
    ("goal", 2): "the goal of {} is {}",
    ("terminal", 0): "the match is over",
    ("base", 1): "{} can ever be true",
    ("input", 2): "{} can ever do {}",
    ("sees", 2): "{} sees {}",
    ("percept", 2): "{} can ever see {}",
    ("distinct", 2): "{} differs from {}",
}
_NOT: Final = "it is not so that "
_READERS: Final = [
    (name, re.compile(re.escape(text).replace(r"\{\}", r"(\S+)"), re.IGNORECASE))
    for (name, _), text in _SENTENCES.items()
]
_HOLDS: Final = re.compile(r"(\S+) holds", re.IGNORECASE)


def prompt_of(
    sheet: Sheet, kind: QuestionKind, facts: Sequence[Term], moves: Sequence[Term], role: str, atom: str
) -> str:
    """Return the prompt of a question, with the names of the quiz."""
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
    """Translate a literal, or a ``distinct``, from KIF to another form. Raises TermSyntaxError."""
    if form == "kif":
        return text
    nodes = parse_nodes(text)
    if len(nodes) != 1:
        raise TermSyntaxError(f"expected one literal, found {len(nodes)}", text)
    formula = Reader(ReadingLimits(), True).formula(nodes[0])
    return (infix_formula if form == "infix" else prose_formula)(formula)


def reply_of(question: Question) -> str:
    """Return a right reply, in the form of the question."""
    form, answer = question.form, question.answer
    if question.kind in ("legal", "next") and form != "kif":
        answer = tuple(infix_term(parse_term(text)) for text in answer)
    if question.kind == "why":
        answer = tuple(literal_text(form, text) for text in answer)
    return "\n".join(["```", *answer, "```"])


def infix_term(term: Term) -> str:
    """Return a term in infix form."""
    if isinstance(term, Compound):
        return f"{infix_constant(term.functor)}({','.join(map(infix_term, term.arguments))})"
    return infix_variable(term.name) if isinstance(term, Variable) else infix_constant(str(term))


def infix_formula(formula: Formula) -> str:
    """Return a literal, or a ``distinct``, in infix form."""
    if isinstance(formula, Not):
        return f"~{infix_formula(formula.formula)}"
    if isinstance(formula, Distinct):
        return f"distinct({infix_term(formula.left)},{infix_term(formula.right)})"
    assert isinstance(formula, Literal)
    arguments = ",".join(map(infix_term, formula.atom.arguments))
    name = infix_constant(formula.atom.predicate)
    return f"{name}({arguments})" if arguments else name


def prose_rule(rule: Rule) -> str:
    """Return a rule or fact as a sentence."""
    head = prose_formula(Literal(rule.head))
    if not rule.body:
        return f"{head}."
    return f"If {', and '.join(map(prose_formula, rule.body))}, then {head}."


def prose_formula(formula: Formula) -> str:
    """Return a formula as a clause."""
    if isinstance(formula, Literal):
        sentence = _SENTENCES.get(formula.atom.key)
        if sentence is None:
            return f"{infix_formula(formula)} holds"
        return sentence.format(*map(infix_term, formula.atom.arguments))
    if isinstance(formula, Distinct):
        return _SENTENCES["distinct", 2].format(infix_term(formula.left), infix_term(formula.right))
    if isinstance(formula, Not):
        return f"{_NOT}{prose_formula(formula.formula)}"
    assert isinstance(formula, Or | And)
    if not formula.formulas:
        return "[always]" if isinstance(formula, And) else "[never]"
    joined = f" {type(formula).__name__.lower()} "
    return f"[{joined.join(map(prose_formula, formula.formulas))}]"


def infix_of_sentence(text: str) -> str | None:
    """Return the infix form of a clause that ``prose_formula`` has written; None for other text.

    >>> infix_of_sentence("it is not so that cell(1,1) is true."), infix_of_sentence("Hello")
    ('~true(cell(1,1))', None)
    """
    text = text.strip().rstrip(".,;").strip()
    negated = text.lower().startswith(_NOT)
    text = text[len(_NOT) :] if negated else text
    for name, reader in _READERS:
        if match := reader.fullmatch(text):
            arguments = ",".join(match.groups())
            found = f"{name}({arguments})" if arguments else name
            break
    else:
        match = _HOLDS.fullmatch(text)
        if match is None:
            return None
        found = match[1]
    return f"~{found}" if negated else found
