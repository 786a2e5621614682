"""The house: a folder is a stage, and imports run one way."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import pytest

import anygame
from anygame.errors import MissingExtraError
from tests.sources import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE = Path(anygame.__file__).parent
_FILES = sorted(_PACKAGE.rglob("*.py"))
_LONGEST = 600

#: What a stage may import besides itself, for typing too. The root is the face that cli and tools use.
_ALLOWED = {
    "errors": set(),
    # Compiling: Python functions and LLVM's text to machine code. It knows no game and no client.
    "native": {"errors"},
    # What notebooks show meanwhile, and plots: they know nothing of games.
    "progress": set(),
    "plotting": {"errors"},
    "language": {"errors"},
    "analysis": {"language"},
    # Files that are written whole or not at all, and values as HTML: they know nothing of games.
    "files": {"errors", "language"},
    "markup": {"language"},
    # What one does to sheets as text: find, read leniently, lay out, edit, rename.
    "sheets": {"errors", "language", "analysis"},
    "datalog": {"errors", "language", "analysis", "markup"},
    # Children and messages to them: they know nothing of games.
    "processes": {"errors"},
    # What the compiled game and the game both speak of.
    "playouts": set(),
    "network": {"errors", "language", "analysis", "datalog", "native", "processes", "playouts"},
    # Graphics cards play the kernels that the network writes.
    "cards": {"errors", "native", "network", "playouts"},
    "game": {
        "errors",
        "language",
        "playouts",
        "progress",
        "plotting",
        "datalog",
        "files",
        "markup",
        "sheets",
    },
    "game.machines": {"errors", "language", "datalog", "network", "cards", "game", "playouts"},
    "boards": {"errors", "language", "analysis", "game"},
    "doctor": {"errors", "language", "analysis", "game", "proving", "datalog", "sheets"},
    # Search is native code over many states at once, which only the network has.
    "search": {
        "errors",
        "language",
        "analysis",
        "native",
        "network",
        "game",
        "progress",
        "plotting",
        "files",
        "markup",
    },
    # Models of sheets, learned for hours; the search finds and uses them.
    "training": {"search"},
    # Proofs and what other programs prove: of the network, but for answer sets, which are of the rules.
    # Their certificates are checked by native code.
    "proving": {
        "errors",
        "language",
        "analysis",
        "native",
        "network",
        "game",
        "progress",
        "markup",
    },
    # Questions with certain answers: the reasoner's, and values of states that were counted.
    "quiz": {"errors", "language", "game", "search", "sheets"},
    "players": {"errors", "language", "game", "search"},
    "match": {"errors", "language", "game", "players", "files", "markup"},
    "tournament": {"errors", "language", "game", "players", "match", "plotting", "markup"},
    "cluster": {"errors", "game"},
    "envs": {"errors", "language", "game", "proving", "players", "sheets"},
    "protocol": {"errors", "language", "game", "players", "match", "processes", "sheets"},
    # One answer a question: what the faces below ask for, as data and as lines.
    "answers": {"errors", "language", "doctor", "game", "search", "proving", "match", "tournament"},
    # Pages: beside the command line, which starts them.
    "web": {
        "errors",
        "answers",
        "language",
        "doctor",
        "game",
        "boards",
        "search",
        "players",
        "match",
        "protocol",
        "processes",
        "files",
        "sheets",
    },
    # Editors: beside the command line, too.
    "language_server": {"errors", "language", "analysis", "doctor", "game", "processes", "sheets"},
    # Programs: beside the command line, too.
    "tool_server": {
        "errors",
        "answers",
        "language",
        "doctor",
        "game",
        "boards",
        "search",
        "proving",
        "processes",
        "sheets",
    },
    "cli": {
        "errors",
        "answers",
        "language",
        "doctor",
        "game",
        "boards",
        "search",
        "training",
        "proving",
        "quiz",
        "players",
        "match",
        "protocol",
        "tournament",
        "cluster",
        "envs",
        "web",
        "language_server",
        "tool_server",
        "anygame",
        "plotting",
        "files",
        "sheets",
    },
    # Boards in notebooks.
    "notebook": {"errors", "game", "boards", "players", "match"},
    "__main__": {"cli"},
    "anygame": {"api"},
    "api": {"errors", "language", "game", "proving", "search", "training", "sheets"},
}
#: The modules of the command line that start another face; no other module of it imports that face.
_STARTERS = {
    "web": {"cli/commands/web.py", "cli/matches/pages.py"},
    "language_server": {"cli/commands/serving.py"},
    "tool_server": {"cli/commands/serving.py"},
}
#: The modules that import a library that stands behind a seam.
_SEAMS: dict[str, tuple[str, ...]] = {
    "lark": ("language/parser.py",),
    "networkx": ("proving/survey.py",),
    "h11": ("protocol/http/framing.py",),
    "cryptography": ("match/signing.py",),
    "openskill": ("tournament/standings.py",),
    "matplotlib": ("plotting.py",),
    "llvmlite": ("native/code.py", "native/lowering.py"),
    "pysat": ("proving/certificate.py", "proving/formula.py"),
    "scipy": ("proving/ending.py", "search/retrograde.py"),
    "jinja2": ("web/server/pages.py",),
    "uvicorn": ("tool_server/server.py", "web/server/running.py"),
    "mcp": ("tool_server/server.py",),
    "pydantic": ("quiz/adapters/openenv.py", "tool_server/answering.py", "tool_server/server.py"),
    "pyspiel": ("envs/open_spiel/__init__.py", "envs/open_spiel/state.py"),
    "pygls": ("language_server/server.py",),
    "lsprotocol": (
        "language_server/answers.py",
        "language_server/documents.py",
        "language_server/server.py",
    ),
}


#: The module that loads boards by name, which stand above games.
_REACHING_UP = "game/showing.py"


def _name(path: Path) -> str:
    return path.relative_to(_PACKAGE).as_posix()


@cache
def _imports(path: Path, *, typing: bool = True) -> frozenset[str]:
    """Return the modules that a module imports, in its functions too, and those that it names in strings.

    Imports for typing only are left out unless ``typing`` is set.
    """
    return frozenset(_imported(path, typing=typing))


def _imported(path: Path, *, typing: bool) -> Iterator[str]:
    tree = parsed(path)
    # A folder that holds the module may be named for its data files.
    named = _MODULES - {_module(path).rsplit(".", depth)[0] for depth in range(9)}
    named = frozenset() if _name(path) == _REACHING_UP else named
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only and not typing:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{_name(path)} imports relatively"
            assert node.module
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in _MODULES else node.module
        elif isinstance(node, ast.Constant) and node.value in named:
            yield node.value


def _stage(module: str) -> str:
    """Return the stage of a module of the package: its first folder, or the machines, or the root."""
    parts = module.split(".")[1:]
    if parts[:2] == ["game", "machines"]:
        return "game.machines"
    return parts[0] if parts else "anygame"


def _module(path: Path) -> str:
    parts = path.relative_to(_PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


_MODULES = frozenset(map(_module, _FILES))


@pytest.mark.parametrize("path", _FILES, ids=_name)
def test_imports_run_one_way(path: Path) -> None:
    own = _stage(_module(path))
    allowed = _ALLOWED[own] | {own}
    if own == "game":
        # One module chooses the machine of a game, and one plays in the lanes that only the network has.
        chosen = {"backends.py", "batch.py"}
        allowed |= {"game.machines"} if path.name in chosen else set()
    if own == "cli":
        allowed -= {face for face, starters in _STARTERS.items() if _name(path) not in starters}
    if path.parent.relative_to(_PACKAGE).as_posix() == "envs/jax":
        # The gates themselves become operations of JAX.
        allowed |= {"network"}
    found = {_stage(name) for name in _imports(path) if name.split(".")[0] == "anygame"}
    assert found <= allowed, f"{_name(path)} imports {sorted(found - allowed)}"


def test_the_table_allows_only_needed_imports() -> None:
    unused = {stage: set(allowed) for stage, allowed in _ALLOWED.items()}
    for path in _FILES:
        unused[_stage(_module(path))] -= {_stage(name) for name in _imports(path)}
    assert not any(unused.values()), {stage: names for stage, names in unused.items() if names}


def test_no_module_imports_itself_through_others() -> None:
    """Modules of one stage may name each other in types: a state has its game, and a game makes states."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for path in _FILES:
        own, for_running = _module(path), set(_imports(path, typing=False))
        for name in _imports(path):
            if name.split(".")[0] == "anygame" and (name in for_running or _stage(name) != _stage(own)):
                graph.add_edge(own, name)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    assert list(nx.simple_cycles(graph)) == []


