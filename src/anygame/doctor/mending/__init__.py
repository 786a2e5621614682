"""Mending a sheet: edits of its text."""
