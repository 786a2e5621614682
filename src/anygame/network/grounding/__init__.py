"""Grounding: which atoms can ever hold, and which instances of the rules can ever fire."""
