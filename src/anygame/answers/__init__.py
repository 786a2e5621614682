"""Answers for programs and people: each has `to_json`, which returns plain data, and `lines` of text."""
