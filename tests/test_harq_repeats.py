"""Capacity of a cell that repeats by HARQ take, as `celltcp explain` says."""

from __future__ import annotations

import re

import pytest

import celltcp as ct
from celltcp.results.tables import frame


def _explained(speed: str, buffer: str) -> tuple[ct.Comparison, str]:
    changes = {"radio.ues.0.sinr": "15dB", "radio.rlc.buffer": buffer, "radio.fading.speed": speed}
    result = ct.compare(
        "mobility/forward-60-4g", "cubic", 1, duration="12s", set=changes, radio_log=True
    )
    (explained,) = ct.explain(result).comparisons[""].ccas
    texts = " ".join(cause.text for cause in explained.causes)
    found = re.search(r"HARQ took ([\d.]+) % of the capacity", texts)
    return result, found[1] if found else ""


@pytest.mark.parametrize("speed", ["30km/h", "120km/h"])
def test_a_queue_that_never_empties_is_served_the_mean_block_over_the_mean_number_of_attempts(
    speed: str,
) -> None:
    """The capacity is the mean of blocks over the expected attempts, the rate a ratio of means."""
    result, share = _explained(speed, "2000packets")
    blocks = frame(result.results.tables["radio"])
    blocks = blocks[(blocks["uplink"] == 0) & (blocks["attempt"] > 0) & (blocks["t_ns"] > 1e9)]
    firsts = blocks[blocks["attempt"] == 1]
    expected = (firsts["tbs_bytes"] / (1 + firsts["bler"])).mean()
    served = firsts["tbs_bytes"].sum() / len(blocks)
    assert float(share) / 100 == pytest.approx(1 - served / expected, abs=0.02)


def test_a_buffer_that_empties_has_no_share_of_harq() -> None:
    """Beside a queue, TTIs without data leave capacity unused, too."""
    assert _explained("30km/h", "20packets")[1] == ""


def test_a_control_channel_without_a_place_for_assignments_is_named_and_a_wider_one_tried() -> None:
    """Of 25 blocks, a symbol has 50 groups less 4 and 12 (TS 36.211 6.8.1): 3 elements for all."""
    changes = {"radio.ues.0.sinr": "8dB", "radio.prbs": 25, "radio.fading.speed": "30km/h"}
    goodputs_mbps, texts = [], []
    for symbols in (1, 2):
        result = ct.compare(
            *("mobility/forward-60-4g", "bbr", 2),
            duration="20s",
            set={**changes, "radio.control_symbols": symbols},
        )
        (explained,) = ct.explain(result).comparisons[""].ccas
        goodputs_mbps.append(explained.goodput_mbps)
        texts.append(explained.cause_text("queue"))
        options = [each.options for each in ct.explain(result).comparisons[""].remedies]
        assert any("radio.control_symbols=2" in each for each in options) == (symbols == 1)
    assert "which has 3 elements where one message takes up to 8" in texts[0]
    assert "control channel" not in texts[1]
    # The second symbol takes data from each block, and gives more than that back.
    assert goodputs_mbps[1] > 1.03 * goodputs_mbps[0]


@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_a_cell_whose_queue_never_empties_leaves_nothing_unused(cca: str) -> None:
    """The unused capacity is that of HARQ; no window or pacing rate was too small."""
    changes = {"radio.ues.0.sinr": "8dB", "radio.prbs": 25, "radio.fading.speed": "30km/h"}
    result = ct.compare("mobility/forward-60-4g", cca, 1, duration="20s", set=changes)
    (explained,) = ct.explain(result).comparisons[""].ccas
    assert explained.used_share < 0.9
    assert "repeats of HARQ" in explained.cause_text("queue")
    assert "unused" not in " ".join(cause.text for cause in explained.causes)
