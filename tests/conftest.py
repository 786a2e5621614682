"""What all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_ROOT = Path(__file__).parents[1]
# What a script starts in the background ignores Ctrl-C, and so would the processes that tests start and end.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Time decides no test: an example may take long on a busy machine.
settings.register_profile("counted", deadline=None)
settings.load_profile("counted")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for no doctests in tests: a module that cannot be imported is an error there, and not skipped."""
    found = yield
    return [each for each in found if type(each) is pytest.Module]


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep machine code in a folder of the tests' own, which processes that run side by side share."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANYGAME_CACHE", str(folder / "machine_code"))
        # What somebody has trained on this machine changes no test.
        patch.setenv("ANYGAME_MODELS", "")
        yield


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return a folder of public rule sheets, ``rules/*.kif``, with recorded answers.

    It is the folder that ANYGAME_CORPUS names, or one called ``corpus`` in a folder beside the checkout.
    """
    folder = find_corpus()
    if folder is None:
        pytest.skip("no corpus of rule sheets: set ANYGAME_CORPUS to a folder that has rules/*.kif")
    return folder


def find_corpus() -> Path | None:
    """Return the folder of public rule sheets, None where there is none."""
    named = os.environ.get("ANYGAME_CORPUS")
    folders = [Path(named)] if named else sorted(_ROOT.parent.glob("*/corpus"))
    return next((folder for folder in folders if (folder / "rules").is_dir()), None)
