"""Machines: implementations of the contract `anygame.game.machine.Machine`."""
