"""Faults that show in play, with the shortest line of play that shows them."""
