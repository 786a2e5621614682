"""Analyses of rules: normal forms, safety, dependencies, domains, axes of boards."""
