"""Proofs: what is true of a game in every match is proved, or refuted by a match."""
