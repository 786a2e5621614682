"""From the gates of a propositional network to machine code that evaluates 512 games at once.

A row of 512 bits holds one truth value for each of 512 games, the *lanes*. One or two vector instructions
evaluate a gate. This is bit-slicing (Biham, "A Fast New DES Implementation in Software", 1997).

``schedule`` orders the gates, and ``layout`` places inputs and outputs in rows of memory. In large networks
``phases`` finds gates that are not always needed, and ``clusters`` groups gates with common inputs. The other
modules write functions in LLVM's text form with ``function``, for the machine that ``target`` describes.
``straight_line`` writes the functions of ``gate_code`` with code for each gate. For networks whose code would
take too long to compile, ``gate_loop`` writes the gates as data for loops. ``uniform_choice`` and
``nth_set_bit`` choose random moves. ``playout_loop`` plays random games and counts their results. ``kernel``
combines these functions, which ``anygame.native`` compiles and caches. While another process compiles
straight-line code (``compilation``), the kernel uses a loop over the same gates.
"""
