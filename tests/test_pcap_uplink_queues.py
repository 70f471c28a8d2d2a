"""Captures at a phone that uploads: its requests and ACKs wait in the queue of its own uplink."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse

#: Parts of the time of responses.
_PARTS = ["server_s", "uplink_queue_s"]


def _captured(folder: Path, workload: str, seed: int, uploads: bool = True) -> CaptureAnalyses:
    """Returns the analysis of a capture at a phone on a drawn path, with an upload of it or without."""
    draw = random.Random(f"uplink {seed}")
    scenario = folder / "x.toml"
    scenario.write_text(
        f'duration = "30s"\n[path]\nrtt = "{draw.choice([20, 50, 90])}ms"\n'
        f'down = "{draw.choice([20, 50])}Mbit/s"\nup = "{draw.choice([2, 5])}Mbit/s"\n'
        f'buffer = "300packets"\nuplink_buffer = "{draw.choice([100, 200, 300])}packets"\n'
        f'[[flows]]\nname = "calls"\nworkload = {workload}\n'
        + '[[flows]]\nname = "backup"\nfrom = "phone"\nto = "server"\nopens = "from"\n'
        * uploads
    )
    ct.run(scenario, "cubic", seed, pcap=folder / "x.pcap", pcap_at="phone", samples="off")
    return analyse(folder / "x.pcap")


def _calls(think_ms: int) -> str:
    return (
        '{ kind = "request-response", request = "500B", response = "10kB", gap = "50ms", '
        f'think = "{think_ms}ms" }}'
    )


@pytest.mark.parametrize("think_ms", [2, 60, 300])
@pytest.mark.parametrize("seed", range(2))
def test_the_time_of_a_server_is_what_remains_beside_the_uplink_queue_of_its_client(
    tmp_path: Path, seed: int, think_ms: int
) -> None:
    analyses = _captured(tmp_path, _calls(think_ms), seed)
    responses = analyses.units[analyses.units["unit"] == "response"]
    (upload,) = analyses.connections.loc[analyses.connections["direction"] == "up"].to_dict("records")
    queue_ms = upload["far_rtt_p50_ms"] - upload["far_rtt_min_ms"]
    # Waits in it are known but for the change of the RTT in an interval; the down link adds some ms.
    error_ms = 15 + 0.05 * queue_ms
    assert 1e3 * responses["server_s"].median() == pytest.approx(think_ms, abs=error_ms)
    assert 1e3 * responses["uplink_queue_s"].median() == pytest.approx(queue_ms, rel=0.25)
    causes = responses.loc[responses["delayed_by"] != "", "delayed_by"].value_counts()
    assert causes.index[0] == "uplink queue"
    calls = analyses.connections[analyses.connections["direction"] == "down"].iloc[0]
    server_s = len(responses) * think_ms / 1e3
    assert calls["turns_down_s"] == pytest.approx(server_s, abs=len(responses) * error_ms / 1e3)
    assert ("for the application of the server" in calls["diagnosis"]) == (
        calls["turns_down_s"] >= 0.3 * calls["duration_s"]
    )


def test_without_an_upload_a_server_has_all_of_its_time(tmp_path: Path) -> None:
    analyses = _captured(tmp_path, _calls(300), 0, uploads=False)
    assert (analyses.units["uplink_queue_s"] == 0).all()
    assert analyses.units["server_s"].median() == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_a_request_that_the_uplink_drops_is_a_loss_and_no_pause_of_the_server(
    tmp_path: Path, seed: int
) -> None:
    """Objects of pages come at once, and their server, which takes 10 ms, never pauses."""
    page = '{ kind = "page", document = "30kB", objects = 20, object = "28kB", depth = 2, gap = "1s" }'
    analyses = _captured(tmp_path, page, seed)
    pages = analyses.connections[analyses.connections["direction"] == "down"]
    assert not pages["diagnosis"].str.contains("application").any()
    lost = pages[(pages["losses_tail"] > 0) & (pages["timeouts"] > 0)]
    assert lost["diagnosis"].str.contains("lost on the way to the server").any() == (len(lost) > 0)
    responses = analyses.units[analyses.units["unit"] == "response"]
    assert not responses["delayed_by"].str.contains("pause|^server", regex=True).any()
    assert responses[_PARTS].sum().idxmax() == "uplink_queue_s"


def test_acks_of_a_download_wait_in_the_queue_of_the_upload_as_long_as_its_segments(
    tmp_path: Path,
) -> None:
    analyses = _captured(tmp_path, '{ kind = "bulk" }', 1)
    rows = analyses.connections.set_index("direction")
    assert (
        f"packets of the client wait in the queue that connection {rows['connection']['up']} fills"
        in (rows["diagnosis"]["down"])
    )
    wait_ms = float(rows["diagnosis"]["down"].split("in the median they wait ")[1].split(" ms")[0])
    queue_ms = rows["far_rtt_p50_ms"]["up"] - rows["far_rtt_min_ms"]["up"]
    assert wait_ms == pytest.approx(queue_ms, rel=0.25)
