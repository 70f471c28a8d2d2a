"""Captures at a phone that uploads: its requests and ACKs wait in the queue of its own uplink."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.diagnosis.losses import unclear_losses
from celltcp.pcap.next_steps import next_steps
from celltcp.pcap.shared_path import left_out_text
from made_up_evidence import evidence, loss

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


def _beside_another_host(
    folder: Path, seed: int, queue_ms: int, page_s: float, upload_s: float
) -> CaptureAnalyses:
    """Returns the analysis of pages at a PC, beside a laptop that fills the buffer of the uplink."""
    rtt_ms = random.Random(f"another host {seed}").choice([20, 30, 60])
    scenario = folder / "x.toml"
    lans = [
        f'{{ name = "lan-{host}", from = "phone", to = "{host}", rate = "300Mbit/s", delay = "1ms" }}'
        for host in ("pc", "laptop")
    ]
    scenario.write_text(
        f'duration = "60s"\nlinks = [{", ".join(lans)}]\n[path]\nrtt = "{rtt_ms}ms"\n'
        'down = "40Mbit/s"\nup = "8Mbit/s"\nbuffer = "200packets"\n'
        f'uplink_buffer = "{queue_ms}ms"\n[[flows]]\nname = "web"\nto = "pc"\n'
        f'start = "{page_s}s"\n'
        'workload = { kind = "page", document = "40kB", objects = 30, object = "32kB", count = 4, '
        'multiplexed = true, gap = "4s", think = "10ms" }\n[[flows]]\nname = "upload"\n'
        f'from = "laptop"\nto = "server"\nopens = "from"\nstart = "{upload_s}s"\n'
    )
    ct.run(scenario, "cubic", seed, pcap=folder / "x.pcap", pcap_at="pc", samples="off")
    return analyse(folder / "x.pcap")


@pytest.mark.parametrize("seed", range(4))
def test_requests_wait_in_the_queue_that_another_host_of_the_access_fills(
    tmp_path: Path, seed: int
) -> None:
    """Its upload is not in the capture. A page before it shows the lowest RTT of later connections."""
    queue_ms = [300, 500, 700, 400][seed]
    analyses = _beside_another_host(tmp_path, seed, queue_ms, page_s=1, upload_s=4)
    rows = analyses.connections[analyses.connections["start_ns"].diff().cumsum() > 8e9]
    assert len(rows) >= 2
    for row in rows.to_dict("records"):
        # CUBIC drains the queue to 70 % with each loss.
        excess_ms = row["near_rtt_p50_ms"] - row["near_rtt_min_ms"]
        assert excess_ms > 0.6 * queue_ms
        # Where its own RTTs hardly differ, nothing shows whose queue it is.
        pattern = r"a queue stands on the path of the (?:data or of the )?ACKs: .* wait ([\d.]+) ms"
        (wait_ms,) = re.findall(pattern, row["diagnosis"])
        assert "which may have a queue, too" not in row["diagnosis"]
        # Medians over packets and over samples differ while the queue grows.
        assert float(wait_ms) == pytest.approx(excess_ms, rel=0.2, abs=10)
    units = analyses.units[analyses.units["connection"].isin(rows["connection"])]
    first = units[units["first_byte_s"] > 0.5 * queue_ms / 1e3]
    assert 1e3 * first["server_s"].median() == pytest.approx(10, abs=15 + 0.05 * queue_ms)
    slow = units.loc[units["delayed_by"] != "", "delayed_by"]
    assert slow.str.contains("queue").mean() > 0.6
    assert not slow.isin(["server", "further round trip"]).any()
    # The first page is quick; the path of the others was not its path.
    (step,) = next_steps(analyses)
    number = analyses.connections["connection"][analyses.connections["download_s"].idxmax()]
    assert f"connection {number} wait" in step
    assert "fq_codel or CAKE" in step
    left_out = left_out_text(analyses.connections, analyses.connections.iloc[0].to_dict(), [])
    assert "slower (up to " in left_out


@pytest.mark.parametrize("seed", range(3))
def test_the_lowest_rtt_of_a_path_whose_queue_never_empties_may_have_a_queue(
    tmp_path: Path, seed: int
) -> None:
    """The queue grows as the first connection begins, and CUBIC never drains it."""
    analyses = _beside_another_host(tmp_path, seed, 700, page_s=5, upload_s=0)
    rows = analyses.connections
    named = rows[rows["diagnosis"].str.contains("a queue stands on the path of the ACKs")]
    assert len(named)
    assert named["diagnosis"].str.contains("which may have a queue, too").all()


def test_lost_requests_have_the_rtts_to_their_server() -> None:
    """Beside the client, RTTs to the receiver of the data are those of the host itself: zero."""
    own = evidence(
        loss(5.0, 733.0, 1.0, count=7, up=1, is_upstream=0),
        place="receiver",
        far_rtt_min_ms=0.0,
        far_rtt_p50_ms=0.0,
        far_rtt_p95_ms=0.0,
        near_rtt_samples=500,
        near_rtt_min_ms=290.0,
        near_rtt_p50_ms=640.0,
        near_rtt_p95_ms=737.0,
    )
    (episode,) = own.episodes
    assert (episode.lowest_ms, episode.delay_ms) == (290.0, 443.0)
    text = str(unclear_losses(own))
    assert text.startswith("7 segments of the client were lost in bursts, most likely in a full queue")
    assert "the RTT was 733 ms then, and 290 ms at least" in text
