"""Capacity that phases of BBR and slow start leave unused: an experiment gives each share back."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.cause import Cause
from celltcp.comparison.explanation.causes.startup import exit_of
from celltcp.comparison.explanation.causes.unused import probes_of
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.explained_cca import ExplainedCca
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies.remedies import start_up
from celltcp.comparison.modes import mode_spans

_BUFFERS: dict[str, Any] = {"tcp.send_buffer_max": "300MB", "tcp.receive_buffer_max": "200MB"}


def _long_path(draw: random.Random, rtts_ms: tuple[int, int] = (300, 700)) -> dict[str, Any]:
    return {
        **_BUFFERS,
        "path.rtt": f"{draw.randint(*rtts_ms)}ms",
        "path.down.rate": f"{draw.randint(20, 60)}Mbit/s",
        "path.buffer": "4bdp",
    }


def _explained(cca: str, changes: dict[str, Any], seconds: int) -> ExplainedCca:
    result = ct.compare("steady-20-68", cca, 1, duration=f"{seconds}s", set=changes)
    return ExplainedComparison(result).ccas[0]


def _weights(explained: ExplainedCca) -> dict[str, float]:
    return {cause.name: cause.weight for cause in explained.causes}


class Fixed(ct.CongestionControl):
    """Keeps a window of so many segments."""

    name = "test-fixed"

    def __init__(self, segments: float = 20) -> None:
        self.segments = segments

    def report(self, _report: ct.Report) -> ct.Decision:
        return ct.Decision(cwnd=self.segments)


@pytest.mark.parametrize("loss", [0, 2e-5])
@pytest.mark.parametrize("seed", range(3))
def test_a_window_that_stays_small_is_the_reason_and_not_the_end_of_slow_start(
    seed: int, loss: float
) -> None:
    draw = random.Random(f"small window {seed}")
    rtt_ms, rate_mbps = draw.randint(30, 90), draw.randint(20, 60)
    bdp = rate_mbps * 1e6 / 8 * rtt_ms / 1e3 / 1500
    segments = round(draw.uniform(0.2, 0.7) * bdp)
    changes = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": f"{rate_mbps}Mbit/s",
        "path.loss": loss,
    }
    ct.register(Fixed)
    explained = _explained(f"test-fixed:segments={segments}", changes, 20)
    names = _weights(explained)
    assert "early_exit" not in names
    assert names["slow_growth"] == pytest.approx(1 - segments / bdp, abs=0.08)
    (text,) = (cause.text for cause in explained.causes if cause.name == "slow_growth")
    (in_flight,) = re.findall(r"\((\d+) of \d+ segments\)", text)
    assert int(in_flight) == pytest.approx(segments, rel=0.05)
    assert "after losses" not in text


@pytest.mark.parametrize("seed", range(2))
def test_sprout_has_no_end_of_slow_start_as_a_reason(seed: int) -> None:
    draw = random.Random(f"sprout {seed}")
    changes = {
        "path.rtt": f"{draw.randint(100, 200)}ms",
        "path.down.rate": f"{draw.randint(2, 6)}Mbit/s",
    }
    names = _weights(_explained("sprout", changes, 30))
    assert "early_exit" not in names


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_probe_rtt_costs_is_what_bbr_gains_without_it(seed: int) -> None:
    changes = _long_path(random.Random(seed))
    bbr = _explained("bbr", changes, 60)
    cost = _weights(bbr)["probe_rtt"]
    without = _explained("bbr:probe_rtt_mode=0s", changes, 60)
    assert without.used_share - bbr.used_share == pytest.approx(cost, abs=0.02)
    assert "probe_rtt" not in _weights(without)
    # A third of the RTT, and little is left of it.
    rtt_ms = int(changes["path.rtt"].removesuffix("ms")) // 3
    near = _explained("bbr", {**changes, "path.rtt": f"{rtt_ms}ms"}, 60)
    assert _weights(near).get("probe_rtt", 0.0) < 0.7 * cost


@pytest.mark.parametrize("cca", ["bbr", "bbr3"])
def test_times_of_probe_rtt_are_those_of_the_modes(cca: str) -> None:
    run = ct.run("steady-20-68", cca, duration="40s", set={**_BUFFERS, "path.rtt": "300ms"})
    spans = [each for each in mode_spans(run.samples) if each.mode.startswith("probe_rtt")]
    assert len(spans) > 1
    result = ct.compare("steady-20-68", cca, 1, duration="40s", set={**_BUFFERS, "path.rtt": "300ms"})
    (tested,) = [result.tested]
    evidence = Evidence(result, cca, tested)
    probes = list(probes_of(evidence))
    assert len(probes) == len(spans)
    for probe, span in zip(probes, spans, strict=True):
        assert probe.start_s == pytest.approx(span.start_s, abs=0.5)


@pytest.mark.parametrize("cca", ["bbr", "cubic", "reno"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_start_up_costs_half_as_much_of_twice_the_time(cca: str, seed: int) -> None:
    changes = _long_path(random.Random(seed), (500, 800))
    short, long = (_weights(_explained(cca, changes, seconds))["start_up"] for seconds in (20, 40))
    assert long == pytest.approx(short / 2, rel=0.15)


def test_a_larger_initial_window_is_no_remedy_where_it_saves_little() -> None:
    def proposed(seconds: int) -> int:
        changes = {**_BUFFERS, "path.rtt": "400ms"}
        result = ct.compare("steady-20-68", "bbr", 1, duration=f"{seconds}s", set=changes)
        evidence = Evidence(result, "bbr", result.tested)
        return len(list(start_up(evidence, Cause("start_up", "", 1.0))))

    assert (proposed(6), proposed(60)) == (1, 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_slow_start_that_an_undone_reduction_interrupts_ends_later(seed: int) -> None:
    """HyStart under jitter: the first exit is a spurious recovery, after which slow start goes on."""
    jitter = {"mean": "60ms", "sd": "15ms", "reorder": True}
    draw = random.Random(seed)
    rate = f"{draw.randint(60, 150)}Mbit/s"
    changes = {
        **_BUFFERS,
        "path.down": rate,
        "path.rtt": "480ms",
        "path.buffer": "8bdp",
        "path.wired": [{"name": "wan", "rate": "1Gbit/s", "jitter": jitter}],
    }
    result = ct.compare(
        "steady-20-68", ["cubic", "cubic:hystart=off", "bbr"], 1, seed=seed, duration="40s", set=changes
    )
    cubic, off, bbr = ExplainedComparison(result).ccas
    assert "start_up" in _weights(bbr)
    assert cubic.used_share < off.used_share - 0.05
    assert _weights(cubic)["early_exit"] == pytest.approx(off.used_share - cubic.used_share, abs=0.2)
    assert "early_exit" not in _weights(off)
    evidence = Evidence(result, "cubic", result.tested)
    row = evidence.connections.iloc[0]
    found = exit_of(evidence, row)
    assert found is not None
    run = ct.run("steady-20-68", "cubic", seed=seed, duration="40s", set=changes)
    slow = run.samples[run.samples["cwnd"] >= run.samples["ssthresh"]]
    undone = evidence.recoveries["end_s"].min()
    left = slow[slow["t_ns"] > 1e9 * undone].iloc[0]
    assert found.t_s == pytest.approx(left["t_ns"] / 1e9, abs=0.7)
    assert found.cwnd == pytest.approx(left["cwnd"], rel=0.15)


def test_growth_that_follows_a_rise_is_said_to_do_so() -> None:
    late = ct.compare("rise", ["vegas", "bbr3", "cubic"], 1, duration="30s")
    for each in ExplainedComparison(late).ccas:
        (text,) = (cause.text for cause in each.causes if cause.name == "slow_growth")
        assert "after the capacity rose" in text
        # The buffer overflows, too, and that costs little.
        assert "overflows" not in _weights(each)


def test_growth_that_follows_losses_is_no_slow_growth() -> None:
    lost = ct.compare("steady-100-68", "westwood", 1, duration="30s")
    names = _weights(ExplainedComparison(lost).ccas[0])
    assert "overflows" in names
    assert "slow_growth" not in names


def test_a_flow_that_pacing_limits_gets_no_window_that_grows_faster() -> None:
    late = ct.compare("rise", "bbr3", 1, duration="30s")
    ccas = {each.remedy.cca for each in ExplainedComparison(late).remedies}
    assert "hybla" not in ccas
    assert "cubic" in ccas


def test_an_early_exit_of_several_connections_costs_what_all_of_them_leave_once() -> None:
    changes: dict[str, Any] = {**_BUFFERS, "path.rtt": "400ms", "path.down": "200Mbit/s"}
    cca = "bic:initial_ssthresh=20"
    flows = {"flows": '[{ name = "a", cca = "cubic", count = 4 }]'}
    result = ct.compare("steady-20-68", cca, 1, duration="20s", set={**changes, **flows})
    (explained,) = ExplainedComparison(result).ccas
    assert 0.1 < _weights(explained)["early_exit"] <= 1 - explained.used_share + 0.02


def test_an_early_exit_is_named_where_a_window_is_full_later() -> None:
    changes: dict[str, Any] = {
        **_BUFFERS,
        "path.rtt": "100ms",
        "path.down": "60Mbit/s",
        "path.buffer": "6bdp",
        "tcp.receive_window_max": "880kB",
    }
    explained = _explained("bic:initial_ssthresh=200,low_window=100000", changes, 110)
    assert explained.limits["receive_window"] > 0.5
    weight = _weights(explained)["early_exit"]
    assert weight == pytest.approx(1 - explained.used_share, abs=0.04)


@pytest.mark.parametrize("cca", ["bbr", "bbr3"])
def test_samples_of_a_run_show_the_same_probes_as_slots(cca: str) -> None:
    changes = {**_BUFFERS, "path.rtt": "300ms"}
    run = ct.run("steady-20-68", cca, duration="40s", set=changes)
    (whole,) = str(ct.explain(run)).split("PROBE_RTT left ")[1:]
    (cause,) = (each for each in _explained(cca, changes, 40).causes if each.name == "probe_rtt")
    assert float(whole.split()[0]) == pytest.approx(100 * cause.weight, rel=0.15)
