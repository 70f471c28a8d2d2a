"""Pictures for publications: style, hatches, spider plots and grids of distributions."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import celltcp as ct
from celltcp.comparison.plots.bars import draw_bars
from celltcp.comparison.plots.grids import GRIDS
from celltcp.comparison.plots.smoothing import window_of
from celltcp.present.style import figure, hatches, legend_beside, shade_capacity, styled
from reports import compared


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two comparisons, `a` and `b`."""
    top = tmp_path_factory.mktemp("grids")
    compared(top / "a")
    compared(top / "b", scenario="fall")
    return top


def test_pictures_on_paper_are_as_wide_as_a_column_or_a_page() -> None:
    before = mpl.rcParams["font.family"]
    with styled(style="paper"):
        assert figure(5.5, 4.4).get_size_inches()[0] == 3.5
        assert figure(11, 8).get_size_inches()[0] == 7.16
        assert mpl.rcParams["font.family"] == ["serif"]
    assert mpl.rcParams["font.family"] == before
    assert figure(5.5, 4.4).get_size_inches()[0] == 5.5
    with styled(size="4x2", style="paper"):
        assert tuple(figure(11, 8).get_size_inches()) == (4, 2)


def test_bars_on_paper_have_a_hatch_for_each_cca() -> None:
    ccas = [f"cca-{number}" for number in range(21)]
    with styled(style="paper"):
        assert len(set(hatches(ccas).values())) == len(ccas)
        result = pd.DataFrame(
            [{"cca": cca, "run": 0, "value": 1.0, "group": "g"} for cca in ("cubic", "bbr")]
        )
        axes = figure(5, 3).add_subplot()
        draw_bars(axes, result, "group", ["g"])
        assert len({bar.get_hatch() for bar in axes.patches}) == 2
    assert set(hatches(ccas).values()) == {""}


@pytest.mark.rendered
def test_several_folders_are_drawn_in_one_picture(celltcp, folders: Path) -> None:
    names = [str(folders / name) for name in ("a", "b")]
    for plot in ("spider", "ecdf-grid"):
        file = folders / f"{plot}.svg"
        done = celltcp("show", *names, "--plot", plot, "--style", "paper", "--out", str(file))
        assert done.returncode == 0, done.stderr
        text = file.read_text()
        assert ">drive</text>" in text
        assert ">fall</text>" in text
        assert "serif" in text
    done = celltcp("show", *names, "--plot", "ecdf")
    assert done.returncode == 2
    assert "--plot ecdf-grid, spider, throughput-delay, window" in done.stderr
    done = celltcp("show", names[0], "--plot", "spider", "--style", "papers")
    assert "allowed: a file, or one of paper, " in done.stderr


def test_one_comparison_has_them_too(folders: Path) -> None:
    result = ct.load(folders / "a")
    spider = result.plot.spider()
    assert len(spider.axes) == 1
    canvas = FigureCanvasAgg(spider)
    canvas.draw()
    # No name of a metric is cut off at the edge of the picture.
    ends = [text.get_window_extent(canvas.get_renderer()) for text in spider.axes[0].texts]
    assert min(each.x0 for each in ends) >= 0
    assert len(ends) == 6
    assert len(result.plot.ecdf_grid().axes) == 3


def test_windows_of_a_sweep_stand_beside_each_other_on_one_scale() -> None:
    swept = ct.sweep("steady-5-18", "path.buffer=10packets,50packets", "cubic,bbr", 2, duration="4s")
    names = [(each,) for each in swept.comparisons]
    picture = GRIDS["window"](list(swept.comparisons.values()), names)
    windows = [axes for axes in picture.axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in windows] == ["10packets", "50packets"]
    assert len(picture.axes) == 6
    assert len({axes.get_ylim() for axes in windows}) == 1
    for axes, comparison in zip(windows, swept.comparisons.values(), strict=True):
        slots = comparison.tested_slots.merge(comparison.runs[["run", "seed"]], on="run")
        most = slots.loc[slots["seed"] == 1, "cwnd"].max()
        assert max(line.get_ydata().max() for line in axes.get_lines()) == most
        assert most < axes.get_ylim()[1]
    # The panels of a column have one axis of time, labelled below the last one.
    for column in range(2):
        panels = picture.axes[column::2]
        assert len({axes.get_xlim() for axes in panels}) == 1
        ends = [line.get_xdata() for axes in panels for line in axes.get_lines()]
        assert panels[0].get_xlim()[0] <= min(each.min() for each in ends)
        assert panels[0].get_xlim()[1] >= max(each.max() for each in ends)
    # Each of many has a column, four of them abreast.
    many = GRIDS["window"]([next(iter(swept.comparisons.values()))] * 5)
    assert sum(axes.get_visible() for axes in many.axes) == 15


def test_flows_that_compete_have_their_windows_beside_each_other_on_one_scale() -> None:
    flows = [{"name": "near"}, {"name": "far", "start": "1s"}]
    compared = ct.compare("steady-20-68", "cubic+bbr", 2, duration="6s", set={"flows": flows})
    windows = [axes for axes in compared.plot.window().axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in windows] == ["steady-20-68, near", "far"]
    assert len({axes.get_ylim() for axes in windows}) == 1
    for axes, name in zip(windows, ("near", "far"), strict=True):
        slots = compared.slots_of(name).merge(compared.runs[["run", "seed"]], on="run")
        (line,) = axes.get_lines()
        assert line.get_ydata().max() == slots.loc[slots["seed"] == 1, "cwnd"].max()


