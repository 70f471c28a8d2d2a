"""Late frames by outages: as many as are in time on the same link without the outages."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.causes.tail import slow_units
from celltcp.comparison.explanation.causes.unit_reasons import backlogs_of
from celltcp.comparison.explanation.evidence.evidence import Evidence

_DEADLINE_S = 0.25


def _uplink(draw: random.Random, *, has_outages: bool) -> list[dict[str, str]]:
    """Steps of an uplink whose rate changes each second, with or without five outages."""
    rates = [draw.randint(18, 30) for _ in range(40)]
    gaps = [(round(draw.uniform(2 + 7 * i, 7 + 7 * i), 2), draw.uniform(0.2, 1.5)) for i in range(5)]
    steps = {float(second): f"{rate}Mbit/s" for second, rate in enumerate(rates)}
    for at_s, length_s in gaps if has_outages else ():
        end_s = round(at_s + length_s, 2)
        steps = {t_s: rate for t_s, rate in steps.items() if not at_s <= t_s <= end_s}
        steps |= {at_s: "0bit/s", end_s: f"{rates[int(end_s)]}Mbit/s"}
    return [{"at": f"{t_s:.2f}s", "rate": rate} for t_s, rate in sorted(steps.items())]


def _stream(seed: int, *, has_outages: bool, has_backup: bool) -> Comparison:
    """A stream of a third of an uplink, alone or beside a CUBIC backup."""
    draw = random.Random(f"uplink {seed}")
    up = {"from": "phone", "to": "server"}
    size_kb, rtt_ms = draw.randint(40, 55), draw.randint(20, 40)
    frames = {"kind": "frames", "size": f"{size_kb}kB", "interval": "50ms", "jitter": 0}
    stream = {"name": "stream", "workload": {**frames, "deadline": f"{_DEADLINE_S}s"}, **up}
    changes: dict[str, Any] = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down": "100Mbit/s",
        "path.up": {"steps": _uplink(draw, has_outages=has_outages)},
        "path.uplink_buffer": "2MB",
        "flows": [stream, *([{"name": "backup", "cca": "cubic", **up}] if has_backup else [])],
    }
    return ct.compare("steady-20-68", ["cubic"], 1, duration="40s", set=changes)


def _late_and_by_outages(result: Comparison) -> tuple[int, int]:
    """Returns the number of late frames, and that of those which have outages as reason."""
    evidence = Evidence(result, "cubic", result.tested)
    units = evidence.units
    assert units is not None
    is_late = ~(units["duration_s"] <= _DEADLINE_S)
    by_outages = backlogs_of(evidence, units).late_by_outages(_DEADLINE_S)
    return int(is_late.sum()), int((is_late & by_outages).sum())


@pytest.mark.parametrize("seed", range(3))
def test_all_late_frames_of_a_lone_stream_are_those_of_its_outages(seed: int) -> None:
    assert _late_and_by_outages(_stream(seed, has_outages=False, has_backup=False)) == (0, 0)
    late, by_outages = _late_and_by_outages(_stream(seed, has_outages=True, has_backup=False))
    assert by_outages == late > 30


@pytest.mark.parametrize("seed", range(4))
def test_beside_a_backup_outages_have_as_many_late_frames_as_the_link_without_them_saves(
    seed: int,
) -> None:
    """Outages that frames merely meet are no reason where the backup's queue makes nearly all late."""
    late_without, _ = _late_and_by_outages(_stream(seed, has_outages=False, has_backup=True))
    result = _stream(seed, has_outages=True, has_backup=True)
    late, by_outages = _late_and_by_outages(result)
    alone, _ = _late_and_by_outages(_stream(seed, has_outages=True, has_backup=False))
    evidence = Evidence(result, "cubic", result.tested)
    cause = slow_units(evidence)
    assert cause is not None
    assert late > 2 * alone
    assert abs(by_outages - (late - late_without)) < 0.35 * late
    if late_without > 0.8 * late:
        assert by_outages < 0.2 * late
        assert "without a break: backup (" in cause.text


def test_a_response_that_meets_an_outage_has_that_as_reason() -> None:
    changes = {
        "path.blackouts": "[{ at = '5s', duration = '1s' }]",
        "flows.0.workload": "{ kind = 'request-response', response = '30kB', gap = '100ms' }",
    }
    result = ct.compare("steady-20-68", ["cubic"], 1, duration="15s", set=changes)
    cause = slow_units(Evidence(result, "cubic", result.tested))
    assert cause is not None
    assert "1 met an outage" in cause.text
