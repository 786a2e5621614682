"""A client of the language server: what an editor sends, over standard input and output of a real process."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

#: Seconds to wait for a message; machines may be busy.
PATIENCE = 60.0
URI = "file:///sheets/game.kif"
#: What editors of today say of themselves.
CAPABILITIES = {
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": True}},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {
            "resolveSupport": {"properties": ["edit"]},
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}},
        },
    },
}


class Client:
    """An editor with one server.

    Attributes:
        process: the server.
        begun: what the server said of itself.
        heard: notifications that nobody has taken yet.
        settings: what is answered to a server that asks.
    """

    def __init__(
        self,
        *,
        capabilities: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
        folder: str | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "anygame", "language-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.heard: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._answers: dict[int, dict[str, Any]] = {}
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.begun = self.ask(
            "initialize",
            processId=None,
            rootUri=folder,
            capabilities=CAPABILITIES if capabilities is None else capabilities,
            initializationOptions=options,
        )["result"]
        self.tell("initialized")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.ask("shutdown")
            self.tell("exit")
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(PATIENCE)
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                assert pipe
                pipe.close()

    def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; return the answer, with its result or its error."""
        self._number += 1
        number = self._number
        # A request without parameters has none.
        self.send({"jsonrpc": "2.0", "id": number, "method": method} | ({"params": params} if params else {}))
        while number not in self._answers:
            self._take()
        return self._answers.pop(number)

    def send(self, message: Any) -> None:
        """Send any message."""
        data = json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def notified(self, method: str) -> dict[str, Any]:
        """Return the parameters of the next notification of a kind."""
        while True:
            for message in self.heard:
                if message["method"] == method:
                    self.heard.remove(message)
                    params: dict[str, Any] = message["params"]
                    return params
            self._take()

    def diagnostics(self, version: int, uri: str = URI) -> list[dict[str, Any]]:
        """Return the diagnostics of a version of a document."""
        while True:
            told = self.notified("textDocument/publishDiagnostics")
            if told["uri"] == uri and told.get("version") == version:
                found: list[dict[str, Any]] = told["diagnostics"]
                return found

    def _take(self) -> None:
        message = self._messages.get(timeout=PATIENCE)
        assert message is not None, "the server has ended"
        if "method" not in message:
            self._answers[message["id"]] = message
        elif "id" in message:
            assert message["method"] == "workspace/configuration"
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": [self.settings]})
        else:
            self.heard.append(message)

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)

    # -- documents

    def open(self, text: str, uri: str = URI, version: int = 1) -> None:
        """Open a document."""
        item = {"uri": uri, "languageId": "gdl", "version": version, "text": text}
        self.tell("textDocument/didOpen", textDocument=item)

    def change(self, version: int, *changes: dict[str, Any], uri: str = URI) -> None:
        """Change a document."""
        document = {"uri": uri, "version": version}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=list(changes))

    def at(self, method: str, line: int, character: int, uri: str = URI, **more: Any) -> Any:
        """Return the result of a request about a place in a document."""
        position = {"line": line, "character": character}
        answer = self.ask(f"textDocument/{method}", textDocument={"uri": uri}, position=position, **more)
        return answer["result"]

    def about(self, method: str, uri: str = URI, **more: Any) -> Any:
        """Return the result of a request about a document."""
        return self.ask(f"textDocument/{method}", textDocument={"uri": uri}, **more)["result"]
