"""The server for browsers. It manages visitors, matches and sheets; only its child processes read rules."""
