"""The commands that serve programs: ``language-server`` for editors, ``serve-tools`` for MCP clients."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anygame.cli.options import Command, Status, command_options, option, read_port, several
from anygame.cli.output import complain
from anygame.cli.shared_options import import_with_extra
from anygame.errors import AnygameError

if TYPE_CHECKING:
    from collections.abc import Iterator

# -- language-server -----------------------------------------------------------------------------------


@command_options
class _LanguageServerOptions:
    tcp: int | None = option(
        "--tcp",
        "PORT",
        "serve a client on this local port instead of standard input, for debugging",
        lambda text: read_port(text, 1),
    )


def _language_server(options: _LanguageServerOptions) -> int:
    needed = "language-server needs the package pygls"
    server = import_with_extra("anygame.language_server.server", "language-server", needed)
    said_so = False
    with suppress(KeyboardInterrupt):
        if options.tcp is None:
            said_so = server.serve_stdio(version("anygame"))
        else:
            with _port_faults(options.tcp):
                said_so = bool(server.serve_tcp(version("anygame"), options.tcp))
    return Status.OK if said_so else Status.ANSWER_IS_NO


@contextmanager
def _port_faults(port: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise AnygameError(f"cannot listen on port {port}: {error.strerror or error}") from error


_LANGUAGE_SERVER_DETAILS: Final = """\
An editor starts this command, and uses the Language Server Protocol on its standard input and
output. The server offers diagnostics while you type, fixes, explanations of names, definitions,
references, renaming, completion and formatting. docs/guide/editors.md shows how to configure
VS Code, Neovim, Emacs and Helix.

The exit status is 0 if the editor shuts the server down. It is 1 after Ctrl-C, or if the editor
disconnects without a shutdown.
"""


# -- serve-tools ---------------------------------------------------------------------------------------


@command_options
class _ServeToolsOptions:
    http: int | None = option(
        "--http",
        "PORT",
        "serve clients on this machine by streamable HTTP on this port, instead of standard input; 0 for any "
        "free port",
        read_port,
    )
    folder: list[str] = several(
        "--folder", "DIR", "folder of rule sheets that clients can load by name, besides the installed games"
    )


def _serve_tools(options: _ServeToolsOptions) -> None:
    folders = [Path(folder) for folder in options.folder]
    for folder in folders:
        if not folder.is_dir():
            raise AnygameError(f"there is no folder {folder}")
    server = import_with_extra("anygame.tool_server.server", "mcp", "serve-tools needs the package mcp")
    with suppress(KeyboardInterrupt):
        if options.http is None:
            server.serve_stdio(version("anygame"), folders)
        else:
            with _port_faults(options.http):
                server.serve_http(
                    version("anygame"), folders, options.http, lambda url: complain(f"serving tools at {url}")
                )


_SERVE_TOOLS_DETAILS: Final = """\
An MCP client (Model Context Protocol) starts this command, and calls its tools:
games, load, check, explain_code, mend, format, state, legal, play, query, why, why_not, board,
simulate, analyse, solve, prove, equal. Rule sheets and chapters of the manual are resources.
The prompt from_document_to_sheet describes how to turn rules in prose into a rule sheet. The
server reads only files of the package and of --folder. docs/guide/tools-for-programs.md shows
how to configure common clients.
"""


COMMANDS: Final = {
    "language-server": Command(_LanguageServerOptions, _language_server, _LANGUAGE_SERVER_DETAILS),
    "serve-tools": Command(_ServeToolsOptions, _serve_tools, _SERVE_TOOLS_DETAILS),
}
