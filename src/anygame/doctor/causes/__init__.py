"""Which finding names the cause, and which edit of the sheet would do away with the others."""
