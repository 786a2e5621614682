"""Games in the browser: pages rendered by the server, live updates, and a separate process for each match."""
