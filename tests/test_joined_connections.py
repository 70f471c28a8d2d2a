"""Connections of a flow at the same time: their slots become those of one flow."""

from __future__ import annotations

import celltcp as ct
from celltcp.results.tested import joined_slots


def test_the_capacity_of_several_connections_is_that_of_the_link() -> None:
    """Data that waited for a retransmission arrive at once, which is no capacity of the link."""
    changes = {"path.down": "2Mbit/s", "path.buffer": "4bdp", "flows.0.count": "3"}
    compared = ct.compare("steady-20-68", "cubic", 1, duration="30s", set=changes)
    slots = joined_slots(compared.tested, compared.flows, compared.slots)
    later = slots[slots["t_s"] > 2]
    assert later["goodput_mbps"].max() > 4
    # Slots of 100 ms hold 16 or 17 packets, and an arriving packet may count to the next slot.
    assert later["capacity_mbps"].between(1.5, 2.3).all()
    assert abs(later["capacity_mbps"].mean() - 1.93) < 0.05
