"""Drawing boards and facts: lines of text, plain or with styles for a terminal. Nothing is printed here."""
