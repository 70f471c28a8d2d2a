"""Transfers with an end: prices of their time in delay, and advice against the queue that they fill."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.report.front_page import answer_of, settings_section
from celltcp.comparison.sets.leading import leading_in
from celltcp.comparison.verdicts.choices import ccas_to_set
from celltcp.comparison.verdicts.costs import with_delay_cost
from celltcp.comparison.verdicts.verdict_tables import short_text, stake_texts
from celltcp.results.statistics import Verdict


def _bulk(rate: float, rtt: float, seconds: float, buffer_bdps: float, **more: Any) -> ct.Comparison:
    """Returns cubic and bbr on a transfer that takes some seconds behind a deep buffer."""
    changes = {
        "path.down.rate": f"{rate}Mbit/s",
        "path.rtt": f"{rtt}ms",
        "path.buffer": f"{buffer_bdps}bdp",
        "flows.0.workload": {"kind": "bulk", "bytes": f"{rate * seconds * 125e3:.0f}B"},
        **more,
    }
    return ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration=f"{3 * seconds}s", set=changes)


@pytest.mark.parametrize("number", range(3))
def test_a_near_tie_of_transfers_has_its_price_in_delay_and_sets_the_cca_without_it(
    number: int,
) -> None:
    draw = random.Random(f"delay price {number}")
    rate, rtt = draw.choice([4, 8, 12]), draw.choice([30, 60, 80])
    result = _bulk(rate, rtt, draw.randrange(25, 40), draw.uniform(20, 50))
    (stake,) = result.ranked_stakes
    cost = stake.verdict.cost
    assert stake.verdict.best == "cubic"
    assert cost is not None
    assert cost.short.endswith("x the delay")
    assert cost.instead == "bbr"
    delays = [sum(result.values(cca, "rtt_mean_ms")) / 2 for cca in ("cubic", "bbr")]
    price = f"{delays[0] / delays[1]:.2g} times the delay"
    (line,) = stake_texts(result)
    assert re.search(rf"cubic; it costs {price}: mean RTT [\d.]+ instead of [\d.]+ ms with bbr", line)
    assert short_text(stake.verdict, {"cubic": "cubic", "bbr": "bbr"}).endswith(": set bbr")
    ((cca, (need,)),) = ccas_to_set(result).items()
    assert cca == "bbr"
    assert re.search(rf" and delay \(cubic is [0-4]\.\d % faster, at {price}\)$", need)
    assert answer_of(result).startswith(f"For {need.partition(' (cubic')[0]}, set bbr (cubic is ")
    section = settings_section(result)
    assert section is not None
    assert f"and delay: bbr (cubic is {need.partition('(cubic is ')[2]}" in section.text[0]
    leading = leading_in({"a": result}, result.ccas)[stake.need]
    # What is set counts for scenarios, too.
    assert leading.share_text({"cubic": "cubic", "bbr": "bbr"}, "on") == "bbr, on 1 of 1"
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    options = " ".join(remedy.options for remedy in explained.remedies)
    assert "path.queue=fq-codel" in options
    assert "tcp.receive_window_max=" in options
    assert all(remedy.trial for remedy in explained.remedies)


@pytest.mark.parametrize("seed", range(3))
def test_what_makes_a_transfer_much_longer_is_no_advice_against_its_queue(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(f"varying rate {seed}")
    log = tmp_path / "drive.csv"
    rows, rate_mbps = [], 10.0
    for row in range(400):
        rate_mbps = min(max(rate_mbps * 2 ** draw.gauss(0, 1), 1), 40)
        rows.append(f"{row / 2},{rate_mbps:.1f}")
    log.write_text("\n".join(["time_s,throughput_mbps", *rows]) + "\n")
    changes = {"path.rtt": "55ms", "flows.0.workload": {"kind": "bulk", "bytes": "20MB"}}
    result = ct.compare(str(log), ["cubic", "reno"], 4, duration="60s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    trials = [remedy.trial for remedy in explained.remedies]
    costs = [
        cost for trial in trials for cost in re.findall(r"completion mean [^(]*\(\+(\d+) %", trial)
    ]
    assert all(int(cost) <= 11 for cost in costs), trials


def test_a_shallow_queue_has_no_price_and_no_advice_against_it() -> None:
    result = _bulk(10, 60, 20, 1)
    (stake,) = result.ranked_stakes
    assert stake.verdict.cost is None
    assert " and delay" not in "".join(*ccas_to_set(result).values())
    explained = ExplainedComparison(result)
    assert not any("receive_window_max" in remedy.options for remedy in explained.remedies)


@pytest.mark.parametrize(
    ("times", "delays", "instead"),
    [
        # Nearly as fast: to be set in its place. Slower by more than the margin: the price alone.
        ([[50.0, 50.2], [51.0, 51.3]], [[900, 910], [90, 95]], "b"),
        ([[50.0, 50.2], [56.0, 56.3]], [[900, 910], [90, 95]], None),
    ],
)
def test_a_price_in_delay_names_a_cca_to_set_within_the_margin_only(
    times: list[list[float]], delays: list[list[float]], instead: str | None
) -> None:
    names = ("a", "b")
    cost = with_delay_cost(
        Verdict("a"),
        dict(zip(names, times, strict=True)),
        dict(zip(names, delays, strict=True)),
        "rtt_mean_ms",
    ).cost
    assert cost is not None
    assert cost.instead == instead
    assert "9.8 times the delay" in cost.text


@pytest.mark.parametrize(
    ("times", "delays"),
    [
        # Much slower; no far shorter delay; a difference of few ms.
        ([[50.0, 50.2], [70.0, 71.3]], [[900, 910], [90, 95]]),
        ([[50.0, 50.2], [51.0, 51.3]], [[90, 91], [70, 71]]),
        ([[50.0, 50.2], [51.0, 51.3]], [[9, 9.1], [3, 3.1]]),
    ],
)
def test_a_price_in_delay_needs_a_near_time_and_a_far_shorter_delay(
    times: list[list[float]], delays: list[list[float]]
) -> None:
    names = ("a", "b")
    verdict = with_delay_cost(
        Verdict("a"),
        dict(zip(names, times, strict=True)),
        dict(zip(names, delays, strict=True)),
        "rtt_mean_ms",
    )
    assert verdict.cost is None


def test_overflows_of_a_buffer_that_is_a_lower_bound_are_named_as_its_consequence() -> None:
    description = "Its buffer is a lower bound: no overflow was seen."
    overflowing = _bulk(8, 60, 20, 3, description=description)
    (warning,) = [each for each in overflowing.warnings if "lower bound" in each]
    assert re.search(
        r"overflows here \(segments lost a run: cubic \d+\), which the capture does", warning
    )
    assert any("lower bound" in note for note in ExplainedComparison(overflowing).notes)
    roomy = _bulk(8, 60, 5, 200, description=description)
    (warning,) = [each for each in roomy.warnings if "lower bound" in each]
    assert warning.endswith("no overflow was seen")
    assert not any("lower bound" in note for note in ExplainedComparison(roomy).notes)
