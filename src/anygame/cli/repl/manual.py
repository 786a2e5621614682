"""The commands of the prompt, as ``help`` shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from anygame.errors import AnygameError


@dataclass(frozen=True, slots=True)
class Command:
    """A command as ``help`` describes it."""

    usage: str
    summary: str
    details: str = ""

    @property
    def name(self) -> str:
        return self.usage.partition(" ")[0]


class CommandError(AnygameError):
    """A line is not a command, or a command has wrong arguments."""


_COMMANDS: Final = (
    Command("board", "draw the boards, and list the remaining facts"),
    Command("state", "print all facts of the state, one on each line"),
    Command("roles", "print the roles in order, each with its number of legal moves"),
    Command(
        "legal [WHICH]",
        "print the numbered legal moves of one role or of all roles",
        "WHICH is a role, a pattern, or a role and a pattern. A pattern consists of the words of a move,\n"
        "with or without its name; `*` matches any word:\n"
        "  legal a *           moves such as (move a 1), (move a 2)\n"
        "  legal player2 swap",
    ),
    Command(
        "play MOVE...",
        "play a joint move",
        "Give one move for each role in the order of `roles`. Roles with a single legal move can be left\n"
        "out, and so can the word `play`. A number stands for the move with that number in `legal`:\n"
        "  play (move a 1)     if the other roles have no choice\n"
        "  play 1 3            by number, if two roles have a choice\n"
        "  paper rock          without the word `play`\n"
        "  play                if no role has a choice\n"
        "If only one role has a choice, its move can be abbreviated: `a 1` or `a1` for (move a 1), or any\n"
        "part that occurs in no other move. `#3` is always the third move of `legal`. If the move of the\n"
        "role `random` is left out, it is sampled.",
    ),
    Command("undo [N]", "take back the last N joint moves (default 1)"),
    Command("redo [N]", "play the last N undone joint moves again (default 1)"),
    Command("goals", "print the goal of every role in this state"),
    Command("random [N | end]", "play N random joint moves (default 1), or play to the end of the game"),
    Command(
        "query PATTERN",
        "print all instances of a pattern that hold in this state",
        "The pattern is an atom with variables:\n"
        "  query (legal ?role (move ?row ?n))\n"
        "  query (true (cell ?row ?n red))\n"
        "  query terminal\n"
        "If the relation depends on the moves, add a joint move as for `play`:\n"
        "  query (next (cell ?row ?n red)) with (move a 1)",
    ),
    Command(
        "why SENTENCE",
        "show how the rules derive a sentence",
        "  why (legal player1 (move a 2))\n  why (next (control blue)) with (move a 2)",
    ),
    Command("why not SENTENCE", "show which conditions of a sentence are not met", "  why not terminal"),
    Command(
        "analyse [SECONDS]",
        "search this state for SECONDS (default 5), and show the values of its moves",
        "The moves of each role are listed, the best first, with visits, mean goal and its standard error,\n"
        "proven value and best line of play. Ctrl-C ends the search early; another `analyse` continues it.\n"
        "In games with hidden information, the search uses the whole state, which players do not see.",
    ),
    Command("hint [SECONDS]", "search for SECONDS (default 1), and show the best move of each role"),
    Command(
        "solve [FILE]",
        "show the exact value of this state and of its moves, the best first",
        "Without FILE, all reachable states are visited, if they fit into 1 GiB of memory; Ctrl-C ends\n"
        "the visit early. With FILE, the values are read from a file that `anygame solve --table` has\n"
        "written for the same rules. Afterwards, `analyse` and `hint` use these values, too.",
    ),
    Command("save FILE", "write the moves so far to a file"),
    Command("load FILE", "continue from a saved file of this game"),
    Command("restart", "go back to the initial state; `redo` plays the moves again"),
    Command("history", "print the joint moves so far"),
    Command("rules", "print the description of the game, and its rules for goals"),
    Command("warnings", "print the warnings about the rule sheet"),
    Command("help [COMMAND]", "list the commands, or explain one command"),
    Command("quit", "leave the prompt"),
)
#: All commands by name. `why` and `why not` are separate commands.
COMMANDS: Final = {c.usage.replace(" SENTENCE", "") if c.name == "why" else c.name: c for c in _COMMANDS}
#: Other names of commands.
ALIASES: Final = {
    "move": "play", "moves": "legal", "facts": "state", "goal": "goals", "role": "roles",
    "exit": "quit", "q": "quit", "?": "help", "show": "board",
}  # fmt: skip
