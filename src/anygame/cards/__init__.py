"""Random playouts and simultaneous games on graphics cards; each warp plays 2,048 games.

``code`` and ``lanes_code`` compile the kernels of ``anygame.network`` to PTX. ``card`` calls the driver,
``simulator`` and ``lanes`` play, and ``array`` exports memory of a card to other libraries.
"""
