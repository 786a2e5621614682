"""The MCP server: tools, a prompt, and sheets and chapters as resources."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, suppress
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context  # noqa: TC002 (schemas are made from the types)
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from anygame.doctor import ALIASES, CODES
from anygame.errors import AnygameError
from anygame.language.diagnostics import shown
from anygame.processes.child import Admission, ChildProcess, Pool
from anygame.sheets.installed import describe_sheet
from anygame.tool_server.answering import OF_SHEETS, OF_STATES, SHAPES
from anygame.tool_server.sheets import (
    LONGEST_ANSWER,
    MEMORY,
    MOST_FACTS,
    MOST_MOVES,
    MOST_SECONDS,
    MOST_WAITING,
    PATIENCE,
    PROCESSES,
    KnownSheets,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    Report = Callable[[float, float, str], Awaitable[None]]

_INSTRUCTIONS: Final = """\
Tools for rules of games in the Game Description Language (GDL). To write a sheet, get the prompt
`from_document_to_sheet` and write the rules. Use `check` until there are no errors; causes come first. Then
`load` the sheet, and try `legal`, `play`, `why`, `simulate` and `prove`. A game is a name from `games` or
`load`, or the text of a sheet. A state is determined by the joint moves that lead to it from the initial
state, or by its facts. Answers have the same form as the output of the command line with `--json`. Lists are
bounded; `left_out` maps the path of each cut list to its number of missing items."""

_GAME: Final = Annotated[
    str, Field(description="Name of a game, from `games` or `load`, or the text of a sheet")
]
#: Arguments that determine a sheet or a state.
_SUBJECTS: Final = {
    "sheet": _GAME,
    "other": _GAME,
    "moves": Annotated[
        list[str | list[str]],
        Field(
            max_length=MOST_MOVES,
            description="Joint moves from the initial state to the state; empty for the initial state",
        ),
    ],
    "facts": Annotated[
        list[str] | None,
        Field(
            max_length=MOST_FACTS,
            description="Facts of the state, without `true`, instead of the initial state",
        ),
    ],
}
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False, idempotent_hint=True)


class _Tools:
    """The tools. Programs read the docstrings of tools as descriptions."""

    def __init__(self, sheets: KnownSheets, pool: QuestionPool) -> None:
        self._sheets = sheets
        self._pool = pool

    async def games(self) -> dict[str, Any]:
        """List the names of games: the installed games and the loaded sheets."""
        listed = []
        for name in self._sheets.files:
            title, description = describe_sheet(self._sheets.text(name))
            listed.append({"game": name, "title": title[:100], "description": description[:200]})
        return {"games": listed, "loaded": self._sheets.loaded}

    async def explain_code(self, code: str) -> str:
        """Explain the code of a finding of `check`: the rule, its reason, and a bad and a good example."""
        code = ALIASES.get(code, code)
        if code not in CODES:
            raise ToolError(f"there is no code {shown(code)!r}; use the code of a finding of `check`")
        return CODES[code].text

    async def _ask(self, ctx: Context, do: str, sheet: str, given: dict[str, Any]) -> dict[str, Any]:
        try:
            name, text = self._sheets.find(sheet)
            if "other" in given:
                given["other"] = self._sheets.find(given["other"])
            question = {"do": do, "name": name, "text": text} | given
            answer: dict[str, Any] = await self._pool.ask(question, _patience(given), ctx.report_progress)
        except AnygameError as error:
            raise ToolError(str(error)) from error
        if do == "load" and name == "sheet":
            answer["game"] = self._sheets.keep(text)
        return answer

    def asking(self, do: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a tool with the parameters of ``function``; a process calls ``function`` to answer."""
        about_state = do in OF_STATES
        subject = "game" if about_state or do in ("prove", "equal") else "sheet"

        async def tool(ctx: Context, **given: Any) -> dict[str, Any]:
            return await self._ask(ctx, do, given.pop(subject), given)

        context, _ = signature(tool, eval_str=True).parameters.values()
        _, *own = signature(function, eval_str=True).parameters.values()
        named = [Parameter(subject, Parameter.KEYWORD_ONLY, annotation=_GAME)]
        for name, default in (("moves", []), ("facts", None)) if about_state else ():
            annotation = _SUBJECTS[name]
            named.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
        own = [
            each.replace(kind=Parameter.KEYWORD_ONLY, annotation=_SUBJECTS.get(each.name, each.annotation))
            for each in own
        ]
        parameters = [context, *named, *own]
        made: Any = tool
        shape = f"\n\nThe answer has the shape {SHAPES[do]}" if do in SHAPES else ""
        made.__name__, made.__doc__ = do, f"{function.__doc__}{shape}"
        made.__signature__ = Signature(parameters, return_annotation=dict[str, Any])
        made.__annotations__ = {each.name: each.annotation for each in parameters}
        return tool

    @property
    def all(self) -> list[Callable[..., Any]]:
        """The tools, in the order of `_ORDER`."""
        asking = {do: self.asking(do, function) for do, function in (OF_SHEETS | OF_STATES).items()}
        tools = asking | {"games": self.games, "explain_code": self.explain_code}
        return [tools[name] for name in _ORDER]


#: The order in which tools are listed.
_ORDER: Final = (
    *("games", "load", "check", "explain_code", "mend", "format", "state", "legal", "play", "query", "why"),
    *("why_not", "board", "simulate", "analyse", "solve", "prove", "equal"),
)


