"""Finding boards in the rules: axes, coordinates, squares, contents, and how a board lies."""
