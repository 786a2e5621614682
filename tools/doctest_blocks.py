"""Examples of docstrings as code on the site: what ``docs/zensical.toml`` lets its reference be read with.

Markdown reads the prompt ``>>>`` as a quotation within a quotation within a quotation. Here an example, from
its first prompt to the next empty line, is put between fences.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from griffe import Extension

if TYPE_CHECKING:
    from griffe import Object

_EXAMPLE: Final = re.compile(r"^( *)>>> .*\n?(?:^(?! *$).*\n?)*", re.MULTILINE)


def fenced(docstring: str) -> str:
    r"""Return a docstring with its examples between fences.

    >>> print(fenced("Adds.\n\n>>> 1 + 1\n2").replace("`", "'"))
    Adds.
    <BLANKLINE>
    '''pycon
    >>> 1 + 1
    2
    '''
    """
    return _EXAMPLE.sub(
        lambda found: f"{found[1]}```pycon\n{found[0].rstrip()}\n{found[1]}```\n", docstring
    ).rstrip()


class DoctestBlocks(Extension):
    """Puts the examples of all docstrings between fences."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Change the docstring of a module, class or function that was read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
