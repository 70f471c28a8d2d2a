"""Notes on shapers: for how long a link is slower than they are, and that a router stands behind it."""

from __future__ import annotations

import re

import pytest

import celltcp as ct
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import Alternative
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.explanation.trials.shaper_notes import shaper_notes

_BEHIND = "shapers of downloads were tried before the link"


def _run(down: object) -> Comparison:
    """Returns a run of two downloads, of which each has a part of the link."""
    flows = [{"name": "one"}, {"name": "two"}]
    changes = {"path.down": down, "path.rtt": "40ms", "path.buffer": "300kB", "flows": flows}
    return ct.compare("steady-20-68", "cubic", 1, duration="40s", set=changes)


def _notes(result: Comparison, *rates: str, place: str = "router") -> list[str]:
    rows = [
        Alternative(
            "cubic",
            ProposedRemedy("queue", Remedy("a queue", (f"path.wired.0.rate={rate}",)), ("cubic",), {}),
            result,
            (place,),
            [],
            0.0,
            (),
        )
        for rate in rates
    ]
    return shaper_notes(rows, Evidence(result, "cubic", result.tested))


def test_a_steady_link_is_below_no_shaper_whatever_others_carry() -> None:
    """Each of two downloads has half of 10 Mbit/s, which is no lower rate of the link."""
    result = _run("10Mbit/s")
    assert [note.startswith(_BEHIND) for note in _notes(result, "9.5Mbit/s")] == [True]
    assert _notes(result, "9.5Mbit/s", place="hop core") == []


@pytest.mark.parametrize("low_s", [4, 12])
def test_a_link_that_varies_is_below_a_shaper_for_the_time_of_its_low_rate(low_s: int) -> None:
    steps = {"steps": [{"at": "0s", "rate": "20Mbit/s"}, {"at": f"{40 - low_s}s", "rate": "6Mbit/s"}]}
    note, behind = _notes(_run(steps), "12Mbit/s", "3Mbit/s")
    assert behind.startswith(_BEHIND)
    texts = re.findall(r"below (\S+) for ([\d.]+) % of the time", note)
    shares = {rate: float(share) for rate, share in texts}
    assert shares["12Mbit/s"] == pytest.approx(100 * low_s / 40, abs=3)
    assert shares["3Mbit/s"] < 1
