"""A condition of a sweep, which nobody sets, has no best value; nothing equals what has no result."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

import celltcp as ct
from celltcp.comparison.metrics import interval_ends
from celltcp.comparison.plots.sweep import draw_sweep
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.sweep.best_value_tables import best_values_tables, best_values_texts
from celltcp.comparison.sweep.best_values import is_condition
from celltcp.comparison.sweep.condition_texts import _direction, _listed, condition_texts
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.results.statistics import Estimate


@pytest.mark.parametrize(
    "field",
    [
        *(
            "path.loss",
            "path.wired.0.delay",
            "radio.ues.0.sinr",
            "flows.0.workload.size",
            "flows.1.count",
        ),
        "flows.0.workload.deadline",
    ],
)
def test_loss_delay_and_what_is_to_be_sent_are_conditions(field: str) -> None:
    assert is_condition(field)


@pytest.mark.parametrize(
    "field",
    [
        *(
            "path.buffer",
            "path.wired.1.rate",
            "path.policer.burst",
            "tcp.initial_window",
            "radio.rlc.buffer",
        ),
        *("flows.0.cca", "flows.0.workload.rate", "flows.0.workload.backlog", "flows.0.nodelay"),
    ],
)
def test_buffers_shapers_and_settings_of_hosts_are_choices(field: str) -> None:
    assert not is_condition(field)


def _swept(ccas: list[str], **vary: list[str]) -> Sweep:
    fields = {f"path.{name}": values for name, values in vary.items()}
    return ct.sweep("steady-20-68", vary=fields, cca=ccas, runs=2, duration="8s")


@pytest.mark.parametrize("ccas", [["cubic"], ["cubic", "bbr"]])
def test_a_loss_rate_is_described_and_not_advised(ccas: list[str]) -> None:
    result = _swept(ccas, loss=["0.02", "0", "0.001"])
    assert best_values_tables(result) == []
    texts = best_values_texts(result)
    (goodput,) = (each for each in texts if each.startswith("goodput"))
    assert ("falls with path.loss: " if len(ccas) == 1 else "with path.loss: cubic falls: ") in goodput
    assert goodput.index("(0)") < goodput.index("(0.001)") < goodput.index("(0.02)")
    everything = [*texts, *result.field_changes]
    assert not any(re.search(r"path.loss=\S+ instead|Best value", each) for each in everything)
    assert not any("path.loss" in each.question for each in sweep_part(result).findings)
    assert all(each["is_condition"] for each in result.to_json()["best_values"])


def test_a_choice_beside_a_condition_still_has_a_best_value() -> None:
    result = _swept(["cubic"], loss=["0", "0.02"], buffer=["0.5bdp", "4bdp"])
    assert any("path.buffer" in table.title for table in best_values_tables(result))
    assert any(
        text.startswith("path.buffer=0.5bdp: goodput falls") for text in best_values_texts(result)
    )


def _download(loss: str, *buffers: str) -> Sweep:
    changes: Any = {"path.loss": loss, "flows.0.workload": {"kind": "bulk", "bytes": "6MB"}}
    vary = {"path.buffer": list(buffers)}
    return ct.sweep("steady-20-68", vary=vary, cca=["cubic"], runs=2, duration="4s", set=changes)


def test_a_value_with_which_nothing_finished_is_no_start_that_others_equal() -> None:
    result = _download("0", "15kB", "200kB")
    nothing, change, *_ = result.field_changes
    assert nothing == "Finished nothing with path.buffer=15kB"
    assert change.startswith("path.buffer=200kB instead of 15kB: completion mean ")
    assert change.endswith(" s instead of no value")


def test_values_with_which_nothing_finished_are_not_called_alike() -> None:
    result = _download("0.02", "15kB", "200kB")
    assert result.field_changes == ["Finished nothing with path.buffer=15kB; path.buffer=200kB"]
    assert best_values_texts(result) == []


@pytest.mark.parametrize(
    ("metric", "mean", "ci95", "wanted"),
    [
        ("late_share", 0.02, 0.05, (0.002427, 0.146170)),
        ("late_share", 0.98, 0.05, (0.853830, 0.997573)),
        ("fairness", 0.99, 0.5, (0.037334, 0.999996)),
        ("response_p95_s", 0.1, 0.3, (0.0, 0.4)),
        ("qoe", 4.9, 0.3, (4.6, 5.0)),
        ("linear_qoe", 1.0, 2.0, (-1.0, 3.0)),
        ("rtt_p95_ms", 50.0, None, (50.0, 50.0)),
    ],
)
def test_an_interval_ends_where_its_metric_ends(
    metric: str, mean: float, ci95: float | None, wanted: tuple[float, float]
) -> None:
    assert interval_ends(metric, Estimate(mean, ci95)) == pytest.approx(wanted, rel=1e-3)


def test_no_picture_of_a_sweep_has_shares_below_zero() -> None:
    workload = {"kind": "frames", "size": "60kB", "interval": "33ms", "deadline": "100ms"}
    changes: Any = {"flows.0.workload": workload}
    vary = {"path.loss": ["0.0005", "0.001"]}
    result = ct.sweep("steady-20-68", vary=vary, cca=["bbr"], runs=2, duration="4s", set=changes)
    for axes in draw_sweep(result).axes:
        assert axes.get_ylim()[0] >= 0
    part = sweep_part(result)
    charts = [each.figure.chart for each in part.sections if each.figure is not None]
    lows = [
        float(low)
        for chart in charts
        if chart is not None
        for panel in chart.panels
        for series in panel.series
        if series.low is not None
        for low in series.low
    ]
    assert lows
    assert min(lows) >= 0


@pytest.mark.parametrize(
    ("slower", "direction"),
    [(1.1, "does not change significantly"), (3.0, "is undecided (more --runs)")],
)
def test_a_large_change_that_two_runs_do_not_show_is_undecided(slower: float, direction: str) -> None:
    values = {"0": [1.0, 4.0], "0.1": [slower * 4.0, slower * 1.0]}
    stake = SimpleNamespace(
        values=values, is_less_better=True, is_gain=lambda *_: False, metric="page_load_s"
    )
    assert _direction(cast("Stake", stake), [*values]) == direction
    # Of frames, some in ten thousand more or less are nothing.
    rare = {name: [value * 1e-4 for value in of] for name, of in values.items()}
    stake = SimpleNamespace(**{**vars(stake), "values": rare, "metric": "late_share"})
    assert _direction(cast("Stake", stake), [*values]) == "does not change significantly"


def _stake_of(means: Sequence[float], *, is_less_better: bool) -> Stake:
    """Returns a stake whose values are 0, 1 and so on, with significant differences."""
    values = {str(index): [mean, mean] for index, mean in enumerate(means)}

    def signed_mean(value: str) -> float:
        return -values[value][0] if is_less_better else values[value][0]

    return cast(
        "Stake",
        SimpleNamespace(
            values=values,
            is_less_better=is_less_better,
            is_gain=lambda one, other: signed_mean(one) > signed_mean(other),
            signed_mean=signed_mean,
            metric="rtt_mean_ms" if is_less_better else "goodput_mbps",
        ),
    )


@pytest.mark.parametrize("is_less_better", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_metric_that_turns_is_described_in_the_order_of_its_turn(
    seed: int, is_less_better: bool
) -> None:
    draw = random.Random(seed)
    ends, count = draw.sample(range(2, 100), 2), draw.randint(1, 6)
    for inside, turn in ((min(ends) - 1, "falls, then rises"), (max(ends) + 1, "rises, then falls")):
        stake = _stake_of([ends[0], *([inside] * count), ends[1]], is_less_better=is_less_better)
        assert _direction(stake, [*stake.values]) == turn
    wave = _stake_of([5, 9, 1, 5], is_less_better=is_less_better)
    assert _direction(wave, [*wave.values]) == "rises and falls"


@pytest.mark.parametrize("seed", range(5))
def test_a_description_of_many_values_has_the_ends_the_extremes_and_the_steepest_step(
    seed: int,
) -> None:
    draw = random.Random(seed)
    means = [draw.uniform(1, 100) for _ in range(draw.randint(6, 12))]
    stake = _stake_of(means, is_less_better=False)
    listed = [int(value) for value in _listed(stake, [*stake.values])]
    steps = [abs(after - before) for before, after in itertools.pairwise(means)]
    steepest = steps.index(max(steps))
    extremes = {means.index(min(means)), means.index(max(means))}
    assert set(listed) == {0, len(means) - 1, steepest, steepest + 1, *extremes}
    assert listed == sorted(listed)


@pytest.mark.parametrize("buffer", ["0.5bdp", "2bdp", "4bdp"])
def test_a_condition_is_described_at_the_values_of_the_scenario(buffer: str) -> None:
    vary = {"path.loss": ["0", "0.02"], "path.buffer": ["0.5bdp", "2bdp", "4bdp"]}
    text = ct.load_scenario("steady-20-68", changes={"path.buffer": buffer})
    result = ct.sweep(text, vary, ["cubic"], 2, duration="4s")
    texts = [each for each in condition_texts(result) if "path.loss" in each]
    assert texts
    assert all(each.startswith(f"path.buffer={buffer}: ") for each in texts)


@pytest.mark.parametrize("seed", range(2))
def test_more_connections_are_said_to_transfer_more(seed: int) -> None:
    draw = random.Random(seed)
    size, count = draw.randint(1, 4), draw.randint(2, 5)
    workload = {"kind": "bulk", "bytes": f"{size}00kB"}
    vary = {"flows.0.count": ["1", f"{count}"]}
    changes = {"flows.0.workload": workload}
    sweep = ct.sweep("steady-20-68", vary, "cubic", 2, duration="20s", set=changes)
    (text,) = (each for each in condition_texts(sweep) if "completion" in each)
    assert f"(1: {size}00 kB in all)" in text
    total = count * size
    assert f"({count}: {total}00 kB in all)" in text or f"({count}: {total / 10:g} MB" in text, text
