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
from workloads import DEEP_BUFFER, GAME

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
    # Means count the pause, in which goodput is zero.
    assert set(goodput) == {0.0, 4.0, 8.0}
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


@pytest.mark.parametrize("seed", range(5))
def test_panels_over_time_have_all_curves_up_to_the_end_of_the_longest_flow(seed: int) -> None:
    """One run ends early, the other one stalls at a drawn time; bursts exceed the capacity."""
    draw = np.random.default_rng(seed)
    ends, stall = (draw.integers(20, 60), draw.integers(100, 200)), int(draw.integers(30, 90))
    burst = draw.uniform(0.5, 2.8)
    tables = [
        pd.DataFrame(
            {
                "run": run,
                "t_s": np.arange(end) * 0.1,
                "goodput_mbps": np.where(np.arange(end) < stall, 10.0 * burst * draw.random(end), 0.0),
                "capacity_mbps": 10.0,
                "rtt_mean_ms": 30.0,
            }
        )
        for run, end in enumerate(ends)
    ]
    runs = pd.DataFrame({"run": [0, 1], "cca": ["cubic", "bbr"], "seed": [1, 1]})
    upper, lower = figure(6, 4).subplots(2, 1, sharex=True)
    draw_comparison_series(upper, lower, runs, pd.concat(tables), ["cubic", "bbr"], None, 0.1)
    assert upper.get_xlim() == pytest.approx((0.0, ends[1] * 0.1))
    assert upper.get_ylim()[0] == 0
    for line, end in zip(upper.get_lines(), ends, strict=True):
        assert len(line.get_xdata()) == end
        assert max(line.get_ydata()) <= upper.get_ylim()[1]
        # A stall is a line above the axis.
        assert line.get_zorder() > upper.spines["bottom"].get_zorder()
    (shade,) = (each for each in upper.collections if each.get_label() == "capacity")
    assert shade.get_paths()[0].get_extents().x1 == pytest.approx((ends[1] - 1) * 0.1)


def test_goodput_far_below_the_capacity_is_legible_and_the_capacity_is_said() -> None:
    table = pd.DataFrame(
        {"run": 0, "t_s": np.arange(50) * 0.1, "goodput_mbps": 0.003, "capacity_mbps": 5.0}
    ).assign(rtt_mean_ms=30.0)
    runs = pd.DataFrame({"run": [0], "cca": ["cubic"], "seed": [1]})
    upper, lower = figure(6, 4).subplots(2, 1)
    draw_comparison_series(upper, lower, runs, table, ["cubic"], None, 0.1)
    assert 0.003 < upper.get_ylim()[1] < 0.01
    assert upper.get_title(loc="left") == "the capacity, up to 5.00 Mbit/s, is far above"


@pytest.mark.parametrize("is_paced", [True, False])
def test_a_run_without_pacing_has_no_pacing_rate(is_paced: bool) -> None:
    changes = {"tcp.pacing": is_paced, "path.buffer": "50packets"}
    axes = ct.run("steady-20-68", "reno", duration="4s", set=changes).plot.time_series().axes[0]
    assert ("pacing rate" in [line.get_label() for line in axes.get_lines()]) == is_paced


def test_the_worst_unit_of_work_is_on_its_distribution_and_goodput_begins_at_zero() -> None:
    changes = {"flows.0.workload": GAME, "path.loss": "0.02", "path.uplink_loss": "0.02"}
    result = ct.compare("steady-20-68", "cubic", runs=2, duration="20s", set=changes)
    worst = float(result.units["duration_s"].max())
    assert result.plot.ecdf("response").axes[0].get_xlim()[1] >= worst
    assert result.plot.ecdf("goodput").axes[0].get_xlim()[0] >= 0


def test_a_flow_beside_the_one_under_test_has_the_same_colour_in_each_panel(tmp_path: Path) -> None:
    flows = '[[flows]]\nname = "a"\n[[flows]]\nname = "b"\ncca = "reno"\n'
    file = tmp_path / "two.toml"
    file.write_text(f'name = "two"\nduration = "3s"\n{DEEP_BUFFER}{flows}')
    picture = ct.compare(file, "reno,bbr", runs=1).plot.time_series()
    shades = [
        {line.get_label(): line.get_color() for line in axes.get_lines()}
        for axes in picture.axes
        if any(line.get_label() == "b (reno)" for line in axes.get_lines())
    ]
    assert len(shades) == 2
    assert len({each["b (reno)"] for each in shades}) == 1
    assert shades[0]["a (reno)"] != shades[0]["b (reno)"]


def test_a_sensor_has_axes_in_kbit_per_s_and_kb_with_the_values_of_its_tables() -> None:
    """200 bytes every 2 s are 0.8 kbit/s."""
    sensor = {"kind": "frames", "size": "200B", "interval": "2s"}
    result = ct.compare("steady-20-68", "cubic", 2, duration="20s", set={"flows.0.workload": sensor})
    picture = result.plot.overview()
    picture.canvas.draw()
    labels = [axes.get_ylabel().partition("\n")[0] for axes in picture.axes]
    assert labels[1:4] == ["goodput, kbit/s", "delivered, kB", "goodput, kbit/s"]
    ticks = [text.get_text() for text in picture.axes[1].get_yticklabels()]
    largest = 1e3 * result.runs["goodput_mbps"].max()
    assert 0.5 * largest < max(map(float, ticks)) < 2 * largest


@pytest.mark.parametrize(
    "ccas", [["cubic", "reno"], ["cubic:hystart=off,beta=0.5", "cubic:hystart=on,beta=0.6", "bbr"]]
)
def test_a_note_over_a_panel_is_no_wider_than_it(ccas: list[str]) -> None:
    """Frames of more than the link carries: some are under way at the end, under each CCA."""
    frames = {"kind": "frames", "size": "30kB", "interval": "33ms"}
    changes = {"flows.0.workload": frames, "path.down.rate": "5Mbit/s"}
    picture = ct.compare("steady-20-68", ccas, 1, duration="8s", set=changes).plot.overview()
    axes = picture.axes[0]
    assert "not arrived at the end" in axes.get_title()
    with picture.laid_out():
        assert axes.title.get_window_extent().width < 1.2 * axes.get_window_extent().width
