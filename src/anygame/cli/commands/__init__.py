"""The commands, one module each: their options and their code (`anygame.cli.options.Command`)."""
