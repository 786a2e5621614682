"""HTTP as managers and players use it: bytes in, messages out; and sockets that carry them."""
