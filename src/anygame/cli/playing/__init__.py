"""Games of people at this terminal: the table, the seats of people in matches, and their prompts."""
