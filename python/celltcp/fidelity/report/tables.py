"""Tables of fidelity: judgements of a group of cases, and distributions over random cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from celltcp.fidelity.cases import Case
from celltcp.fidelity.differences import Fidelity, Judgement
from celltcp.fidelity.distribution import QUANTILES, Distribution, distribution_of
from celltcp.fidelity.rows import headings, rows
from celltcp.present.section import Column, Section, Table, number_columns

#: Metrics of a distribution in words.
_METRIC_TITLES = {"goodput_mbps": "goodput", "rtt_mean_ms": "mean RTT", "completion_s": "completion"}
#: Columns of texts.
_TEXT_COLUMNS = ("case", "CCA", "verdict")


def group_table(judgements: Sequence[Judgement], title: str = "") -> Table:
    """Returns a row per judgement; outside and undecided ones are bold."""
    columns = tuple(
        Column(heading, is_number=heading not in _TEXT_COLUMNS, name=heading)
        for heading in headings(judgements)
    )
    bold = [
        index
        for index, judgement in enumerate(judgements)
        if judgement.metrics_outside or judgement.undecided_metrics
    ]
    return Table(
        columns,
        tuple(map(tuple, rows(judgements))),
        title,
        bold=frozenset(bold),
        cca_of_cell={judgement.cca: judgement.cca for judgement in judgements},
        droppable=("cwnd distance", "p95 RTT, ms", "retransmitted, %"),
    )


def distribution_sections(fidelity: Fidelity, cases: Sequence[Case]) -> list[Section]:
    """Returns the distribution of the differences over random cases, and traits of large ones."""
    distribution = distribution_of(fidelity, cases)
    tables = [quantiles_table(distribution), traits_table(distribution)]
    tables += [out_of_band_table(distribution)] if distribution.outside else []
    return [Section(table.title, replace(table, title="")) for table in tables]


def quantiles_table(distribution: Distribution) -> Table:
    """Returns quantiles of the absolute differences, a row per metric."""
    names = ["median" if share == 0.5 else f"p{100 * share:g}" for share in QUANTILES]
    within = "within the band, or the interval reaches back"
    columns = (Column("metric"), *number_columns(*names, within))
    rows = tuple(
        (
            _METRIC_TITLES[metric],
            *(f"{quantiles[share]:.1f}" for share in QUANTILES),
            f"{100 * distribution.within_share[metric]:.1f} %",
        )
        for metric, quantiles in distribution.quantiles.items()
    )
    title = f"Absolute differences, % of the kernel's mean, over {distribution.comparisons} comparisons"
    return Table(columns, rows, title)


def traits_table(distribution: Distribution) -> Table:
    """Returns how many comparisons have each trait, and how many of them are beyond a band."""
    columns = (Column("trait"), *number_columns("comparisons", "beyond a band", "share, %"))
    rows = tuple(
        (name, str(count), str(beyond), f"{100 * beyond / count:.0f}")
        for name, (count, beyond) in distribution.traits.items()
    )
    return Table(columns, rows, "Comparisons by what their scenario has")


def out_of_band_table(distribution: Distribution) -> Table:
    """Returns the comparisons beyond a band with their traits."""
    rows = []
    for out_of_band in distribution.outside:
        metrics = ", ".join(
            f"{_METRIC_TITLES[metric]} {out_of_band.judgement.differences[metric].percent:+.1f} %"
            for metric in out_of_band.metrics
        )
        others = ", ".join(name for name in out_of_band.traits if name != out_of_band.guess)
        rows.append(
            (
                out_of_band.judgement.case,
                out_of_band.judgement.cca,
                metrics,
                out_of_band.guess or "-",
                others,
            )
        )
    headings = ("case", "CCA", "beyond in", "guess", "other traits")
    title = "Beyond a band; the guess is the trait that most often goes with it"
    return Table(tuple(map(Column, headings)), tuple(rows), title, droppable=("other traits",))
