"""Card games in which chance deals one card after the other, and players lay them in turn, following suit."""

from __future__ import annotations

_RULES = """
(<= (card (of ?s ?r)) (suit ?s) (rank ?r))
(init (step 0))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (legal random (deal ?p ?c)) (true (step ?n)) (dealing ?n ?p) (card ?c) (not (dealt ?c)))
(<= (dealt ?c) (true (has ?p ?c)))
(<= (legal random rest) (true (step ?n)) (laying ?n ?p))
(<= (legal ?p rest) (player ?p) (true (step ?n)) (dealing ?n ?q))
(<= (legal ?p rest) (player ?p) (true (step ?n)) (laying ?n ?q) (distinct ?p ?q))
(<= (legal ?p (lay (of ?s ?r))) (true (step ?n)) (laying ?n ?p) (true (has ?p (of ?s ?r))) (follows ?p ?s))
(<= (follows ?p ?s) (player ?p) (suit ?s) (not led))
(<= (follows ?p ?s) (player ?p) (true (led ?s)))
(<= (follows ?p ?s) (player ?p) (suit ?s) led (not (can_follow ?p)))
(<= led (true (led ?s)))
(<= (can_follow ?p) (true (led ?s)) (true (has ?p (of ?s ?r))))
(<= (next (led ?s)) (does ?p (lay (of ?s ?r))) (true (step ?n)) (leads ?n))
(<= (next (led ?s)) (true (led ?s)) (true (step ?n)) (not (ends ?n)))
(<= (next (has ?p ?c)) (does random (deal ?p ?c)))
(<= (next (has ?p ?c)) (true (has ?p ?c)) (not (does ?p (lay ?c))))
(<= (sees ?p (got ?c)) (does random (deal ?p ?c)))
(<= (sees ?q (laid ?p ?c)) (player ?q) (does ?p (lay ?c)))
(<= terminal (true (step ?n)) (over ?n))
(<= (goal ?p 50) (role ?p))
"""


def card_game(players: int, suits: int, ranks: int, cards: int) -> str:
    """Return the rules of a game in which each player gets some cards of a deck, and lays them all."""
    dealt = players * cards
    facts = [f"(role p{player}) (player p{player})" for player in range(players)] + ["(role random)"]
    facts += [f"(suit s{suit})" for suit in range(suits)] + [f"(rank {rank})" for rank in range(ranks)]
    for turn in range(dealt):
        facts += [f"(dealing {turn} p{turn % players})", f"(laying {dealt + turn} p{turn % players})"]
    facts += [f"(leads {turn}) (ends {turn + players - 1})" for turn in range(dealt, 2 * dealt, players)]
    facts += [f"(succ {turn} {turn + 1})" for turn in range(2 * dealt)] + [f"(over {2 * dealt})"]
    return "\n".join(facts) + _RULES
