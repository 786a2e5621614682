"""Simulation, tournaments, training and self-play on many machines, or in many processes (Ray)."""

from __future__ import annotations

from anygame.cluster.ray_cluster import Cluster, SelfPlay

__all__ = ["Cluster", "SelfPlay"]
