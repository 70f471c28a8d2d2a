"""Logs of iperf3's sender over a link with outages: waits for time-outs are no data in the buffer."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from celltcp.cli import celltcp as commands
from celltcp.logs.log import Log
from reading_logs import read


class _Test:
    """Drawn test with seconds without writes: an outage of the link, or a pause of the program."""

    def __init__(self, seed: int, *, is_outage: bool) -> None:
        draw = random.Random(seed)
        self.streams = draw.randint(1, 3)
        self.first, self.length = draw.randint(5, 12), draw.randint(1, 9)
        self.end = self.first + self.length
        self.again = draw.randint(1, 4) if is_outage else 0
        self.windows, self.rates = [], []
        mbps = draw.uniform(2, 80)
        for second in range(30):
            is_idle = self.first <= second < self.end
            self.rates.append(0.0 if is_idle else mbps * draw.uniform(0.9, 1.1))
            steady = 1448 * draw.randint(180, 200)
            self.windows.append(1448 if is_idle and is_outage else steady)

    def _retransmissions(self, second: int) -> int:
        lost = 60 if self.again else 0
        return {self.first: self.again, self.end: lost}.get(second, 0)

    def text(self) -> str:
        """Returns the log as text, with a sum of parallel streams."""
        lines = ["Connecting to host phone, port 5201"]
        for second, (rate, window) in enumerate(zip(self.rates, self.windows, strict=True)):
            head = f"{second}.00-{second + 1}.00   sec  1.00 MBytes"
            again = self._retransmissions(second)
            lines += [
                f"[  {5 + 2 * stream}]  {head}  {rate:.2f} Mbits/sec  {again}  "
                f"{window / 1024:.3g} KBytes"
                for stream in range(self.streams)
            ]
            if self.streams > 1:
                count = self.streams * again
                lines.append(f"[SUM]  {head}  {self.streams * rate:.2f} Mbits/sec  {count}")
        return "\n".join(lines)

    def json(self) -> str:
        """Returns the log as JSON."""
        intervals: list[dict[str, Any]] = []
        for second, (rate, window) in enumerate(zip(self.rates, self.windows, strict=True)):
            more = {"retransmits": self.streams * self._retransmissions(second), "sender": True}
            total = self.streams * rate * 1e6
            intervals.append(
                {
                    "streams": [{"snd_cwnd": window, "sender": True}] * self.streams,
                    "sum": {"start": second, "end": second + 1, "bits_per_second": total, **more},
                }
            )
        start = {"connecting_to": {}, "tcp_mss_default": 1448, "test_start": {"protocol": "TCP"}}
        return json.dumps({"start": start, "intervals": intervals, "end": {}})

    def log(self, folder: Path, *, is_text: bool) -> Log:
        """Returns the log as celltcp reads it."""
        name = "sender.txt" if is_text else "sender.json"
        return read(folder, self.text() if is_text else self.json(), name)


@pytest.mark.parametrize("is_text", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_waits_for_timeouts_stay_without_data(seed: int, is_text: bool, tmp_path: Path) -> None:
    test = _Test(seed, is_outage=True)
    log = test.log(tmp_path, is_text=is_text)
    assert (log.bps == 0).tolist() == [rate == 0 for rate in test.rates]
    assert log.bps.sum() == pytest.approx(test.streams * sum(test.rates) * 1e6, rel=0.01)
    assert f"nothing arrived from {test.first}.0 to {test.end}.0 s (Cwnd of one segment" in log.summary
    assert f"{test.length / 2:.1f} to {test.length:.1f} s" in log.summary
    # What the outage lost is no sign of a congestion control that holds the rate back.
    assert "again" not in (log.held_back_reason or "")
    assert "no queue" not in (log.demand_reason or "")


@pytest.mark.parametrize("is_text", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_pauses_of_the_program_are_no_timeouts(seed: int, is_text: bool, tmp_path: Path) -> None:
    log = _Test(seed, is_outage=False).log(tmp_path, is_text=is_text)
    assert "time-out" not in log.summary


def test_the_direction_of_a_client_is_its_own_if_it_is_the_phone(tmp_path: Path) -> None:
    file = tmp_path / "sender.txt"
    file.write_text(_Test(0, is_outage=True).text())
    command = ["compare", str(file), "--cca", "cubic", "--runs", "1", "--duration", "2s"]
    warnings = CliRunner().invoke(commands, command).stderr
    assert (
        "during an upload, if iperf's client was the phone (otherwise --direction down): " in warnings
    )
    warnings = CliRunner().invoke(commands, [*command, "--direction", "down"]).stderr
    assert "upload" not in warnings
