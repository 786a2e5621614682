"""The GGP protocol: messages without I/O, HTTP as the field speaks it, a player server, remote seats."""

from __future__ import annotations
