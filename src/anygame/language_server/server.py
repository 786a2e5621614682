"""The server: pygls receives and sends the messages of the protocol, and threads compute the answers."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer

from anygame.errors import AnygameError
from anygame.language_server.answers import (
    FIX_ALL,
    REQUESTS,
    Explanations,
    Question,
    code_actions,
    diagnostic,
    edit_of,
    resolving,
    symbol_kind,
)
from anygame.language_server.checker import Checker
from anygame.language_server.documents import Documents, line_edits, path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from anygame.language_server.documents import Document
    from anygame.language_server.findings import Findings

#: Error code of the protocol for a valid request that cannot be answered.
_REQUEST_FAILED: Final = -32803
_HOST: Final = "127.0.0.1"


def serve_stdio(version: str) -> bool:
    """Serve one editor on standard input and output; return whether the editor sent ``shutdown``."""
    server = _Server(version)
    # Accidental prints must not corrupt the messages.
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        return server.serve(lambda: server.start_io(stdout=output))


def serve_tcp(version: str, port: int) -> bool:
    """Serve one editor on a local port; return whether the editor sent ``shutdown``."""
    server = _Server(version)
    return server.serve(lambda: asyncio.run(server.serve_connection(port)))


class _Server(LanguageServer):
    """The server and its state between messages."""

    def __init__(self, version: str) -> None:
        # Editors send whole texts, because pygls and editors recognise different line breaks.
        super().__init__("anygame", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        # Answers contain the errors; a log on standard error would show each error again.
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
        self.documents = Documents()
        self.explanations = Explanations()
        self.checker = Checker(self._publish)
        self._is_ended = False
        _register(self)

    def serve(self, start: Callable[[], None]) -> bool:
        """Serve until the editor disconnects; return whether the editor sent ``shutdown``."""
        try:
            start()
        except SystemExit:  # pygls raises SystemExit when the editor exits
            pass
        finally:
            self.explanations.close()
        return self._is_ended

    async def serve_connection(self, port: int) -> None:
        """Serve the first editor that connects to a port; return when the connection ends or breaks."""
        ended = asyncio.Event()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self.protocol.writer is not None:  # another editor is connected
                writer.close()
                return
            self.protocol.set_writer(writer)
            try:
                with suppress(ConnectionError):
                    await run_async(threading.Event(), reader, self.protocol)
            finally:
                ended.set()

        async with await asyncio.start_server(connected, _HOST, port):
            await ended.wait()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Report an invalid message in the editor's log instead of a window."""
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Warning, str(error)[:1000]))

    def begin(self, params: lsp.InitializeParams) -> None:
        self.checker.settings = self.checker.settings.changed(params.initialization_options)
        agreed = lsp.PositionEncodingKind(self.workspace.position_encoding or "utf-16")
        self.documents.encoding = agreed.value
        uris = [folder.uri for folder in params.workspace_folders or ()] or [params.root_uri or ""]
        self.documents.folders = list(filter(None, map(path_of, uris)))

    async def ask_settings(self, _: object = None) -> None:
        workspace = self.client_capabilities.workspace
        if workspace and workspace.configuration:
            item = lsp.ConfigurationItem(section="anygame")
            values = await self.workspace_configuration_async(lsp.ConfigurationParams([item]))
            self.set(values[0] if values else None)

    def set(self, values: object) -> None:
        settings = self.checker.settings.changed(values)
        if settings != self.checker.settings:
            self.checker.settings = settings
            for document in self.documents.values():
                self.checker.changed(document, pause=0.0)

    async def configured(self, params: lsp.DidChangeConfigurationParams) -> None:
        """Apply changed settings; request the settings if the message does not contain them."""
        self.set(params.settings)
        if not params.settings:
            await self.ask_settings()

    def open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if (document := self.documents.written(item.uri, item.version, item.text)) is not None:
            self.checker.changed(document, pause=0.0)

    def change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        if self.documents.get(uri) is not None and params.content_changes:
            document = self.documents.written(uri, version, params.content_changes[-1].text)
            assert document is not None
            self.checker.changed(document)

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self.documents.pop(uri, None)
        self.checker.forget(uri)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    async def end(self, _: object = None) -> None:
        self._is_ended = True
        await self.checker.close()
        self.explanations.close()

    def _publish(self, document: Document, findings: Findings) -> None:
        if self.documents.get(document.uri) is not document:
            return
        document.findings = findings
        if findings.domains:
            document.domains = findings.domains
        shown = [diagnostic(document, finding, self.explanations) for finding in findings.findings]
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(document.uri, shown, document.version)
        )

    async def answered(self, answer: Callable[[Question], Any], params: Any) -> Any:
        """Return the answer to a request about a document; None if the document is not open.

        Raises JsonRpcException with the reason if the request fails.
        """
        document = self.documents.get(params.text_document.uri)
        if document is None:
            return None
        try:
            return await asyncio.to_thread(answer, Question(document, params, self.client_capabilities))
        except AnygameError as error:
            raise JsonRpcException(str(error).partition("\n")[0], _REQUEST_FAILED) from error

    async def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
        """Return code actions, with all their edits if the editor cannot request edits later."""
        answer = partial(code_actions, explanations=self.explanations)
        actions: list[lsp.CodeAction] | None = await self.answered(answer, params)
        text = self.client_capabilities.text_document
        support = text.code_action.resolve_support if text and text.code_action else None
        if actions is None or (support and "edit" in support.properties):
            return actions
        return [await self.resolved(action) for action in actions]

    async def resolved(self, action: lsp.CodeAction) -> lsp.CodeAction:
        uri, version, kinds = resolving(action) or ("", 0, [])
        document = self.documents.get(uri)
        if document is None or document.version != version:
            return action
        try:
            text = await self.checker.mended(document, kinds)
        except AnygameError as error:
            raise JsonRpcException(str(error), _REQUEST_FAILED) from error
        action.edit = await asyncio.to_thread(lambda: edit_of(document, line_edits(document.text, text)))
        return action

    async def named(self, params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        entries = await asyncio.to_thread(self.documents.symbols, params.query)
        return [
            lsp.WorkspaceSymbol(
                location=lsp.Location(document.uri, document.range(entry.selection)),
                name=entry.name,
                kind=symbol_kind(entry),
                container_name=document.sheet.source.name,
            )
            for document, entry in entries
        ]


def _register(server: _Server) -> None:
    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL]
    actions = lsp.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
    handlers: list[tuple[str, Callable[[Any], Any], Any]] = [
        (lsp.INITIALIZE, server.begin, None),
        (lsp.INITIALIZED, server.ask_settings, None),
        (lsp.SHUTDOWN, server.end, None),
        (lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, server.configured, None),
        (lsp.TEXT_DOCUMENT_DID_OPEN, server.open, None),
        (lsp.TEXT_DOCUMENT_DID_CHANGE, server.change, None),
        (lsp.TEXT_DOCUMENT_DID_CLOSE, server.close, None),
        (lsp.TEXT_DOCUMENT_CODE_ACTION, server.actions, actions),
        (lsp.CODE_ACTION_RESOLVE, server.resolved, None),
        (lsp.WORKSPACE_SYMBOL, server.named, None),
        *((method, partial(server.answered, answer), options) for method, answer, options in REQUESTS),
    ]
    for method, handler, options in handlers:
        # pygls sets attributes on handlers, which bound methods do not allow.
        server.feature(method, options)(partial(handler))
