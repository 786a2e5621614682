"""Games and matches of people at this terminal, with their prompts."""
