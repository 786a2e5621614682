"""HTTP as the field speaks it: bytes in, messages out; and sockets that carry them."""
