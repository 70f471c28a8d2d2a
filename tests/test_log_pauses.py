"""Logs in which another test, such as a ping, stops the load now and then."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from celltcp.logs.log import Log, read_log

#: Names of the columns of a ping, and texts of rows without one.
_NAMES, _MISSING = ("PINGAVG", "ping_ms", "avg_rtt_ms", "PingAvg"), ("", "-", "NaN")


def _log(
    path: Path, seed: int, *, stops: bool = True, name: str | None = None, run: str | None = None
) -> tuple[Log, str]:
    """Reads a drawn log whose rates fall in rows with a ping, if it stops the load; and its column."""
    draw = random.Random(seed)
    column = name or draw.choice(_NAMES)
    period, missing, step = draw.randint(5, 20), draw.choice(_MISSING), draw.choice([1, 0.5])
    mean, rtt_ms = draw.choice([2e3, 4e4]), draw.randint(30, 200)
    lines = [f"time_s,dl_kbps,{column}"]
    for row in range(20 * period):
        rate = mean * draw.uniform(0.5, 1.5)
        has_ping = row % period == period - 1
        rate *= draw.uniform(0, 0.08) if has_ping and stops else 1
        lines.append(f"{row * step},{rate:.0f},{rtt_ms + draw.randint(0, 9) if has_ping else missing}")
    path.write_text("\n".join(lines) + "\n")
    return read_log(path, {"run": f"{column}=-"} if run else {}, "down"), column


@pytest.mark.parametrize("seed", range(1, 9))
def test_pings_that_stop_the_load_are_told_and_left_out(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "log.csv"
    log, column = _log(path, seed)
    assert f"in 20 rows with a value of {column} the rate is" in str(log.held_back_reason)
    assert f"--run {column}=- leaves them out" in str(log.held_back_reason)
    assert log.base_rtt_ms is not None
    left_out, _ = _log(path, seed, run="-")
    assert left_out.held_back_reason is None
    # The rows stay for their RTTs.
    assert left_out.base_rtt_ms == log.base_rtt_ms
    assert left_out.bps.min() > 5 * log.bps.min()


@pytest.mark.parametrize("seed", range(1, 5))
def test_pings_beside_the_load_are_no_pauses(tmp_path: Path, seed: int) -> None:
    log, _ = _log(tmp_path / "log.csv", seed, stops=False)
    assert log.held_back_reason is None
    assert log.base_rtt_ms is not None


@pytest.mark.parametrize("seed", range(1, 5))
def test_low_rows_at_one_period_are_told(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    period = draw.randint(5, 20)
    rates = [draw.uniform(20, 60) * (row % period > 0 or 0.05) for row in range(30 * period)]
    path = tmp_path / "log.csv"
    path.write_text("time_s,rate_mbps\n" + "".join(f"{s},{rate:.2f}\n" for s, rate in enumerate(rates)))
    reason = read_log(path, {}, "down").held_back_reason
    assert f"about each {period}th row" in str(reason)
    draw.shuffle(rates)
    path.write_text("time_s,rate_mbps\n" + "".join(f"{s},{rate:.2f}\n" for s, rate in enumerate(rates)))
    assert read_log(path, {}, "down").held_back_reason is None


def test_rows_of_another_test_are_told_but_no_losses(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    log, _ = _log(path, 3, name="web_test")
    assert "as where another test stops the load" in str(log.held_back_reason)
    log, _ = _log(path, 3, name="lost_packets")
    assert "a value of" not in str(log.held_back_reason)
