"""The commands of the REPL, as ``help`` shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from anygame.errors import AnygameError


@dataclass(frozen=True, slots=True)
class Command:
    """Usage, summary and details of a command, for ``help``."""

    usage: str
    summary: str
    details: str = ""

    @property
    def name(self) -> str:
        return self.usage.partition(" ")[0]


class CommandError(AnygameError):
    """A line is not a command, or a command has wrong arguments."""


_COMMANDS: Final = (
    Command("board", "draw the boards, and list the other facts"),
    Command("state", "print all facts of the state, one a line"),
    Command("roles", "print the roles in order, and their numbers of legal moves"),
    Command(
        "legal [WHICH]",
        "print the legal moves, numbered, of one role or of all",
        "WHICH is a role, or a pattern, or a role and a pattern. A pattern gives words of the moves, with\n"
        "or without their name; `*` stands for any word:\n"
        "  legal a *           moves as (move a 1), (move a 2)\n"
        "  legal player2 swap",
    ),
    Command(
        "play MOVE...",
        "play a joint move",
        "A move for each role, in the order of `roles`; or only for the roles that have more than\n"
        "one legal move. A number stands for the move at that place in `legal`. The word `play` may\n"
        "be left out:\n"
        "  play (move a 1)     the others have no choice\n"
        "  play 1 3            by numbers, in a game where two roles choose\n"
        "  paper rock          without the word\n"
        "  play                where nobody has a choice\n"
        "Where only one role chooses, its move may be typed in short: `a 1` or `a1` for (move a 1), or\n"
        "any beginning or part that no other move has. `#3` is always the third of `legal`.\n"
        "If a role `random` is left out, its move is sampled.",
    ),
    Command("undo [N]", "take back the last move, or the last N"),
    Command("redo [N]", "play moves again that were taken back"),
    Command("goals", "print the goal of every role in this state"),
    Command("random [N | end]", "play one random move, or N, or all to the end of the game"),
    Command(
        "query PATTERN",
        "print all instances of a pattern that hold in this state",
        "The pattern is a sentence of the rules with variables:\n"
        "  query (legal ?role (move ?row ?n))\n"
        "  query (true (cell ?row ?n red))\n"
        "  query terminal\n"
        "A relation that depends on the moves needs a joint move, as for `play`:\n"
        "  query (next (cell ?row ?n red)) with (move a 1)",
    ),
    Command(
        "why SENTENCE",
        "show how the rules derive a sentence",
        "  why (legal player1 (move a 2))\n  why (next (control blue)) with (move a 2)",
    ),
    Command("why not SENTENCE", "show what is missing for a sentence to hold", "  why not terminal"),
    Command(
        "analyse [SECONDS]",
        "search this state for SECONDS (default 5), and show the values of its moves",
        "Lists the moves of each role, the best first: visits, mean goal and its error, proven values, a\n"
        "line of play. Ctrl-C ends it early; another `analyse` continues it. In games with hidden\n"
        "information, it uses the whole state, which players do not see.",
    ),
    Command(
        "hint [SECONDS]", "show the best move of a search of SECONDS (default 1), for each role with a choice"
    ),
    Command(
        "solve [FILE]",
        "show the exact value of this state and of its moves, the best first",
        "Visits all states reachable from here, if they fit into 1 GiB; Ctrl-C ends it early. Or reads the\n"
        "values from a file that `anygame solve --table FILE` has written for these rules. Afterwards\n"
        "`analyse` and `hint` use these values, too.",
    ),
    Command("save FILE", "write the moves so far to a file"),
    Command("load FILE", "continue from a saved file of this game"),
    Command("restart", "go back to the initial state; `redo` plays the moves again"),
    Command("history", "print the moves so far"),
    Command("rules", "print the description of the game, and its rules for goals"),
    Command("warnings", "print the warnings of the rule sheet"),
    Command("help [COMMAND]", "list the commands, or explain one"),
    Command("quit", "leave the prompt"),
)
#: All commands by name; `why` and `why not` are two commands.
COMMANDS: Final = {c.usage.replace(" SENTENCE", "") if c.name == "why" else c.name: c for c in _COMMANDS}
#: Other names of commands.
ALIASES: Final = {
    "move": "play", "moves": "legal", "facts": "state", "goal": "goals", "role": "roles",
    "exit": "quit", "q": "quit", "?": "help", "show": "board",
}  # fmt: skip
