"""Former names of arguments."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from warnings import warn

if TYPE_CHECKING:
    from collections.abc import Callable

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def formerly(**renamed: str) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Also accept arguments of a function under former names, with a DeprecationWarning.

    Args:
        renamed: maps former names to present names.

    >>> import warnings
    >>> @formerly(source="sheet")
    ... def load(sheet):
    ...     return sheet
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     load(source="pig")
    'pig'
    >>> str(caught[0].message)
    'the argument `source` is now called `sheet`'
    """

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @wraps(function)
        def call(*args: Any, **arguments: Any) -> _Result:
            for former, name in renamed.items():
                if former in arguments:
                    message = f"the argument `{former}` is now called `{name}`"
                    warn(message, DeprecationWarning, stacklevel=2)
                    arguments[name] = arguments.pop(former)
            return function(*args, **arguments)

        return call

    return decorate
