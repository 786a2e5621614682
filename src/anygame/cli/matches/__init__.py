"""Matches on the command line: seats of players, display of matches, pages about them."""
