"""Machines: the places where the contract meets the ways to compute."""
