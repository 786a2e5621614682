"""Adapters of quizzes to libraries that train and test language models.

Each module is named after its library. `reasoning_gym`, `verifiers` and `openenv` are extras; `kaggle` needs
no library. Importing this package imports no adapter.
"""
