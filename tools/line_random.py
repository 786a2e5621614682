"""A program for `tools/line_player.py` that makes random legal moves, all with the same probability.

The program does not use anygame, so it could be written in any language.
"""

from __future__ import annotations

import json
import random
import sys

draw = random.Random(1)
for line in sys.stdin:
    question = json.loads(line)
    if question["type"] == "start":
        print("ready", flush=True)
    elif question["type"] == "move":
        print(draw.choice(question["legal"]), flush=True)
