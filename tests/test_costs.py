"""A verdict that costs most of the goodput, or of the time of a download, says so in its sentence."""

from __future__ import annotations

import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.report.findings import findings_of
from celltcp.comparison.retransmitted import ResentShare, retransmitted_share
from celltcp.comparison.sets.leading import leading_in
from celltcp.comparison.sweep.best_value_tables import best_values_texts
from celltcp.comparison.verdicts.costs import with_cost, with_resent_cost
from celltcp.comparison.verdicts.verdict_tables import chosen_text, short_text, verdict_text
from celltcp.results.statistics import Verdict
from celltcp.scenarios.cca_mix import labels

#: On a lossy path, Reno leaves the queue empty and most of the capacity unused.
_LOSSY = {"path.loss": "0.02", "variation.start_jitter": "100ms"}
_NAMES = {"reno": "reno", "bbr": "bbr"}


def _compared(**changes: Any) -> Comparison:
    return ct.compare("steady-20-68", ["reno", "bbr"], 6, duration="40s", set={**_LOSSY, **changes})


def test_a_verdict_for_the_delay_of_a_download_says_by_how_much_it_is_longer() -> None:
    result = _compared(**{"flows.0.workload": {"kind": "bulk", "bytes": "3MB"}})
    delay = result.verdicts["delay"]
    assert delay.best == "reno"
    cost = delay.cost
    assert cost is not None
    text = verdict_text(delay, _NAMES)
    times = [sum(result.values(cca, "completion_s")) / 6 for cca in ("reno", "bbr")]
    assert f"{times[0]:.3f} instead of {times[1]:.3f} s with bbr" in text
    assert f"{times[0] / times[1]:.3g} times the completion time" in text
    assert short_text(delay, _NAMES) == f"reno, {cost.short}"
    assert result.to_json()["verdicts"]["delay"]["cost"] == cost.text
    assert result.verdicts["goodput"].cost is None
    # Over scenarios, a transfer with an end ranks by its time alone.
    assert "delay" not in leading_in({"a": result}, result.ccas)


def test_a_verdict_for_the_delay_of_a_transfer_without_an_end_says_how_much_slower_it_is() -> None:
    result = _compared()
    chosen = result.best_by("rtt_mean_ms")
    assert chosen.verdict.leader == "reno"
    assert "it costs 9" in chosen_text(chosen, _NAMES)
    assert "% of the goodput: " in chosen_text(chosen, _NAMES)
    by_delay = Comparison(result.results, ["1/99/1"])
    cost = by_delay.verdicts["1/99/1"].cost
    assert cost is not None
    finding = findings_of(by_delay)[-1]
    assert cost.text in finding.effect_size


def test_a_value_of_a_field_that_is_best_for_the_delay_says_how_much_slower_it_is() -> None:
    vary = {"tcp.receive_window_max": ["20kB", "200kB"]}
    result = ct.sweep("steady-20-68", vary=vary, cca=["cubic"], runs=1, duration="8s")
    (text,) = (each for each in best_values_texts(result) if "for mean RTT" in each)
    assert re.search(r"for mean RTT: 20kB \(-\d+ % goodput\), ", text)


@pytest.mark.parametrize(
    ("slow", "wanted"), [(7.9, "-21 % goodput"), (8.1, None)], ids=["above a fifth", "below"]
)
def test_what_is_given_up_counts_from_a_fifth_on(slow: float, wanted: str | None) -> None:
    goodput = {"a": [slow, slow + 0.01], "b": [10.0, 10.0]}
    verdict = with_cost(Verdict("a"), "rtt_mean_ms", goodput, {})
    assert (verdict.cost and verdict.cost.short) == wanted
    assert with_cost(Verdict("a"), "goodput_mbps", goodput, {}).cost is None
    chance = {"a": [slow - 3.0, slow + 3.0], "b": [10.0, 10.0]}
    assert with_cost(Verdict("a"), "rtt_mean_ms", chance, {}).cost is None


@pytest.mark.parametrize(
    ("times", "resent", "wanted"),
    [
        ([8.5, 9.6], [0.07, 0.006], "7.0 % sent again"),
        # The other one needs far longer, or sends again nearly as much, as over a lossy link.
        ([8.5, 12.0], [0.07, 0.006], None),
        ([8.5, 9.6], [0.05, 0.049], None),
    ],
)
def test_a_fast_transfer_costs_what_it_sends_again(
    times: list[float], resent: list[float], wanted: str | None
) -> None:
    series = {name: [time, time + 0.01] for name, time in zip("ab", times, strict=True)}
    shares = {name: ResentShare(share, [share] * 2) for name, share in zip("ab", resent, strict=True)}
    verdict = with_resent_cost(Verdict("a"), series, shares)
    assert (verdict.cost and verdict.cost.short) == wanted


def test_bbr_through_a_policer_costs_what_it_sends_again_also_beside_its_lines() -> None:
    changes: dict[str, Any] = {
        "path.policer": {"rate": "10Mbit/s", "burst": "40kB"},
        "flows.0.workload": {"kind": "bulk", "bytes": "8MB"},
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 3, duration="30s", set=changes)
    (stake,) = result.ranked_stakes
    shares = [retransmitted_share(result, result.tested, cca) for cca in ("bbr", "cubic")]
    assert stake.verdict.best == "bbr"
    assert shares[0] > shares[1] + 0.02
    text = f"it costs {percent_text(shares[0])} of the segments sent again, instead of"
    assert text in verdict_text(stake.verdict, labels(result.ccas))
    (setting,) = ExplainedComparison(result).settings
    assert text in setting["need"]
