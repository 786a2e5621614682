"""Drawings of states: a picture as data, and its renderers for SVG, terminals and plain text."""
