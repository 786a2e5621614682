"""The commands: each module defines the options and the code of one or more commands."""
