"""Segments that a flow sent again: their share, and their data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.results.columns import rows_of
from celltcp.results.statistics import paired_gap
from celltcp.scenarios.quantity_texts import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.results.tested import FlowUnderTest

#: Difference of the shares of segments that two congestion controls send again, from which on it
#: matters: of a paid volume, or of links that others use.
MIN_RESENT = 0.02


class ResentShare(NamedTuple):
    """Retransmissions as a share of the segments: of all runs together, and of each run."""

    total: float
    of_runs: Sequence[float]

    def exceeds(self, other: ResentShare) -> bool:
        """Whether the share is above another one of the same seeds by more than chance gives."""
        gap = paired_gap(self.of_runs, other.of_runs, are_shares=True)
        return self.total - other.total >= MIN_RESENT and not gap.includes_zero


def resent_share(comparison: Comparison, flow: FlowUnderTest, cca: str) -> ResentShare:
    """Returns the share that a flow sent again, with that of each run in the order of the seeds."""
    counts = dict.fromkeys(comparison.values(cca, "run"), (0, 0))
    columns = ("run", "name", "retransmissions", "segments")
    for run, name, retransmitted, sent in rows_of(comparison.results.tables["flows"], *columns):
        if run in counts and flow.includes(name):
            before = counts[run]
            counts[run] = before[0] + (retransmitted or 0), before[1] + (sent or 0)
    retransmitted, sent = (sum(count[index] for count in counts.values()) for index in range(2))
    of_runs = [part / max(whole, 1) for part, whole in counts.values()]
    return ResentShare(retransmitted / max(sent, 1), of_runs)


def mean_share(shares: Sequence[ResentShare]) -> ResentShare:
    """Returns the mean of the shares of equal flows."""
    runs = zip(*(share.of_runs for share in shares), strict=True)
    return ResentShare(
        sum(share.total for share in shares) / len(shares), [sum(run) / len(shares) for run in runs]
    )


def retransmitted_text(comparison: Comparison, flow: FlowUnderTest, cca: str) -> str:
    """Returns the share of retransmissions as a text after their number; empty without any."""
    share = retransmitted_share(comparison, flow, cca)
    return f" ({percent_text(share)})" if share else ""


def retransmitted_share(comparison: Comparison, flow: FlowUnderTest | None, cca: str) -> float:
    """Returns the retransmissions of a flow, or of all, as a share of the segments; 0 without any."""
    _, (retransmitted, sent, _) = _sums(comparison, flow, cca)
    return retransmitted / max(sent, 1)


def resent_megabytes(comparison: Comparison, flow: FlowUnderTest, cca: str) -> float:
    """Returns the payload that a flow sent again, MB a run, by the mean payload of its segments."""
    runs, (retransmitted, sent, payload) = _sums(comparison, flow, cca)
    return retransmitted * payload / max(sent - retransmitted, 1) / max(runs, 1) / 1e6


def resent_texts(comparison: Comparison, flow: FlowUnderTest) -> dict[str, str]:
    """Returns the data that a flow sent again and their share by CCA, as cells of a table."""
    return {
        cca: size_text(1e6 * resent_megabytes(comparison, flow, cca))
        + retransmitted_text(comparison, flow, cca)
        for cca in comparison.ccas
    }


def _sums(
    comparison: Comparison, flow: FlowUnderTest | None, cca: str
) -> tuple[int, tuple[float, float, float]]:
    """Returns the number of runs, and the sums of retransmissions, segments and delivered bytes."""
    tables = comparison.results.tables
    runs = {run for run, name in rows_of(tables["runs"], "run", "cca") if name == cca}
    counts = [
        [value or 0 for value in values]
        for run, name, *values in rows_of(
            tables["flows"], "run", "name", "retransmissions", "segments", "bytes"
        )
        if run in runs and (flow is None or flow.includes(name))
    ]
    retransmitted, sent, payload = (sum(row[index] for row in counts) for index in range(3))
    return len(runs), (retransmitted, sent, payload)
