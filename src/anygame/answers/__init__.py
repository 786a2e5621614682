"""Answers: one frozen dataclass for each question. `to_json` is for programs, `lines` for people.

The command line, the tools, the pages and the editors show answers in their own ways.
"""
