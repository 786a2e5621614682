"""The GGP protocol: messages, HTTP as existing programs use it, a player server, and remote seats."""

from __future__ import annotations

from anygame.protocol.http.listener import Bounds
from anygame.protocol.messages import (
    Message,
    PlayerInfo,
    format_info,
    format_message,
    parse_info,
    parse_message,
)
from anygame.protocol.player.played_game import PlayerSettings
from anygame.protocol.player.server import PlayerServer, Said
from anygame.protocol.seat import RemoteSeat, ask_info

__all__ = [
    "Bounds",
    "Message",
    "PlayerInfo",
    "PlayerServer",
    "PlayerSettings",
    "RemoteSeat",
    "Said",
    "ask_info",
    "format_info",
    "format_message",
    "parse_info",
    "parse_message",
]
