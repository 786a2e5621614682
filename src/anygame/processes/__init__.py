"""Child processes that exchange messages with their parent over pipes; see `anygame.processes.child`."""
