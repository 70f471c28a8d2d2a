"""Rows of the fidelity report, for the terminal and for the page."""

from __future__ import annotations

import math

from celltcp.fidelity.judgement import Difference, Judgement

#: Columns of differences: metric, name in sentences, heading, digits.
COLUMNS = (
    ("goodput_mbps", "goodput", "goodput, Mbit/s", 2),
    ("rtt_mean_ms", "mean RTT", "mean RTT, ms", 1),
    ("rtt_p95_ms", "p95 RTT", "p95 RTT, ms", 1),
    ("retransmitted_percent", "retransmissions", "retransmitted, %", 2),
)
HEADINGS = ("case", "CCA", *(heading for _, _, heading, _ in COLUMNS), "cwnd distance", "verdict")

#: Legend of the cells.
LEGEND = (
    "Each metric: native / kernel, means over the runs; below, the difference in percent of the "
    "kernel's mean, ± half its 95 % interval, paired by seed; no ± where no run differs from another. "
    "A verdict with a question mark: the interval reaches across an edge of the band."
)


def cells(judgement: Judgement, line_break: str = "\n") -> list[str]:
    """The cells of a row, as in `HEADINGS`."""
    found = judgement.cwnd_distance
    return [
        judgement.case,
        judgement.cca,
        *(
            _metric(judgement.differences[metric], digits, line_break)
            for metric, _, _, digits in COLUMNS
        ),
        _with_interval(_number(found.mean, 3), found.ci95, 3),
        verdict(judgement),
    ]


def verdict(judgement: Judgement) -> str:
    """Within, or outside by which metrics; with a question mark if more runs could turn it."""
    names = [name for metric, name, _, _ in COLUMNS if metric in judgement.outside]
    word = f"outside: {', '.join(names)}" if names else "within"
    return f"{word} ?" if judgement.is_open else word


def difference_text(found: Difference) -> str:
    """The difference in percent with its interval."""
    if math.isnan(found.percent):
        return "undefined"
    # A zero without a sign: -0.00 says nothing.
    return _with_interval(f"{round(found.percent, 2) + 0.0:+.2f}", found.ci95, 2) + " %"


def _metric(found: Difference, digits: int, line_break: str) -> str:
    values = f"{_number(found.native, digits)} / {_number(found.kernel, digits)}"
    return f"{values}{line_break}{difference_text(found)}"


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _with_interval(text: str, ci95: float | None, digits: int) -> str:
    return text if ci95 is None else f"{text} ±{ci95:.{digits}f}"
