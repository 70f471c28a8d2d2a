"""Warning about connections that opened late, a time that goodput lacks and frames wait for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.results.columns import rows_of
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.results.warnings import MIN_OPENING_S
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.quantity_texts import three_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.results.tables import Results

    #: CCA, time from the request to the first byte, time after it, s, and goodput in that, Mbit/s.
    _Opening = tuple[str, float, float, float]

#: Minimum time from the request to the first byte that counts as late, as a share of the duration, and
#: minimum share that a flow without end loses of its goodput by it.
_MIN_OPENING_SHARE, _MIN_COST = 0.01, 0.02


def late_openings(results: Results) -> list[str]:
    """Returns a warning for each flow without end, or of frames, whose connections opened late."""
    lineups, names = results.lineups, labels(results.lineups.values())
    columns = ("run", "name", "start_s", "first_data_s", "duration_s", "goodput_mbps")
    warnings = []
    for flow, workload in FlowUnderTest.each_with_workload(results.about):
        has_frames = workload.get("kind") == "frames"
        if not has_frames and not is_endless(workload):
            continue
        openings = [
            (lineups.get(run, ""), first_data_s - start_s, duration_s, goodput)
            for run, name, start_s, first_data_s, duration_s, goodput in rows_of(
                results.tables["flows"], *columns
            )
            if flow.includes(name) and not math.isnan(first_data_s)
        ]
        late = [
            (lineup, opening_s)
            for lineup, opening_s, duration_s, _ in openings
            if opening_s >= max(MIN_OPENING_S, _MIN_OPENING_SHARE * duration_s)
        ]
        if not late:
            continue
        # The figures are those of the CCA that loses most.
        rates = [
            (lineup, *_rates([row for row in openings if row[0] == lineup]))
            for lineup in dict.fromkeys(lineup for lineup, _ in late)
        ]
        rates = [row for row in rates if row[1] > 0]
        if not rates:
            continue
        lineup, from_first_mbps, from_request_mbps = min(rates, key=lambda row: row[2] / row[1])
        if not has_frames and from_request_mbps > (1 - _MIN_COST) * from_first_mbps:
            continue
        with_text = (
            f"with {names.get(lineup, lineup)}, " if len({row[0] for row in openings}) > 1 else ""
        )
        ccas = ", ".join(dict.fromkeys(names.get(lineup, lineup) for lineup, _ in late))
        effect = "in which frames wait" if has_frames else "a time that goodput leaves out"
        warnings.append(
            f"{ccas}: {len(late)} of {len(openings)} connections of {flow.name} opened up to "
            f"{max(opening_s for _, opening_s in late):.1f} s after their request, {effect}: "
            f"{with_text}a connection has {three_digits(from_first_mbps)} Mbit/s from the first byte "
            f"on, {three_digits(from_request_mbps)} from the request on"
        )
    return warnings


def _rates(openings: Sequence[_Opening]) -> tuple[float, float]:
    """Returns the mean goodput of connections from the first byte, and from the request on, Mbit/s."""
    total_mbit = sum(duration_s * goodput for _, _, duration_s, goodput in openings)
    from_first_byte_s = sum(duration_s for _, _, duration_s, _ in openings)
    from_request_s = from_first_byte_s + sum(opening_s for _, opening_s, _, _ in openings)
    return total_mbit / from_first_byte_s, total_mbit / from_request_s
