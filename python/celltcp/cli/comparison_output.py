"""Tables and pictures of a comparison, as commands print and draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from celltcp.cli.output import draw, reuse_picture
from celltcp.present.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from celltcp.campaign.plan import CampaignRequest
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.tables import Results


def draw_comparison(comparison: Comparison, folder: Path) -> None:
    """Draws a comparison and the decisions of its selectors, unless the pictures exist."""
    if not reuse_picture(comparison.results, folder, "overview"):
        draw(comparison.plot.overview(), folder, "overview")
        if "decisions" in comparison.results.tables:
            _draw_explained(comparison, folder)


def _draw_explained(comparison: Comparison, folder: Path) -> None:
    """Draws the decisions of selectors, unless their connections were too short for a picture."""
    from celltcp._core import CelltcpError
    from celltcp.cli.select.explain import draw_all
    from celltcp.selection.explanation import explain

    try:
        draw_all(explain(comparison.results), folder)
    except CelltcpError as reason:
        click.echo(f"no picture of decisions: {reason}", err=True)


def check_by(by: Sequence[str], request: CampaignRequest[Any]) -> None:
    """Checks the metrics of --by before anything runs.

    Raises:
        CelltcpError: if a metric does not exist, or a scenario lacks its flow, or the workload of the
            flow lacks the metric; names the first such scenario.
    """
    if not by:
        return
    from celltcp._core import CelltcpError
    from celltcp.comparison.verdicts.by_metric import check_metric

    origins = [campaign.origin for campaign in request.campaigns]
    for origin in origins:
        for metric in by:
            try:
                check_metric(metric, origin)
            except CelltcpError as error:
                prefix = f"{origin['name']}: " if len(origins) > 1 else ""
                raise CelltcpError(f"{prefix}{error}") from None


def remember_by(folder: Path | None, by: Sequence[str]) -> None:
    """Stores the metrics of --by with results that are saved, so that celltcp show ranks by them."""
    if folder is not None:
        from celltcp.results.publishing import remember_metrics

        remember_metrics(folder, by)


def print_comparison(
    comparison: Comparison, published: bool = False, by: Sequence[str] = (), name: str = ""
) -> None:
    """Prints the means with intervals, the warnings, and the best CCAs."""
    from celltcp.campaign.provenance import engine_text
    from celltcp.comparison.tables import (
        NO_RANDOMNESS,
        means_table,
        selector_texts,
        shares_table,
        subject_text,
    )

    console = Terminal()
    if comparison.applications:
        from celltcp.comparison.applications.application_tables import metrics_table, texts_of_all_runs
        from celltcp.comparison.verdicts.by_metric import chosen_first

        applications = {application.flow: application for application in comparison.applications}
        for flow in chosen_first(applications, by, comparison.results.about):
            application = applications[flow]
            console.print_table(metrics_table(comparison, application))
            for text in texts_of_all_runs(comparison, application):
                console.print(text)
    console.print_table(means_table(comparison, name, by))
    for warning in comparison.warnings:
        console.print(f"warning: {warning}", style="yellow")
    if subject := subject_text(comparison):
        console.print(subject)
    if comparison.has_shares:
        console.print_table(shares_table(comparison))
    print_limits(comparison.results, console)
    for text in selector_texts(comparison):
        console.print(text)
    if not comparison.randomness:
        console.print(NO_RANDOMNESS)
    _print_verdicts(comparison, by, console)
    console.print(engine_text(comparison.results.about), style="dim")
    if published:
        _print_published(comparison)


def _print_verdicts(comparison: Comparison, by: Sequence[str], console: Terminal) -> None:
    """Prints the best CCA by each metric of --by, for each flow and by requirement."""
    # A single CCA has no rivals to rank.
    is_ranked = len(comparison.ccas) > 1
    if not by and not is_ranked:
        return
    from celltcp.comparison.verdicts.fixed_ccas import fixed_cca_text
    from celltcp.comparison.verdicts.verdict_tables import (
        chosen_text,
        identical_text,
        stake_texts,
        unranked_text,
        verdict_text,
    )
    from celltcp.comparison.verdicts.yielding import yielding_text
    from celltcp.results.captured_limits import NO_BEST, OTHER_PATH, has_decided, is_other_path
    from celltcp.results.limits import has_captured_sender
    from celltcp.scenarios.cca_mix import labels

    if is_other_path(comparison.results):
        console.print(OTHER_PATH)
        return
    names = labels(comparison.ccas)
    for metric in by:
        console.print(chosen_text(comparison.best_by(metric), names))
    if not is_ranked:
        return
    if has_captured_sender(comparison.results) and has_decided(comparison.results):
        console.print(NO_BEST)
        return
    for text in stake_texts(comparison):
        console.print(text)
    if text := identical_text(comparison):
        console.print(text)
    for text in comparison.trade_offs:
        console.print(f"trade-off: {text}")
    for requirement, verdict in comparison.network_verdicts.items():
        if verdict.leader is not None or not comparison.several_flows:
            console.print(f"best for {requirement:>8}: {verdict_text(verdict, names)}")
    notes = [fixed_cca_text(comparison), yielding_text(comparison)]
    if comparison.short_runs:
        from celltcp.comparison.short_runs import short_verdicts_text

        notes.append(short_verdicts_text(comparison))
    for text in filter(None, notes):
        console.print(f"note: {text}")
    if not by and (text := unranked_text(comparison)):
        console.print(text)


def print_limits(results: Results, console: Terminal) -> None:
    """Prints what limited the flows, in per cent of their time."""
    from celltcp.comparison.tables import limits_table

    if (table := limits_table(results)) is not None:
        console.print_table(table)


def _print_published(comparison: Comparison) -> None:
    """Prints published means of the scenario next to ours, or a warning that there are none."""
    from celltcp.publications.published_means import compare_published
    from celltcp.publications.tables import print_outcome

    published = compare_published(comparison)
    if published.reason:
        click.echo(f"warning: --published: {published.reason}", err=True)
    console = Terminal()
    for outcome in published.outcomes:
        print_outcome(outcome, console)
