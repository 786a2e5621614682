"""Environments: compiled games with the interfaces of learning libraries.

Each library has a module with its name: `pettingzoo`, `gymnasium`, `open_spiel`, `jax`. Each of these modules
needs an extra, and importing the package imports none of these modules.
"""
