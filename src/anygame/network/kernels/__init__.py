"""From the gates of a propositional network to machine code that evaluates 512 games at once.

A row of 512 bits holds one truth value of 512 games, the *lanes*: this is bit-slicing (Biham, "A Fast New DES
Implementation in Software", 1997), and a gate is one or two vector instructions. The steps:

1. ``schedule`` orders the gates, and ``layout`` says in which rows of memory inputs and outputs lie. In large
   networks ``clusters`` splits gates by phases, and brings gates with common inputs together.
2. ``function`` writes functions as LLVM's text. ``straight_line`` writes code per gate; ``gate_loop`` writes
   gates as data for loops, if code would take too long to compile. Either way there are two functions with
   the same inputs and outputs, see ``gate_code``.
3. ``uniform_choice`` chooses moves: ``nth_set_bit`` counts the legal moves, and finds the move at a random
   number. A move of a role with many moves is a group and a member of it.
4. ``playout_loop`` plays block after block of random games, and counts.
5. ``kernel`` combines these functions; ``anygame.native`` compiles and caches them. While another process
   compiles straight-line code, a loop over the same gates is used instead (``compilation``).

``target`` describes the machine: a processor, or a graphics card (see ``anygame.cards``).

The users of kernels are in ``anygame.network``: ``block`` and ``simulator`` (random playouts), ``lanes``
(games side by side) and ``single`` (one state).
"""
