"""Messages between a process and its children: values of JSON, a line each."""

from __future__ import annotations

import json
from typing import Any


def encode_message(message: object) -> bytes:
    r"""Return a message as a line.

    >>> encode_message({"id": 1})
    b'{"id": 1}\n'
    """
    return json.dumps(message).encode() + b"\n"


def decode_message(line: bytes) -> Any:
    """Return the message that a line holds.

    Raises:
        ValueError: it holds none.
    """
    try:
        return json.loads(line)
    except RecursionError as error:
        raise ValueError("too many brackets") from error
