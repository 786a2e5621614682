"""Native code: Python functions over arrays, compiled to one library for each room of the package.

Native functions are marked (``marking``). Numba lowers them to LLVM's text, once for all machines: when a
package is built, or in a process of its own (``lowering``). LLVM compiles that text for this machine
(``code``), and the machine code is cached beside that of games (``library``, ``cache``).
"""
