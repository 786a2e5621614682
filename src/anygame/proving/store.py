"""Proofs that are kept beside compiled code, so that they need not be found again.

A file has the certificates of one network: of the circuit and of the names of its inputs. Nothing in it is
believed. A certificate is followed anew against the very circuit, by the checker that follows a new one, and
what does not hold is looked for as if it had not been there.
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
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from anygame.network.compiled import CompiledGame

#: Bytes of the files of all games; the oldest go first.
PROOF_BYTES: Final = 16 << 20
#: Literals of all clauses of a certificate; larger ones are found again about as fast.
_MOST_LITERALS: Final = 200_000
#: Certificates of a game, and characters of the name of one: formulas have names, too.
_MOST, _LONGEST_NAME = 200, 10_000
#: Moves that a certificate may look ahead, times gates: a checker holds as many copies of them.
_MOST_COPIES: Final = 40_000_000
_SUFFIX: Final = ".proofs"


class ProofStore:
    """The certificates of one game that are kept.

    Args:
        folder: where they are kept; None for ``cache_folder()``, which may switch it off.

    Attributes:
        certificates: by the name of the property. They are well-formed, and need not be right.
    """

    def __init__(self, compiled: CompiledGame, folder: Path | None = None) -> None:
        folder = folder or cache_folder()
        self._path = folder / (digest(compiled) + _SUFFIX) if folder else None
        self._fluents = len(compiled.fluents)
        self._deepest = _MOST_COPIES // (1 + compiled.network.nodes)
        self.certificates: dict[str, Certificate] = {}
        content = read_cached(self._path) if self._path else None
        if content is not None:
            with suppress(ValueError, RecursionError):
                self.certificates = self._read(json.loads(content))

    def keep(self, name: str, certificate: Certificate) -> None:
        """Keep a certificate, unless it is too large."""
        clauses = [
            *certificate.clauses,
            *certificate.groups,
            *_facts(certificate.measure),
            *_counted(certificate.sums),
        ]
        if (
            self._path is None
            or self.certificates.get(name) == certificate
            or len(name) > _LONGEST_NAME
            or sum(map(len, clauses)) > _MOST_LITERALS
            or not self._are_clauses(clauses)
        ):
            return
        self.certificates[name] = certificate
        while len(self.certificates) > _MOST:
            del self.certificates[next(iter(self.certificates))]
        data = {name: _plain(each) for name, each in self.certificates.items()}
        write_cached(self._path, json.dumps(data, separators=(",", ":")).encode(), PROOF_BYTES)

    def _read(self, data: object) -> dict[str, Certificate]:
        """Return the certificates of a file that have the form of one."""
        found: dict[str, Certificate] = {}
        for name, value in data.items() if isinstance(data, dict) else ():
            certificate = self._certificate(value)
            if certificate is not None and len(found) < _MOST:
                found[name] = certificate
        return found

    def _certificate(self, value: object) -> Certificate | None:
        if not isinstance(value, list) or len(value) != len(_plain(Certificate())):
            return None
        clauses, depth, is_everything, measure, lost, sums, groups = value
        rows = [] if measure is None else measure
        if not (
            all(isinstance(each, list) for each in (clauses, rows, sums, groups))
            and all(_is_weighed(row) for row in rows)
            and len(sums) <= 2 * MOST_SUMS
            and all(map(_is_sum, sums))
            and self._are_clauses([*clauses, *groups, *_facts(rows), *_counted(sums)])
            and all(len(each) > 1 and not any(x & 1 for x in each) for each in groups)
            and all(len({x >> 1 for x in each}) == len(each) for each in (*clauses, *groups))
            and type(lost) is int
            and 0 <= lost <= MOST_LOST
            and (depth is None or (type(depth) is int and 0 <= depth <= self._deepest))
            and isinstance(is_everything, bool)
        ):
            return None
        facts = None if measure is None else tuple(map(tuple, measure))
        counted = tuple(Sum(a, b, c, tuple(map(tuple, parts))) for a, b, c, parts in sums)
        rest = tuple(map(tuple, groups))
        return Certificate(tuple(map(tuple, clauses)), depth, is_everything, facts, lost, counted, rest)

    def _are_clauses(self, rows: Iterable[Any]) -> bool:
        """Whether these are lists of literals over fluents."""
        return all(
            isinstance(row, list | tuple)
            and row
            and all(type(x) is int and 2 <= x < 2 * (self._fluents + 1) for x in row)
            for row in rows
        )


def _is_weighed(row: object) -> bool:
    """Whether a row of a measure begins with a weight and whether it is inverted."""
    return (
        isinstance(row, list)
        and len(row) > 2
        and all(type(x) is int for x in row)
        and 0 < row[0] <= MOST_WEIGHT
        and row[1] in (0, 1)
    )


def _is_sum(row: object) -> bool:
    """Whether this is a total, what a step adds at most, whether it is exact, and parts with weights."""
    if not isinstance(row, list) or len(row) != len(Sum._fields):
        return False
    total, most, is_exact, parts = row
    return (
        all(type(x) is int for x in (total, most))
        and abs(total) <= MOST_SUM
        and 0 < most <= MOST_CHANGED
        and isinstance(is_exact, bool)
        and isinstance(parts, list)
        and all(isinstance(part, list) and len(part) > 1 and type(part[0]) is int for part in parts)
        and all(sum(max(0, sign * weight) for weight, *_ in parts) <= MOST_SUM for sign in (1, -1))
    )


def _counted(sums: Iterable[Sequence[Any]]) -> list[Sequence[int]]:
    return [part[1:] for *_, parts in sums for part in parts]


def _facts(measure: Iterable[Sequence[int]] | None) -> list[Sequence[int]]:
    return [row[2:] for row in measure or ()]


def _plain(certificate: Certificate) -> list[Any]:
    return [getattr(certificate, each.name) for each in fields(certificate)]


def digest(compiled: CompiledGame) -> str:
    """Return a digest of a circuit and of the names of its inputs."""
    network = compiled.network
    found = sha256()
    names = [list(map(str, terms)) for terms in (compiled.roles, compiled.fluents, *compiled.actions)]
    cycles = [(cycle.first, cycle.end) for cycle in network.cycles]
    found.update(json.dumps([names, cycles, network.terminal, network.goals, network.state_gates]).encode())
    for array in (
        network.starts,
        network.inputs,
        network.initially,
        network.initial,
        network.legal,
        network.next,
    ):
        found.update(str((array.dtype, array.shape)).encode())
        found.update(array.tobytes())
    return found.hexdigest()
