"""Conversion of rule instances into a small circuit of gates."""
