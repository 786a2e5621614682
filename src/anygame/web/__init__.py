"""Games in the browser: pages drawn here, live updates, and a process of its own for every match."""
