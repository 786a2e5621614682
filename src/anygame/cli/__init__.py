"""The command line and the REPL: the only code that prints, reads arguments or exits."""
