"""Random playouts, as they are asked for (`request`) and counted (`tally`), whatever plays them."""
