"""The server for browsers: it manages visitors, matches and sheets; other processes reason with the rules."""
