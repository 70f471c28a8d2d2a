"""How fast the native engine is."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from celltcp._core import Run
from celltcp.scenarios import load_scenario


@dataclass(frozen=True)
class Case:
    """A scenario to time."""

    name: str
    scenario: str
    cca: str
    changes: Sequence[str] = field(default_factory=tuple)


CASES = (
    Case("wired_50mbit", "steady-20-68", "cubic", ("path.down.rate=50Mbit/s", "duration=600s")),
    Case("wired_samples", "steady-20-68", "bbr", ("path.down.rate=50Mbit/s", "duration=600s")),
    Case("drive", "drive", "cubic", ("duration=600s",)),
    Case("four_flows", "steady-100-18", "cubic", ("flows.0.count=4", "duration=120s")),
    Case("random_loss", "steady-20-68", "reno", ("path.loss=0.001", "duration=600s")),
)


def measure(case: Case) -> dict[str, float]:
    """Simulated seconds and data packets per CPU second; samples on where the name says so."""
    scenario = load_scenario(case.scenario, changes=case.changes).with_cca(case.cca)
    sampled = case.name.endswith("samples")
    run = Run(scenario.with_samples("every-ack" if sampled else "off"), 1)
    start = time.process_time()
    seconds = 0.0
    while seconds < scenario.duration_s:
        seconds += 10.0
        run.advance(seconds)
        run.take_samples()
    spent = time.process_time() - start
    flows = pa.record_batch(run.finish()["flows"])
    packets = sum(int(row["segments"]) for row in flows.to_pylist())
    return {
        "sim_s_per_cpu_s": scenario.duration_s / spent,
        "data_packets_per_cpu_s": packets / spent,
    }


def peak_memory_mb() -> float:
    """The largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
