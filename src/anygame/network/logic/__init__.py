"""Logic: instances of rules become few gates."""
