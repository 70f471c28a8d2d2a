"""Calls in captures at the server: what a response stood in a queue is no pause of the client."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.report import captures_part
from celltcp.scenarios.quantity_texts import time_text

#: Number of calls, whose ends a capture shows to 10 ms.
_CALLS = 12


def _calls(folder: Path, seed: int, gap: str) -> tuple[CaptureAnalyses, float, float]:
    """Returns the analysis of drawn calls beside a download, with sums of their pauses and times, s."""
    draw = random.Random(f"client pauses {seed}")
    scenario = folder / "calls.toml"
    scenario.write_text(
        f'duration = "30s"\n[path]\nrtt = "{draw.choice([20, 60])}ms"\n'
        f'down.rate = "{draw.choice([5, 10, 20])}Mbit/s"\nbuffer = "{draw.choice([100, 200])}packets"\n'
        '[[flows]]\nname = "calls"\nworkload = { kind = "request-response", request = "500B", '
        f'response = "{draw.choice([9, 30, 100])}kB", think = "5ms", gap = "{gap}", '
        f"count = {_CALLS} }}\n[[flows]]\n"
    )
    capture = folder / "x.pcap"
    run = ct.run(scenario, "cubic", seed, pcap=capture, pcap_at="server", samples="off")
    events = run.results.tables["events"].to_pandas()
    events = events[(events["kind"] == "response_s") & (events["flow"] == 0)]
    times_s = events["detail"].astype(float)
    ends_s = events["t_ns"] / 1e9
    return analyse(capture), float((ends_s - times_s - ends_s.shift()).sum()), float(times_s.sum())


@pytest.mark.parametrize("gap", ["0ms", "300ms", "1s"])
@pytest.mark.parametrize("seed", range(3))
def test_pauses_of_the_client_and_times_of_its_responses_are_the_time_of_its_calls(
    tmp_path: Path, seed: int, gap: str
) -> None:
    analyses, paused_s, answered_s = _calls(tmp_path, seed, gap)
    calls = analyses.connections.iloc[0]
    assert calls["turns_up_s"] == pytest.approx(paused_s, abs=0.01 * _CALLS)
    responses_s = analyses.units.loc[analyses.units["connection"] == 0, "duration_s"].sum()
    assert responses_s == pytest.approx(answered_s, abs=0.01 * _CALLS)
    rest_s = calls["duration_s"] - calls["turns_up_s"] - responses_s
    # The FIN takes an RTT.
    assert rest_s == pytest.approx(0, abs=0.1 + calls["far_rtt_p95_ms"] / 1e3)
    is_named = "for the application of the client" in calls["diagnosis"]
    assert is_named == (paused_s > 0.3 * calls["duration_s"])


def test_a_report_has_the_longest_response_first_and_pauses_of_the_client_in_no_finding(
    tmp_path: Path,
) -> None:
    analyses, paused_s, _ = _calls(tmp_path, 0, "1s")
    part = captures_part(analyses)
    longest_s = analyses.units.loc[analyses.units["connection"] == 0, "duration_s"].max()
    first, *_, waits = part.findings
    assert first.question == f"Longest of {_CALLS} responses"
    assert first.answer == time_text(longest_s)
    assert float(waits.answer.removesuffix(" s")) < 0.1 * paused_s
    assert part.sections[0].title == "Times of units of work"
