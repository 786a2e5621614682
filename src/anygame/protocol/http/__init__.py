"""HTTP as managers and players use it: framing of messages without I/O, and a listener."""
