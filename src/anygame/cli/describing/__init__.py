"""What the table of commands says, in other forms: completion for shells, and a manual page."""
