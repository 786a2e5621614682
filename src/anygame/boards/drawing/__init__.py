"""Drawing what a state holds: a picture as data, and its renderers: SVG, terminal, text."""
