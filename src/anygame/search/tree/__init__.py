"""The native search tree: arrays instead of objects, and leaves evaluated hundreds at a time in lanes."""
