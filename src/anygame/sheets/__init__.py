"""Rule sheets as text: find them by name, read them leniently, lay them out, edit and rename them."""
