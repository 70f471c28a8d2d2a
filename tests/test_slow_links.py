"""Links on which a packet is longer than a slot: no cause claims more than what a flow left unused."""

from __future__ import annotations

import random
import re

import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.metrics import words_of

#: Resolution of the shares in texts.
_RESOLUTION = 0.006


@pytest.mark.parametrize("seed", range(1, 7))
def test_no_cause_claims_more_than_the_unused_share(seed: int) -> None:
    draw = random.Random(seed)
    rate = draw.choice([2, 3, 5, 8, 12, 20, 35, 50])
    changes = {
        "path.down.rate": f"{rate}kbit/s",
        "path.up.rate": f"{rate}kbit/s",
        "path.rtt": f"{draw.choice([100, 400, 700])}ms",
        "path.buffer": f"{draw.choice([10, 20, 50])}packets",
        "path.loss": draw.choice(["0%", "1%", "5%"]),
    }
    duration = f"{max(120, round(1800 / rate))}s"
    result = ct.compare("steady-20-68", ["bbr", "bbr3", "cubic"], 1, duration=duration, set=changes)
    for explained in ExplainedComparison(result).ccas:
        for cause in explained.causes:
            for unused in re.findall(r"([\d.]+) % of the capacity (?:stayed )?unused", cause.text):
                unused_share = float(unused) / 100
                assert unused_share <= 1 - explained.used_share + _RESOLUTION, (changes, cause)


@pytest.mark.parametrize("rate", [2, 5, 20])
def test_four_segments_that_fill_the_path_make_no_cost_of_probe_rtt(rate: int) -> None:
    changes = {
        "path.down.rate": f"{rate}kbit/s",
        "path.up.rate": f"{rate}kbit/s",
        "path.rtt": "400ms",
        "path.loss": "5%",
        "path.buffer": "20packets",
    }
    result = ct.compare("steady-20-68", ["bbr"], 2, duration=f"{1800 // rate}s", set=changes)
    (explained,) = ExplainedComparison(result).ccas
    assert "probe_rtt" not in {cause.name for cause in explained.causes}


@pytest.mark.parametrize("rate", [2, 15, 60])
def test_low_rates_and_long_delays_keep_their_digits_in_texts(rate: int) -> None:
    changes = {"path.down.rate": f"{rate}kbit/s", "path.rtt": "400ms", "path.loss": "3%"}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration=f"{3000 // rate}s", set=changes)
    explained = ExplainedComparison(result)
    texts = " ".join(
        [
            *(cause.text for each in explained.ccas for cause in each.causes),
            *(each.standing.behind_text("bbr") for each in explained.ccas if each.standing.differences),
        ]
    )
    assert not re.search(r"\b0\.0\d* Mbit/s|\b\d{5,}(?:\.\d)? ms", texts), texts
    words = words_of("goodput_mbps").suited(0.0018, 0.0017)
    assert words.in_line(0.0018, 0.0017) == "1.80 to 1.70 kbit/s"
    assert words.value_text(0.0018) == "1.80 kbit/s"
    assert words_of("rtt_mean_ms").in_line(46875, 23545) == "46.9 to 23.5 s"
    assert words_of("rtt_mean_ms").in_line(61.24, 73.1) == "61.2 to 73.1 ms"
    assert words_of("goodput_mbps").suited(0.05, 5).own_text(0.05) == "0.0500 Mbit/s"
