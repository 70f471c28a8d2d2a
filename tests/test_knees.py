"""Knees of trade-offs: decided by the intervals of the runs, and not at any price."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import pytest

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
    """Delays vary from run to run by a factor: three runs leave more than one rate possible."""
    draw = random.Random(seed)
    delays = {20: 41.0, 25: 46.0, 30: 52.0, 38: 70.0, 42: 130.0, 1000: 560.0}
    rates = {20: 18.4, 25: 23.0, 30: 27.5, 38: 34.0, 42: 36.5, 1000: 44.8}
    spreads = {20: 0.05, 25: 0.1, 30: 0.2, 38: 0.6, 42: 0.9, 1000: 0.1}

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
        return _texts(["rate"], ["cubic"], *stakes, rate="1000Mbit/s")

    assert "rate: 38Mbit/s is the knee" in texts(60, 0.3)[0]
    few = texts(3, 2)
    assert " no knee" not in few[0]
    if " is the knee" not in few[0]:
        assert re.search(r"knee undecided \(.*Mbit/s.*: run with --runs 10\)", few[0]), few
        assert not any(" for a balance with download: " in text for text in few)


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
