"""The language server: what editors ask about rule sheets while they are written.

`anygame.language_server.server` speaks the Language Server Protocol 3.17 (Microsoft, 2022), by pygls. What is
answered is computed by modules that know nothing of it, from a text and a place in it. Diagnostics come from
a process of their own (`anygame.language_server.checking`), which can be ended.
"""
