"""Diagnostics: computed in a separate process, which can be killed, and sent as plain data."""
