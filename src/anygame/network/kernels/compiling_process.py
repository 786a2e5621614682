"""What runs in the process that makes final code: a network comes in, machine code goes out."""

from __future__ import annotations

import contextlib
import os
import pickle
import sys

from anygame.network.kernels.kernel import build_kernel
from anygame.network.kernels.native import make_image

#: How much the process that asked comes before it, where they share a core.
_NICE = 5


def main() -> None:
    """Compile one network, cache the machine code, and write it to the output, if that is still there."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    key, network = pickle.load(sys.stdin.buffer)
    kernel = build_kernel(network)
    if kernel.key != key:
        sys.exit("the code would be another one: the package has changed meanwhile")
    image = make_image(kernel.code, key)
    with contextlib.suppress(OSError):
        sys.stdout.buffer.write(image)
        sys.stdout.buffer.flush()
    os._exit(0)
