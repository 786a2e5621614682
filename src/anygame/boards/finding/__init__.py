"""Finding boards in the rules: axes, coordinates, squares, contents, and the orientation of a board."""
