"""Picture of a sweep: the figures that were asked for, labels beside each other, whole intervals."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import ErrorbarContainer

import celltcp as ct
from celltcp.cli.show_summary import summary_of
from celltcp.comparison.plots.grids import draw_throughput_delays
from celltcp.comparison.plots.sweep import _set_ticks, draw_sweep, is_to_scale
from celltcp.comparison.plots.sweep_tradeoff import draw_sweep_tradeoff
from celltcp.comparison.summary import Summary
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.present.field_words import field_words, is_field
from celltcp.present.latex import latex_tables
from celltcp.present.style import figure
from celltcp.scenarios.quantities import quantities
from workloads import DEEP_BUFFER, GAME

RTTS = ("20ms", "25ms", "30ms", "35ms", "40ms", "45ms", "60ms", "1s")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    file: Path = tmp_path_factory.mktemp("home") / "home.toml"
    flows = f'[[flows]]\nname = "download"\n[[flows]]\nname = "game"\nworkload = {GAME}\n'
    file.write_text(f'name = "home"\nduration = "3s"\n{DEEP_BUFFER}{flows}')
    return ct.sweep(file, f"path.rtt={','.join(RTTS)}", "cubic", 2)


def _labels(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.get_xticklabels()]


def test_a_picture_has_the_figure_of_each_flow_or_the_one_asked_for(swept: Sweep) -> None:
    usual, asked = (
        [axes.get_ylabel() for axes in draw_sweep(swept, by).axes]
        for by in ((), ("response_p50_s:game",))
    )
    assert usual == ["game response mean, s", "download goodput, Mbit/s"]
    assert asked == ["game response p50, s", "download goodput, Mbit/s"]
    lineups = ct.sweep("steady-20-68", "path.rtt=20ms,40ms", "cubic+bbr", 1, duration="1s")
    shown = [axes.get_ylabel() for axes in draw_sweep(lineups, ("rtt_mean_ms",)).axes]
    assert "mean RTT, ms" in shown[0]
    alone = ct.sweep("steady-20-68", "path.rtt=20ms,40ms", "cubic", 1, duration="1s")
    shown = [axes.get_ylabel() for axes in draw_sweep(alone).axes]
    assert shown == ["goodput, Mbit/s", "p95 RTT, ms"]


def test_values_stand_on_an_axis_of_amounts_whose_labels_do_not_overlap(swept: Sweep) -> None:
    picture = draw_sweep(swept)
    canvas = FigureCanvasAgg(picture)
    canvas.draw()
    for axes in picture.axes:
        # 1 s is far from all others, so that values stand in their order.
        assert axes.get_xscale() == "linear"
        assert axes.get_xlabel() == "RTT, not to scale"
        shown = _labels(axes)
        assert (shown[0], shown[-1]) == ("20ms", "1s")
        boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.get_xticklabels()]
        assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
        places = axes.get_xticks()
        assert all(low < high for low, high in pairwise(places))


@pytest.mark.parametrize(
    ("values", "is_whole"),
    [
        (["1ms", "10ms", "100ms", "1s"], True),
        (["10Mbit/s", "20Mbit/s", "30Mbit/s", "40Mbit/s"], True),
        (["15Mbit/s", "25Mbit/s", "35Mbit/s", "45Mbit/s", "1Gbit/s"], False),
        (["1Gbit/s", "45Mbit/s", "35Mbit/s", "15Mbit/s"], False),
        (["10Mbit/s", "1Gbit/s"], True),
        (["fq-codel", "droptail", "pie", "red"], True),
    ],
)
def test_an_amount_far_from_all_others_leaves_them_room(values: list[str], is_whole: bool) -> None:
    assert is_to_scale(values) == is_whole
    positions = _set_ticks(figure(4, 3).add_subplot(), values, 4.5)
    if not is_whole:
        amounts = quantities(values)
        assert amounts is not None
        assert positions == [float(sorted(amounts).index(each)) for each in amounts]


def test_the_field_with_most_values_is_on_the_axis_and_rows_have_one_scale() -> None:
    vary = {"path.rtt": ["20ms", "50ms", "100ms"], "path.buffer": ["1bdp", "4bdp"]}
    result = ct.sweep("steady-20-68", vary, "cubic,bbr", 1, duration="2s")
    axes = draw_sweep(result).axes
    assert axes[-1].get_xlabel() == "RTT, ms"
    assert _labels(axes[-1]) == ["20", "50", "100"]
    assert [each.get_title() for each in axes] == [*["buffer 1bdp"] * 2, *["buffer 4bdp"] * 2]
    assert axes[0].get_ylim() == axes[2].get_ylim()
    # Of equally many values, those of the last field.
    even = {name: values[:2] for name, values in vary.items()}
    assert ct.sweep("steady-20-68", even, "cubic", 1, duration="1s").line_axis == "path.buffer"


@pytest.mark.parametrize(
    ("queues", "ccas", "rows"),
    [
        # Four combinations of RTT and queue are curves; more leave the queues for the curves.
        (["droptail", "fq-codel"], "cubic", [""]),
        (["droptail", "fq-codel"], "cubic,bbr", ["cubic", "bbr"]),
        (["droptail", "fq-codel", "codel", "pie", "red"], "cubic", ["RTT 20ms", "RTT 50ms"]),
    ],
)
def test_many_combinations_are_curves_of_panels_that_fit_on_a_page(
    queues: list[str], ccas: str, rows: list[str]
) -> None:
    sizes = ["9packets", "12packets", "15packets", "18packets", "21packets", "24packets"]
    vary = {"path.buffer": sizes, "path.rtt": ["20ms", "50ms"], "path.queue": queues}
    picture = draw_sweep(ct.sweep("steady-20-68", vary, ccas, 1, duration="1s"))
    assert picture.get_size_inches()[1] <= 29.7 / 2.54 - 2
    assert [each.get_title() for each in picture.axes] == [row for row in rows for _ in range(2)]
    curves = len(queues) if len(queues) > 4 else 2 * len(queues)
    assert [len(each.containers) for each in picture.axes] == [curves] * len(picture.axes)
    texts = [text.get_text() for text in picture.legends[0].get_texts()]
    assert len(set(texts)) == curves
    assert all("queue discipline" in text for text in texts)


def test_values_that_are_no_amounts_stand_side_by_side() -> None:
    vary = "path.queue=fq-codel,droptail"
    result = ct.sweep("steady-20-68", vary, "cubic", 1, duration="1s")
    axes = draw_sweep(result).axes[0]
    assert axes.get_xscale() == "linear"
    assert _labels(axes) == ["fq-codel", "droptail"]


def test_intervals_are_whole(swept: Sweep) -> None:
    for axes in draw_sweep(swept).axes:
        low, high = axes.get_ylim()
        (bars,) = (each for each in axes.containers if isinstance(each, ErrorbarContainer))
        for line in bars.lines[2]:
            for segment in line.get_segments():
                assert low <= min(segment[:, 1])
                assert max(segment[:, 1]) <= high


@pytest.mark.parametrize("factor", [10, 100])
def test_loss_rates_that_grow_by_factors_have_even_distances_also_beside_zero(factor: int) -> None:
    rates = [f"{0.0001 * factor**power:g}" for power in range(3)]
    assert is_to_scale(rates)
    assert not is_to_scale(["0", *rates[:2]])
    axes = figure(4, 3).subplots()
    _set_ticks(axes, rates, 4.0)
    assert axes.get_xscale() == "log"
    axes = figure(4, 3).subplots()
    assert _set_ticks(axes, ["0", *rates[:2]], 4.0) == [0.0, 1.0, 2.0]
    # Near each other, they are to scale.
    assert is_to_scale(["0", "0.001", "0.002"])


def test_scenarios_with_flows_of_their_own_have_a_picture(tmp_path: Path) -> None:
    for name, flow in (("home", "download"), ("office", "backup")):
        flows = f'[[flows]]\nname = "{flow}"\n[[flows]]\nname = "{flow}-game"\nworkload = {GAME}\n'
        (tmp_path / f"{name}.toml").write_text(
            f'name = "{name}"\nduration = "3s"\n{DEEP_BUFFER}{flows}'
        )
    names = [str(tmp_path / f"{name}.toml") for name in ("home", "office")]
    sweep = ct.sweep(names, "path.buffer=1bdp,4bdp", "cubic", 2)
    shown = {axes.get_ylabel() for axes in draw_sweep(sweep).axes}
    assert {"download goodput, Mbit/s", "backup goodput, Mbit/s"} <= shown


def test_goodput_over_loss_rates_has_logarithmic_axes_and_the_law_of_reno_beside_it() -> None:
    """MSS/RTT sqrt(3/2p): Mathis, Semke, Mahdavi and Ott, 1997, for periodic losses."""
    losses = (0.001, 0.003, 0.01)
    vary = {"path.loss": [*map(str, losses), "0.1"], "path.rtt": ["20ms", "100ms"]}
    sweep = ct.sweep("steady-100-18", vary, "reno", 2, duration="10s")
    picture = draw_sweep(sweep)
    (axes,) = [each for each in picture.axes if each.get_ylabel() == "goodput, Mbit/s"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlabel() == "loss rate"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["Mathis et al., 1997"]
    # Under one CCA both RTTs are in one panel, to be compared.
    assert [text.get_text() for text in picture.legends[0].get_texts()] == ["RTT 20ms", "RTT 100ms"]
    laws = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert len({line.get_color() for line in laws}) == 2
    for law, rtt_s in zip(laws, (0.02, 0.1), strict=True):
        expected = [8e-6 * 1448 / rtt_s * (1.5 / loss) ** 0.5 for loss in (*losses, 0.1)]
        assert list(law.get_ydata()) == pytest.approx(expected, rel=0.05)
        # Nothing is cut off: the lowest mean is far below the highest.
        low, high = axes.get_ylim()
        assert 0 < low < min(expected) < max(expected) < high
    columns = Summary.of_columns(["goodput", "law"], summary_of(sweep))
    text = latex_tables(columns.tables(), is_document=False)
    assert (
        r"loss rate & RTT & CCA & goodput (Mbit/s) & goodput by law (Mbit/s) & goodput / law \\" in text
    )
    assert r"$0.01$ & 100~ms & reno & " in text
    text = latex_tables(summary_of(sweep).tables("columns"), is_document=False)
    assert r"metric & loss rate & CCA & RTT 20~ms & RTT 100~ms \\" in text
    goodputs = re.findall(r"goodput Mbit/s & (.*) & reno & (.*) & (.*) ", text)
    numbers = [[float(re.findall(r"[\d.]+", cell)[0]) for cell in row] for row in goodputs]
    assert [loss for loss, *_ in numbers] == [*losses, 0.1]
    # Five times the RTT has a fifth of the goodput.
    ratios = [short / long for _, short, long in numbers]
    assert ratios == pytest.approx([5] * 4, rel=0.4)


def test_fields_are_named_in_words() -> None:
    words = {
        "path.wired.1.queue": "hop 1 queue discipline",
        "tcp.min_rto": "minimum RTO",
        "radio.rlc.buffer": "RLC buffer",
        "path.down.rate": "downlink rate",
    }
    assert {field: field_words(field) for field in words} == words
    assert not is_field("goodput Mbit/s")


def test_goodput_against_delay_has_a_panel_for_each_value_with_the_same_scales(swept: Sweep) -> None:
    names = [[value] for value in swept.comparisons]
    picture = draw_throughput_delays([*swept.comparisons.values()], names)
    shown = [axes for axes in picture.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [*RTTS]
    assert len({(axes.get_xlim(), axes.get_ylim(), axes.get_xscale()) for axes in shown}) == 1
    (left, right), delays = shown[0].get_xlim(), [500.0, 10.0]
    # Half of the longest and of the shortest RTT are one-way delays without a queue.
    assert all(left < delay < right for delay in delays)


def test_a_trade_off_is_a_curve_of_the_delay_of_an_application_against_the_goodput_of_another(
    swept: Sweep,
) -> None:
    (axes,) = draw_sweep_tradeoff(swept).axes
    assert axes.get_xlabel() == "game response mean, s (left is better)"
    assert axes.get_ylabel() == "download goodput, Mbit/s"
    # Values at one place have one label.
    assert ", ".join(text.get_text() for text in axes.texts).split(", ") == [*RTTS]
    (line,) = [each for each in axes.lines if len(each.get_xdata()) == len(RTTS)]
    for (x, y), comparison in zip(line.get_xydata(), swept.comparisons.values(), strict=True):
        delays = comparison.best_by("response_mean_s:game").values["cubic"]
        assert x == pytest.approx(sum(delays) / len(delays))
        goodputs = comparison.best_by("goodput:download").values["cubic"]
        assert y == pytest.approx(sum(goodputs) / len(goodputs))
    (chosen,) = draw_sweep_tradeoff(swept, ["response_max_s:game"]).axes
    assert chosen.get_xlabel().startswith("game response max")


def test_shares_have_a_panel_for_each_flow_with_one_scale() -> None:
    flows = {"flows": [{"name": "one", "cca": "cubic"}, {"name": "two", "cca": "bbr"}]}
    mixes = ct.sweep("steady-20-68", "path.buffer=1bdp,8bdp", "own", 2, duration="5s", set=flows)
    panels = draw_sweep(mixes, ("share",)).axes
    names = [axes.get_ylabel() for axes in panels]
    assert len(names) == 2
    assert all(name.endswith(" share, Mbit/s") for name in names)
    assert len({axes.get_ylim() for axes in panels}) == 1
    (flow,) = {flow for flow, _, _ in (name.partition(" share") for name in names[1:])}
    (alone,) = draw_sweep(mixes, (f"share:{flow}",)).axes
    assert alone.get_ylabel() == f"{flow} share, Mbit/s"
