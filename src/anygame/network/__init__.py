"""The compiled game: rules become logic, logic becomes code that plays 512 games at once."""
