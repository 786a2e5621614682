"""The commands, a module each: its options, and what it does with them (`anygame.cli.options.Command`)."""
