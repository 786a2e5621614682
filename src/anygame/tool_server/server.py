"""The server: tools with typed input and output, sheets and chapters as resources, and a prompt."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context  # noqa: TC002 (schemas are made from the types)
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from anygame.doctor import CODES
from anygame.errors import AnygameError
from anygame.language.diagnostics import shown
from anygame.sheets.installed import describe_sheet
from anygame.tool_server import answers  # noqa: TC001
from anygame.tool_server.bounds import (
    MOST,
    MOST_FACTS,
    MOST_MOVES,
    MOST_PLAYOUTS,
    MOST_SECONDS,
    PATIENCE,
    USUAL,
)
from anygame.tool_server.pool import QuestionPool
from anygame.tool_server.sheets import KnownSheets

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

_INSTRUCTIONS: Final = """\
Rules of games in the Game Description Language (GDL). To write a sheet: get the prompt
`from_document_to_sheet`, write, `check` until there are no errors (causes come first), `load`, then `legal`,
`play`, `why`, `simulate`, and `prove`. A game is named as `games` lists it or `load` answers, or given as the
text of its sheet. A state is named by the joint moves that lead to it from the start, or by its
facts. Lists are bounded; `left_out` counts what is not shown."""

Sheet = Annotated[str, Field(description="Text of a rule sheet (KIF or infix), or the name of a game")]
Game = Annotated[str, Field(description="Name of a game, by `games` or `load`; or the text of a sheet")]
Joint = Annotated[
    str | list[str],
    Field(
        description="One joint move: a move for each role in order, as a list or in one text such as "
        "'(mark 1 1) noop'; roles with a single legal move may be left out"
    ),
]
Moves = Annotated[
    list[str | list[str]],
    Field(max_length=MOST_MOVES, description="Joint moves that lead to the state; none for the start"),
]
Facts = Annotated[
    list[str] | None,
    Field(max_length=MOST_FACTS, description="Facts of the state, without `true`, instead of the start"),
]
Most = Annotated[int, Field(ge=1, le=MOST, description="How long lists may be")]
Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS, description="How long it may take")]
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False, idempotent_hint=True)


#: What is taken where nothing is given; never changed.
_START: Final[list[str | list[str]]] = []
_NO_NUMBERS: Final[list[int]] = []
_NO_NAMES: Final[list[str]] = []
_USUAL_PROPERTIES: Final = ["playable", "ends", "goals", "turn-taking", "zero-sum", "winnable"]


class _Tools:
    """The tools; their docstrings are what programs read of them."""

    def __init__(self, sheets: KnownSheets, pool: QuestionPool) -> None:
        self._sheets = sheets
        self._pool = pool

    async def _ask(self, ctx: Context, what: str, game: str, *, patience: float = 0.0, **more: Any) -> Any:
        try:
            name, text = self._sheets.find(game)
            question = {"do": what, "name": name, "text": text} | more
            return await self._pool.ask(question, PATIENCE + patience, ctx.report_progress)
        except AnygameError as error:
            raise ToolError(str(error)) from error

    async def games(self) -> answers.Games:
        """List the games that can be asked about by name: those that are shipped, and loaded ones."""
        found: list[answers.Listed] = []
        for name in self._sheets.files:
            title, description = describe_sheet(self._sheets.find(name)[1])
            found.append({"game": name, "title": title[:100], "description": description[:200]})
        return {"games": found, "loaded": self._sheets.loaded}

    async def load(self, ctx: Context, sheet: Sheet) -> answers.Loaded:
        """Read a sheet and give it a name for all other tools; fails with what is wrong and where."""
        try:
            name, text = self._sheets.find(sheet)
        except AnygameError as error:
            raise ToolError(str(error)) from error
        found: answers.Loaded = await self._ask(ctx, "load", sheet)
        if name == "sheet":
            found["game"] = self._sheets.keep(text)
        return found

    async def check(
        self, ctx: Context, sheet: Sheet, infos: bool = False, everything: bool = False, most: Most = 20
    ) -> answers.Checked:
        """Report what is wrong or odd in a sheet, causes first, with the place, a line of play and edits.

        A few matches are played. `infos` adds matters of style, `everything` what only follows from
        something else.
        `mend` with numbers of findings applies their edits; finding 1 is the one to look at first.
        """
        found: answers.Checked = await self._ask(
            ctx, "check", sheet, infos=infos, everything=everything, most=most
        )
        return found

    async def explain_code(self, code: str) -> str:
        """Explain a code of a finding of `check`: what is asked, why, a bad and a good example."""
        if code not in CODES:
            raise ToolError(f"there is no code {shown(code)!r}; `check` names those that it finds")
        return CODES[code].text

    async def mend(
        self,
        ctx: Context,
        sheet: Sheet,
        fixes: Annotated[
            list[int], Field(max_length=MOST, description="Numbers of findings of check")
        ] = _NO_NUMBERS,
        kinds: Annotated[
            list[str], Field(max_length=20, description="Kinds of mends; all if none")
        ] = _NO_NAMES,
    ) -> answers.Mended:
        """Return the text of a sheet with the edits of some findings, or with all mends beyond doubt."""
        found: answers.Mended = await self._ask(ctx, "mend", sheet, fixes=fixes, kinds=kinds)
        return found

    async def format(
        self, ctx: Context, sheet: Sheet, to: Literal["", "kif", "infix"] = ""
    ) -> answers.Formatted:
        """Lay a sheet out; or write it in the other form. Comments stay."""
        found: answers.Formatted = await self._ask(ctx, "format", sheet, to=to)
        return found

    async def state(
        self,
        ctx: Context,
        game: Game,
        moves: Moves = _START,
        facts: Facts = None,
        most: Most = 200,
    ) -> answers.StateFacts:
        """Return the facts of a state, who is to act, and the goals."""
        found: answers.StateFacts = await self._ask(ctx, "state", game, moves=moves, facts=facts, most=most)
        return found

    async def legal(
        self,
        ctx: Context,
        game: Game,
        moves: Moves = _START,
        facts: Facts = None,
        matching: Annotated[str, Field(description="A role, or words of a move such as 'mark 1 *'")] = "",
        most: Most = USUAL,
    ) -> answers.Legal:
        """Return the legal moves of each role in a state."""
        found: answers.Legal = await self._ask(
            ctx, "legal", game, moves=moves, facts=facts, matching=matching, most=most
        )
        return found

    async def play(
        self,
        ctx: Context,
        game: Game,
        joint: Joint,
        moves: Moves = _START,
        facts: Facts = None,
        most: Most = USUAL,
    ) -> answers.Played:
        """Make one joint move in a state: what came and went, who acts next. Pass `moves` on next time."""
        found: answers.Played = await self._ask(
            ctx, "play", game, moves=moves, facts=facts, joint=joint, most=most
        )
        return found

    async def query(
        self,
        ctx: Context,
        game: Game,
        pattern: Annotated[str, Field(description="An atom with variables, as (true (cell ?x ?y b))")],
        moves: Moves = _START,
        facts: Facts = None,
        joint: Joint = "",
        most: Most = USUAL,
    ) -> answers.Instances:
        """Return the instances of a pattern that hold in a state; `joint` where that depends on the moves."""
        found: answers.Instances = await self._ask(
            ctx, "query", game, moves=moves, facts=facts, pattern=pattern, joint=joint, most=most
        )
        return found

    async def why(
        self,
        ctx: Context,
        game: Game,
        atom: Annotated[str, Field(description="What holds, as (legal white noop) or terminal")],
        moves: Moves = _START,
        facts: Facts = None,
        joint: Joint = "",
    ) -> answers.Explanation:
        """Return why an atom holds in a state: the rules and facts behind it, with their lines."""
        found: answers.Explanation = await self._ask(
            ctx, "why", game, moves=moves, facts=facts, atom=atom, joint=joint, fails=False
        )
        return found

    async def why_not(
        self,
        ctx: Context,
        game: Game,
        atom: Annotated[str, Field(description="What does not hold, as (next (control white))")],
        moves: Moves = _START,
        facts: Facts = None,
        joint: Joint = "",
    ) -> answers.Explanation:
        """Return why an atom does not hold: for each rule that could give it, how far it gets."""
        found: answers.Explanation = await self._ask(
            ctx, "why", game, moves=moves, facts=facts, atom=atom, joint=joint, fails=True
        )
        return found

    async def board(
        self,
        ctx: Context,
        game: Game,
        moves: Moves = _START,
        facts: Facts = None,
        svg: bool = False,
    ) -> answers.Drawn:
        """Draw the boards of a state as text, and as SVG where `svg` is true."""
        found: answers.Drawn = await self._ask(ctx, "board", game, moves=moves, facts=facts, svg=svg)
        return found

    async def simulate(
        self,
        ctx: Context,
        game: Game,
        moves: Moves = _START,
        facts: Facts = None,
        playouts: Annotated[int, Field(ge=1, le=MOST_PLAYOUTS)] = 10_000,
        seed: int = 0,
        limit: Annotated[int, Field(ge=1, le=10_000, description="Longest match")] = 1_000,
    ) -> answers.Simulated:
        """Play random matches: mean goals, lengths, matches that do not end or get stuck, and one example."""
        found: answers.Simulated = await self._ask(
            ctx, "simulate", game, patience=MOST_SECONDS, moves=moves, facts=facts,
            playouts=playouts, seed=seed, limit=limit,
        )  # fmt: skip
        return found

    async def analyse(
        self,
        ctx: Context,
        game: Game,
        moves: Moves = _START,
        facts: Facts = None,
        seconds: Seconds = 5.0,
    ) -> answers.Analysed:
        """Search a state for some seconds: what the moves of each role are worth, best first."""
        found: answers.Analysed = await self._ask(
            ctx, "analyse", game, patience=2 * seconds, moves=moves, facts=facts, seconds=seconds
        )
        return found

    async def solve(
        self,
        ctx: Context,
        game: Game,
        moves: Moves = _START,
        facts: Facts = None,
        seconds: Seconds = 20.0,
    ) -> answers.Solved:
        """Find the exact value of a state, and a line of best play; says why where there is none."""
        found: answers.Solved = await self._ask(
            ctx, "solve", game, patience=2 * seconds, moves=moves, facts=facts, seconds=seconds
        )
        return found

    async def prove(
        self,
        ctx: Context,
        game: Game,
        properties: Annotated[
            list[str],
            Field(
                max_length=20,
                description="playable, ends, goals, turn-taking, zero-sum, winnable, constant-players, "
                "mutex, latched, monotone, dead; or formulas, as (never (and (line x) (line o)))",
            ),
        ] = _USUAL_PROPERTIES,
        seconds: Annotated[float, Field(gt=0, le=MOST_SECONDS, description="For each property")] = 10.0,
        most: Most = 10,
    ) -> answers.Proved:
        """Prove or refute, with a match, what is true of a game in every match."""
        found: answers.Proved = await self._ask(
            ctx, "prove", game, patience=seconds * (len(properties) + 12),
            properties=properties, seconds=seconds, most=most,
        )  # fmt: skip
        return found

    async def equal(
        self,
        ctx: Context,
        game: Game,
        other: Game,
        move_map: Annotated[str, Field(description="Pairs of terms: (mark ?x ?y) (place ?y ?x)")] = "",
        up_to: Annotated[int | None, Field(ge=0, le=MOST_MOVES)] = None,
        seconds: Seconds = 30.0,
    ) -> answers.Verdict:
        """Prove that two sheets are the same game, or return a match after which they differ."""
        try:
            second = self._sheets.find(other)
        except AnygameError as error:
            raise ToolError(str(error)) from error
        found: answers.Verdict = await self._ask(
            ctx, "equal", game, patience=2 * seconds, other=list(second), moves=move_map, up_to=up_to,
            seconds=seconds,
        )  # fmt: skip
        return found

    @property
    def all(self) -> list[Callable[..., Any]]:
        """The tools, in the order in which they are listed."""
        return [
            self.games, self.load, self.check, self.explain_code, self.mend, self.format, self.state,
            self.legal, self.play, self.query, self.why, self.why_not, self.board, self.simulate,
            self.analyse,
            self.solve, self.prove, self.equal,
        ]  # fmt: skip


#: The build copies the chapters into the package.
_PACKAGE: Final = Path(__file__).parents[1]
_FOLDERS: Final = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")


def chapters() -> dict[str, Path]:
    """Return the chapters by name; none where they were left out of the package."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    if folder is None:
        return {}
    return {path.stem: path for path in sorted(folder.glob("*/*.md")) if path.parent.name != "reference"}


