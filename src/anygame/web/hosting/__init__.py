"""The process of one match: it holds the rules and players, and answers questions about the match."""
