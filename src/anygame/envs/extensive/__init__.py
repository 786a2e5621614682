"""Games in extensive form: trees of histories, with information sets and chance, as game theory has them.

A joint move of the rules becomes a decision of each role that has one, after which `random` is drawn. What a
role knows is what it has done and seen (GDL-II), or all that was done (GDL-I).
"""

from anygame.envs.extensive.form import (
    CHANCE,
    MAX_STEPS,
    MOST_HISTORIES,
    SIMULTANEOUS,
    TERMINAL,
    ExtensiveForm,
    Node,
    Order,
    gambit_text,
    walk,
)
from anygame.envs.extensive.survey import Survey, Turns, find_turns, survey

__all__ = [
    "CHANCE",
    "MAX_STEPS",
    "MOST_HISTORIES",
    "SIMULTANEOUS",
    "TERMINAL",
    "ExtensiveForm",
    "Node",
    "Order",
    "Survey",
    "Turns",
    "find_turns",
    "gambit_text",
    "survey",
    "walk",
]
