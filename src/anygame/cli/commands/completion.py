"""The ``completion`` command: prints a shell script for tab completion of commands."""

from __future__ import annotations

from typing import Any, Final

from anygame.cli import command_table
from anygame.cli.matches.seating import HUMAN
from anygame.cli.options import Command, argument, command_options
from anygame.errors import needing
from anygame.players.loading import LEVELS, STRATEGIES
from anygame.sheets.installed import games

SHELLS: Final = ("bash", "zsh", "fish")

#: For each shell, how its script names or calls the function that completes names of games and sheets.
_SHEETS: Final = {
    "bash": "_anygame_game_files",
    "zsh": "_anygame_game_files",
    "fish": "(_anygame_game_files)",
}
#: For each shell, the functions that complete the names of games and rule sheets.
_FUNCTIONS: Final = {
    "bash": """\
_anygame_game_files() {
    compgen -W "GAMES" -- "$1"
    compgen -f -- "$1"
}
_shtab_anygame_pos_0_COMPGEN=_anygame_game_files
""",
    "zsh": """\
_anygame_game_files() {
    _alternative 'games:game:(GAMES)' 'files:rule sheet:_files'
}
functions[_anygame_command_names]=$functions[_shtab_anygame_commands]
_shtab_anygame_commands() {
    _anygame_command_names
    _anygame_game_files
}
""",
    "fish": """\
function _anygame_game_files
    printf '%s\\n' GAMES
    __fish_complete_path (commandline -ct)
end
""",
}
#: Added at the end of the script for fish, because the script removes all earlier completions.
_END_FOR_FISH: Final = (
    "complete -c anygame -n '_shtab_anygame_using; and test $_shtab_anygame_npos -eq 0' "
    "-ka '(_anygame_game_files)'\n"
)


def completion_script(shell: str) -> str:
    """Return the script for one of `SHELLS`. Raises MissingExtraError if shtab is not installed."""
    with needing("terminal", "completion of command lines needs shtab"):
        import shtab
    by_metavar = {
        **dict.fromkeys(("FILE", "SHEET", "A", "B"), _SHEETS),
        **dict.fromkeys(("RECORD", "IMAGE", "KEY", "OUT", "PATH", "QUIZ", "REPLIES"), shtab.FILE),
        "DIR": shtab.DIRECTORY,
    }
    words = {"PLAYER": (*STRATEGIES, *LEVELS, HUMAN), "COMMAND": tuple(command_table.COMMANDS)}
    parser, commands = command_table.full_parser()
    for command in commands.values():
        for action in command._actions:
            described: Any = action
            if action.metavar in by_metavar:
                described.complete = by_metavar[action.metavar]
            elif action.metavar in words:
                described.choices = words[action.metavar]
    functions: Any = {shell: _FUNCTIONS[shell].replace("GAMES", " ".join(games()))}
    end = _END_FOR_FISH if shell == "fish" else ""
    return f"{shtab.complete(parser, shell, preamble=functions)}\n{end}"


_DETAILS: Final = """\
Save the script in the folder from which your shell loads completions:
  bash   anygame completion bash > ~/.local/share/bash-completion/completions/anygame
  zsh    anygame completion zsh > ~/.zfunc/_anygame     (a folder of $fpath)
  fish   anygame completion fish > ~/.config/fish/completions/anygame.fish

For one session of bash, run: source <(anygame completion bash)
"""


@command_options
class _Options:
    shell: str = argument("SHELL", choices=SHELLS, help="bash, zsh or fish")


def _completion(options: _Options) -> None:
    print(completion_script(options.shell), end="")


COMMANDS: Final = {"completion": Command(_Options, _completion, _DETAILS)}
