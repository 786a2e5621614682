"""What `hostile_requests.py` knows of a server: its start, hostile requests, and what one honestly asks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from http.client import HTTPConnection
from time import perf_counter
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

Address = tuple[str, int]

#: Seconds for which somebody honest would wait at most.
PATIENCE: Final = 300.0


@dataclass(frozen=True)
class Hostile:
    """A hostile request.

    Attributes:
        data: what is sent.
        is_held: whether the client then says nothing more, as long as the server allows.
        is_taken: whether it takes what is answered.
    """

    data: bytes
    is_held: bool = False
    is_taken: bool = True


@dataclass
class Visit:
    """What an honest visitor does, and how long each answer took.

    Attributes:
        address: of the server.
        seconds: of the answers, by what was asked for.
        later: by what was asked for, how often the visitor was told to come again.
        wrong: what was wrong with answers.
    """

    address: Address
    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    later: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    cookie: str = ""

    def ask(
        self, what: str, method: str, path: str, wanted: str, form: Mapping[str, str] | None = None
    ) -> str:
        """Ask for something; return where the answer leads.

        Args:
            what: is asked for, for the table.
            method: of the request.
            path: its address.
            wanted: what the right answer holds, or where it leads begins with.
            form: that is sent.
        """
        connection = HTTPConnection(*self.address, timeout=PATIENCE)
        headers = {"Cookie": self.cookie} if self.cookie else {}
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(form)
        start = perf_counter()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except OSError as error:
            self.wrong.append(f"{what}: {type(error).__name__}: {error}")
            return ""
        finally:
            self.seconds[what].append(perf_counter() - start)
            connection.close()
        self.cookie = self.cookie or (answer.headers["Set-Cookie"] or "").partition(";")[0]
        if answer.status == 503 and answer.headers["Retry-After"]:
            self.later[what] += 1
            return ""
        led = answer.headers["Location"] or ""
        if answer.status not in (200, 303) or not (led.startswith(wanted) if led else wanted in text):
            self.wrong.append(f"{what}: status {answer.status} without {wanted!r}: {text[-200:]!r}")
        return led


@dataclass(frozen=True)
class Target:
    """A server that is attacked.

    Attributes:
        command: arguments of ``anygame`` that start it; it prints where it listens, as an object with
            ``port``. ``{folder}`` stands for a folder of its own.
        attacks: returns what makes a hostile request of each kind, after a look around.
        visit: what an honest visitor does, once.
    """

    command: tuple[str, ...]
    attacks: Callable[[Visit], Mapping[str, Callable[[Random], Hostile]]]
    visit: Callable[[Visit], None]
