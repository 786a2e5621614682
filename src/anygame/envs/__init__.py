"""Environments: compiled games with the interfaces of learning libraries.

Each library has a file or folder: `pettingzoo`, `gymnasium`, `open_spiel`, `jax`. Each is an extra, and
importing this package imports none of them. They share `episode` (matches in numbers and observations),
`rewards` and `turns`.
"""
