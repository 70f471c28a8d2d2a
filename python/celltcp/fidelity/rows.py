"""Rows of the fidelity report, for the terminal and for the page."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from celltcp.fidelity.causes import Cause, cause_of
from celltcp.fidelity.differences import Difference, Fidelity, Judgement

#: Columns of differences: metric, name in sentences, heading, decimal places.
COLUMNS = (
    ("goodput_mbps", "goodput", "goodput, Mbit/s", 2),
    ("rtt_mean_ms", "mean RTT", "mean RTT, ms", 1),
    ("rtt_p95_ms", "p95 RTT", "p95 RTT, ms", 1),
    ("retransmitted_percent", "retransmissions", "retransmitted, %", 2),
    ("completion_s", "completion", "completion, s", 2),
)

#: Legend of the cells.
LEGEND = (
    "Each metric: native / kernel, means over the runs. Below: the difference in % of the kernel mean, "
    "± half of its 95 % interval, paired by seed. There is no ± where no run differs from another. "
    "Undecided: the difference is outside its band, but the interval reaches back into it. A question "
    "mark: the difference is within its band, but the interval reaches beyond."
)


def csv_text(fidelity: Fidelity, causes: Sequence[Cause]) -> str:
    """Returns all rows as CSV, with numbers in full; the names of a metric's columns start with it."""
    text = io.StringIO()
    rows = [_csv_row(judgement, causes) for judgement in fidelity.judgements]
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _csv_row(judgement: Judgement, causes: Sequence[Cause]) -> dict[str, object]:
    row: dict[str, object] = {"case": judgement.case, "cca": judgement.cca}
    for metric, difference in judgement.differences.items():
        row[f"{metric}_native"] = difference.native
        row[f"{metric}_kernel"] = difference.kernel
        row[f"{metric}_difference_percent"] = difference.percent
        row[f"{metric}_ci95_percent"] = difference.ci95
        row[f"{metric}_band_percent"] = difference.band
    row["cwnd_distance"] = judgement.cwnd_distance.mean
    row["verdict"] = verdict(judgement)
    cause = cause_of(judgement.case, judgement.cca, causes) if judgement.metrics_outside else ""
    row["cause"] = " ".join(cause.split())
    return row


def columns_of(judgements: Sequence[Judgement]) -> list[tuple[str, str, str, int]]:
    """Returns the columns of differences of a table; completion only if a connection was completed."""
    has_completion = any(
        not math.isnan(judgement.differences["completion_s"].kernel) for judgement in judgements
    )
    return [column for column in COLUMNS if has_completion or column[0] != "completion_s"]


def headings(judgements: Sequence[Judgement]) -> list[str]:
    """Returns the headings of a table."""
    differences = (heading for _, _, heading, _ in columns_of(judgements))
    return ["case", "CCA", *differences, "cwnd distance", "verdict"]


def rows(judgements: Sequence[Judgement]) -> list[list[str]]:
    """Returns the cells of a table, a row per judgement."""
    columns = columns_of(judgements)
    return [
        [
            judgement.case,
            judgement.cca,
            *(_cell(judgement.differences[metric], digits) for metric, _, _, digits in columns),
            _with_interval(_number(judgement.cwnd_distance.mean, 3), judgement.cwnd_distance.ci95, 3),
            verdict(judgement),
        ]
        for judgement in judgements
    ]


def verdict(judgement: Judgement) -> str:
    """Returns the verdict with the metrics that decide it; `within ?` if more runs could change it."""
    for label, metrics in (
        ("outside", judgement.metrics_outside),
        ("undecided", judgement.undecided_metrics),
    ):
        if metrics:
            return f"{label}: {', '.join(name for metric, name, _, _ in COLUMNS if metric in metrics)}"
    return "within ?" if judgement.is_open else "within"


def difference_text(difference: Difference) -> str:
    """Returns the difference in percent with its interval."""
    if math.isnan(difference.percent):
        return "undefined"
    # Adding zero turns a rounded -0.0 into 0.0.
    return _with_interval(f"{round(difference.percent, 2) + 0.0:+.2f}", difference.ci95, 2) + " %"


def row_of(judgement: Judgement, metrics: Sequence[str]) -> tuple[str, ...]:
    """Returns case, CCA, and the differences of these metrics with their names."""
    differences = ", ".join(
        f"{name} {difference_text(judgement.differences[metric])}"
        for metric, name, _, _ in COLUMNS
        if metric in metrics
    )
    return judgement.case, judgement.cca, differences


def _cell(difference: Difference, digits: int) -> str:
    values = f"{_number(difference.native, digits)} / {_number(difference.kernel, digits)}"
    return f"{values}\n{difference_text(difference)}"


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _with_interval(text: str, ci95: float | None, digits: int) -> str:
    return text if ci95 is None else f"{text} ±{ci95:.{digits}f}"
