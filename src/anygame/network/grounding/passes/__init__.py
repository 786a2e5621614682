"""Passes: each rewrites rules into others that derive the same, with fewer instances."""
