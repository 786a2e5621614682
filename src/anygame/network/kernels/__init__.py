"""From the gates of a propositional network to machine code that evaluates 512 games at once.

A row of 512 bits holds one truth value of 512 games, the *lanes*. This is bit-slicing (Biham, "A Fast New DES
Implementation in Software", 1997), and a gate is one or two vector instructions. The steps:

1. ``schedule`` orders the gates, and ``layout`` places inputs and outputs in rows of memory. In large
networks ``clusters`` splits gates by phases, and groups gates with common inputs. 2. ``function`` writes
functions in LLVM's text form. ``straight_line`` writes code per gate. If this code takes too long to compile,
``gate_loop`` writes gates as data for loops. Both write the functions of ``gate_code``. 3. ``uniform_choice``
chooses moves: ``nth_set_bit`` counts the legal moves, and finds the move with a random number. 4.
``playout_loop`` plays block after block of random games, and counts. 5. ``kernel`` combines these functions;
``anygame.native`` compiles and caches them. While another process compiles straight-line code, a loop over
the same gates is used (``compilation``).

``target`` describes the machine: a processor, or a graphics card (see ``anygame.cards``).
"""
