"""The prompt: a session of one game, its commands, and how they are read from a terminal."""
