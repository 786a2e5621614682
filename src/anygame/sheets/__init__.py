"""Rule sheets as text: finding by name, lenient reading, layout, edits and scrambled names."""
