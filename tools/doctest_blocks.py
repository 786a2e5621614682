"""Extension for the reference on the site, named in ``docs/zensical.toml``: examples of docstrings as code.

Markdown reads the prompt ``>>>`` as three nested quotations. So this extension puts each example between
fences, from the example's first prompt to the next empty line.
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
        """Change the docstring of a module, class or function."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
