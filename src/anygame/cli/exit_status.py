"""What the exit status of a command means."""

from __future__ import annotations

from typing import Final

OK: Final = 0
#: A query found nothing, a check found faults, a match was given up, a line of a script failed.
ANSWER_IS_NO: Final = 1
BAD_INPUT: Final = 2
#: As of a process that a signal ended: 128 and the number of SIGINT, SIGPIPE, SIGTERM.
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
TERMINATED: Final = 143
