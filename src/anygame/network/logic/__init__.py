"""Logic: instances of rules become a small number of gates."""
