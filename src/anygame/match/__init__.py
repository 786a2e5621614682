"""Matches: a referee, its players' seats, and the record of what happened; no sockets."""

from __future__ import annotations
