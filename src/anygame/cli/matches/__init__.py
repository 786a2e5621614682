"""Matches on the command line: the seats of the players, and the display of a match."""
