"""Faults found by play, each with the shortest line of play found that shows it."""
