"""What goes wrong in play, with the shortest line of play that shows it."""
