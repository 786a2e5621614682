"""What runs in the process of one match: its rules, its players, and answers to questions about it."""
