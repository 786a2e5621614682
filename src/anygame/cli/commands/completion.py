"""The ``completion`` command: a script with which a shell completes command lines."""

from __future__ import annotations

from typing import Final

from anygame.cli.describing.completion import SHELLS, completion_script
from anygame.cli.exit_status import OK
from anygame.cli.options import Command, argument, command_options

_DETAILS: Final = """\
  bash   anygame completion bash > ~/.local/share/bash-completion/completions/anygame
  zsh    anygame completion zsh > ~/.zfunc/_anygame     (a folder of $fpath)
  fish   anygame completion fish > ~/.config/fish/completions/anygame.fish

or, for one session of bash: source <(anygame completion bash)
"""


@command_options
class Options:
    """What ``anygame completion`` is asked."""

    shell: str = argument("SHELL", choices=SHELLS, help="bash, zsh or fish")


def run(options: Options) -> int:
    """Print the script."""
    print(completion_script(options.shell), end="")
    return OK


COMMAND = Command(Options, run, _DETAILS)