@pytest.mark.parametrize("library", _SEAMS)
def test_libraries_behind_a_seam_are_imported_where_they_should_be(library: str) -> None:
    found = [
        _name(path)
        for path in _FILES
        if library in {name.split(".")[0] for name in _imports(path, typing=False)}
    ]
    assert tuple(found) == _SEAMS[library]


def test_games_reach_up_to_the_boards_in_one_place() -> None:
    """Boards stand above games, and are loaded by name when a state is first shown."""
    found = [_name(path) for path in _FILES if _stage(_module(path)) != "cli" and _loads_by_name(path)]
    assert found == [_REACHING_UP]


def _loads_by_name(path: Path) -> bool:
    text = path.read_text()
    return "import_module(" in text and '"anygame.boards' in text


@pytest.mark.parametrize("path", _FILES, ids=_name)
def test_files_read_well(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= _LONGEST
    assert "util" not in path.stem


def test_every_folder_is_a_package_that_gets_installed() -> None:
    folders = {path.parent for path in _FILES}
    assert [_name(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_every_module_defines_its_public_names() -> None:
    for info in pkgutil.walk_packages([str(_PACKAGE)], "anygame."):
        if info.name == "anygame.__main__":
            continue
        try:
            module = importlib.import_module(info.name)
        except MissingExtraError:
            continue
        assert module.__doc__, info.name
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), f"{info.name} offers {name} and has it not"
