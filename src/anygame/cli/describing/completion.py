"""Scripts that let bash, zsh and fish complete command lines, written from the table of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from anygame.cli.describing.words import FILES, FOLDERS, SHEETS, described_commands
from anygame.language.installed import games

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anygame.cli.describing.words import CommandWords, Option


def completion_script(shell: str) -> str:
    """Return the script for one of `SHELLS`."""
    return "\n".join(SHELLS[shell](list(described_commands()))) + "\n"


# -- bash ----------------------------------------------------------------------------------------------------

_BASH_HEAD: Final = """\
# Completion of anygame for bash. For all sessions:
#   anygame completion bash > ~/.local/share/bash-completion/completions/anygame
_anygame() {
    local current="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}"
    local word option="" place=0 takes="" options="" words="" kind=""
    COMPREPLY=()"""
_BASH_TAIL: Final = """\
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
        return
    fi
    [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
    case $kind in
        sheets|files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$current")) ;;
        folders) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$current")) ;;
    esac
}
complete -F _anygame anygame"""


def _bash(commands: list[CommandWords]) -> Iterator[str]:
    yield _BASH_HEAD
    names = " ".join(command.name for command in commands)
    yield "    if ((COMP_CWORD == 1)); then"
    yield f'        options="--help --version" words="{names} {" ".join(games())}" kind=sheets'
    yield "    else"
    yield '        local last="${COMP_WORDS[COMP_CWORD - 1]}"'
    yield "        case $command in"
    for command in commands:
        yield from _bash_command(command)
    yield "        esac"
    yield "    fi"
    yield _BASH_TAIL


def _bash_command(command: CommandWords) -> Iterator[str]:
    flags = " ".join(flag for option in command.options for flag in option.flags)
    yield f"            {command.name})"
    yield f'                options="{flags}"'
    yield "                case $last in"
    for option in command.options:
        if option.metavar:
            yield f"                    {'|'.join(option.flags)}) {_bash_value(option)} ;;"
    yield f"                    *) {_bash_value(_first(command))} ;;"
    yield "                esac ;;"


def _bash_value(option: Option | None) -> str:
    if option is None:
        return "words="
    words = (*option.words, *(games() if option.kind == SHEETS else ()))
    return f'words="{" ".join(words)}" kind={option.kind}'


def _first(command: CommandWords) -> Option | None:
    return command.arguments[0] if command.arguments else None


# -- zsh -----------------------------------------------------------------------------------------------------


def _zsh(commands: list[CommandWords]) -> Iterator[str]:
    yield "#compdef anygame"
    yield "# Completion of anygame for zsh. Put it as _anygame into a folder of $fpath:"
    yield "#   anygame completion zsh > ~/.zfunc/_anygame"
    yield "_anygame_sheets() {"
    yield f"    _alternative 'games:game:({' '.join(games())})' 'files:rule sheet:_files'"
    yield "}"
    yield "_anygame() {"
    yield "    local -a commands"
    yield "    if ((CURRENT == 2)); then"
    yield "        commands=("
    for command in commands:
        yield f"            {_quoted(f'{command.name}:{command.summary}')}"
    yield "        )"
    yield "        _describe command commands"
    yield "        _anygame_sheets"
    yield "        return"
    yield "    fi"
    yield "    local command=$words[2]"
    yield "    shift words"
    yield "    ((CURRENT--))"
    yield "    case $command in"
    for command in commands:
        lines = [
            *[_zsh_option(option, flag) for option in command.options for flag in option.flags],
            *[_zsh_argument(number, each) for number, each in enumerate(command.arguments, start=1)],
        ]
        yield f"        {command.name})"
        yield "            _arguments \\"
        yield from [f"                {line} \\" for line in lines[:-1]]
        yield f"                {lines[-1]} ;;"
    yield "        *) _anygame_sheets ;;"
    yield "    esac"
    yield "}"
    # Sourced, it registers itself; as a function of $fpath it is called.
    yield 'if [[ $funcstack[1] == _anygame ]]; then _anygame "$@"; else compdef _anygame anygame; fi'


def _zsh_option(option: Option, flag: str) -> str:
    value = f":{option.metavar}:{_zsh_value(option)}" if option.metavar else ""
    meaning = option.help.replace("[", "(").replace("]", ")").replace(":", ";")
    return _quoted(f"*{flag}[{meaning}]{value}")


def _zsh_argument(number: int, argument: Option) -> str:
    place = "*" if number > 1 or argument.metavar == "PATH" else number
    return _quoted(f"{place}:{argument.metavar}:{_zsh_value(argument)}")


def _zsh_value(option: Option) -> str:
    if option.words:
        return f"({' '.join(option.words)})"
    return {SHEETS: "_anygame_sheets", FILES: "_files", FOLDERS: "_files -/"}.get(option.kind, " ")


# -- fish ----------------------------------------------------------------------------------------------------


def _fish(commands: list[CommandWords]) -> Iterator[str]:
    yield "# Completion of anygame for fish. For all sessions:"
    yield "#   anygame completion fish > ~/.config/fish/completions/anygame.fish"
    yield "complete -c anygame -f"
    yield "function __anygame_command"
    yield "    set -l words (commandline -opc)"
    yield '    test (count $words) -gt 1; and test "$words[2]" = $argv[1]'
    yield "end"
    yield "function __anygame_first"
    yield "    test (count (commandline -opc)) -eq 1"
    yield "end"
    first = "-n __anygame_first"
    for name in games():
        yield f"complete -c anygame {first} -a {name} -d game"
    for command in commands:
        yield f"complete -c anygame {first} -a {command.name} -d {_quoted(command.summary)}"
    yield f"complete -c anygame {first} -F"
    for command in commands:
        condition = f"-n '__anygame_command {command.name}'"
        for option in command.options:
            yield f"complete -c anygame {condition} {_fish_option(option)}"
        for argument in command.arguments[:1]:
            words = _fish_words(argument)
            files = "-F" if argument.kind else "-f"
            yield f"complete -c anygame {condition} {files}{words}"


def _fish_option(option: Option) -> str:
    flags = " ".join(
        f"-l {flag.removeprefix('--')}" if flag.startswith("--") else f"-s {flag.removeprefix('-')}"
        for flag in option.flags
    )
    value = ""
    if option.metavar:
        value = f" -r{' -F' if option.kind else ' -f'}{_fish_words(option)}"
    return f"{flags}{value} -d {_quoted(option.help)}"


def _fish_words(option: Option) -> str:
    words = (*option.words, *(games() if option.kind == SHEETS else ()))
    return f" -a {_quoted(' '.join(words))}" if words else ""


def _quoted(text: str) -> str:
    """Return a text in single quotes, as all three shells read it: none knows the same escapes in them."""
    return "'" + text.replace("\\", "").replace("'", "`") + "'"


#: The shells, and what writes their scripts.
SHELLS: Final[dict[str, Callable[[list[CommandWords]], Iterator[str]]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
