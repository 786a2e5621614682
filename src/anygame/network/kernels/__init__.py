"""From the gates of a propositional network to machine code that evaluates 512 games at once.

A row of 512 bits holds one truth value of 512 games, the *lanes*: this is bit-slicing (Biham, "A Fast New DES
Implementation in Software", 1997), and a gate is one vector instruction or two. The way of a network:

1. ``schedule`` puts the gates in an order, ``layout`` says in which row of memory inputs and outputs lie.
   ``splitting`` splits gates by the phases in which they matter.
2. ``function`` writes functions as LLVM's text. ``straight_line`` writes the gates as such, one after the
   other; ``gate_loop`` writes them as data that loops read, where that would take too long to
   compile. Either way they become two functions with the same inputs and outputs, see ``gate_code``.
3. Moves are chosen by ``uniform_choice``: ``nth_set_bit`` adds up how many moves are legal, and finds the one
   that a random number points to. Among very many moves that is a group and a member of it.
4. ``playout_loop`` plays block after block of random games, and counts.
5. ``kernel`` puts these functions together, ``native`` makes machine code of them, and caches it. Until
   another process has done that for straight code, a loop over the
   same gates stands in for it; all other functions are the same.

``target`` says for what machine they write: a processor, or a graphics card (see ``anygame.cards``).

Above them stand ``block`` and ``simulator`` (random playouts), ``lanes`` (games side by side) and ``single``.
"""
