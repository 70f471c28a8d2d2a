"""Jain's index of equal downloads, each with its own time; a flow alone in its direction has none."""

from __future__ import annotations

import numpy as np
import pytest

import celltcp as ct
from celltcp.comparison.tables import shares_table


def test_equal_downloads_that_start_together_have_the_fairness_of_their_times() -> None:
    """Each ends at a time of its own: the goodput of a download is its size by that time."""
    flow = {"name": "update", "count": 6, "workload": {"kind": "bulk", "bytes": "2MB"}}
    result = ct.compare("steady-20-68", "cubic,bbr", 2, duration="20s", set={"flows": [flow]})
    times = result.flows.groupby("run")["completion_s"]
    assert times.count().eq(6).all()
    for run, index in result.runs.set_index("run")["fairness"].items():
        rates = 1 / times.get_group(run)
        assert index == pytest.approx(rates.sum() ** 2 / (6 * (rates**2).sum()))
        assert index < 1
    (*_, headings) = [column.heading for column in shares_table(result).columns[:-1]]
    assert headings == "Jain's index"


@pytest.mark.parametrize(
    "flows",
    [
        [{}],
        [{"name": "down"}, {"name": "up", "from": "phone", "to": "server", "cca": "cubic"}],
    ],
)
def test_a_flow_alone_in_its_direction_is_neither_fair_nor_unfair(flows: list[dict[str, str]]) -> None:
    result = ct.compare("steady-20-68", "cubic", 1, duration="3s", set={"flows": flows})
    assert np.isnan(result.runs["fairness"]).all()
    assert not result.has_fairness
    assert result.to_json()["runs"][0]["fairness"] is None
