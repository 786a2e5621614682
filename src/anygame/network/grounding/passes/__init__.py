"""Passes that replace rules by equivalent rules with fewer instances."""
