"""The command that starts the server."""

from __future__ import annotations

import socket
import sys

import pytest
from tests.cli.transcripts import run


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("pygls", "lsprotocol")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "anygame.language_server.server", raising=False)
    monkeypatch.setitem(sys.modules, "pygls", None)
    output, status = run(["language-server"])
    assert status == 2
    assert "pip install 'anygame[language-server]'" in output


def test_a_port_that_is_taken() -> None:
    pytest.importorskip("pygls", reason="the language server needs pygls")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        output, status = run(["language-server", "--tcp", str(port)])
    assert status == 2
    assert f"cannot listen on port {port}: " in output


@pytest.mark.parametrize("port", ["0", "70000", "x", "-1"])
def test_an_invalid_port_causes_an_error(port: str) -> None:
    output, status = run(["language-server", "--tcp", port])
    assert status == 2
    assert "expected a port from 1 to 65535" in output or "expected one argument" in output
