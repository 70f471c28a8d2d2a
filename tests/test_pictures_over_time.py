"""Pictures over time: pauses, legends, line styles, units of work, and the lines of a run."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import celltcp as ct
from celltcp.comparison.plots.series import draw_comparison_series
from celltcp.comparison.plots.smoothing import window_of, with_pauses
from celltcp.present.palette import colours, lines, markers
from celltcp.present.style import dashes, draw_series, figure

LAB = """
name = "lab"
duration = "6s"
[path]
rtt = "20ms"
down = { rate = "10Mbit/s" }
[[flows]]
name = "bulk"
[[flows]]
name = "ping"
workload = { kind = "request-response", request = "64B", response = "64B", gap = "200ms" }
[[flows]]
name = "web"
workload = { kind = "page", document = "50kB", objects = 0, gap = "500ms" }
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("lab") / "lab.toml"
    file.write_text(LAB)
    return file


def test_no_two_lines_or_markers_of_a_picture_are_alike() -> None:
    for ccas in (
        ["cubic", "bbr", "reno", "vegas", "sprout"],
        ["cubic@none", "bbr@none", "cubic@split", "bbr@split", "cubic@es", "bbr@es"],
        [f"mine-{number}" for number in range(12)],
    ):
        assert len(set(map(str, lines(ccas).values()))) == len(ccas)
        assert len(set(markers(ccas).values())) == len(ccas)
        assert len(set(dashes(ccas).values())) == len(ccas)
    many = lines(f"mine-{number}" for number in range(30))
    assert max(list(map(str, many.values())).count(str(each)) for each in many.values()) == 3


def test_variants_of_a_cca_have_colours_far_from_each_other() -> None:
    shades = colours(["cubic@none", "cubic@split", "cubic@es"])
    parts = [np.array(mpl.colors.to_rgb(each)) for each in shades.values()]
    for place, one in enumerate(parts):
        assert all(np.abs(one - other).max() > 0.2 for other in parts[:place])


def test_a_pause_of_an_application_is_a_gap() -> None:
    times = [0.0, 0.1, 0.2, 2.0, 2.1, 2.2]
    table = pd.DataFrame(
        {
            "run": 0,
            "t_s": times,
            "goodput_mbps": 8.0,
            "capacity_mbps": 10.0,
            "rtt_mean_ms": 30.0,
        }
    )
    slots = with_pauses(table, 0.1)
    assert len(slots) == 23
    assert slots["rtt_mean_ms"].isna().sum() == 17
    runs = pd.DataFrame({"run": [0], "cca": ["cubic"], "seed": [1]})
    upper, lower = figure(6, 4).subplots(2, 1)
    window = window_of(table, 0.1)
    draw_comparison_series(upper, lower, runs, table, ["cubic"], None, 0.1, window)
    goodput, rtt = (axes.get_lines()[0].get_ydata() for axes in (upper, lower))
    assert set(goodput) == {0.0, 8.0}
    assert np.isnan(rtt).any()
    assert not upper.get_title(loc="left")
    # Bursts above the capacity are explained.
    burst = table.assign(goodput_mbps=[8.0, 0.0, 30.0, 8.0, 8.0, 8.0])
    draw_comparison_series(upper, lower, runs, burst, ["cubic"], None, 0.1)
    assert "above the capacity" in upper.get_title(loc="left")


def test_long_series_have_gaps_where_nothing_is_known() -> None:
    values = np.ones(6000)
    values[2000:4000] = np.nan
    axes = figure(4, 3).add_subplot()
    draw_series(axes, np.arange(6000.0), values, color="red")
    drawn = axes.get_lines()[0].get_ydata()
    assert np.isnan(drawn[110:190]).all()
    assert np.isfinite(drawn[:90]).all()


def test_a_run_has_units_of_other_flows_below_and_legends_beside_curves(lab: Path) -> None:
    picture = ct.run(lab).plot.time_series()
    assert len(picture.axes) == 5
    labels = [text.get_text() for axes in picture.axes for text in axes.get_legend().get_texts()]
    assert {"cwnd", "bottleneck queue", "ping: response time", "web: page load time"} <= set(labels)
    picture.canvas.draw()
    for axes in picture.axes:
        assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1


def test_connections_of_a_flow_are_one_line_and_all_units_are_drawn(celltcp, lab: Path) -> None:
    done = celltcp("run", str(lab), "--out", "one")
    named = [line for line in done.stdout.splitlines() if line.startswith("web (")]
    assert len(named) == 1
    assert " connections, " in named[0]
    assert "complete after" in named[0]
    assert sum("PM balanced" in line for line in done.stdout.splitlines()) == 2
    shown = celltcp("show", "one", "--plot", "units")
    assert shown.returncode == 0, shown.stderr


def test_windows_of_a_run_hold_until_the_next_ack() -> None:
    """A straight line from one ACK to the next, seconds later, shows windows that never were."""
    changes = {"path.rtt": "1s", "tcp.initial_window": 1}
    result = ct.run("steady-20-68", "reno", duration="6s", set=changes)
    panels = result.plot.time_series().axes
    held = {line.get_label(): line for each in panels for line in each.get_lines()}
    assert all(held[name].get_drawstyle() == "steps-post" for name in ("cwnd", "in flight"))
    assert held["srtt"].get_drawstyle() == "default"


def test_means_of_a_long_series_are_joined() -> None:
    axes = figure(4, 3).add_subplot()
    times = np.arange(100_000) / 1e3
    draw_series(axes, times, times % 7, drawstyle="steps-post")
    assert axes.get_lines()[0].get_drawstyle() == "default"
