"""Goodput beside the law of a congestion control under random losses: columns, a note, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.tables import has_rows_of_flows
from celltcp.present.section import Column, number_columns
from celltcp.results.rows import interval_json
from celltcp.results.statistics import Estimate, estimate
from celltcp.results.tested import FlowUnderTest
from celltcp.results.warnings.few_losses import MAX_LOSS_RATE, LawRate, law_rates
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.outcome import LawRow

#: Mark of rates at which the law does not hold.
BEYOND_LAW = "*"


class LawGoodput(NamedTuple):
    """Goodput of a flow by the law of its congestion control, and that of the runs by it."""

    rate: LawRate
    #: By run, goodput as a multiple of that by the law.
    ratios: list[float]

    @property
    def ratio(self) -> Estimate:
        """Mean ratio with its interval."""
        return estimate(self.ratios)

    @property
    def cells(self) -> tuple[str, str]:
        """Goodput by the law, Mbit/s, and the ratio; marked where the law does not hold."""
        mark = "" if self.rate.holds else BEYOND_LAW
        return f"{self.rate.goodput_mbps:.2f}{mark}", f"{self.ratio.mean:.2f}"


def law_goodputs(comparison: Comparison) -> list[LawGoodput]:
    """Returns the goodputs of bulk flows by their laws; none without random losses or a law."""
    flows = {flow.name: flow for flow in FlowUnderTest.each(comparison.results.about)}
    return [
        LawGoodput(
            rate,
            [
                mbps / rate.goodput_mbps
                for mbps in comparison.values_of(flows[rate.flow], rate.cca, "goodput_mbps")
            ],
        )
        for rate in law_rates(comparison.results)
        if rate.cca in comparison.ccas
    ]


def law_cells(comparison: Comparison) -> dict[str, tuple[str, str]]:
    """Returns the cells of `law_columns` of the flow under test by congestion control."""
    tested = comparison.tested.name
    return {each.rate.cca: each.cells for each in law_goodputs(comparison) if each.rate.flow == tested}


def law_columns() -> tuple[Column, ...]:
    """Returns the columns of the goodput by the law, and of that of the runs as its multiple."""
    return number_columns("by law\nMbit/s", "goodput\n/ law")


def law_note(comparisons: Iterable[Comparison]) -> str:
    """Returns the laws of `law_columns` with their sources, and where they do not hold; or empty."""
    every = [*comparisons]
    rates = [
        each.rate
        for comparison in every
        for each in law_goodputs(comparison)
        if each.rate.flow == comparison.tested.name
    ]
    # Tables with a row for each of several flows lack the columns.
    if not rates or has_rows_of_flows(every):
        return ""
    names = labels(list(dict.fromkeys(rate.cca for rate in rates)))
    beyond = "" if all(rate.holds for rate in rates) else f"; {beyond_law_text()}"
    formulas = dict.fromkeys(
        f"{names[rate.cca]} {rate.law.formula(rate.loss, rate.rtt_s)}" for rate in rates
    )
    return f"law of steady states, at most the capacity: {'; '.join(formulas)}{beyond}"


def beyond_law_text() -> str:
    """Returns what the mark of rates by a law means."""
    return (
        f"{BEYOND_LAW} above a loss rate of {100 * MAX_LOSS_RATE:g} %, where the law does not hold: "
        "time-outs and recoveries take more (Padhye et al., 1998)"
    )


def law_sources(comparisons: Iterable[Comparison]) -> str:
    """Returns the publications of the laws, with the loss rate up to which they hold."""
    rates = (rate for comparison in comparisons for rate in law_rates(comparison.results))
    sources = ", ".join(dict.fromkeys(rate.law.source for rate in rates))
    return f"{sources}, for loss rates up to {100 * MAX_LOSS_RATE:g} %"


def law_json(comparison: Comparison) -> list[LawRow]:
    """Returns the goodputs by law as JSON."""
    return [
        {
            "cca": each.rate.cca,
            "flow": each.rate.flow,
            "loss_rate": each.rate.loss,
            "goodput_mbps": each.rate.goodput_mbps,
            "ratio": interval_json(each.ratio),
            "holds": each.rate.holds,
            "source": each.rate.law.source,
        }
        for each in law_goodputs(comparison)
    ]
