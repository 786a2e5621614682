"""The numbering of states: as a dictionary numbers them."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anygame.search.state_set import StateSet


# A busy machine is no fault of the states.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(1, 3).flatmap(
        lambda words: st.lists(
            st.lists(
                st.lists(st.sampled_from([0, 1, 2, 1 << 63]), min_size=words, max_size=words), max_size=40
            ),
            min_size=1,
            max_size=6,
        ).map(lambda calls: (words, calls))
    )
)
def test_states_are_numbered_as_a_dictionary_would(given: tuple[int, list[list[list[int]]]]) -> None:
    words, calls = given
    states = StateSet(words)
    numbers: dict[tuple[int, ...], int] = {}
    for call in calls:
        numbers_before = dict(numbers)
        wanted = [numbers.setdefault(tuple(state), len(numbers)) for state in call]
        packed = np.array(call, np.uint64).reshape(-1, words)
        known = [numbers_before.get(tuple(state), -1) for state in call]
        assert states.find(packed).tolist() == known
        assert states.add(packed).tolist() == wanted
    assert [tuple(row) for row in states.at(slice(None)).tolist()] == list(numbers)


def test_a_set_grows() -> None:
    keys = np.random.default_rng(1).integers(0, 30_000, 100_000).astype(np.uint64)[:, None]
    states = StateSet(1)
    bound = states.bytes_with(len(keys))
    numbers = np.concatenate([states.add(part) for part in np.array_split(keys, 7)])
    assert len(states) == len(np.unique(keys))
    assert (states.at(numbers) == keys).all()
    assert states.bytes <= bound
