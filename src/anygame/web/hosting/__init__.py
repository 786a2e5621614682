"""The process of one match, which runs the match and answers questions about the match."""
