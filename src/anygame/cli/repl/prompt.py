"""The prompt on a terminal: history, completion of commands and legal moves, and a status line.

Without the extra ``terminal``, importing this module raises ImportError.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.patch_stdout import patch_stdout

from anygame.cli.repl.manual import ALIASES
from anygame.cli.sheets import state_folder
from anygame.game.typed_moves import completed_moves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from anygame.cli.repl.shell import Shell
    from anygame.language.terms import Term

_COMPLETIONS_LIMIT: Final = 500


class Prompt:
    """Reader of lines from the terminal."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._session: PromptSession[str] = PromptSession(
            history=_history(),
            completer=CommandCompleter(shell),
            complete_while_typing=False,
            bottom_toolbar=self._toolbar,
        )
        self._status: tuple[object, str] = (None, "")

    def ask(self) -> str:
        # Messages of other threads appear above the line that is being typed.
        with patch_stdout(raw=True):
            return self._session.prompt(self._shell.prompt)

    async def ask_beside(self) -> str:
        with patch_stdout(raw=True):
            return await self._session.prompt_async(self._shell.prompt)

    def _toolbar(self) -> str:
        # The status is cached, because it is slow to compute, and the toolbar is redrawn at every key. The
        # prompt is part of the cache key, because a resignation does not change the state.
        shown = (self._shell.session.state, self._shell.prompt)
        if self._status[0] != shown:
            self._status = (shown, f" {self._shell.status()} ")
        return self._status[1]


class CommandCompleter(Completer):
    """Completes commands and their arguments: legal moves, roles, relations, files."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        line = document.text_before_cursor.lstrip()
        word, blank, rest = line.partition(" ")
        name = ALIASES.get(word, word)
        if not blank or name not in self._shell.commands:
            yield from self._first(line)
        elif name in ("save", "load"):
            yield from self._paths.get_completions(Document(rest, len(rest)), event)
        elif name == "play":
            yield from self._moves(rest)
        elif name == "legal":
            yield from _beginning(rest, self._shell.session.game.roles)
            yield from _moves(
                rest, [move for moves in self._shell.visible_moves().values() for move in moves]
            )
        elif name == "help":
            yield from _beginning(rest, self._shell.commands)
        elif name in ("query", "why"):
            yield from self._sentences(rest)

    def _first(self, line: str) -> Iterator[Completion]:
        if " " not in line:
            yield from _beginning(line, self._shell.commands)
        yield from self._moves(line)

    def _moves(self, typed: str) -> Iterator[Completion]:
        """Complete the last move in the line. The number of earlier moves determines the role."""
        *finished, fragment = _items(typed)
        candidates = [moves for moves in self._shell.visible_moves().values() if len(moves) > 1]
        for moves in candidates[len(finished) : len(finished) + 1]:
            yield from _moves(fragment, moves)
        if finished and len(candidates) == 1:
            yield from _moves(typed.lstrip(), candidates[0])

    def _sentences(self, typed: str) -> Iterator[Completion]:
        heads = {rule.head.key for rule in self._shell.session.game.program.rules}
        names = sorted({f"({name} " if arity else name for name, arity in heads | {("true", 1)}})
        yield from _beginning(typed.removeprefix("not "), names)


def _items(typed: str) -> list[str]:
    """Split a line into words and lists. The last item is incomplete, and may be empty."""
    items, depth = [""], 0
    for letter in typed:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter.isspace() and depth <= 0:
            items += [""] if items[-1] else []
        else:
            items[-1] += letter
    return items


def _beginning(fragment: str, candidates: Iterable[str]) -> Iterator[Completion]:
    matching = (candidate for candidate in candidates if candidate.startswith(fragment))
    for candidate in islice(matching, _COMPLETIONS_LIMIT):
        yield Completion(candidate, start_position=-len(fragment))


def _moves(fragment: str, moves: Sequence[Term]) -> Iterator[Completion]:
    """Complete a move in the notation of the fragment. The menu shows the full move."""
    for move, form in completed_moves(fragment, moves)[:_COMPLETIONS_LIMIT]:
        yield Completion(form, start_position=-len(fragment), display=str(move))


def _history() -> History:
    """Return the history in the user's state folder, or a history in memory if the folder is not writable."""
    try:
        path = state_folder("history")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return FileHistory(str(path))
