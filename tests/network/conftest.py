"""What the tests of the compiled game share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep machine code in a folder of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANYGAME_CACHE", str(tmp_path_factory.mktemp("machine_code")))
        yield
