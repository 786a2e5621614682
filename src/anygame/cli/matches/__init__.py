"""Matches on the command line: who sits where, and how a match is watched."""
