"""The tests; a package, since others install one of this name."""
