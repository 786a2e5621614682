"""Child processes that exchange messages with this one over pipes; see `anygame.processes.child`."""
