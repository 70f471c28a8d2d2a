"""Tables of videos: mean opinion scores by scenario, adaptation of the bitrate and CCA."""

from __future__ import annotations

from celltcp.comparison.verdict_tables import verdict_text
from celltcp.present.section import Column, Table, mean_text, number_columns, runs_text
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import VideoComparison


def scores_table(result: VideoComparison) -> Table:
    """Returns mean and 95 % interval of the score, a row per scenario and adaptation."""
    names = labels(result.ccas)
    rows = []
    ends = set()
    keys = list(result.comparisons)
    for number, (scenario, abr) in enumerate(keys):
        runs = result.comparisons[scenario, abr].runs
        scores = (mean_text(runs.loc[runs["cca"] == cca, QOE], 2) for cca in result.ccas)
        best = verdict_text(result.verdict(scenario, abr), names) if len(result.ccas) > 1 else "-"
        rows.append((scenario, abr, *scores, best))
        if number + 1 < len(keys) and keys[number + 1][0] != scenario:
            ends.add(number)
    about = next(iter(result.comparisons.values())).results.about
    return Table(
        columns=(
            Column("scenario", folds=True),
            Column("adaptation"),
            *number_columns(*(names[cca] for cca in result.ccas)),
            Column("best", folds=True),
        ),
        rows=tuple(rows),
        title=f"Mean opinion score (1 to 5) and 95 % interval over {runs_text(about['runs'])}",
        ends=frozenset(ends),
    )