def _patience(given: dict[str, Any]) -> float:
    """Return the number of seconds to wait for an answer, including time for compiling."""
    if "playouts" in given:
        return PATIENCE + MOST_SECONDS
    seconds: float = given.get("seconds", 0.0)
    return PATIENCE + seconds * (len(given["properties"]) + 12 if "properties" in given else 2)


_PACKAGE: Final = Path(__file__).parents[1]
#: Folders that can contain the chapters: in an installed package, and in a working tree.
_FOLDERS: Final = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")


def chapters() -> dict[str, Path]:
    """Return the files of the chapters by name; empty if the package has no chapters."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    if folder is None:
        return {}
    return {path.stem: path for path in sorted(folder.glob("*/*.md")) if path.parent.name != "reference"}


def make_server(version: str, folders: Iterable[Path] = ()) -> MCPServer[Any]:
    """Return a server, which is not running yet."""
    sheets, pool = KnownSheets(folders), QuestionPool()

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await pool.pool.close()

    server: MCPServer[Any] = MCPServer(
        "anygame", instructions=_INSTRUCTIONS, version=version, lifespan=lifespan, log_level="WARNING"
    )
    for tool in _Tools(sheets, pool).all:
        server.tool(annotations=_READS)(tool)
    _add_resources(server, sheets)
    return server


def _add_resources(server: MCPServer[Any], sheets: KnownSheets) -> None:
    for name in sheets.files:
        title, _ = describe_sheet(sheets.text(name))
        address = f"anygame://sheets/{name}"
        resource = server.resource(address, name=name, title=title[:100], mime_type="text/plain")
        resource(partial(sheets.text, name))
    for name, path in chapters().items():
        resource = server.resource(f"anygame://chapters/{name}", name=name, mime_type="text/markdown")
        resource(partial(_read, path))

    @server.resource("anygame://loaded/{name}", mime_type="text/plain", description="A loaded sheet")
    def loaded(name: str) -> str:
        if name not in sheets.loaded:
            raise ResourceNotFoundError(f"no sheet {name[:60]!r} is loaded")
        return sheets.text(name)

    @server.prompt(title="From a document to a sheet")
    def from_document_to_sheet(document: str = "") -> str:
        """How to write a GDL sheet from the rules of a game in prose, and test the sheet with these tools."""
        guide = _read(Path(__file__).with_name("from_document_to_sheet.md"))
        return f"{guide}\n## The document\n\n{document}\n" if document else guide


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def serve_stdio(version: str, folders: Iterable[Path]) -> None:
    """Serve the parent process on standard input and output until standard input ends."""
    anyio.run(make_server(version, folders).run_stdio_async)


def serve_http(version: str, folders: Iterable[Path], port: int, listening: Callable[[str], None]) -> None:
    """Serve programs of this machine over streamable HTTP until Ctrl-C.

    Against DNS rebinding, the server refuses requests for other host names and from other origins. The
    function ``listening`` receives the address. Raises OSError if the port is in use.
    """
    application = make_server(version, folders).streamable_http_app(host="127.0.0.1")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
        bound.listen()
        listening(f"http://127.0.0.1:{bound.getsockname()[1]}/mcp")
        uvicorn.Server(uvicorn.Config(application, log_level="warning")).run(sockets=[bound])


class _Worker(ChildProcess):
    """A process that answers one question at a time; ``known`` has the sheets that the process has read."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self._news: asyncio.Queue[tuple[float, float, str]] = asyncio.Queue()
        super().__init__(
            "anygame.tool_server.answering",
            MEMORY,
            name="the process that answers",
            longest=LONGEST_ANSWER,
            advice="ask for less (fewer playouts, fewer seconds, a smaller game)",
            received=self._take_news,
        )

    async def ask_reporting(self, question: dict[str, Any], within: float, report: Report) -> Any:
        """Return the answer to a question, and report progress before the answer."""
        telling = asyncio.create_task(self._tell(report))
        try:
            return await self.ask(question, within)
        finally:
            telling.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await telling
            self.known.add(question["text"])

    async def _tell(self, report: Report) -> None:
        while True:
            await report(*await self._news.get())

    def _take_news(self, message: Any) -> None:
        match message:
            case {"done": int() | float() as done, "total": int() | float() as total, "doing": str(doing)}:
                self._news.put_nowait((done, total, doing))
            case _:
                raise ValueError("no news")


class QuestionPool:
    """Answers questions in processes; see `anygame.tool_server.answering`."""

    def __init__(self) -> None:
        busy = f"{MOST_WAITING} questions are waiting already: try again later"
        self._admission = Admission(PROCESSES, MOST_WAITING, busy)
        self.pool = Pool(_Worker)

    async def ask(self, question: dict[str, Any], within: float, report: Report) -> Any:
        """Return the answer to a question, which has the arguments of `answering.answer` except ``report``.

        If the calling task is cancelled, the process is killed. Raises BusyError, ChildFaultError or
        ChildEndedError if no answer comes in ``within`` seconds after a process begins.
        """

        def knowing(idle: Sequence[_Worker]) -> _Worker:
            return next((worker for worker in idle if question["text"] in worker.known), idle[-1])

        async with self._admission.place(), self.pool.child(knowing) as worker:
            return await worker.ask_reporting(question, within, report)
