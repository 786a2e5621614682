"""The command line described for shells: a parser of all of it, and the scripts that complete it."""
