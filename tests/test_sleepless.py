"""Warnings about phones with DRX that never pause for long enough to sleep."""

from __future__ import annotations

from typing import Any

import pytest

import celltcp as ct


def warnings_of(drx: dict[str, str], flow: dict[str, Any], **changes: Any) -> list[str]:
    """Returns the warnings about DRX of a phone at mid-cell."""
    settings = {"radio.drx": drx, "flows": [flow], **changes}
    result = ct.compare("static/mid-cell", "cubic", 1, duration="8s", set=settings)
    return [text for text in result.warnings if text.startswith("radio.drx")]


def frames(interval: str) -> dict[str, Any]:
    """Returns a flow of small frames."""
    return {"workload": {"kind": "frames", "size": "500B", "interval": interval}}


@pytest.mark.parametrize("cycle", ["80ms", "640ms"])
def test_a_download_without_pauses_has_a_warning_that_names_the_grants(cycle: str) -> None:
    (text,) = warnings_of({"inactivity": "10ms", "long_cycle": cycle}, {})
    assert "never slept" in text
    assert "keep it awake for 100 ms" in text
    off = warnings_of({"inactivity": "10ms"}, {}, **{"radio.uplink.prescheduling": "off"})
    assert "prescheduling" not in off[0]


def test_frames_with_short_pauses_have_a_warning_and_those_with_long_ones_have_none() -> None:
    drx = {"inactivity": "2560ms", "long_cycle": "320ms"}
    assert len(warnings_of(drx, frames("1s"))) == 1
    assert not warnings_of({"inactivity": "100ms", "long_cycle": "320ms"}, frames("1s"))
