"""What tests do with pages of matches."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def step_of(page: Page) -> int:
    """Return the number of the state that is shown."""
    return int(page.locator(".match").get_attribute("data-step") or 0)


def is_over(page: Page) -> bool:
    """Return whether the match is over."""
    return "Over" in (page.locator("#status").text_content() or "")


def wait_for_step(page: Page, step: int) -> None:
    """Wait until this state is shown, or a later one."""
    page.wait_for_function("step => Number(document.querySelector('.match')?.dataset.step) >= step", arg=step)


def wait_until_over(page: Page) -> None:
    """Wait until the match is over, also while its page is still on the way."""
    page.wait_for_function("() => document.querySelector('#status')?.textContent.startsWith('Over')")


def board_click(page: Page, cell: str) -> None:
    """Click the cell of the board with this name."""
    page.locator(f"[role=gridcell][data-terms='{cell}']").click()


def play_on(page: Page, most: int, seed: int = 0) -> int:
    """Click random moves until it is over, on the board where they lie; return the most clicks of one."""
    random = Random(seed)
    clicked = 0
    for _ in range(most):
        if is_over(page):
            return clicked
        version = page.locator(".match").get_attribute("data-version")
        clicked = max(clicked, _click_a_move(page, random))
        page.locator(f".match:not([data-version='{version}'])").wait_for()
    raise AssertionError(f"not over after {most} moves")


def _click_a_move(page: Page, random: Random) -> int:
    """Click what makes a move, and return how many clicks it took."""
    moves = page.evaluate(
        "() => [...document.querySelectorAll('#moves button')].map("
        "move => [move.value, move.dataset.cells || '', move.dataset.area || ''])"
    )
    if not moves:  # nobody has a choice: it goes on by itself
        return 0
    value, cells, area = random.choice(moves)
    named = cells.split() or area.split()[:1]
    alone = sum(each[1] == cells and each[2] == area for each in moves) == 1
    if named and alone and len(named) <= 2:
        for cell in named:
            page.locator(f"[role=gridcell][data-id='{cell}']").click()
        return len(named)
    page.get_by_role("button", name=value, exact=True).click()
    return 1
