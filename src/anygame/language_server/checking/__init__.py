"""Diagnostics: found in a process of their own, which can be ended, and told as plain data."""
