"""Answers: one frozen dataclass for each question, with `to_json` for programs and `lines` for people."""
