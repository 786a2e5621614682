"""People who play: a table with players at it, what is shown to a person, and how the game ended in words."""
