"""Passes that run only for sheets with very many rule instances, and proofs of their invariants."""
