"""Native code: marked Python functions over arrays, compiled to one library for each folder of the package.

``marking`` has the decorators of native functions. In ``lowering``, numba lowers these functions to LLVM's
text form, when a package is built or in a separate process. ``code`` compiles the text form for this machine.
``library`` loads the library of a folder, and ``cache`` caches machine code, also the code of games.
"""
