"""Tables of a comparison of videos: scores, other metrics, and the best ABR algorithms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from celltcp.comparison.metrics import VIDEO, metric_text, words_of
from celltcp.comparison.verdicts.verdict_tables import short_text, verdict_text
from celltcp.present.section import Column, Table, number_columns, runs_text
from celltcp.scenarios.cca_mix import count_text, labels
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import SCORES, VideoComparison

#: Video metrics that a narrow terminal omits, the least important first.
_DROPPABLE = ("startup_s", "stalls", "switches")


def scores_table(videos: VideoComparison) -> Table:
    """Returns mean and 95 % interval of the score, a row per scenario and ABR algorithm."""
    names = labels(videos.ccas)
    is_ranked = len(videos.ccas) > 1
    rows: list[tuple[str, ...]] = []
    for (scenario, abr), comparison in videos.comparisons.items():
        scores = (metric_text(QOE, comparison.values(cca, QOE), 2) for cca in videos.ccas)
        best = [verdict_text(videos.verdict(scenario, abr), names)] if is_ranked else []
        rows.append((scenario, abr, *scores, *best))
    return Table(
        columns=(
            Column("scenario", folds=True),
            Column("adaptation"),
            *number_columns(*(names[cca] for cca in videos.ccas)),
            *([Column("best", folds=True)] if is_ranked else []),
        ),
        rows=tuple(rows),
        title=f"Mean opinion score (1 to 5) and 95 % interval over {runs_text(videos.about['runs'])}",
        group_ends=_scenario_ends(rows),
    )


def _scenario_ends(rows: Sequence[tuple[str, ...]]) -> frozenset[int]:
    """Returns the indices of the last rows of scenarios, except that of the last scenario."""
    return frozenset(
        index for index, (row, after) in enumerate(itertools.pairwise(rows)) if row[0] != after[0]
    )


def metrics_table(videos: VideoComparison) -> Table:
    """Returns all video metrics, a row per scenario, ABR algorithm and CCA."""
    rows: list[tuple[str, ...]] = []
    names = labels(videos.ccas)
    for (scenario, abr), comparison in videos.comparisons.items():
        for cca in comparison.ccas:
            cells = (
                metric_text(name, comparison.values(cca, name), app_metric.digits)
                for name, app_metric in VIDEO.items()
            )
            rows.append((scenario, abr, names[cca], *cells))
    return Table(
        columns=(
            *map(Column, ("scenario", "adaptation")),
            Column("CCA", no_wrap=True),
            *(
                Column(app_metric.heading, is_number=True, name=name, no_wrap=True)
                for name, app_metric in VIDEO.items()
            ),
        ),
        rows=tuple(rows),
        title=f"What the viewers got: mean and 95 % interval over {runs_text(videos.about['runs'])}",
        group_ends=_scenario_ends(rows),
        cca_of_cell={names[cca]: cca for cca in videos.ccas},
        droppable=_DROPPABLE,
    )


def adaptations_table(videos: VideoComparison) -> Table | None:
    """Returns the best ABR algorithm by each score, a row per scenario and CCA, and over all scenarios.

    None with a single ABR algorithm.
    """
    if not videos.adaptation_verdicts:
        return None
    names = labels(videos.ccas)
    abr_names = {abr: abr for abr in videos.adaptations}
    rows: dict[tuple[str, str], list[str]] = {}
    for best in videos.adaptation_verdicts:
        scenario = best.scenario or f"mean over {count_text(len(videos.scenarios), 'scenario')}"
        rows.setdefault((scenario, names[best.cca]), []).append(short_text(best.verdict, abr_names))
    is_undecided = any("?" in cell for cells in rows.values() for cell in cells)
    note = " (?: undecided, with the runs to try)" if is_undecided else ""
    return Table(
        columns=(
            Column("scenario", folds=True),
            Column("CCA"),
            *(Column(f"by {words_of(metric).name}", folds=True) for metric in SCORES),
        ),
        rows=tuple((*key, *cells) for key, cells in rows.items()),
        title=f"Best adaptation{note}",
        cca_of_cell={name: cca for cca, name in names.items()},
    )


def over_all_lines(videos: VideoComparison) -> list[str]:
    """Returns a line for each verdict over all scenarios, and those of the places of the best one."""
    scenarios = count_text(len(videos.scenarios), "scenario")
    return [
        line
        for each in videos.over_all
        for line in (f"best over all {scenarios} {each.need}: {each.text}", *each.place_lines)
    ]
