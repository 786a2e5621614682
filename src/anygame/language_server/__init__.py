"""The language server: answers questions of editors about rule sheets while these are written.

`anygame.language_server.server` speaks the Language Server Protocol 3.17 (Microsoft, 2022) through pygls.
Other modules compute the answers from a text and an offset, without the protocol. A separate process
computes the diagnostics (`anygame.language_server.checking`), so that it can be killed.
"""
