"""The ``web`` command: serves pages on which people play games."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from anygame.cli.matches.pages import pages_module, say_listening
from anygame.cli.matches.seating import PLAYERS, named
from anygame.cli.options import Command, argument, command_options, flag, option, read_port, seconds
from anygame.cli.shared_options import LENIENT_HELP, JsonOption
from anygame.cli.sheets import state_folder
from anygame.errors import AnygameError
from anygame.files import file_faults
from anygame.players.loading import LEVELS, STRATEGIES, is_address, player_class, split_options
from anygame.web.settings import Settings

_DETAILS: Final = f"""\
The pages list the installed games and the rule sheets at every PATH. Matches are stored in
--folder, and continue when the server is restarted.

Only this machine can connect, unless --host names another address: 0.0.0.0 accepts other
machines. If other machines can connect, list the host names of this server after --name. The
server then refuses requests for other names, so that no other site can pose as this server. If
strangers can connect, put a TLS proxy in front of the server.

{PLAYERS}
With --json, one object is printed: {{"event": "listening", "address", "host", "port", "folder"}}
"""


@command_options
class _Options(JsonOption):
    paths: list[str] = argument("PATH", nargs="*", help="rule sheets, or folders of them")
    port: int = option("--port", "PORT", "port to listen on; 0 for any free port", read_port, default=8000)
    host: str = option(
        "--host", "HOST", "address to listen on; 0.0.0.0 accepts other machines", default="127.0.0.1"
    )
    name: list[str] | None = option(
        "--name", "NAME", "host names with which browsers can reach this server, besides --host", nargs="+"
    )
    players: list[str] | None = option(
        "--players",
        "PLAYER",
        "players that visitors can choose as opponents (default: all levels and strategies)",
        nargs="+",
    )
    folder: str | None = option(
        "--folder", "DIR", "folder for matches and uploads (default ~/.local/state/anygame/web)"
    )
    play_clock: float = option(
        "--play-clock",
        "SECONDS",
        "seconds that players have for each move, unless a visitor chooses another time",
        seconds,
        default=2.0,
    )
    lenient: bool = flag("--lenient", LENIENT_HELP)


def _web(options: _Options) -> None:
    settings = _settings(options)
    running = pages_module()
    with suppress(KeyboardInterrupt):
        running.serve(
            settings,
            lambda port: say_listening(
                settings.host,
                port,
                "shows the games; Ctrl-C stops the server",
                is_json=options.json,
                folder=str(settings.folder),
            ),
        )


def _settings(options: _Options) -> Settings:
    if "" in options.paths:
        raise AnygameError("expected the name of a rule sheet or a folder, found an empty one")
    paths = tuple(map(Path, options.paths))
    for path in paths:
        if not path.exists():
            raise AnygameError(f"there is no file or folder {path}")
    players = named(options.players or [*LEVELS, *STRATEGIES])
    for _, spec in players:
        if not is_address(spec):
            player_class(split_options(spec)[0])
    folder = Path(options.folder) if options.folder else state_folder("web")
    with file_faults("keep matches in", folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Settings(
        paths=paths,
        players=tuple(players),
        folder=folder.resolve(),
        host=options.host,
        port=options.port,
        names=tuple(options.name or ()),
        play_clock=options.play_clock,
        lenient=options.lenient,
    )


COMMANDS: Final = {"web": Command(_Options, _web, _DETAILS)}
