"""Rewrites: each makes a circuit smaller and leaves what it computes as it is."""
