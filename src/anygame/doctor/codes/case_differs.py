"""Names that differ only by capitals."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from anygame.doctor.code import VALIDATOR, Check, Code
from anygame.language.diagnostics import Note, Severity, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from anygame.doctor.sheet import Name, Sheet
    from anygame.language.diagnostics import Diagnostic

_CODE: Final = Code(
    "case-differs",
    Severity.WARNING,
    "names that differ only by capitals",
    demand="Names that differ by capitals only are not used side by side.",
    why=(
        "Some systems tell them apart, others do not, and some write all rules in capitals. Here capitals"
        " count."
    ),
    source=VALIDATOR,
    bad="(init (lamp On))\n(<= terminal (true (lamp on)))",
    good="(init (lamp on))\n(<= terminal (true (lamp on)))",
)


def _check(sheet: Sheet) -> Iterator[Diagnostic]:
    """Compare names over the whole sheet, and variables inside each rule."""
    yield from _capitals([name for name in sheet.names if name.kind != "variable"], "")
    by_rule: dict[int, list[Name]] = defaultdict(list)
    for name in sheet.names:
        if name.kind == "variable":
            by_rule[id(name.rule)].append(name)
    for names in by_rule.values():
        yield from _capitals(names, "?")


def _capitals(names: Iterable[Name], mark: str) -> Iterator[Diagnostic]:
    spellings: dict[str, dict[str, list[Name]]] = defaultdict(lambda: defaultdict(list))
    styles: Counter[tuple[str, bool, bool]] = Counter()
    for name in names:
        spellings[name.text.lower()][name.text].append(name)
        styles[name.kind, *_style(name.text)] += 1
    for group in spellings.values():
        if len(group) == 1:
            continue
        # Of two that are used as often, the one that is written like most other names is the usual one.
        usual = max(group, key=lambda text: (len(group[text]), styles[group[text][0].kind, *_style(text)]))
        for text, places in group.items():
            if text != usual:
                yield _CODE.found(
                    f"{mark}{shown(text)} ({_times(places)}) and {mark}{shown(usual)} "
                    f"({_times(group[usual])}) are different names: capitals count",
                    places[0].span,
                    Note("the other spelling stands here", group[usual][0].span),
                    hint=f"{mark}{shown(usual)}, if they should be the same",
                )


def _style(text: str) -> tuple[bool, bool]:
    """Return whether a name starts with a capital, and whether it has no small letters."""
    return text[:1].isupper(), text.isupper()


def _times(places: Iterable[Name]) -> str:
    count = len(list(places))
    return "used once" if count == 1 else f"used {count} times"


CHECK: Final = Check((_CODE,), _check, needs_all=False)
