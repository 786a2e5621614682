"""Implementations of the protocol `anygame.game.machine.Machine`."""
