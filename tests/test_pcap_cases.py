"""Captures with right values that were written before any tool ran (shared/cases/captures)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celltcp.pcap import analyse

if TYPE_CHECKING:
    import pandas as pd

CASES = next(
    (
        folder / "shared" / "cases" / "captures"
        for folder in Path(__file__).resolve().parents
        if (folder / "shared" / "cases" / "captures").is_dir()
    ),
    None,
)

pytestmark = pytest.mark.skipif(CASES is None, reason="shared/cases/captures is absent")

#: Words of each cause; no other sentence has them.
CAUSES = {
    "late data": "after their own ACKs",
    "closed window": "closed receive window of the client",
    "forged reset": "sent the RST in the name of the server",
    "forgotten": "has forgotten the connection",
    "gone": "until the end without any answer",
    "handshake": "for the handshake: 2 SYNs",
    "rewritten SACK": "rewrites sequence numbers but not SACK",
    "path MTU": "black hole of path MTU discovery",
    "Nagle": "for delayed ACKs (50 times, ",
    "random": "lost at random",
    "dropped by the capture": "the capture dropped packets",
    "send buffer": "the send buffer of the server limits",
    "application": "the application of the server limits",
    "spurious": "a path that stood still; nothing was lost (1 spurious",
    "reordering": "overtaken on the path (reordering), none was lost",
    "data only": "only the data of one direction",
    "ACKs only": "that they acknowledge at ",
    "receive window": "the receive window of the client limits",
    "none": "",
}

#: Cause, port of the server, segments (with SYNs) that passed again, seconds waited and tolerance.
EXPECTED: dict[str, tuple[str, int, int, tuple[float, float]]] = {
    "c02-acks-before-data": ("late data", 443, 0, (0, 0.01)),
    "c03d-span-ipv6": ("none", 443, 0, (0, 0.01)),
    "c03g-ipv6-clean": ("random", 443, 1, (0, 0.01)),
    "c06b-zero-window-1byte": ("closed window", 443, 0, (5.2, 0.05)),
    "c07a-nat-idle-rst": ("forged reset", 443, 0, (0, 0.01)),
    "c07b-nat-idle-silent": ("forgotten", 443, 9, (122, 1)),
    "c07d-phone-gone-mid-download": ("gone", 443, 9, (118, 1)),
    "c08a-syn-lost-1s": ("handshake", 443, 1, (1.055, 0.01)),
    "c09-sack-not-rewritten": ("rewritten SACK", 443, 1, (0.3, 0.05)),
    "c10a-tso-14480": ("random", 443, 1, (0, 0.01)),
    "c11a-pmtu-black-hole": ("path MTU", 443, 7, (35, 8)),
    "c12b-midstream-zero-window": ("closed window", 50_051, 0, (3, 0.05)),
    "c13-nagle-delayed-ack": ("Nagle", 443, 0, (2, 0.05)),
    "c13b-delayed-ack-and-random-loss": ("random", 443, 6, (0, 0.01)),
    "c14-erspan2": ("random", 443, 1, (0, 0.01)),
    "c14-gre": ("random", 443, 1, (0, 0.01)),
    "c14-gtpu-fragmented": ("random", 443, 1, (0, 0.01)),
    "c14-vxlan": ("random", 443, 1, (0, 0.01)),
    "c15-snap68": ("random", 443, 1, (0, 0.01)),
    "c15-unsorted": ("random", 443, 1, (0, 0.01)),
    "c18-capture-drops": ("dropped by the capture", 443, 0, (0, 0.01)),
    "c19a-send-buffer": ("send buffer", 443, 0, (0, 0.01)),
    "c19b-application": ("application", 443, 0, (0, 0.01)),
    "c20a-spurious-rto": ("spurious", 443, 1, (0.7, 0.1)),
    "c20c-receiver-reorder-1ms": ("reordering", 443, 0, (0, 0.01)),
    "c20e-lan-fast-rexmit-no-ts": ("random", 443, 1, (0, 0.01)),
    "c21a-tfo": ("none", 443, 0, (0, 0.01)),
    "c22a-data-only": ("data only", 443, 2, (0, 0.01)),
    "c22b-acks-only": ("ACKs only", 443, 0, (0, 0.01)),
    "c23b-clock-forward-3s": ("none", 443, 0, (0, 0.01)),
    "c24-10mbit-40ms-window": ("receive window", 443, 0, (0, 0.01)),
}


def worst(name: str) -> pd.Series:
    """Returns the worst connection of a case."""
    assert CASES is not None
    row: pd.Series = analyse(CASES / f"{name}.pcap").connections.iloc[0]
    return row


@pytest.mark.parametrize("name", EXPECTED)
def test_the_worst_connection_has_its_cause_server_and_repetitions(name: str) -> None:
    cause, port, again, _ = EXPECTED[name]
    row = worst(name)
    assert row["server"].endswith(f":{port}")
    assert row["retransmissions_up"] + row["retransmissions_down"] == again
    sentence = row["diagnosis"]
    assert CAUSES[cause] in sentence
    assert bool(sentence) == (cause != "none")
    for other, words in CAUSES.items():
        assert other in (cause, "none") or words not in sentence


@pytest.mark.parametrize("name", EXPECTED)
def test_the_worst_connection_waited_as_long_as_it_did(name: str) -> None:
    *_, (waited, tolerance) = EXPECTED[name]
    assert worst(name)["harm_s"] == pytest.approx(waited, abs=tolerance)
