"""The ``language-server`` command: rule sheets in editors."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from typing import Final

from anygame.cli.options import Command, Status, command_options, option, read_port
from anygame.cli.shared_options import import_with_extra
from anygame.errors import AnygameError


@command_options
class _Options:
    tcp: int | None = option(
        "--tcp",
        type=lambda text: read_port(text, 1),
        metavar="PORT",
        help="listen on a port of this machine, for debugging",
    )


def run(options: _Options) -> int:
    """Serve an editor until it ends."""
    needed = "the language server needs pygls"
    server = import_with_extra("anygame.language_server.server", "language-server", needed)
    said_so = False
    with suppress(KeyboardInterrupt):
        if options.tcp is None:
            said_so = server.serve_stdio(version("anygame"))
        else:
            try:
                said_so = bool(server.serve_tcp(version("anygame"), options.tcp))
            except OSError as error:
                raise AnygameError(
                    f"cannot listen on port {options.tcp}: {error.strerror or error}"
                ) from error
    return Status.OK if said_so else Status.ANSWER_IS_NO


_DETAILS: Final = """\
Editors start it, and speak the Language Server Protocol with it on standard input and
output: diagnostics as one types, mends, what names mean, definitions, references,
renaming, completion, layout. docs/guide/editors.md has the lines of configuration for VS Code,
Neovim, Emacs and Helix.

exit status:
  0    the editor has ended it
  1    the editor has gone without a word, or Ctrl-C was pressed
  2    the port cannot be had
"""

COMMAND = Command(_Options, run, _DETAILS)
