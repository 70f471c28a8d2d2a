"""Knees of trade-offs: decided by the intervals of the runs, and not at any price."""

from __future__ import annotations

import math
import random
import re
from types import SimpleNamespace
from typing import Any

import pytest

from celltcp.comparison.sweep.best_value_tables import best_values_texts
from celltcp.comparison.verdicts.stakes import Stake
from test_field_changes import _around, _game, _stake, _texts


@pytest.mark.parametrize("seed", range(6))
def test_less_delay_that_costs_more_goodput_than_it_gains_is_no_advice(seed: int) -> None:
    """Half of the download for a fortieth of the delay is what nobody wants, whatever the start."""
    draw = random.Random(seed)
    low, middle, high = draw.randint(6, 11), draw.randint(21, 25), 1000
    rtt, peak = draw.uniform(20, 60), draw.uniform(28, 32)
    delays = {low: rtt, middle: draw.uniform(1.02, 1.5) * rtt, high: 20 * rtt}
    rates = {low: 0.95 * low, middle: 0.95 * middle, high: peak}
    field = "path.wired.0.rate"
    scenario = {"path": {"wired": [{"rate": "1Gbit/s", "queue": "fq-codel"}]}}
    present: Any = {field: f"{high}Mbit/s"} if draw.random() < 0.5 else {}
    texts = _texts([field], ["cubic"], *_game(delays, rates), scenario=scenario, **present)
    assert f"bandwidth {1000 * middle}kbit" in " ".join(texts)
    assert f"bandwidth {1000 * low}kbit" not in " ".join(texts), texts
    # A start that has the middle rate is left as it is.
    texts = _texts([field], ["cubic"], *_game(delays, rates), **{field: f"{middle}Mbit/s"})
    assert not any(text.startswith((f"{field}=", "On Linux")) for text in texts), texts


