"""Rates of links by gaps in ACKs, where some come closer together than the link passes data."""

from __future__ import annotations

from typing import Any

import pytest

from celltcp.pcap.diagnosis.trains import link_rate


def _upload(low: float, median: float, high: float, throughput: float) -> dict[str, Any]:
    rates = {"far_train_low_mbps": low, "far_train_mbps": median, "far_train_high_mbps": high}
    times = {"download_s": 10.0, "stalled_s": 0.0, "pauses_up_s": 0.0, "direction": "up"}
    return {"place": "sender", "far_trains": 40, "throughput_mbps": throughput, **times, **rates}


def test_a_link_that_an_upload_fills_has_one_rate_whatever_acks_after_repairs_show() -> None:
    """5 Mbit/s at the IP layer are 4.83 of payload in full segments with timestamps."""
    assert str(link_rate(_upload(4.66, 5 * 1448 / 1500, 7.66, 4.79))) == "4.83"


@pytest.mark.parametrize("throughput", [2.0, 9.2])
def test_a_link_that_is_not_full_or_carries_more_than_its_gaps_keeps_its_range(
    throughput: float,
) -> None:
    assert str(link_rate(_upload(4.51, 4.65, 9.47, throughput))) == "4.51 to 9.47"


def test_a_full_link_whose_rate_varies_keeps_its_range() -> None:
    assert str(link_rate(_upload(3.0, 4.8, 7.7, 4.79))) == "3 to 7.7"
