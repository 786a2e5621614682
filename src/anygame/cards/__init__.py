"""Graphics cards: random playouts and games side by side, a warp for each 2,048 lanes.

``code`` and ``lanes_code`` make PTX of the kernels that ``anygame.network`` writes. ``card`` speaks to the
driver, ``simulator`` and ``lanes`` play, and ``array`` hands memory of a card to other libraries.
"""