@pytest.mark.parametrize("seed", range(8))
def test_a_knee_of_few_runs_is_decided_or_its_values_are_named(seed: int) -> None:
    """Delays vary from run to run by a factor: three runs leave more than one rate possible.

    The likeliest of them is the advice, not the lowest rate given, at which the game is always best.
    """
    draw = random.Random(seed)
    delays = {20: 41.0, 25: 46.0, 30: 52.0, 38: 70.0, 42: 130.0, 1000: 560.0}
    rates = {20: 18.4, 25: 23.0, 30: 27.5, 38: 34.0, 42: 36.5, 1000: 44.8}
    spreads = {20: 0.05, 25: 0.1, 30: 0.2, 38: 0.6, 42: 0.9, 1000: 0.1}
    field = "path.wired.0.rate"
    scenario = {"path": {"wired": [{"rate": "1Gbit/s", "queue": "fq-codel"}]}}

    def texts(runs: int, factor: float) -> list[str]:
        channels = [draw.gauss(0, 1) for _ in range(runs)]
        game = {
            f"{rate}Mbit/s": [
                of * math.exp(factor * spreads[rate] * (draw.gauss(0, 1) + channel) / 2)
                for channel in channels
            ]
            for rate, of in delays.items()
        }
        download = {f"{rate}Mbit/s": _around(of, 1e-3) * (runs // 3) for rate, of in rates.items()}
        stakes = _stake("game", "response_p95_s", game), _stake("download", "goodput_mbps", download)
        return _texts([field], ["cubic"], *stakes, scenario=scenario, **{field: "1000Mbit/s"})

    assert "rate: 38Mbit/s is the knee" in texts(60, 0.3)[0]
    few = texts(3, 2)
    assert " no knee" not in few[0]
    if " is the knee" not in few[0]:
        assert re.search(r"knee undecided \(.*Mbit/s.*: run with --runs 10\)", few[0]), few
        rate = re.findall(r"\): (\d+)Mbit/s: game", few[0])[0]
        lines = [text for text in few if text.startswith("On Linux")]
        assert [f"cake bandwidth {rate}000kbit" in text for text in lines] in ([True], []), few
        assert rate != "20"
        assert all("for a balance with download (undecided): " in line for line in lines)


@pytest.mark.parametrize("seed", range(4))
def test_a_few_per_cent_are_not_worth_one_more_setting(seed: int) -> None:
    """A shaper beside BBR, which keeps the queue short by itself, gains a significant nothing."""
    draw = random.Random(seed)
    share = draw.uniform(0.955, 0.985)
    delays = {"25 with cubic": 1.9, "1000 with cubic": 2.0, "25 with bbr": 0.17 * share}
    delays["1000 with bbr"] = 0.17
    thin, bulk = (
        _stake(flow, metric, {name: _around(of, 1e-4) for name, of in means.items()})
        for flow, metric, means in (
            ("thin", "response_p95_s", delays),
            ("bulk", "goodput_mbps", dict.fromkeys(delays, 14.5)),
        )
    )
    texts = _texts(["rate"], ["cubic", "bbr"], thin, bulk, rate="1000")
    assert any(text.startswith("bbr instead of cubic (rate=1000): ") for text in texts), texts
    assert not any("rate=25 instead" in text for text in texts), texts


def test_a_value_that_gains_less_than_it_loses_is_not_called_worse() -> None:
    """A third less delay for half of the download: neither no gain, nor advice."""
    game, download = _game({5: 30.0, 10: 40.0}, {5: 4.8, 10: 9.6})
    texts = _texts(["rate"], ["cubic"], game, download, rate="10Mbit/s")
    assert not any("significantly better" in text or "rate=5Mbit/s instead" in text for text in texts)
    late = {"5Mbit/s": [0.02] * 3, "10Mbit/s": [0.03] * 3}
    costs = {"5Mbit/s": _around(60), "10Mbit/s": _around(20)}
    stakes = (_stake("call", "late_share", late), _stake("web", "page_load_s", costs))
    (text,) = _texts(["rate"], ["cubic"], *stakes, rate="10Mbit/s")
    assert text == (
        "No value is worth what it costs in place of rate=10Mbit/s (as in the scenario); "
        "a gain at a larger loss: 5Mbit/s"
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_best_mean_with_a_wide_interval_hides_no_significant_difference(seed: int) -> None:
    """Of three buffers one varies from run to run; of the others, one is better in every run."""
    draw = random.Random(seed)
    runs = 10
    wide = [draw.choice([2.0, 4.9]) for _ in range(runs - 2)] + [4.95, 4.95]
    mean = sum(wide) / runs
    middle = [mean - 0.15 + draw.gauss(0, 0.05) for _ in range(runs)]
    values = {"a": wide, "b": middle, "c": [each - 0.3 + draw.gauss(0, 0.02) for each in middle]}
    stake = _stake("watch", "qoe", values)
    assert stake.verdict.leader == "a"
    assert set(stake.verdict.ranked) == set(values)
    ranking = SimpleNamespace(
        field="path.buffer",
        cca="cubic",
        choices=values,
        decides=True,
        question=lambda each: each.flow,
        deciding_stakes=lambda _: [stake],
    )
    sweep: Any = SimpleNamespace(field_rankings=[ranking], ccas=["cubic"], axes=(), points={})
    (text,) = best_values_texts(sweep)
    assert re.fullmatch(
        r"Best value of path.buffer for watch undecided \(.*\); but b is better than c", text
    )


@pytest.mark.parametrize("seed", range(4))
def test_advice_by_a_chosen_metric_is_for_its_flow_alone(seed: int) -> None:
    """Pages want a long buffer and a ping a short one: each has lines of its own where it is chosen."""
    draw = random.Random(seed)
    sizes = ("20packets", "100packets", "400packets")
    ping, web, bulk = (
        _stake(flow, metric, dict(zip(sizes, map(_around, means), strict=True)))
        for flow, metric, means in (
            ("ping", "response_p95_s", (0.03, 0.08, draw.uniform(0.3, 0.5))),
            ("web", "page_load_s", (2.0, 1.0, draw.uniform(0.05, 0.1))),
            ("bulk", "goodput_mbps", (9.0, 9.0, 9.0)),
        )
    )

    def limits(*stakes: Stake, count_by: int) -> set[str]:
        texts = _texts(
            ["path.buffer"], ["cubic"], *stakes, count_by=count_by, **{"path.buffer": "100packets"}
        )
        assert any("web page load mean" in text and "ping response p95" in text for text in texts)
        return set(re.findall(r"pfifo limit (\d+)", " ".join(texts)))

    assert limits(ping, web, bulk, count_by=0) == {"20", "400"}
    assert limits(ping, bulk, web, count_by=1) == {"20"}
    assert limits(web, bulk, ping, count_by=1) == {"400"}
