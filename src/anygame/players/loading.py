"""Players by name: built-in strategies, and classes of other modules and files."""

from __future__ import annotations

import inspect
import re
import sys
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from anygame.errors import PlayerError
from anygame.language.diagnostics import did_you_mean
from anygame.players.player import Player

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

#: The built-in strategies, and their classes.
STRATEGIES: Final = {
    "random": "anygame.players.simple:RandomPlayer",
    "legal": "anygame.players.simple:LegalPlayer",
    "greedy": "anygame.players.simple:GreedyPlayer",
    "uct": "anygame.players.simple:UctPlayer",
    "mcts": "anygame.players.mcts:MctsPlayer",
    "ismcts": "anygame.players.mcts:IsmctsPlayer",
}


def make_player(spec: str, *, seed: int | None = None, **preferred: Any) -> Player:
    """Return a new player.

    Args:
        spec: a built-in strategy (see `STRATEGIES`), a level from ``beginner`` to ``strong``,
            ``MODULE:CLASS``, or ``FILE.py:CLASS``. Options of the class can follow, as in
            ``mcts:threads=2,memory=512MB``. The current folder is also searched for modules.
        seed: random seed of the player. A class without a parameter ``seed`` ignores the seed.
        preferred: defaults of options. A class ignores defaults of options that the class does not have.

    Raises:
        PlayerError: the player or an option does not exist, or the class raises an error.
    """
    name, texts = split_options(spec)
    kind = player_class(name)
    try:
        parameters = inspect.signature(kind).parameters
    except ValueError:
        parameters = MappingProxyType({})
    options = {key: value for key, value in {"seed": seed, **preferred}.items() if key in parameters}
    options |= {key: _value(spec, parameters, key, text) for key, text in texts.items()}
    try:
        return kind(**options)
    except Exception as error:
        fault = "" if isinstance(error, PlayerError | OSError) else f"{type(error).__name__}: "
        raise PlayerError(f"the player {spec} cannot be made: {fault}{error}") from error


def split_options(spec: str) -> tuple[str, dict[str, str]]:
    """Split a specification into the name and options of a player. A level is first replaced by its player.

    >>> split_options("easy:threads=2")
    ('mcts', {'iterations': '40', 'noise': '0.25', 'model': 'yes', 'threads': '2'})
    >>> split_options("mcts:threads=2,memory=512MB")
    ('mcts', {'threads': '2', 'memory': '512MB'})
    >>> split_options("my/player.py:Mine"), split_options("localhost:9147")
    (('my/player.py:Mine', {}), ('localhost:9147', {}))

    Raises:
        PlayerError: an option has no value.
    """
    level, _, more = spec.partition(":")
    if level in LEVELS:
        meant, options = split_options(LEVELS[level].spec)
        return meant, options | (split_options(f"{meant}:{more}")[1] if more else {})
    name, _, last = spec.rpartition(":")
    if name not in STRATEGIES and ("=" not in last or not name):
        return spec, {}
    options = {}
    for option in last.split(","):
        key, is_given, value = option.partition("=")
        if not (is_given and key.isidentifier() and value):
            text = repr(option[:40]) if option else "nothing"
            raise PlayerError(f"expected OPTION=VALUE,... after {name[:80]}:, found {text}")
        options[key] = value
    return name, options


def is_strategy(spec: str) -> bool:
    """Return whether a specification names a built-in strategy; options can follow the name."""
    return split_options(spec)[0] in STRATEGIES


_WORDS: Final = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)([KMGT])i?B?", re.ASCII | re.IGNORECASE)
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


def _value(spec: str, parameters: Mapping[str, inspect.Parameter], key: str, text: str) -> object:
    """Return an option's value: a number, a size in bytes, a bool, or else a string. Raises PlayerError."""
    names = [name for name in parameters if name != "seed"]
    if key not in parameters:
        has = f"its options are {', '.join(names)}" if names else "it has none"
        raise PlayerError(f"the player {split_options(spec)[0]} has no option {key!r}; {has}")
    value = _read(text)
    kind = _kind(parameters[key])
    if kind is None or type(value) is kind or (kind is float and type(value) is int):
        return value
    raise PlayerError(f"the player {spec}: expected {_WANTED[kind]} for {key}, found {text[:40]!r}")


