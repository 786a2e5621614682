"""The ``serve-tools`` command: rule sheets and games for programs, by the Model Context Protocol."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Final

from anygame.cli.options import Command, Status, command_options, option, read_port, several
from anygame.cli.output import complain
from anygame.cli.shared_options import import_with_extra
from anygame.errors import AnygameError


@command_options
class _Options:
    http: int | None = option(
        "--http",
        type=read_port,
        metavar="PORT",
        help="listen on a port of this machine by streamable HTTP; 0 takes a free one",
    )
    folder: list[str] = several(
        "--folder", metavar="DIR", help="offer the sheets of a folder by name, too; may be repeated"
    )


def run(options: _Options) -> int:
    """Serve programs until they end, or until Ctrl-C."""
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


_DETAILS: Final = """\
Programs that speak the Model Context Protocol start it, and call its tools: games, load,
check, explain_code, mend, format, state, legal, play, query, why, why_not, board, simulate,
analyse, solve, prove, equal. Sheets and chapters are resources; the prompt
from_document_to_sheet says how rules told in prose become a sheet. No file of this machine is
read but the shipped ones and those of --folder. docs/guide/tools-for-programs.md has the lines of
configuration for common clients.

exit status:
  0    the program has ended it, or Ctrl-C
  2    a folder is missing, or the port cannot be had
"""

COMMAND = Command(_Options, run, _DETAILS)
