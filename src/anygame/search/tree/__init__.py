"""The native search tree, which consists of arrays. Hundreds of leaves are evaluated together in lanes."""
