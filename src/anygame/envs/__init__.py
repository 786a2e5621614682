"""Environments: compiled games in the forms that the libraries of learners expect.

One file or folder for each library, named after it: `anygame.envs.pettingzoo` and `anygame.envs.gymnasium`.
Each is an extra of its own, and importing this package imports none of them.
"""
