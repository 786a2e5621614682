"""Graphics cards: random playouts and simultaneous games, with a warp for each 2,048 lanes.

``code`` and ``lanes_code`` compile the kernels of ``anygame.network`` to PTX. ``card`` calls the driver,
``simulator`` and ``lanes`` play, and ``array`` exports memory of a card to other libraries.
"""
