"""Quizzes: questions about games, with answers computed from the rules, and grades for replies in free form.

>>> import anygame
>>> from anygame.quiz import grade, questions
>>> tic_tac_toe = anygame.load("tic_tac_toe")
>>> (question,) = questions([tic_tac_toe], kinds=["legal"], count=1, seed=1, depth=0)
>>> question.id, question.difficulty
('tic_tac_toe-legal-1', {'facts': 10, 'rules': 31, 'depth': 0})
>>> print(grade(question, "All squares are free: " + ", ".join(question.answer[1:])))
recall 0.89, precision 1.00; missing: (mark 1 1)
"""

from __future__ import annotations

from anygame.quiz.asking import questions
from anygame.quiz.grading import Grade, grade
from anygame.quiz.question import FORMS, KINDS, Question
from anygame.quiz.sheets import STYLES, Sheet

__all__ = ["FORMS", "KINDS", "STYLES", "Grade", "Question", "Sheet", "grade", "questions"]
