"""Quizzes by the conventions of libraries that train and test language models.

One module for each library, named after it. `reasoning_gym`, `verifiers` and `openenv` are extras of their
own, and `kaggle` needs no library. Importing this package imports none of them.
"""
