"""Cache of proofs, in the folder of compiled code.

Each file has the certificates of one network, identified by the circuit and the names of the inputs. A prover
checks each certificate against the circuit. If the check fails, the prover searches for another proof.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from anygame.native.cache import cache_folder, read_cached, write_cached
from anygame.proving.counting import MOST_CHANGED, MOST_SUM, MOST_SUMS, Sum
from anygame.proving.ending import MOST_LOST, MOST_WEIGHT
from anygame.proving.verdict import Certificate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from anygame.network.compiled import CompiledGame

#: Maximum total size in bytes of all files; the oldest files are deleted first.
PROOF_BYTES: Final = 16 << 20
#: Maximum number of literals of a certificate. Checking a larger certificate takes as long as a new proof.
_MOST_LITERALS: Final = 200_000
#: Maximum number of certificates of a game.
_MOST: Final = 200
#: Maximum number of characters in the name of a property, which can be a formula.
_LONGEST_NAME: Final = 10_000
#: Maximum depth of a certificate times number of nodes. The checker copies the nodes for each move.
_MOST_COPIES: Final = 40_000_000
_SUFFIX: Final = ".proofs"


class ProofStore:
    """The cached certificates of one game, well-formed but not yet checked; empty if no game is given."""

    def __init__(self, compiled: CompiledGame | None = None) -> None:
        self.certificates: dict[str, Certificate] = {}
        self._path: Path | None = None
        folder = cache_folder()
        if compiled is None or folder is None:
            return
        self._path = folder / (digest(compiled) + _SUFFIX)
        self._fluents = len(compiled.fluents)
        self._deepest = _MOST_COPIES // (1 + compiled.network.nodes)
        content = read_cached(self._path)
        if content is not None:
            with suppress(ValueError, RecursionError):
                self.certificates = self._read(json.loads(content))

    def keep(self, name: str, certificate: Certificate | None) -> None:
        """Cache a certificate, unless the certificate is too large."""
        if self._path is None or certificate is None:
            return
        literals = sum(map(len, (*certificate.clauses, *certificate.groups, *(certificate.measure or ()))))
        literals += sum(len(part) for counted in certificate.sums for part in counted.parts)
        is_known = self.certificates.get(name) == certificate
        if is_known or len(name) > _LONGEST_NAME or literals > _MOST_LITERALS:
            return
        try:
            self._certificate(_plain(certificate))
        except ValueError:  # a clause has a gate that a property added to the model
            return
        self.certificates[name] = certificate
        while len(self.certificates) > _MOST:
            del self.certificates[next(iter(self.certificates))]
        data = {name: _plain(kept) for name, kept in self.certificates.items()}
        write_cached(self._path, json.dumps(data, separators=(",", ":")).encode(), PROOF_BYTES)

    def _read(self, data: object) -> dict[str, Certificate]:
        certificates: dict[str, Certificate] = {}
        for name, value in list(data.items())[:_MOST] if isinstance(data, dict) else ():
            with suppress(TypeError, ValueError):
                certificates[name] = self._certificate(value)
        return certificates

    def _certificate(self, value: Any) -> Certificate:
        """Return the certificate of a row. Raises ValueError or TypeError if the row is malformed."""
        clauses, depth, is_everything, measure, most_lost, sums, groups = value
        certificate = Certificate(
            tuple(map(self._clause, clauses)),
            None if depth is None else _number(depth, 0, self._deepest),
            _truth(is_everything),
            None if measure is None else tuple(map(self._weighed, measure)),
            _number(most_lost, 0, MOST_LOST),
            tuple(map(self._sum, sums)),
            tuple(map(self._clause, groups)),
        )
        excludes = all(len(group) > 1 and not any(x & 1 for x in group) for group in certificate.groups)
        repeats = any(
            len({x >> 1 for x in row}) < len(row) for row in (*certificate.clauses, *certificate.groups)
        )
        if not excludes or repeats or len(certificate.sums) > 2 * MOST_SUMS:
            raise ValueError("malformed certificate")
        return certificate

    def _clause(self, row: Iterable[Any]) -> tuple[int, ...]:
        literals = tuple(_number(literal, 2, 2 * self._fluents + 1) for literal in row)
        if not literals:
            raise ValueError("expected a clause, found an empty one")
        return literals

    def _weighed(self, row: Iterable[Any]) -> tuple[int, ...]:
        weight, inverted, *fact = row
        return _number(weight, 1, MOST_WEIGHT), _number(inverted, 0, 1), *self._clause(fact)

    def _sum(self, row: Iterable[Any]) -> Sum:
        total, most, is_exact, rows = row
        parts = tuple((_number(weight, -MOST_SUM, MOST_SUM), *self._clause(fact)) for weight, *fact in rows)
        for sign in (1, -1):
            _number(sum(max(0, sign * weight) for weight, *_ in parts), 0, MOST_SUM)
        return Sum(
            _number(total, -MOST_SUM, MOST_SUM), _number(most, 1, MOST_CHANGED), _truth(is_exact), parts
        )


def _number(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"expected a whole number from {low} to {high}, found {value!r}")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {value!r}")
    return value


def _plain(certificate: Certificate) -> list[Any]:
    return [getattr(certificate, each.name) for each in fields(certificate)]


def digest(compiled: CompiledGame) -> str:
    """Return a digest of a circuit and of the names of its inputs."""
    network = compiled.network
    hasher = sha256()
    names = [list(map(str, terms)) for terms in (compiled.roles, compiled.fluents, *compiled.actions)]
    cycles = [(cycle.first, cycle.end) for cycle in network.cycles]
    hasher.update(json.dumps([names, cycles, network.terminal, network.goals, network.state_gates]).encode())
    inputs = network.starts, network.inputs, network.initially
    for array in (*inputs, network.initial, network.legal, network.next):
        hasher.update(str((array.dtype, array.shape)).encode())
        hasher.update(array.tobytes())
    return hasher.hexdigest()
