"""celltcp traces."""

from pathlib import Path

import celltcp as ct


def test_a_generated_trace_is_described_converted_and_drawn(celltcp, tmp_path: Path) -> None:
    options = ("--mean", "12", "--duration", "60", "--outage-interval", "10", "--seed", "4")
    assert celltcp("traces", "generate", "x.csv", *options).returncode == 0
    assert celltcp("traces", "convert", "x.csv", "x.down").returncode == 0
    rates = ct.Trace.read(str(tmp_path / "x.csv"))
    opportunities = ct.Trace.read(str(tmp_path / "x.down"))
    assert abs(rates.mean_mbps / opportunities.mean_mbps - 1) < 0.02
    assert rates.longest_gap_s > 0
    described = celltcp("traces", "info", "x.down").stdout
    assert "longest gap" in described
    assert "50 % of 1 s bins" in described
    assert celltcp("traces", "plot", "x.down").returncode == 0
    assert (tmp_path / "x.down.png").stat().st_size > 5_000


def test_a_seed_is_a_trace() -> None:
    first, again, other = (ct.Trace.generate(10, 0.5, 2, 0, 1, 10, seed) for seed in (1, 1, 2))
    assert first.to_csv() == again.to_csv() != other.to_csv()
