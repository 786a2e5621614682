"""People at this terminal as players: their games, their seats in matches, and their prompts."""
