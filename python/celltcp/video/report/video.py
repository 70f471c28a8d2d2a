"""Tables of videos: scores and other metrics by scenario, ABR algorithm and CCA."""

from __future__ import annotations

from celltcp.comparison.metrics import VIDEO, words_of
from celltcp.comparison.verdict_tables import short_text, verdict_text
from celltcp.present.section import Column, Table, mean_text, number_columns, runs_text
from celltcp.scenarios.cca_mix import count_text, labels
from celltcp.scenarios.requirements import QOE
from celltcp.video.comparison import VideoComparison

#: Metrics of the viewer that a narrow terminal omits, the least important first.
_DROPPABLE = ("startup_s", "stalls", "switches")


def scores_table(comparison: VideoComparison) -> Table:
    """Returns mean and 95 % interval of the score, a row per scenario and ABR algorithm."""
    names = labels(comparison.ccas)
    is_ranked = len(comparison.ccas) > 1
    rows = []
    ends = set()
    keys = list(comparison.comparisons)
    for index, (scenario, abr) in enumerate(keys):
        runs = comparison.comparisons[scenario, abr].runs
        scores = (mean_text(runs.loc[runs["cca"] == cca, QOE], 2) for cca in comparison.ccas)
        best = [verdict_text(comparison.verdict(scenario, abr), names)] if is_ranked else []
        rows.append((scenario, abr, *scores, *best))
        if index + 1 < len(keys) and keys[index + 1][0] != scenario:
            ends.add(index)
    about = next(iter(comparison.comparisons.values())).results.about
    return Table(
        columns=(
            Column("scenario", folds=True),
            Column("adaptation"),
            *number_columns(*(names[cca] for cca in comparison.ccas)),
            *([Column("best", folds=True)] if is_ranked else []),
        ),
        rows=tuple(rows),
        title=f"Mean opinion score (1 to 5) and 95 % interval over {runs_text(about['runs'])}",
        ends=frozenset(ends),
    )


def metrics_table(videos: VideoComparison) -> Table:
    """Returns all metrics of the viewers, a row per scenario, ABR algorithm and CCA."""
    rows: list[tuple[str, ...]] = []
    ends = set()
    names = labels(videos.ccas)
    for (scenario, abr), comparison in videos.comparisons.items():
        if rows and rows[-1][0] != scenario:
            ends.add(len(rows) - 1)
        for cca in comparison.ccas:
            cells = (
                mean_text(comparison.values(cca, name), app_metric.digits)
                for name, app_metric in VIDEO.items()
            )
            rows.append((scenario, abr, names[cca], *cells))
    about = next(iter(videos.comparisons.values())).results.about
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
        title=f"What the viewers got: mean and 95 % interval over {runs_text(about['runs'])}",
        ends=frozenset(ends),
        ccas={names[cca]: cca for cca in videos.ccas},
        droppable=_DROPPABLE,
    )


def adaptations_table(comparison: VideoComparison) -> Table | None:
    """Returns the best ABR algorithm by each score, a row per scenario and CCA, and over all scenarios.

    None where there is a single ABR algorithm.
    """
    verdicts = comparison.adaptation_verdicts
    if not verdicts:
        return None
    names = labels(comparison.ccas)
    metrics = list(dict.fromkeys(verdict.metric for verdict in verdicts))
    scenarios = comparison.scenarios
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for verdict in verdicts:
        place = verdict.scenario or f"mean over {count_text(len(scenarios), 'scenario')}"
        of_row = cells.setdefault((place, names[verdict.cca]), {})
        of_row[verdict.metric] = short_text(
            verdict.verdict, {abr: abr for abr in comparison.adaptations}
        )
    is_open = any("?" in cell for of_row in cells.values() for cell in of_row.values())
    state = " (?: undecided, with the runs that would likely decide)" if is_open else ""
    return Table(
        columns=(
            Column("scenario", folds=True),
            Column("CCA"),
            *(Column(f"by {words_of(metric).name}", folds=True) for metric in metrics),
        ),
        rows=tuple((*key, *(of_row[metric] for metric in metrics)) for key, of_row in cells.items()),
        title=f"Best adaptation{state}",
        ccas={name: cca for cca, name in names.items()},
    )
