"""Explanations of congestion controls that are alike: one text with the range of the figures."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.alike import in_order, with_ranges
from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.explanation import ExplainedComparison

_CCAS = ["cubic", "bbr", "reno"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["5 of 6 639 segments", "5 of 6 640 segments"], "5 of 6 639 to 6 640 segments"),
        (["0.98 s", "1.10 s", "0.97 s"], "0.97 to 1.10 s"),
        (["bbr3 of part1: 2 %", "bbr3 of part1: 3 %"], "bbr3 of part1: 2 to 3 %"),
        (["97 ±1.4 %", "90 ±2.8 %"], "90 ±2.8 to 97 ±1.4 %"),
        (
            ["one in 5.4e-05 % at most", "one in 2.2e-06 % at most"],
            "one in 2.2e-06 to 5.4e-05 % at most",
        ),
        (["1 time-out", "2 time-outs"], None),
        (["on part1: 2 %", "on part2: 2 %"], None),
    ],
)
def test_numbers_that_differ_are_ranges_and_names_are_not(
    texts: list[str], expected: str | None
) -> None:
    assert with_ranges(texts) == expected


def test_metrics_of_ccas_that_are_alike_are_in_the_order_of_their_names() -> None:
    assert in_order(["9.7 ±1.4 % late, RTT 40 ms", "9.0 ±2.8 % late, RTT 40 ms"]) == (
        "9.7 ±1.4 and 9.0 ±2.8 % late, RTT 40 ms"
    )
    assert in_order(["3 ms", "1 ms", "3 ms"]) == "3, 1 and 3 ms"


@pytest.mark.parametrize("seed", range(3))
def test_ccas_that_tie_for_the_same_causes_have_one_block(seed: int) -> None:
    draw = random.Random(seed)
    frames = {
        "kind": "frames",
        "size": "120B",
        "interval": f"{draw.choice([100, 125, 150])}ms",
        "deadline": "150ms",
    }
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(90, 110)}ms",
        "path.loss": round(draw.uniform(0.008, 0.02), 3),
        "path.uplink_loss": 0.01,
        "flows.0.workload": frames,
    }
    explained = ExplainedComparison(ct.compare("steady-20-68", _CCAS, 3, duration="120s", set=changes))
    assert len(explained.distinct_ccas) > 1
    (block,) = explained.blocks
    ccas, order, figures = re.split(r" \(alike(; figures in this order)?\): ", block[0])
    assert bool(order) == (" and " in figures)
    assert sorted(ccas.split(", ")) == sorted(_CCAS)
    assert figures.startswith("share of late frames ")
    assert "as good as" not in block[0]
    # The table of limits has the share of the pauses.
    assert not any("The application" in line for line in block)
    for each in explained.ccas:
        assert "application" in {cause.name for cause in each.causes}
    assert any(line.startswith("  Events that took most time under cubic, in ") for line in block)


def test_a_text_of_one_cca_names_it_with_its_figures_and_not_after_what_follows_from_them() -> None:
    explained = ExplainedComparison(ct.compare("steady-20-68", _CCAS[:2], 1, duration="2s"))
    one, other = (
        each._replace(causes=[Cause("time_outs", f"{text} (0.5 s). It doubles with each.", 0.5)])
        for each, text in zip(explained.ccas, ("2 time-outs", "1 time-out"), strict=True)
    )
    assert "  2 time-outs (0.5 s) under cubic. It doubles with each." in explained.texts(one, other)


def test_ccas_that_differ_have_a_block_each() -> None:
    changes = {"path.rtt": "100ms", "path.loss": 0.003}
    explained = ExplainedComparison(ct.compare("steady-20-68", _CCAS, 2, duration="20s", set=changes))
    assert [block[0].partition(":")[0] for block in explained.blocks] == _CCAS


@pytest.mark.parametrize("loss", [0.0, 0.002])
def test_the_window_is_told_where_a_cause_changes_it(loss: float) -> None:
    """A short transfer in slow start has a window, too, but nothing follows from it."""
    changes: dict[str, Any] = {
        "path.rtt": "100ms",
        "path.down.rate": "50Mbit/s",
        "path.loss": loss,
        "flows.0.workload": {"kind": "page"},
    }
    if loss:
        changes["flows.0.workload"] = {"kind": "bulk"}
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 2, duration="20s", set=changes))
    (block,) = explained.blocks
    assert any("Congestion window" in line for line in block) == bool(loss)
