"""Responses that wait for round trips: the reason, the rate, what helps, and BBR's pacing of them."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.explanation.causes.unit_reasons import IN_QUEUE
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.trials import TrialBudget


def _explained(
    *ccas: str, rtt: str = "80ms", rate: str = "200Mbit/s", sessions: int = 4, **workload: Any
) -> ExplainedComparison:
    """Explains sessions of a workload with these settings."""
    changes: dict[str, Any] = {
        "path.rtt": rtt,
        "path.down": rate,
        "path.up": "100Mbit/s",
        "variation.start_jitter": "0s",
        "flows.0.count": sessions,
        "flows.0.workload": {
            "kind": "request-response",
            "request": "200B",
            "think": "0s",
            "gap": "0s",
            **workload,
        },
    }
    result = ct.compare("steady-20-68", list(ccas), 1, duration="20s", set=changes)
    return ExplainedComparison(result)


@pytest.mark.parametrize("seed", range(2))
def test_small_responses_one_at_a_time_wait_for_round_trips_and_more_at_once_help(seed: int) -> None:
    draw = random.Random(seed)
    rtt_ms, count = draw.randint(40, 150), draw.randint(2, 12)
    explained = _explained(
        "cubic",
        rtt=f"{rtt_ms}ms",
        rate=f"{draw.randint(100, 400)}Mbit/s",
        sessions=count,
        response=f"{draw.randint(2, 9)}kB",
    )
    (cubic,) = explained.ccas
    first = cubic.causes[0]
    assert first.name == "response_round_trips"
    assert f"a round trip of {rtt_ms} ms: {count} sessions with a request at a time" in first.text
    rate = re.search(r"get ([\d.]+) responses a second", first.text)
    assert rate is not None
    assert float(rate[1]) == pytest.approx(count / (rtt_ms / 1e3), rel=0.05)
    assert "No CCA takes less" in first.text
    explained.try_remedies(TrialBudget())
    (more,) = (each for each in explained.remedies if "count=" in each.options)
    assert more.options == f"--cca cubic --set flows.0.count={2 * count}"
    gain = re.search(r"cubic goodput .* \(\+(\d+) %\)", more.trial)
    assert gain is not None
    assert 90 <= int(gain[1]) <= 110
    assert any("response=" in each.options for each in explained.remedies)


def test_sessions_with_an_end_have_their_time() -> None:
    first = _explained("cubic", response="5kB", count=200).ccas[0].causes[0]
    time_s = re.search(r"\(800 in ([\d.]+) s\)", first.text)
    assert time_s is not None
    assert float(time_s[1]) == pytest.approx(200 * 0.08, rel=0.05)


@pytest.mark.parametrize("changes", [{"gap": "1s"}, {"rate": "1Mbit/s"}, {"response": "2MB"}])
def test_pauses_slow_links_and_large_responses_are_no_round_trips(changes: dict[str, Any]) -> None:
    explained = _explained("cubic", **{"response": "5kB", **changes})
    assert not any(each.name == "response_round_trips" for each in explained.ccas[0].causes)


@pytest.mark.parametrize("seed", range(2))
def test_bbr_is_slow_where_it_paces_responses_and_no_other_cca_is(seed: int) -> None:
    draw = random.Random(seed)
    explained = _explained(
        *("cubic", "bbr"),
        rtt=f"{draw.randint(60, 120)}ms",
        rate="400Mbit/s",
        response=f"{draw.randint(18, 30)}kB",
    )
    cubic, bbr = ({each.name: each.text for each in cca.causes} for cca in explained.ccas)
    assert "paced_responses" not in cubic
    assert "BBR paces each at the rate of earlier ones" in bbr["paced_responses"]
    assert "under cubic" in bbr["paced_responses"]


@pytest.mark.parametrize("seed", range(3))
def test_a_response_has_its_least_time_and_one_window_gives_it(seed: int) -> None:
    """After pauses CUBIC has its initial window, and BBR the rate of earlier responses."""
    draw = random.Random(seed)
    rtt_ms, rate, size = draw.randint(150, 300), draw.randint(15, 40), draw.randint(45, 100)
    explained = _explained(
        *("cubic", "bbr"),
        rtt=f"{rtt_ms}ms",
        rate=f"{rate}Mbit/s",
        sessions=1,
        response=f"{size}kB",
        think="10ms",
        gap="3s",
    )
    (note,) = (each for each in explained.notes if "needs at least" in each)
    least_ms = float(re.findall(r"needs at least ([\d.]+) ms", note)[0])
    assert least_ms == pytest.approx(rtt_ms + 10 + 8 * size / (rate * 1448 / 1500), rel=0.01)
    units = explained.comparison.units
    shortest_s = units.loc[units["unit"] == "response", "duration_s"].min()
    assert least_ms <= 1.001e3 * shortest_s
    cubic, bbr = ({each.name: each.text for each in cca.causes} for cca in explained.ccas)
    assert "idle_restart" in cubic
    assert "and the path alone" in bbr["paced_responses"]
    explained.try_remedies(TrialBudget())
    (window,) = (each for each in explained.remedies if "initial_window=" in each.options)
    assert int(window.options.rpartition("=")[2]) == pytest.approx(size / 1.448, abs=1)
    # The first response has the handshake, too.
    (mean, unit) = re.findall(r"response mean \S+ to ([\d.]+) (m?s)", window.trial)[0]
    mean_ms = float(mean) * (1 if unit == "ms" else 1e3)
    assert least_ms < mean_ms < least_ms + rtt_ms / 3


def test_the_least_time_of_a_response_of_several_sessions_is_that_of_one_alone() -> None:
    """Responses that start together share the capacity, which the least time of one does not have."""
    sizes = {"response": "32kB", "think": "1ms", "gap": "500ms"}
    for sessions, alone in ((1, ""), (20, " alone on the path")):
        explained = _explained("cubic", rtt="5ms", rate="100Mbit/s", sessions=sessions, **sizes)
        (note,) = (each for each in explained.notes if "needs at least" in each)
        assert note.startswith(f"a response of 32 kB{alone} needs at least ")


@pytest.mark.parametrize("seed", range(2))
def test_a_least_time_has_no_part_that_is_far_below_its_digits(seed: int) -> None:
    size = random.Random(seed).randint(40, 400)
    changes: dict[str, Any] = {
        "path.loss": 0.01,
        "path.uplink_loss": 0.01,
        "flows.0.workload": {
            "kind": "request-response",
            "request": "20B",
            "response": f"{size}B",
            "think": "0ms",
            "gap": "100ms",
        },
    }
    result = ct.compare("steady-20-68", "cubic", 2, duration="120s", set=changes)
    # Lost segments may make the mean segment shorter than a response, which has no further bytes.
    notes = [each for each in ExplainedComparison(result).notes if "needs at least" in each]
    assert all(re.search(r"under every CCA: an RTT of \S+ ms$", each) for each in notes), notes


def test_responses_of_a_link_that_varies_have_no_least_time() -> None:
    changes = {
        "path.down": {"steps": [{"at": f"{n}s", "rate": f"{5 + 9 * (n % 2)}Mbit/s"} for n in range(9)]},
        "flows.0.workload": {"kind": "request-response", "response": "60kB", "gap": "1s"},
    }
    explained = ExplainedComparison(ct.compare("steady-20-68", "cubic", 1, duration="9s", set=changes))
    assert not any("needs at least" in each for each in explained.notes)


@pytest.mark.parametrize("seed", range(3))
def test_responses_larger_than_the_window_after_a_pause_take_a_further_round_trip(seed: int) -> None:
    """Of 14 to 25 segments, 10 go at once; the window shrinks to that in pauses longer than an RTO."""
    draw = random.Random(seed)
    rtt = draw.choice([60, 80, 120])
    size = draw.randint(20, 36)
    settings: dict[str, Any] = {"rtt": f"{rtt}ms", "sessions": 1, "think": "10ms", "gap": "3s"}
    explained = _explained("cubic", **settings, response=f"{size}kB")
    names = {"window_round_trips", "idle_restart"}
    (cause,) = [each for each in explained.ccas[0].causes if each.name in names]
    segments = math.ceil(1000 * size / explained.ccas[0].mss)
    # Where the window grows and shrinks again, that is the reason.
    if cause.name == "window_round_trips":
        assert f"its {segments} segments are more than the window with which it begins" in cause.text
        assert cause.text.endswith(f"the rest takes a further round trip of {rtt} ms.")
    explained.try_remedies(TrialBudget())
    changes = {each.remedy.changes for each in explained.remedies}
    assert {("tcp.slow_start_after_idle=false",), (f"tcp.initial_window={segments}",)} & changes
    # One that the window holds has no such cause.
    small = _explained("cubic", **settings, response="12kB")
    assert not any(each.name in names for each in small.ccas[0].causes)


def test_responses_of_sizes_that_vary_have_further_round_trips_as_their_reason() -> None:
    """Lognormal sizes with a median of 11 segments; a lost one in a hundred is a reason of its own."""
    result = ct.compare(
        "steady-20-68",
        "cubic",
        6,
        duration="120s",
        set={
            "path.rtt": "120ms",
            "path.down": "50Mbit/s",
            "path.loss": 0.01,
            "flows.0.workload": {
                "kind": "request-response",
                "request": "500B",
                "response": {"kind": "lognormal", "median": "15kB", "sigma": 0.7},
                "gap": "2s",
            },
        },
    )
    explained = ExplainedComparison(result)
    assert "segments on average are more than the window" in explained.ccas[0].cause_text(
        "window_round_trips"
    )
    (slow,) = [each for each in explained.ccas[0].causes if each.name == "slow_units"]
    assert "were larger than the window, and took further round trips" in slow.text
    assert "other reasons" not in slow.text
    explained.try_remedies(TrialBudget())
    assert any("tcp.slow_start_after_idle=false" in each.options for each in explained.remedies)


def test_more_sessions_share_a_given_number_of_requests() -> None:
    """Forty requests in two sessions are twenty in each."""
    explained = _explained("cubic", sessions=1, response="1kB", count=40)
    explained.try_remedies(TrialBudget())
    changes = [each.remedy.changes for each in explained._all_remedies]
    assert ("flows.0.count=2", "flows.0.workload.count=20") in changes


@pytest.mark.parametrize("seed", range(2))
def test_jitter_is_no_queue_and_hides_no_further_round_trip(seed: int) -> None:
    """The window of each response is too small, whatever jitter adds to its round trips."""
    draw = random.Random(seed)
    rtt_ms, jitter_ms = draw.randint(60, 120), draw.randint(12, 25)
    size = draw.randint(17, 26)
    changes = {
        "path": {
            "rtt": f"{rtt_ms}ms",
            "down": {"rate": "30Mbit/s"},
            "up": {"rate": "10Mbit/s"},
            "loss": 0.005,
            "wired": [
                {"name": "wan", "jitter": {"distribution": "exponential", "mean": f"{jitter_ms}ms"}}
            ],
        },
        "flows.0.workload": {"kind": "request-response", "response": f"{size}kB", "gap": "3s"},
    }
    explained = ExplainedComparison(
        ct.compare("steady-20-68", "cubic", 2, duration="400s", set=changes)
    )
    causes = {each.name: each for each in explained.ccas[0].causes}
    (cause,) = (causes[each] for each in ("window_round_trips", "idle_restart") if each in causes)
    if cause.name == "window_round_trips":
        assert "with its jitter" in cause.text
        assert "a further round trip" in cause.text
    assert IN_QUEUE not in causes["slow_units"].reasons
    explained.try_remedies(TrialBudget())
    fields = {each.remedy.changes[0].partition("=")[0] for each in explained.remedies}
    assert fields & {"tcp.initial_window", "tcp.slow_start_after_idle"}