#: Description of each type of option in error messages.
_WANTED: Final = {bool: "yes or no", int: "a whole number", float: "a number"}


def _kind(option: inspect.Parameter) -> type | None:
    """Return the type of an option, from its default or its annotation; None for any type.

    >>> def make(tries: int | None = None, table: str | None = None, depth=3): ...
    >>> [_kind(option) for option in inspect.signature(make).parameters.values()]
    [<class 'int'>, None, <class 'int'>]
    """
    annotation = str(option.annotation).removesuffix(" | None")
    return next(
        (kind for kind in _WANTED if type(option.default) is kind or annotation == kind.__name__), None
    )


def _read(text: str) -> object:
    if (size := _SIZE.fullmatch(text)) is not None:
        return int(float(size[1]) * 1024 ** ("KMGT".index(size[2].upper()) + 1))
    if _NUMBER.fullmatch(text) and len(text) < 20:
        return float(text) if "." in text else int(text)
    return _WORDS.get(text.lower(), text)


def player_class(spec: str) -> type[Player]:
    """Return the class of a player; see `make_player`."""
    source, _, name = STRATEGIES.get(spec, spec).rpartition(":")
    if spec == "human":
        advice = "`anygame play`, or `human` in `anygame match` and `anygame tournament`"
        raise PlayerError(f"`human` is a person at a terminal; use {advice}")
    if not source:
        near = get_close_matches(spec, [*STRATEGIES, *LEVELS], n=1)
        known = f"{', '.join([*STRATEGIES, *LEVELS])}, MODULE:CLASS, or FILE.py:CLASS"
        raise PlayerError(f"there is no player {spec!r}{did_you_mean(near, f'expected {known}')}")
    module = _module(source, spec)
    kind = getattr(module, name, None)
    if kind is None:
        classes = [
            other
            for other, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, Player) and value.__module__ == module.__name__
        ]
        advice = f"; its players are {', '.join(sorted(classes))}" if classes else ""
        raise PlayerError(f"{source} has no {name!r}{advice}")
    if not (isinstance(kind, type) and issubclass(kind, Player)):
        raise PlayerError(f"{spec} is not a player: expected a subclass of anygame.players.Player")
    if inspect.isabstract(kind):
        raise PlayerError(f"{spec} cannot play: the class has no method `move`")
    return kind


def is_address(spec: str) -> bool:
    """Return whether a specification is the address of a remote player, ``HOST:PORT``.

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
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(path):
        return loaded
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {source}")
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{source} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class Level(NamedTuple):
    """An opponent: the specification of a player, and a description for people."""

    spec: str
    about: str


#: Levels from weak to strong, which ``docs/results/strength.md`` compares. Weak levels search less and make
#: more random moves, which weakens a player in every game.
LEVELS: Final = {
    "beginner": Level("mcts:iterations=40,noise=0.6,model=yes", "more than half of its moves are random"),
    "novice": Level("mcts:iterations=40,noise=0.4,model=yes", "two moves in five are random"),
    "easy": Level(
        "mcts:iterations=40,noise=0.25,model=yes", "looks a little ahead; one move in four is random"
    ),
    "medium": Level("mcts:iterations=300,noise=0.12,model=yes", "looks some moves ahead, with some mistakes"),
    "hard": Level("mcts:iterations=1500,noise=0.03,model=yes", "looks further ahead, with few mistakes"),
    "expert": Level(
        "mcts:iterations=5000,noise=0.01,model=yes", "looks far ahead; one move in 100 is random"
    ),
    "strong": Level("mcts", "searches until its clock runs out"),
}
#: Name of the default level.
USUAL: Final = "medium"
