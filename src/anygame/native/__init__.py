"""Native code: Python functions over arrays, compiled to one library for each room of the package.

Native functions are marked (``marking``). Numba lowers them to LLVM's text, once for all machines: when a
package is built, or in a separate process (``lowering``). LLVM compiles this text for this machine
(``code``), and the machine code is cached beside the machine code of games (``library``, ``cache``).
"""
