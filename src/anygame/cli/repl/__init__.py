"""The prompt: a session of one game, its commands, and input from a terminal or a script."""
