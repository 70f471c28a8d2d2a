"""Simulations of a captured path, and the queue discipline (AQM) that explains its losses better.

Random losses have a rate that fits any capture, and each CCA has it. A discipline drops by the queue
that a CCA makes: as random losses, those of BBR would leave CUBIC a third of its rate.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

from celltcp.pcap.analysis import CaptureAnalyses
from celltcp.pcap.estimation.path import MTU, PathEstimate
from celltcp.pcap.estimation.rerun import Rerun, rerun
from celltcp.pcap.estimation.scenario_files import write_scenario

#: Maximum p-value of the RTTs at losses, if these are independent of the queue, for a simulation with a
#: discipline, and for one that need not fit better than random losses, whose rate is fitted.
_MAX_P_VALUE, _MAX_SURE_P_VALUE = 0.1, 1e-5
#: Maximum distance of a simulation with a discipline, and as a share of that with random losses.
_MAX_DISTANCE, _MAX_DISTANCE_SHARE = 0.4, 0.6
#: Limit of CoDel and PIE on Linux, packets.
_LIMIT_PACKETS = 1_000


def simulated(
    path: PathEstimate, file: Path, analyses: CaptureAnalyses, row: dict[Hashable, Any]
) -> PathEstimate:
    """Returns an estimate with its simulation, and with a discipline in place of random losses.

    Args:
        path: estimate of the path.
        file: name of a scenario that may be written for the simulations.
        analyses: analyses of the capture.
        row: connection of the transfer.

    Raises:
        CelltcpError: if the scenario cannot run.
    """
    is_alone = path.policing is None and not path.flows_beside and not path.others
    if not (is_alone and path.random_loss and path.p_value_of_losses <= _MAX_P_VALUE):
        return replace(path, rerun=_rerun(path, file, analyses, row))
    disciplined = replace(
        path,
        has_discipline=True,
        random_loss=0.0,
        loss_burst=0.0,
        loss_bursts=0,
        buffer_bytes=max(path.scenario_buffer_bytes, _LIMIT_PACKETS * MTU),
        is_buffer_full=True,
    )
    runs = [_rerun(each, file, analyses, row, nearest=True) for each in (path, disciplined)]
    distance, disciplined_distance = (each.distance for each in runs)
    is_sure = path.p_value_of_losses <= _MAX_SURE_P_VALUE and disciplined_distance <= _MAX_DISTANCE
    fits = is_sure or disciplined_distance <= _MAX_DISTANCE_SHARE * distance
    is_disciplined = fits and not runs[1].differs
    return replace(disciplined if is_disciplined else path, rerun=runs[is_disciplined])


def _rerun(
    path: PathEstimate,
    file: Path,
    analyses: CaptureAnalyses,
    row: dict[Hashable, Any],
    *,
    nearest: bool = False,
) -> Rerun:
    scenario, _ = write_scenario(path, file)
    return rerun(scenario, path.duration_s, path.mean_mbps, analyses, row, nearest=nearest)
