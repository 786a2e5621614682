"""Passes: each rewrites rules into rules with the same consequences and fewer instances."""
