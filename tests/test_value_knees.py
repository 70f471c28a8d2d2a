"""Knees among tried values: a rate of a shaper is advised by the rule of sweeps."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from celltcp.comparison.explanation.trials.value_knees import ValueKnee, knee_of_values
from celltcp.comparison.metrics import GOODPUT

_DELAY = "response_p95_s"


class _Game:
    """Need of a game beside a download, whose delays and goodputs are those of the alternatives."""

    flows, metric, reference = ("game",), _DELAY, "cubic"

    @staticmethod
    def price_metrics() -> list[tuple[str, str]]:
        return [("download", GOODPUT)]

    @staticmethod
    def metric_of(comparison: Any, cca: str, flow: str, metric: str) -> list[float]:  # noqa: ARG004
        values: list[float] = comparison.get(metric, [])
        return values


def _alternative(delays: list[float], goodputs: list[float], rate: str = "") -> Any:
    changes = (f"path.wired.0.rate={rate}",) if rate else ()
    fields = tuple(each.partition("=")[0] for each in changes)
    comparison = {_DELAY: delays, GOODPUT: goodputs}
    return SimpleNamespace(cca="cubic", changes=changes, fields=fields, comparison=comparison)


def _knee(rates: dict[str, tuple[list[float], list[float]]]) -> ValueKnee | None:
    reference = _alternative([0.5, 0.55, 0.52], [48.0, 47.0, 46.0])
    shapers = [_alternative(*values, rate) for rate, values in rates.items()]
    return knee_of_values(_Game(), shapers[0], [reference, *shapers])  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(10))
def test_a_shaper_has_the_highest_rate_before_the_delay_of_a_game_grows(seed: int) -> None:
    """At 38 Mbit/s the queue is still that of the shaper; at 45 it is that of the slower link."""
    draw = random.Random(seed)
    delays = {"25Mbit/s": 0.045, "32Mbit/s": 0.046, "38Mbit/s": 0.05, "45Mbit/s": 0.45}
    rates = {
        rate: (
            [delay * draw.uniform(0.95, 1.05) for _ in range(3)],
            [float(rate.removesuffix("Mbit/s")) * draw.uniform(0.93, 0.95) for _ in range(3)],
        )
        for rate, delay in draw.sample([*delays.items()], 4)
    }
    knee = _knee(rates)
    assert knee is not None
    assert knee.best.changes == ("path.wired.0.rate=38Mbit/s",)
    assert knee.undecided == ""


def test_rates_that_the_runs_do_not_set_apart_are_named() -> None:
    rates = {
        "25Mbit/s": ([0.045, 0.046, 0.045], [24.0, 24.0, 24.0]),
        "32Mbit/s": ([0.05, 0.1, 0.06], [30.0, 30.0, 30.0]),
        "38Mbit/s": ([0.15, 0.06, 0.05], [36.0, 36.0, 36.0]),
    }
    knee = _knee(rates)
    assert knee is not None
    assert knee.undecided == "path.wired.0.rate: 32Mbit/s, 38Mbit/s"


def test_kinds_of_queues_and_a_single_value_have_no_knee() -> None:
    values = ([0.05, 0.05, 0.06], [44.0, 44.0, 43.0])
    assert _knee({"fq-codel": values, "codel": values}) is None
    assert _knee({"38Mbit/s": values}) is None
