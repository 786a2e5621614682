"""Diagnostics: found in a process of their own, which can be ended, and sent as plain data."""
