"""The commands that serve editors and programs: ``language-server`` and ``serve-tools``."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Final

from anygame.cli.options import Command, Status, command_options, option, read_port, several
from anygame.cli.output import complain
from anygame.cli.shared_options import import_with_extra
from anygame.errors import AnygameError

# -- language-server -----------------------------------------------------------------------------------


@command_options
class _LanguageServerOptions:
    tcp: int | None = option(
        "--tcp",
        "PORT",
        "listen on this local port instead of standard input, for debugging",
        lambda text: read_port(text, 1),
    )


def _language_server(options: _LanguageServerOptions) -> int:
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


_LANGUAGE_SERVER_DETAILS: Final = """\
An editor starts this command, and speaks the Language Server Protocol on standard input and
output: diagnostics while typing, mends, meanings of names, definitions, references, renaming,
completion, layout. docs/guide/editors.md shows how to configure VS Code, Neovim, Emacs and Helix.

exit status:
  0    the editor has shut the server down
  1    the editor has disconnected without a shutdown, or Ctrl-C was pressed
  2    the port is taken
"""


# -- serve-tools ---------------------------------------------------------------------------------------


@command_options
class _ServeToolsOptions:
    http: int | None = option(
        "--http",
        "PORT",
        "serve by streamable HTTP on this port (0: any free one), to programs on this machine, instead of "
        "on standard input",
        read_port,
    )
    folder: list[str] = several(
        "--folder", "DIR", "folder whose sheets can be used by name, besides the installed games"
    )


def _serve_tools(options: _ServeToolsOptions) -> int:
    folders = [Path(folder) for folder in options.folder]
    for folder in folders:
        if not folder.is_dir():
            raise AnygameError(f"there is no folder {folder}")
    server = import_with_extra("anygame.tool_server.server", "mcp", "tools for programs need mcp")
    with suppress(KeyboardInterrupt):
        if options.http is None:
            server.serve_stdio(version("anygame"), folders)
        else:
            try:
                server.serve_http(
                    version("anygame"), folders, options.http, lambda url: complain(f"tools at {url}")
                )
            except OSError as error:
                raise AnygameError(
                    f"cannot listen on port {options.http}: {error.strerror or error}"
                ) from error
    return Status.OK


_SERVE_TOOLS_DETAILS: Final = """\
A program that speaks the Model Context Protocol starts this command, and calls its tools:
games, load, check, explain_code, mend, format, state, legal, play, query, why, why_not, board,
simulate, analyse, solve, prove, equal. Sheets and chapters are resources; the prompt
from_document_to_sheet describes how to turn rules in prose into a sheet. Only the files of the
package and of --folder are read. docs/guide/tools-for-programs.md shows how to configure
common clients.

exit status:
  0    the program has ended the server, or Ctrl-C
  2    a folder is missing, or the port is taken
"""


COMMANDS: Final = {
    "language-server": Command(_LanguageServerOptions, _language_server, _LANGUAGE_SERVER_DETAILS),
    "serve-tools": Command(_ServeToolsOptions, _serve_tools, _SERVE_TOOLS_DETAILS),
}
