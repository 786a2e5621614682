"""The language server: answers questions of editors about rule sheets that are being written.

`anygame.language_server.server` implements the Language Server Protocol 3.17 (Microsoft, 2022) with pygls.
Other modules compute the answers from a text and an offset, without the protocol. A separate process, which
can be killed, computes the diagnostics (`anygame.language_server.checking`).
"""
