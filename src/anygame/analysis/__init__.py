"""Facts about rules: normal forms, safety, dependencies, domains; faults of a sheet, and how to mend them."""
