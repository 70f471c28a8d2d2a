"""Warning about connections that opened late, a time that their goodput leaves out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.results.columns import rows_of
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from celltcp.results.tables import Results

#: Minimum time from the request to the first byte that counts as late, as a share of the duration.
_MIN_OPENING_SHARE = 0.01


def late_openings(results: Results, min_opening_s: float) -> list[str]:
    """Returns a warning for each flow without end whose connections opened late.

    Args:
        results: of a campaign.
        min_opening_s: minimum time from the request to the first byte that counts as late, s.
    """
    flows = FlowUnderTest.each_with_workload(results.about)
    endless = [flow for flow, workload in flows if is_endless(workload)]
    lineups, names = results.lineups, labels(results.lineups.values())
    columns = ("run", "name", "start_s", "first_data_s", "duration_s", "goodput_mbps")
    warnings = []
    for flow in endless:
        rows = [
            row
            for row in rows_of(results.tables["flows"], *columns)
            if flow.includes(row[1]) and not math.isnan(row[3])
        ]
        late = [
            (lineups.get(run, ""), first_data_s - start_s)
            for run, _, start_s, first_data_s, duration_s, _ in rows
            if first_data_s - start_s >= max(min_opening_s, _MIN_OPENING_SHARE * duration_s)
        ]
        if not late:
            continue
        total_mbit = sum(duration_s * goodput for *_, duration_s, goodput in rows)
        from_first_byte_s = sum(duration_s for *_, duration_s, _ in rows)
        opening_s = sum(first_data_s - start_s for _, _, start_s, first_data_s, _, _ in rows)
        ccas = ", ".join(dict.fromkeys(names.get(lineup, lineup) for lineup, _ in late))
        longest_s = max(delay_s for _, delay_s in late)
        warnings.append(
            f"{ccas}: {len(late)} of {len(rows)} connections of {flow.name} opened up to "
            f"{longest_s:.1f} s after their request, a time that goodput leaves out: over all of them "
            f"{total_mbit / from_first_byte_s:.3g} Mbit/s from the first byte on, "
            f"{total_mbit / (from_first_byte_s + opening_s):.3g} from the request on"
        )
    return warnings
