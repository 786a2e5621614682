"""Environments: compiled games in the forms that the libraries of learners expect.

One file or folder for each library, named after it: `pettingzoo`, `gymnasium`, `open_spiel`, `jax`. Each is
an extra of its own, and importing this package imports none of them. What several share lies beside them:
matches in numbers, and what is observed and shown of them (`episode`), rewards, turns.
"""
