"""Logs of a sender whose congestion window shows a full queue: its rate is the capacity."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

import celltcp as ct
from celltcp.logs.full_queue import full_queue
from reading_logs import read

if TYPE_CHECKING:
    from celltcp.logs.log import Log
    from celltcp.logs.recording import Recording
    from conftest import Celltcp

#: Writes of iperf3, bytes.
_BLOCK = 128 << 10


def _report(cca: str, changes: dict[str, object], seed: int, *, as_json: bool = False) -> str:
    """Returns the report of a client of iperf3 that uploads for 30 s, a row a second."""
    run = ct.run("steady-20-68", cca, duration="30s", seed=seed, samples="off", set=changes)
    slots = run.slots
    rows = slots.groupby(np.floor(slots["t_s"] + 1e-6)).agg(
        delivered=("delivered_bytes", "sum"),
        again=("retransmissions", "sum"),
        cwnd=("cwnd", "last"),
        flight=("inflight", "last"),
        rtt=("rtt_mean_ms", "mean"),
    )
    # The program writes whole blocks, and what is in flight was written, too.
    written = np.floor((rows["delivered"].cumsum() + 1448 * rows["flight"]) / _BLOCK).diff().fillna(1)
    bps = 8 * _BLOCK * written
    bps.iloc[0] = 8 * (rows["delivered"].iloc[0] + 1448 * rows["flight"].iloc[0])
    windows = 1448.0 * rows["cwnd"].astype(float)
    mean_bps = 8 * float(rows["delivered"].sum()) / 30
    if as_json:
        sums = [
            {"start": n, "end": n + 1, "bits_per_second": bps[n], "retransmits": int(rows["again"][n])}
            for n in rows.index
        ]
        streams = [
            {"snd_cwnd": float(windows[n]), "rtt": 1e3 * float(rows["rtt"][n])} for n in rows.index
        ]
        return json.dumps(
            {
                "start": {"connecting_to": {}, "test_start": {"protocol": "TCP", "reverse": 0}},
                "intervals": [
                    {"sum": {"sender": True, **of_sum}, "streams": [stream]}
                    for of_sum, stream in zip(sums, streams, strict=True)
                ],
                "end": {
                    "sum_received": {"bits_per_second": mean_bps},
                    "streams": [{"sender": {"min_rtt": 1e3 * float(run.flows["rtt_min_ms"].iloc[0])}}],
                },
            }
        )
    lines = ["Connecting to host 10.0.0.2, port 5201"]
    lines += [
        f"[  5]   {n:.2f}-{n + 1:.2f}   sec  1.00 MBytes  {bps[n] / 1e6:.2f} Mbits/sec  "
        f"{rows['again'][n]:.0f}   {windows[n] / 1024:.1f} KBytes"
        for n in rows.index
    ]
    lines.append(f"[  5]   0.00-30.10  sec  1.00 MBytes  {mean_bps / 1e6:.2f} Mbits/sec  receiver")
    return "\n".join(lines)


def _log(folder: Path, text: str) -> Log:
    return read(folder, text, "up.json" if text.startswith("{") else "up.txt")


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("seed", range(1, 5))
def test_a_window_that_does_not_change_the_rate_shows_the_buffer(
    seed: int, as_json: bool, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    mbps, rtt_ms, buffer = draw.randint(10, 80), draw.randint(4, 40), draw.randint(150, 600)
    changes = {
        "path.down": f"{mbps}Mbit/s",
        "path.rtt": f"{rtt_ms}ms",
        "path.buffer": f"{buffer}packets",
    }
    log = _log(tmp_path, _report(draw.choice(["cubic", "reno"]), changes, seed, as_json=as_json))
    assert "its rate is the capacity" in log.summary
    assert log.held_back_reason is None
    assert log.overflow_window is not None
    in_path = mbps * 125 * rtt_ms / 1500
    assert log.overflow_window / 1448 - in_path == pytest.approx(buffer, rel=0.15)


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("seed", range(1, 7))
def test_a_window_that_random_losses_keep_small_shows_no_queue(
    seed: int, as_json: bool, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    mbps, rtt_ms, loss = draw.randint(40, 100), draw.randint(40, 200), 10 ** draw.uniform(-4.5, -2)
    changes = {"path.down": f"{mbps}Mbit/s", "path.rtt": f"{rtt_ms}ms", "path.loss": loss}
    log = _log(tmp_path, _report(draw.choice(["cubic", "reno"]), changes, seed, as_json=as_json))
    assert log.overflow_window is None
    assert "its rate is the capacity" not in log.summary


@pytest.mark.parametrize("seed", [1, 2])
def test_windows_of_parallel_streams_are_summed(seed: int, tmp_path: Path) -> None:
    """Halves of one stream, as two streams and their sum."""
    changes = {"path.down": "40Mbit/s", "path.rtt": "10ms", "path.buffer": f"{200 * seed}packets"}
    whole = _report("cubic", changes, seed)
    lines = []
    for line in whole.splitlines():
        match = re.match(r"\[  5\]( .* sec .*MBytes)  (\S+) Mbits/sec  (\d+)   (\S+) KBytes", line)
        if match is None:
            lines.append(line.replace("[  5]", "[SUM]"))
            continue
        head, rate, again, window = match.groups()
        half = f"{head}  {float(rate) / 2:.3f} Mbits/sec  {again}   {float(window) / 2:.2f} KBytes"
        lines += [f"[  5]{half}", f"[  7]{half}", f"[SUM]{head}  {rate} Mbits/sec  {again}"]
    one, two = _log(tmp_path, whole), _log(tmp_path, "\n".join(lines))
    assert one.overflow_window is not None
    assert two.overflow_window == pytest.approx(one.overflow_window, rel=0.01)
    assert "its rate is the capacity" in two.summary


def test_intervals_of_the_receiver_have_the_windows_of_the_sender(tmp_path: Path) -> None:
    changes = {"path.down": "40Mbit/s", "path.rtt": "10ms", "path.buffer": "300packets"}
    sent = _report("cubic", changes, 1)
    arrived = [f"[  5]   {n}.00-{n + 1}.00   sec  1.00 MBytes  38.5 Mbits/sec" for n in range(30)]
    arrived.append("[  5]   30.00-30.04   sec  0.10 MBytes  38.5 Mbits/sec")
    log = _log(tmp_path, "\n".join([sent, "Server output:", *arrived]))
    assert "intervals of the receiver" in log.summary
    assert "its rate is the capacity" in log.summary
    assert log.held_back_reason is None


def test_compare_takes_the_buffer_from_the_window(tmp_path: Path, celltcp: Celltcp) -> None:
    changes = {"path.down": "60Mbit/s", "path.rtt": "4ms", "path.buffer": "500packets"}
    file = tmp_path / "up.txt"
    file.write_text(_report("cubic", changes, 1))
    options = ["compare", str(file), "--cca", "cubic", "--runs", "1", "--duration", "2s"]
    printed = celltcp(*options, "--set", "path.rtt=4ms").stderr
    found = re.search(r"^path\.buffer=(\d+)packets, from the log's Cwnd", printed, re.M)
    assert found is not None
    assert int(found[1]) == pytest.approx(500, rel=0.1)
    assert "does not show the capacity" not in printed
    assert f"path.uplink_buffer={found[1]}packets" in printed
    printed = celltcp(*options, "--set", "path.buffer=90kB").stderr
    assert "from the log's Cwnd" not in printed


def test_a_test_without_a_rate_shows_no_queue() -> None:
    rows = np.array([40.0, 60.0, 80.0, 100.0] * 5)
    stalled = SimpleNamespace(
        windows=rows, retransmissions=(rows == 100).astype(float), values=0 * rows, rtt_ms=None
    )
    assert full_queue(cast("Recording", stalled)) is None
