"""Games in extensive form, as in game theory: trees of histories with information sets and chance nodes.

In the tree, each role with a choice makes its decision of a joint move in turn, and `random` comes last, as a
chance node. A role knows its own moves and percepts in GDL-II, and all moves in GDL-I.
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
from anygame.envs.extensive.survey import Survey, survey
from anygame.envs.turns import Turns, find_turns

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
