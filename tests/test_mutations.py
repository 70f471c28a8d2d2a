"""Damaged scenarios, overrides, policies and traces are refused with an error, or they run."""

from __future__ import annotations

from mutations.trial import outcomes


def test_damaged_input_neither_panics_nor_hangs() -> None:
    tried = list(outcomes(seed=1, first=0, count=600))
    failed = [f"{each.mutant.kind} {each.number}: {each.failure}" for each in tried if each.failure]
    assert not failed, "\n".join(failed)
    ran = sum(each.ran for each in tried)
    assert 60 < ran < 540, "too few mutants run, or too few are refused, to show anything"
