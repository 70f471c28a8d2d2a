"""Segments that a transfer sends again, as the price of a faster one."""

from __future__ import annotations

import math
import random

import pytest

import celltcp as ct
from celltcp.comparison.explanation.trials.alternatives import first_need
from celltcp.results.columns import rows_of
from celltcp.results.statistics import estimate


@pytest.mark.parametrize("seed", range(2))
def test_a_faster_transfer_that_sends_much_more_again_gains_less(seed: int) -> None:
    """Hybla grows by the square of the RTT, and overflows its buffer."""
    draw = random.Random(seed)
    changes = {
        "path.rtt": f"{draw.randint(500, 600)}ms",
        "path.down.rate": f"{draw.randint(10, 13)}Mbit/s",
        "path.buffer": "1.2bdp",
        "path.loss": {"kind": "gilbert-elliott", "to_bad": 0.00157, "to_good": 0.06},
        "flows.0.workload": {"kind": "bulk", "bytes": "20MB"},
    }
    result = ct.compare("steady-20-68", ["cubic", "bbr", "hybla"], 2, duration="200s", set=changes)
    need = first_need(result)
    assert need is not None
    (hybla,) = (each for each in need.alone({}) if each.cca == "hybla")
    sent: dict[str, list[float]] = {"cubic": [0.0, 0.0], "hybla": [0.0, 0.0]}
    names = dict(rows_of(result.results.tables["runs"], "run", "cca"))
    columns = ("run", "retransmissions", "segments")
    for run, again, segments in rows_of(result.results.tables["flows"], *columns):
        if names[run] in sent:
            sent[names[run]][0] += again
            sent[names[run]][1] += segments
    once = {cca: 1.0 - again / segments for cca, (again, segments) in sent.items()}
    assert once["hybla"] < once["cubic"] - 0.05
    (loss,) = hybla.losses
    assert loss.gain == pytest.approx(math.log(once["hybla"] / once["cubic"]))
    percent = f"{100 * (1 - once['hybla']):.2g} %"
    assert f"segments sent again {100 * (1 - once['cubic']):.2g} to {percent}" in hybla.losses_text
    times = [estimate(need.values(result, cca)).mean for cca in ("cubic", "hybla")]
    assert hybla.gain == pytest.approx(math.log(times[0] / times[1]), rel=1e-6)
    assert hybla.net_gain == pytest.approx(hybla.gain - 2 * hybla.loss)
