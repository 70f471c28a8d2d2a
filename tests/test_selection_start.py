"""The choice after the handshake: the connection runs as if it had been there from the start."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from celltcp import compare

POLICY = """
name = "starts"
description = "Starts with one congestion control where the RTT is known, and stays with it."

[method.tree]
features = ["base_rtt"]

[[method.tree.trees]]
requirement = "balanced"
moment = "start"
nodes = [{{ cases = 1, take = ["{cca}"], parts = {{ {cca} = [1.0, 1.0, 1.0] }} }}]
"""


@pytest.mark.parametrize("cca", ["cdg", "bbr", "vegas"])
def test_a_connection_runs_as_if_its_first_choice_had_been_there_from_the_start(
    cca: str, tmp_path: Path
) -> None:
    file = tmp_path / "starts.toml"
    file.write_text(POLICY.format(cca=cca), encoding="utf-8")
    result = compare(
        "mobility/backward-300-low", cca=[cca, f"auto:policy={file}"], runs=2, duration="8s"
    )
    tables = result.results.tables
    causes = tables["decisions"]["cause"].to_pylist()
    assert causes == ["establishment", "establishment"] * 2
    slots = tables["slots"].to_pandas().drop(columns="cca")
    runs = [group.drop(columns="run").reset_index(drop=True) for _, group in slots.groupby("run")]
    assert runs[0]["goodput_mbps"].sum() > 0
    for alone, chosen in zip(runs[:2], runs[2:], strict=True):
        if cca == "bbr":
            # As in Linux, the buffer is sized at the handshake, where BBR asks for more than other CCAs
            # (tcp_bbr_cong_ops.sndbuf_expand), so the first bursts differ.
            assert chosen["goodput_mbps"].sum() == pytest.approx(alone["goodput_mbps"].sum(), rel=0.02)
            assert chosen["rtt_mean_ms"].mean() == pytest.approx(alone["rtt_mean_ms"].mean(), rel=0.1)
        else:
            pd.testing.assert_frame_equal(chosen, alone, check_exact=True)


WINDOW = """
name = "small"
description = "Starts small flows with 24 segments."

[initial_window]
segments = 24
largest_flow = 5.0
requirements = ["fct"]

[method.fixed]
cca = "cubic"
"""


def slots(cca: str, *changes: str) -> pd.DataFrame:
    """Slots of three transfers of 1 MB."""
    result = compare("stress/short-1m", cca=cca, runs=1, duration="3s", set=changes)
    return result.slots.drop(columns="cca")


@pytest.mark.parametrize(
    ("wanted", "segments"),
    [
        ("requirement=fct", 24),
        ("requirement=fct,flow_size=1MB", 24),
        ("requirement=fct,flow_size=6MB", 10),
        ("requirement=goodput,flow_size=1MB", 10),
    ],
)
def test_a_small_flow_starts_with_the_window_of_the_policy(
    wanted: str, segments: int, tmp_path: Path
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(WINDOW, encoding="utf-8")
    chosen = slots(f"auto:policy={file},{wanted}")
    pd.testing.assert_frame_equal(chosen, slots("cubic", f"tcp.initial_window={segments}"))


def test_a_larger_initial_window_of_the_scenario_remains(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(WINDOW, encoding="utf-8")
    larger = "tcp.initial_window=40"
    chosen = slots(f"auto:policy={file},requirement=fct", larger)
    pd.testing.assert_frame_equal(chosen, slots("cubic", larger))
