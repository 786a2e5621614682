"""Many machines, or many processes of one: simulation, tournaments, training, self-play (Ray)."""

from __future__ import annotations

from anygame.cluster.ray_cluster import Cluster, SelfPlay

__all__ = ["Cluster", "SelfPlay"]