def make_server(version: str, folders: Iterable[Path] = ()) -> MCPServer[Any]:
    """Return the server, which can be run or connected to in this process."""
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
        title, _ = describe_sheet(sheets.find(name)[1])
        reader = partial(_sheet_text, sheets, name)
        server.resource(f"anygame://sheets/{name}", name=name, title=title[:100], mime_type="text/plain")(
            reader
        )
    for name, path in chapters().items():
        reader = partial(_chapter_text, path)
        server.resource(f"anygame://chapters/{name}", name=name, mime_type="text/markdown")(reader)

    @server.resource("anygame://loaded/{name}", mime_type="text/plain", description="A loaded sheet")
    def loaded(name: str) -> str:
        if name not in sheets.loaded:
            raise ResourceNotFoundError(f"no sheet {name[:60]!r} is loaded")
        return sheets.find(name)[1]

    @server.prompt(title="From a document to a sheet")
    def from_document_to_sheet(document: str = "") -> str:
        """How to write the rules of a game, told in prose, as a sheet of GDL, and try it with these tools."""
        guide = Path(__file__).with_name("from_document_to_sheet.md").read_text(encoding="utf-8")
        return f"{guide}\n## The document\n\n{document}\n" if document else guide


def _sheet_text(sheets: KnownSheets, name: str) -> str:
    return sheets.find(name)[1]


def _chapter_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def serve_stdio(version: str, folders: Iterable[Path]) -> None:
    """Serve the program that started this one, on standard input and output, until it ends."""
    anyio.run(make_server(version, folders).run_stdio_async)


def serve_http(version: str, folders: Iterable[Path], port: int, listening: Callable[[str], None]) -> None:
    """Serve programs of this machine by streamable HTTP until Ctrl-C.

    Names and origins other than this machine's are refused, against sites that have their name resolve to it.

    Args:
        version: of anygame.
        folders: whose sheets are known by name.
        port: where; 0 for any free one.
        listening: is called with the address once there are answers.

    Raises:
        OSError: the port cannot be had.
    """
    application = make_server(version, folders).streamable_http_app(host="127.0.0.1")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
        bound.listen()
        listening(f"http://127.0.0.1:{bound.getsockname()[1]}/mcp")
        uvicorn.Server(uvicorn.Config(application, log_level="warning")).run(sockets=[bound])
