"""The site of the documentation: everything public is in it, and no link of it leads nowhere."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.sources import parsed
from tests.tools.chapters import sheets
from tools.chapter_index import index, pages
from tools.tutorial_pictures import drawing, sheet

import anygame

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIAL = (DOCS / "start" / "tutorial.md").read_text(encoding="utf-8")


def _public() -> dict[str, list[str]]:
    """Return what each package has in its ``__all__``, whether its libraries are installed or not."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "src" / "anygame").rglob("*.py")):
        for node in parsed(path).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and target.id == "__all__":
                assert isinstance(node, ast.Assign | ast.AugAssign)
                parts = path.relative_to(ROOT / "src").with_suffix("").parts
                module = ".".join(part for part in parts if part != "__init__")
                found.setdefault(module, []).extend(ast.literal_eval(node.value))
    return found


def test_every_package_is_in_the_reference() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    named = set(re.findall(r"^::: (\S+)$", text, re.MULTILINE))
    public = _public()
    assert len(public) > 15
    # Those of the errors, of games and of terms come from packages that have them all.
    whole = {name for module in named & set(public) for name in public[module]}
    for module, names in public.items():
        if module not in named:
            left = [name for name in names if f"anygame.{name}" not in named and name not in whole]
            assert left == [], module


def test_every_chapter_is_in_the_navigation() -> None:
    listed = pages(tomllib.loads((DOCS / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if "_site" not in path.parts}
    assert sorted(listed) == sorted(written)


def test_the_list_of_chapters_is_that_of_the_navigation() -> None:
    kept = (DOCS / "README.md").read_text(encoding="utf-8")
    assert index() == kept, "if it is meant so: python tools/chapter_index.py"


@pytest.mark.parametrize("name", ["board", "moves", "end"])
def test_the_board_of_the_tutorial_is_the_one_that_is_drawn_now(name: str) -> None:
    kept = (DOCS / "start" / "tutorial" / f"{name}.svg").read_text(encoding="utf-8")
    how = "python tools/tutorial_pictures.py docs/start/tutorial.md docs/start/tutorial"
    assert drawing(TUTORIAL, name) == kept, f"if it is meant so: {how}"


def test_the_sheet_of_the_tutorial_grows_to_a_sound_game() -> None:
    grown = [len(sheet(TUTORIAL, name)) for name in ("board", "moves", "end")]
    assert grown == sorted(set(grown))
    game = anygame.loads(sheets(TUTORIAL)["dominoes.kif"])
    assert not game.program.warnings
    for playout in game.playouts(20, seed=1):
        assert playout.is_complete
        assert sorted(goal or 0 for goal in playout.goals.values()) == [0, 100]


class _Page(HTMLParser):
    """What a page can be linked by, where it leads, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag in ("script", "img", "iframe") and "src" in found:
            self.loaded.append(found["src"])
        elif tag == "link" and "href" in found:
            self.loaded.append(found["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("zensical")
    pytest.importorskip("mkdocstrings_handlers.python")
    checkout = tmp_path_factory.mktemp("checkout")
    for name in ("docs", "src", "tools"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("_site", ".cache"))
    build = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", "docs/zensical.toml"]
    done = subprocess.run(build, cwd=checkout, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout / "docs" / "_site"


@pytest.mark.slow
def test_every_public_name_is_on_the_site(site: Path) -> None:
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    known = {line.split(" ")[0] for line in zlib.decompress(inventory).decode().splitlines()}
    names = [f"{module}.{name}" for module, public in _public().items() for name in public]
    # A function may have the name of the module that it is in.
    left = [name for name in names if name not in known and f"{name}.{name.rpartition('.')[2]}" not in known]
    assert left == []


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {path: _Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 40
    for path, page in pages.items():
        assert [name for name in page.loaded if urlsplit(name).netloc] == [], path
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.exists(), f"{path.name}: {link}"
            anchors = pages[target].anchors if target in pages else set()
            assert not parts.fragment or unquote(parts.fragment) in anchors, f"{path.name}: {link}"
