"""Grounding: find the atoms that can ever hold, and the rule instances that derive them."""
