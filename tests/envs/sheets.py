"""Sheets of the tests: small ones, for one thing each, and the names of public ones."""

from __future__ import annotations

from typing import Final

#: Two roles choose a number at once; who has the higher one wins, and equal ones are a draw.
GUESS: Final = """
    (role left) (role right) (number 1) (number 2) (number 3)
    (<= (legal ?r ?n) (role ?r) (number ?n))
    (<= (next (chose ?r ?n)) (does ?r ?n)) (<= terminal (true (chose ?r ?n)))
    (less 1 2) (less 2 3) (less 1 3)
    (<= (goal left 100) (true (chose left ?a)) (true (chose right ?b)) (less ?b ?a))
    (<= (goal right 0) (true (chose left ?a)) (true (chose right ?b)) (less ?b ?a))
    (<= (goal left 0) (true (chose left ?a)) (true (chose right ?b)) (less ?a ?b))
    (<= (goal right 100) (true (chose left ?a)) (true (chose right ?b)) (less ?a ?b))
    (<= (goal ?r 50) (role ?r) (true (chose left ?a)) (true (chose right ?a)))
"""
#: A light is switched for ever.
ENDLESS: Final = """
    (role me) (init (light off)) (legal me wait) (legal me press) (goal me 40)
    (<= (next (light on)) (does me press) (true (light off)))
    (<= (next (light off)) (does me press) (true (light on)))
    (<= (next (light ?x)) (does me wait) (true (light ?x)))
    (<= terminal (true never)) (<= (next never) (true never))
"""
#: The second role has no move after the first step.
STUCK: Final = """
    (role one) (role two) (init (step 1)) (succ 1 2)
    (legal one a) (legal one b) (<= (legal two c) (true (step 1)))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (goal one 100) (goal two 100)
    (<= terminal (true (step 3)))
"""
#: A match begins with its end; a move that must not be made would lead out of it.
OVER: Final = """
    (role a) (role b) (init on) (legal a x) (legal a y) (legal b x) (<= (next on) (does a x))
    (<= terminal (true on)) (goal a 70) (goal b 30)
"""
#: Forty public sheets: of one role and of many, with turns and without, small boards and large ones.
PUBLIC: Final = (
    *("amazons_10x10", "asteroids", "atariGo_7x7", "blobwars", "blocker", "blockerSerial", "blocksWorld"),
    *("breakthrough", "breakthroughSmallHoles", "buttons", "catcha_mouse", "checkers", "chickentictactoe"),
    *("coins", "connect5", "connectFour", "connectFourSimultaneous", "connectFourSuicide", "cubicup"),
    *("dotsAndBoxes", "eightPuzzle", "escortLatch", "four_way_battle", "ghostMaze2p", "gt_two_thirds_2p"),
    *("gt_ultimatum", "knightsTour", "knightwar", "lightsOn", "nim1", "nineBoardTicTacToe", "pawnToQueen"),
    *("pentago", "reversi", "roshambo2", "sheepAndWolf", "skirmish", "sum15", "ticTacToe", "tron_10x10"),
)