def test_the_start_up_has_the_overshoot_of_slow_start() -> None:
    """Without HyStart the window grows to twice what path and buffer hold, and falls."""
    changes = {"path.buffer": "1bdp"}
    compared = ct.compare("steady-20-68", "cubic,cubic:hystart=off", 1, duration="8s", set=changes)
    delivered, windows = compared.plot.startup().axes
    assert (delivered.get_ylabel(), windows.get_ylabel()) == (
        "delivered, MB",
        "cwnd, segments (seed 1)",
    )
    assert delivered.get_xlim() == windows.get_xlim()
    held = 2 * 20e6 / 8 * 0.068 / 1500
    early, overshot = (max(line.get_ydata()) for line in windows.get_lines())
    assert early < 1.2 * held < 1.5 * held < overshot


def test_the_responses_of_a_ping_stand_below_the_window_that_delays_them() -> None:
    ping = {"kind": "request-response", "request": "64B", "response": "64B", "gap": "100ms"}
    flows = [{"name": "bulk"}, {"name": "ping", "workload": ping}]
    changes = {"flows": flows, "path.buffer": "100packets"}
    compared = ct.compare("steady-5-18", "cubic,bbr", 2, duration="5s", set=changes)
    panels = GRIDS["window"]([compared]).axes
    assert [axes.get_ylabel() for axes in panels[2:]] == ["RTT, ms", "ping response\ntime, s"]
    units = compared.units[(compared.units["flow"] == "ping") & (compared.units["seed"] == 1)]
    for cca, line in zip(compared.ccas, panels[3].get_lines(), strict=True):
        durations = units.loc[units["cca"] == cca, "duration_s"].dropna()
        assert sorted(line.get_ydata()) == sorted(durations)
    assert panels[3].get_xlim() == panels[0].get_xlim()
    # Under CUBIC the ping waits in the queue of the panel above.
    queued, short = (line.get_ydata().mean() for line in panels[3].get_lines())
    assert queued > 1.5 * short


def test_pictures_for_latex_need_latex(
    folders: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from celltcp.present.picture_files import must_be_picture

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ct.CelltcpError, match=r"p\.pgf: needs LaTeX, .* apt install texlive"):
        must_be_picture(folders / "p.pgf")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_pictures_for_latex_are_drawn(celltcp, folders: Path) -> None:
    file = folders / "p.pgf"
    done = celltcp("show", str(folders / "a"), "--plot", "ecdf", "--style", "paper", "--out", str(file))
    assert done.returncode == 0, done.stderr
    assert re.search(r"\\begin\{pgfpicture\}", file.read_text())


@pytest.mark.parametrize("width", [4.0, 10.0])
def test_a_legend_on_paper_is_no_wider_than_its_picture(width: float) -> None:
    ccas = ["cubic", "bbr", "vegas", "auto:policy=rules", "cubic:hystart=off"]
    with styled(None, "paper", None):
        picture = figure(width, 3)
        axes = picture.subplots()
        shade_capacity(axes, [0.0, 1.0], [1.0, 1.0])
        legend_beside(picture, ccas)
        picture.canvas.draw()
        extent = picture.legends[0].get_window_extent()
    assert extent.x0 >= 0
    assert extent.x1 <= picture.bbox.width


def test_goodput_over_time_is_smooth_unless_raw() -> None:
    """In-order data that waited for a repair come at once: such slots hide all other curves."""
    result = ct.compare("steady-20-68", "cubic,bbr", runs=1, duration="20s", set={"path.loss": "1%"})
    whole = result.values("bbr", "goodput_mbps")[0]

    def most(*, raw: bool) -> float:
        axes = result.plot.time_series(raw=raw).axes[0]
        assert axes.get_ylabel() == ("goodput, Mbit/s" if raw else "goodput, Mbit/s\nmean over 1 s")
        curve = next(each for each in axes.get_lines() if each.get_label() == "bbr")
        values = np.asarray(curve.get_ydata(), float)
        # Means have the same mean, but for the ends.
        assert np.nanmean(values) == pytest.approx(whole, rel=0.1)
        return float(np.nanmax(values))

    # The path carries 20 Mbit/s.
    assert most(raw=False) < 25 < 40 < most(raw=True)


def test_at_a_long_rtt_the_delay_has_no_gaps_between_acks() -> None:
    """Slots of 100 ms are shorter than the RTT of 560 ms: many have no ACK and thus no sample."""
    result = ct.compare("steady-20-68", "cubic", 1, duration="20s", set={"path.rtt": "560ms"})
    slots = result.tested_slots
    window = window_of(slots, float(result.results.about["slot_s"]))
    assert window.rtt_slots >= 6
    after = slots[slots["t_s"] > 2]["rtt_mean_ms"]
    assert after.isna().any()
    _, lower = result.plot.time_series().axes
    drawn = np.asarray(lower.get_lines()[0].get_ydata(), float)
    assert np.isnan(drawn).sum() < after.isna().sum() / 2
    short = ct.compare("steady-5-18", "cubic", 1, duration="2s")
    assert window_of(short.tested_slots, 0.1).rtt_slots == 1


def test_units_of_others_are_below_one_column_of_a_mix_and_whole_at_the_top() -> None:
    ping = {"kind": "request-response", "request": "60B", "response": "120B", "gap": "100ms"}
    flows = [{"name": "a"}, {"name": "b"}, {"name": "ping", "workload": ping}]
    mix = ct.compare("steady-5-18", "cubic+cubic+cubic", 1, duration="5s", set={"flows": flows})
    visible = [axes for axes in mix.plot.window().axes if axes.get_visible()]
    units = [axes for axes in visible if axes.get_ylabel().startswith("ping")]
    assert len(units) == 1
    assert [axes.get_title(loc="left") for axes in visible if axes.get_title(loc="left")][1] == "b"
    # Two columns of window, queue and RTT, and the responses.
    assert len(visible) == 7
    (panel,) = mix.plot.units("response:ping").axes
    assert panel.get_ylim()[1] > mix.units["duration_s"].max()
