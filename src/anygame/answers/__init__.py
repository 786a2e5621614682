"""Answers: one frozen dataclass a question. `to_json` is for programs, `lines` for people.

The command line, the tools, the pages and the editors ask, and show what comes back in their own way.
"""
