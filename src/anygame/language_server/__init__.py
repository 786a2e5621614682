"""Language server: answers requests of editors about rule sheets that are being written.

`anygame.language_server.server` implements the Language Server Protocol 3.17 (Microsoft, 2022) with pygls.
Most other modules compute answers from a text and an offset, independently of the protocol. A separate
process, which can be killed, computes the diagnostics (`anygame.language_server.worker`).
"""
