"""What holds in every state that play can lead to, proved from the rules."""
