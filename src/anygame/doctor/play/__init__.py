"""Faults that play finds, each with the shortest known line of play that shows the fault."""
