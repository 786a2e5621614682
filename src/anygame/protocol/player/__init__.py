"""The player's side of the protocol: a server, its matches, and the sessions in which games are played."""
