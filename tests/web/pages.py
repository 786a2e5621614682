"""What tests do with pages of matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["board_click", "is_over", "play_on", "step_of", "wait_for_step"]


def step_of(page: Page) -> int:
    """Return the number of the state that is shown."""
    return int(page.locator(".match").get_attribute("data-step") or 0)


def is_over(page: Page) -> bool:
    """Return whether the match is over."""
    return "Over" in (page.locator("#status").text_content() or "")


def wait_for_step(page: Page, step: int) -> None:
    """Wait until this state is shown, or a later one."""
    page.wait_for_function("step => Number(document.querySelector('.match').dataset.step) >= step", arg=step)


def board_click(page: Page, cell: str) -> None:
    """Click the cell of the board with this name."""
    page.locator(f"[role=gridcell][data-terms='{cell}']").click()


def play_on(page: Page, most: int) -> int:
    """Click moves until it is over; return the clicks."""
    for count in range(most):
        if is_over(page):
            return count
        buttons = page.locator("#moves button")
        before = page.locator(".match").get_attribute("data-version")
        (buttons.last if count % 3 else buttons.first).click()
        page.wait_for_function(
            "version => document.querySelector('.match').dataset.version !== version", arg=before
        )
    raise AssertionError(f"not over after {most} clicks")
