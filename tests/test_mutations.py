"""Damaged scenarios, overrides, policies and traces are refused with an error, or they run."""

from __future__ import annotations

import pytest

from mutations.trial import outcomes

_COUNT = 25


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(_COUNT, 600, _COUNT))]
)
def test_damaged_input_neither_panics_nor_hangs(first: int) -> None:
    tried = list(outcomes(seed=1, first=first, count=_COUNT))
    failed = [f"{each.mutant.kind} {each.number}: {each.failure}" for each in tried if each.failure]
    assert not failed, "\n".join(failed)
    ran = sum(each.ran for each in tried)
    assert 1 < ran < 24, "too few mutants run, or too few are refused, to show anything"
