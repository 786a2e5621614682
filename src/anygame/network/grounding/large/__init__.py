"""Passes that run only for sheets with very many instances, and the invariants and keys that they need."""
