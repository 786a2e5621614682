"""Players by name: the built-in strategies, and classes of others."""

from __future__ import annotations

import inspect
import sys
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anygame.errors import PlayerError
from anygame.players.player import Player

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["STRATEGIES", "is_address", "make_player", "player_class"]

#: The built-in strategies, and where they are.
STRATEGIES: Final = {
    "random": "anygame.players.simple:RandomPlayer",
    "legal": "anygame.players.simple:LegalPlayer",
    "greedy": "anygame.players.simple:GreedyPlayer",
    "mcts": "anygame.players.mcts:MctsPlayer",
}


def make_player(spec: str, *, seed: int | None = None) -> Player:
    """Return a new player.

    Args:
        spec: a built-in strategy (see `STRATEGIES`), ``MODULE:CLASS``, or ``FILE.py:CLASS``. A module is
            also looked for in the current folder.
        seed: of its random numbers, where its class takes a ``seed``.

    Raises:
        PlayerError: there is no such player, or it cannot be made.
    """
    kind = player_class(spec)
    try:
        options: dict[str, Any] = {"seed": seed} if "seed" in inspect.signature(kind).parameters else {}
        return kind(**options)
    except Exception as error:
        raise PlayerError(f"the player {spec} cannot be made: {type(error).__name__}: {error}") from error


def player_class(spec: str) -> type[Player]:
    """Return the class of a player; see `make_player`."""
    source, _, name = STRATEGIES.get(spec, spec).rpartition(":")
    if not source:
        near = get_close_matches(spec, STRATEGIES, n=1)
        advice = f"did you mean {near[0]}?" if near else f"expected {', '.join(STRATEGIES)}, or MODULE:CLASS"
        raise PlayerError(f"there is no player {spec!r}; {advice}")
    module = _module(source, spec)
    found = getattr(module, name, None)
    if found is None:
        classes = [
            other
            for other, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, Player) and value.__module__ == module.__name__
        ]
        advice = f"; its players are {', '.join(sorted(classes))}" if classes else ""
        raise PlayerError(f"{source} has no {name!r}{advice}")
    if not (isinstance(found, type) and issubclass(found, Player)):
        raise PlayerError(f"{spec} is no player: expected a subclass of anygame.players.Player")
    if inspect.isabstract(found):
        raise PlayerError(f"{spec} cannot play: it has no method `move`")
    return found


def is_address(spec: str) -> bool:
    """Return whether a spec names a player elsewhere, as ``HOST:PORT``.

    >>> is_address("localhost:9147"), is_address("[::1]:9147"), is_address("my.module:Player")
    (True, True, False)
    """
    host, _, port = spec.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit()


def _module(source: str, spec: str) -> ModuleType:
    try:
        return _from_file(source) if source.endswith(".py") else _by_name(source)
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise PlayerError(f"the player {spec} cannot be loaded: {reason}") from error


def _by_name(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    return import_module(name)


def _from_file(source: str) -> ModuleType:
    path = Path(source).resolve()
    name = f"anygame_player_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {source}")
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{source} is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
