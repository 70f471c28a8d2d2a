"""Recoveries after outages, whose lost ACKs look like reordering, and reordering on the path."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp._core import in_unit
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.scenarios.changes import Value


def _names(seed: int, *, has_jitter: bool) -> set[str]:
    """Returns the causes of an upload with outages, and with jitter that reorders packets."""
    draw = random.Random(seed)
    length_s = draw.uniform(1.0, 2.5)
    starts_s = range(10, 40, draw.choice([5, 8, 10]))
    changes: dict[str, Value] = {
        "path.rtt": f"{draw.choice([40, 80, 120])}ms",
        "path.up": "4Mbit/s",
        "path.uplink_loss": 0.01,
        "path.blackouts": [{"at": f"{at}s", "duration": f"{length_s:.2f}s"} for at in starts_s],
        "flows.0.from": "phone",
        "flows.0.to": "server",
    }
    if has_jitter:
        changes["path.wired"] = [
            {
                "name": "wan",
                "rate": "1Gbit/s",
                "jitter": {"distribution": "exponential", "mean": "10ms", "reorder": True},
            }
        ]
    result = ct.compare("steady-20-68", ["cubic"], 2, duration="45s", set=changes)
    explained = ExplainedComparison(result)
    return {cause.name for each in explained.ccas for cause in each.causes}


@pytest.mark.parametrize("seed", range(4))
def test_acks_that_an_outage_lost_are_no_reordering(seed: int) -> None:
    assert "reordering" not in _names(seed, has_jitter=False)
    assert "reordering" in _names(seed, has_jitter=True)


def _explained(**changes: Value) -> ExplainedComparison:
    fields = {name.replace("__", "."): value for name, value in changes.items()}
    return ExplainedComparison(ct.compare("steady-20-68", ["yeah"], 2, duration="20s", set=fields))


@pytest.mark.parametrize(("start_s", "length_s"), [(4.0, 3.9), (6.0, 2.5)])
def test_an_outage_is_no_overflow_by_slow_start(start_s: float, length_s: float) -> None:
    """Its recovery lasts as long as the outage; the link is full while it carries what had waited."""
    rates = [("0s", "5Mbit/s"), (f"{start_s}s", "0bit/s"), (f"{start_s + length_s}s", "5Mbit/s")]
    explained = _explained(
        path__rtt="33ms",
        path__buffer="2bdp",
        path__down={"steps": [{"at": at, "rate": rate} for at, rate in rates]},
        flows__0__workload={"kind": "frames", "size": "12kB", "interval": "33ms", "deadline": "136ms"},
    )
    causes = {cause.name: cause.text for cause in explained.ccas[0].causes}
    assert "outage" in causes
    assert "overshoot" not in causes
    assert "held its data back" not in " ".join(causes.values())


def test_requests_and_answers_that_an_outage_loses_are_its_losses() -> None:
    explained = _explained(
        path__rtt="51ms",
        path__down="19Mbit/s",
        path__buffer="2bdp",
        path__blackouts=[{"at": "2.9s", "duration": "5.6s"}, {"at": "13s", "duration": "1.7s"}],
        flows__0__workload={"kind": "request-response", "response": "242kB", "gap": "300ms"},
    )
    causes = {cause.name: cause.text for cause in explained.ccas[0].causes}
    assert "lost_requests" not in causes
    assert "nothing arrived after that at 2.9 s in 1 of 2 runs" in causes["outage"]
    explained.try_remedies(TrialBudget())
    # A response that the end of the run cuts off counts with its age, so that the mean gains.
    assert "rto_max" in explained.remedies[0].options
    assert "response mean" in explained.remedies[0].trial


def test_segments_that_reordering_sends_again_are_counted_beyond_d_sacks() -> None:
    """Each segment that is sent again and was not dropped arrives twice."""
    jitter = {"distribution": "normal", "mean": "7ms", "sd": "3ms", "reorder": True}
    changes: dict[str, Value] = {
        "path.rtt": "24ms",
        "path.down": "71Mbit/s",
        "path.buffer": "2bdp",
        "path.jitter": jitter,
    }
    result = ct.compare("steady-20-68", "bic", 1, duration="20s", set=changes)
    explained = ExplainedComparison(result)
    text = explained.ccas[0].cause_text("reordering")
    drops = result.results.tables["recoveries"].to_pandas()[["overflow", "random"]].sum().sum()
    again = result.flows["retransmissions"].sum() - drops
    assert again > result.flows["spurious_retransmissions"].sum()
    assert f"{again:,.0f} segments arrived twice".replace(",", " ") in text
    assert "of the capacity stayed unused" in text
    assert any("path.jitter.reorder=false" in remedy.options for remedy in explained.remedies)


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_outages_have_the_time_until_data_and_the_rate_are_back(cca: str) -> None:
    starts_s, length_s = [6, 14, 22], 1.5
    blackouts = [{"at": f"{at}s", "duration": f"{length_s}s"} for at in starts_s]
    changes: dict[str, Value] = {"path.blackouts": blackouts}
    result = ct.compare("steady-20-68", cca, 1, duration="30s", set=changes)
    text = ExplainedComparison(result).ccas[0].cause_text("outage")
    slots = result.results.tables["slots"].to_pandas()
    arrived = (
        slots[slots["rate_mbps"] > 0] if "rate_mbps" in slots else slots[slots["goodput_mbps"] > 0]
    )
    waits_s = [arrived["t_s"][arrived["t_s"] > at + length_s].min() - at - length_s for at in starts_s]
    match = re.search(r"again ([^(]+) \(mean; (.+?) to (.+?)\)", text)
    assert match, text
    mean_s, min_s, max_s = (in_unit(each.replace(" ", ""), "s") for each in match.groups())
    assert mean_s is not None
    assert mean_s == pytest.approx(sum(waits_s) / 3, abs=0.15)
    assert (min_s, max_s) == pytest.approx((min(waits_s), max(waits_s)), abs=0.15)
    back = re.search(r"the rate before it was back ([\d.]+ m?s)", text)
    assert back, text
    assert (in_unit(back[1].replace(" ", ""), "s") or 0.0) >= mean_s - 0.1


def test_what_outages_take_of_page_times_is_that_beyond_pages_without_one() -> None:
    """The same drives without outages have the time of the pages that met none."""
    changes: dict[str, Value] = {
        "path.rtt": "60ms",
        "path.down": "20Mbit/s",
        "flows.0.workload": {"kind": "sequence", "size": "500kB", "gap": "2s"},
    }
    gaps = [{"at": f"{at}s", "duration": "3s"} for at in (20, 50, 90)]
    with_gaps, without = (
        ct.compare("steady-20-68", "cubic", 3, duration="120s", set={**changes, "path.blackouts": each})
        for each in (gaps, [])
    )
    text = ExplainedComparison(with_gaps).ccas[0].cause_text("outage")
    found = re.match(r"Outages are (\d+) % of the mean time of transfers: \d+ of \d+ met one", text)
    assert found is not None
    times_s = [each.applications[0].means("completion_s")[0] for each in (with_gaps, without)]
    assert int(found[1]) == pytest.approx(100 * (1 - times_s[1] / times_s[0]), abs=4)


@pytest.fixture(scope="module")
def blackouts_in_a_trace(tmp_path_factory: pytest.TempPathFactory) -> ExplainedComparison:
    """Frames over an uplink whose trace has handovers of 0.1 s, also within blackouts of seconds."""
    trace = tmp_path_factory.mktemp("traces") / "van.csv"
    rows = [f"{n / 10:.1f},{0 if n % 200 == 150 else 6}" for n in range(900)]
    trace.write_text("\n".join(["time s,rate Mbit/s", *rows]) + "\n", encoding="utf-8")
    frames = {"kind": "frames", "size": "2kB", "interval": "1s", "deadline": "2s"}
    camera = {"kind": "frames", "size": "20kB", "interval": "40ms", "deadline": "4s"}
    up = {"from": "phone", "to": "server"}
    blackouts = [("15s", "5s"), ("32s", "8s"), ("70s", "6s")]
    changes: dict[str, Value] = {
        "path.rtt": "60ms",
        "path.up": {"trace": str(trace)},
        "path.blackouts": [{"at": at, "duration": length} for at, length in blackouts],
        "flows": [
            {"name": "telemetry", **up, "workload": frames},
            {"name": "camera", **up, "workload": {**camera, "backlog": "newest"}},
        ],
    }
    result = ct.compare("steady-20-68", ["cubic+cubic"], 2, duration="90s", set=changes)
    return ExplainedComparison(result)


def test_what_blackouts_lose_is_no_random_loss_and_no_late_ack(
    blackouts_in_a_trace: ExplainedComparison,
) -> None:
    for each in blackouts_in_a_trace.ccas:
        names = {cause.name for cause in each.causes}
        assert "outage" in names
        assert names.isdisjoint({"random_loss", "uplink"})


def test_a_handover_within_a_blackout_leaves_it_a_blackout(
    blackouts_in_a_trace: ExplainedComparison,
) -> None:
    texts = [event.text for each in blackouts_in_a_trace.ccas for event in each.events]
    lengths = {found[1] for text in texts if (found := re.search(r": (\S+) s all lost", text))}
    assert lengths <= {"5.0", "8.0", "6.0"}
    assert lengths
    assert not any(re.search(r": [5-8]\.\d s without capacity", text) for text in texts)


def test_no_time_until_data_arrive_again_is_of_rounding(
    blackouts_in_a_trace: ExplainedComparison,
) -> None:
    (outage,) = [cause.text for cause in blackouts_in_a_trace.ccas[0].causes if cause.name == "outage"]
    assert "data arrived again" in outage
    assert "0.000" not in outage


def test_pages_whose_time_outs_double_in_blackouts_have_a_lower_maximum_for_their_tail() -> None:
    page = {"kind": "page", "objects": 25, "object": "32kB", "multiplexed": True, "gap": "1s"}
    starts = range(10, 90, 20)
    changes: dict[str, Value] = {
        "path.rtt": "45ms",
        "path.down": "30Mbit/s",
        "path.blackouts": [{"at": f"{at}s", "duration": "4s"} for at in starts],
        "flows.0.workload": page,
    }
    result = ct.compare("steady-20-68", ["cubic"], 6, duration="90s", set=changes)
    explained = ExplainedComparison(result)
    explained.try_remedies(TrialBudget())
    (remedy,) = [each for each in explained.remedies if "rto_max" in each.options]
    assert "--set tcp.rto_max=1s" in remedy.options
    before, after = map(float, re.findall(r"page load max (\S+) to (\S+) s", remedy.trial)[0])
    assert after < before
