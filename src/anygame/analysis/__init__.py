"""Facts about rules: normal forms, safety, dependencies, domains; what is wrong with a sheet, and how to mend it."""
