"""Environments: compiled games with the interfaces of learning libraries.

One file or folder per library: `pettingzoo`, `gymnasium`, `open_spiel`, `jax`. Each is an extra of its own,
and importing this package imports none of them. They share `episode` (matches in numbers and observations),
`rewards` and `turns`.
"""
