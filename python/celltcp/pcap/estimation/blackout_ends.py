"""CCAs that are best on a captured path with the shortest and with the longest blackouts."""

from __future__ import annotations

from pathlib import Path

from celltcp.comparison.run import compare
from celltcp.pcap.estimation.blackouts import unknown_ends
from celltcp.pcap.estimation.path import PathEstimate
from celltcp.scenarios.requirements import REQUIREMENTS

#: Runs of each CCA, and maximum data of all of them, Mbit: some seconds of computation.
_RUNS, _MAX_MBIT = 2, 100_000.0
#: Number of comparisons and CCAs, for the data.
_COMPARISONS, _CCAS = 3, 4
#: Minimum length of a blackout, s: none is zero.
_MIN_S = 0.01


def best_by_ends(scenario: Path, path: PathEstimate) -> dict[str, list[str]] | None:
    """Returns, by need, the CCAs that are best with some end of the blackouts.

    It is None if no end is open, or if the runs would take too long.

    Args:
        scenario: file of the scenario.
        path: its path.

    Raises:
        CelltcpError: if the scenario cannot run.
    """
    mbit = _COMPARISONS * _CCAS * _RUNS * path.duration_s * path.mean_mbps
    if not unknown_ends(path.blackouts, path.transfer_s) or mbit > _MAX_MBIT:
        return None
    best: dict[str, dict[str, None]] = {}
    estimated_s = tuple(each.length_s for each in path.blackouts)
    for lengths_s in zip(*((e.min_s, e.max_s, e.length_s) for e in path.blackouts), strict=True):
        changes = {
            f"path.blackouts.{index}.duration": f"{max(length_s, _MIN_S):.2f}s"
            for index, length_s in enumerate(lengths_s)
        }
        compared = compare(scenario, runs=_RUNS, set=changes)
        for need, verdict in compared.verdicts.items() if compared.is_competing else ():
            if need in REQUIREMENTS and verdict.leader is not None:
                # Who compares has the estimated ends, in more runs.
                tied = () if lengths_s == estimated_s else verdict.tied
                best.setdefault(need, {}).update(dict.fromkeys((verdict.leader, *tied)))
    return {need: list(ccas) for need, ccas in best.items()}
