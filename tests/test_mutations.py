"""Damaged scenarios, overrides, policies and traces are refused with an error, or they run."""

from __future__ import annotations

import pytest

from mutations.trial import outcomes

#: First of those tried together, and how many.
_TRIED = [(0, 8), (8, 17), *((first, 25) for first in range(25, 600, 25))]


@pytest.mark.parametrize(
    ("first", "count"),
    [_TRIED[0], *(pytest.param(*each, marks=pytest.mark.slow) for each in _TRIED[1:])],
)
def test_damaged_input_neither_panics_nor_hangs(first: int, count: int) -> None:
    tried = list(outcomes(seed=1, first=first, count=count))
    failed = [f"{each.mutant.kind} {each.number}: {each.failure}" for each in tried if each.failure]
    assert not failed, "\n".join(failed)
    ran = sum(each.ran for each in tried)
    assert 0 < ran < count, "too few mutants run, or too few are refused, to show anything"
