"""The web server manages visitors, matches and sheets; only its child processes read rules."""
