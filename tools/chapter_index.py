"""Write the list of chapters in docs/README.md, from the navigation in docs/zensical.toml.

Only docs/zensical.toml defines the order of the chapters.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).parents[1] / "docs"
_LIST: Final = re.compile(r"(?<=<!-- chapters -->\n).*?(?=<!-- end -->)", re.DOTALL)


def pages(entry: Any) -> list[str]:
    """Return the pages below an entry of the navigation, in order."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [page for part in parts for page in pages(part)]


def index() -> str:
    """Return the text of docs/README.md with the list of chapters in the current navigation."""
    site = tomllib.loads((DOCS / "zensical.toml").read_text(encoding="utf-8"))
    sections = [section for section in site["project"]["nav"] if pages(section) != ["README.md"]]
    text = "".join(_lines(section, "") for section in sections)
    return _LIST.sub(lambda _: text, (DOCS / "README.md").read_text(encoding="utf-8"))


def _lines(entry: dict[str, Any], indent: str) -> str:
    """Return a section of the navigation as an item of a list, with its subsections as nested items."""
    ((name, parts),) = entry.items()
    links = ", ".join(f"[{_title(part)}]({part})" for part in parts if isinstance(part, str))
    below = "".join(_lines(part, f"{indent}    ") for part in parts if isinstance(part, dict))
    return f"{indent}- **{name}**{': ' * bool(links)}{links}\n{below}"


def _title(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


if __name__ == "__main__":
    text = index()
    (DOCS / "README.md").write_text(text, encoding="utf-8")
