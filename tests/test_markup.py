"""Values in notebooks: HTML that is sound, and in which nothing of a stranger is more than text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import anygame
from anygame.markup import code, meter, table
from anygame.match import Record, replay, run
from anygame.tournament import Result, standings

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A sheet whose names try to be more than names.
EVIL = "<script>alert</script>"
SHEET = f"""
(role {EVIL}) (init (at {EVIL})) (legal {EVIL} ({EVIL} 1)) (legal {EVIL} <img>)
(<= (next (at over)) (does {EVIL} ?x)) (<= terminal (true (at over))) (goal {EVIL} 50)
(<= (far ?x) (near ?x) (not (true (at ?x)))) (<= (near ?x) (true (at ?x)))
"""
VOID = {"br", "img", "rect", "circle", "line", "path", "polygon", "progress"}


class Tags(HTMLParser):
    """The elements of a text; fails where they are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: object) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def _values() -> Iterator[object]:
    game = anygame.loads(SHEET, name=EVIL)
    state = game.initial_state()
    yield from (game, state, state.board(), game.simulate(50, seed=1), anygame.solve(game))
    yield anygame.analyse(game, iterations=50, seed=1)
    yield state.explain(f"(near {EVIL})")
    yield state.explain_failure(f"(far {EVIL})")
    record = run(game, ["random"], seed=1, play_clock=5)
    yield from (record, replay(record, game))
    yield replace(replay(record, game), faults=(EVIL,))
    record.own["roles"] = EVIL
    yield record
    yield standings([EVIL], [Result(1, EVIL, (EVIL,), (50,), (1,), "")], rated=False)


def test_names_of_strangers_are_text() -> None:
    for value in _values():
        html = value._repr_html_()  # type: ignore[attr-defined]
        tags = Tags()
        tags.feed(html)
        tags.close()
        assert tags.open == [], value
        assert not tags.seen & {"script", "img", "iframe", "link"}, value
        assert "&lt;" in html, value


def test_numbers_stand_over_bars() -> None:
    assert "50.0%" in meter(50, "50")
    assert "0.0%, transparent 0.0%" in meter(float("nan"), "-")
    assert "100.0%" in meter(1e300, "many")
    assert table(("a",), [(code("<"),), ("<",)]).count("&lt;") == 2


def test_a_derivation_is_a_tree_that_folds() -> None:
    state = anygame.load("tic_tac_toe").initial_state()
    found = state.explain("(legal x (mark 1 1))")
    html = found._repr_html_()
    assert html.startswith("<details open><summary><code>(legal x (mark 1 1))</code>")
    assert html.count("<details") == 1
    assert "in the state" in html
    assert repr(found) == str(found)
    failed = state.explain_failure("(legal o (mark 1 1))")
    assert failed._repr_html_().count("<details open>") == len(failed.attempts)
    assert repr(failed) == str(failed)


def test_a_record_shows_moves_and_replaced_replies() -> None:
    game = anygame.load("tic_tac_toe")
    record = run(game, ["legal", "legal"], seed=1, play_clock=5)
    html = record._repr_html_()
    assert "<td>x</td><td>legal</td>" in html.replace("LegalPlayer", "legal")
    assert html.count("<li>") == record.step
    record.errors[1] = ["IL (mark 9 9)", ""]
    assert "replaced: IL (mark 9 9)" in record._repr_html_()
    assert repr(record).startswith("<Record of tic_tac_toe")
    assert "completed, goals" in repr(record)
    empty = Record("m", 1, 1)
    assert "0 joint moves, not completed" in empty._repr_html_()
