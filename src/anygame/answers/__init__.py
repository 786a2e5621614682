"""Answers for programs (`to_json` returns plain data) and for people (`lines` yields text)."""
