"""Threads: as many as the process may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import celltcp as ct
from celltcp._core import available_threads, run_batch


@pytest.fixture
def one_processor() -> Iterator[None]:
    """An affinity for a single processor."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    yield
    os.sched_setaffinity(0, allowed)


def test_there_are_at_most_as_many_as_processors_of_the_process() -> None:
    # A quota of the control group may allow less.
    assert 1 <= available_threads() <= len(os.sched_getaffinity(0))


@pytest.mark.usefixtures("one_processor")
def test_a_campaign_takes_those_that_its_affinity_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def watched(chunks: Any, threads: int, *rest: Callable[..., None]) -> None:
        taken.append(threads)
        run_batch(chunks, threads, *rest)

    monkeypatch.setattr("celltcp.campaign.run.run_batch", watched)
    ct.compare("steady-5-18", cca="cubic", runs=2, duration="1s")
    ct.compare("steady-5-18", cca="cubic", runs=2, duration="1s", jobs=2)
    assert taken == [1, 2]
