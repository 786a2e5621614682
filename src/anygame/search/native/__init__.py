"""Native code of the search: Python functions over arrays, compiled as one module.

What becomes native code is marked (``marking``). Numba lowers it to LLVM's text, once for all machines: when
a package is built, or in a process of its own (``lowering``). LLVM compiles that for this machine, and the
code is cached beside that of games (``library``).
"""
