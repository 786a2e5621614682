"""What runs only for sheets with very many instances: invariants, keys, and passes that rely on them."""
