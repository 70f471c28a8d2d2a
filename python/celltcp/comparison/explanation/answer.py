"""Answer: the congestion controls by their ranking metric, for each need, and the lines to set."""

from __future__ import annotations

import functools
import math
import tomllib
from typing import TYPE_CHECKING

from celltcp.comparison.lines.settings_lines import linux_commands
from celltcp.comparison.metrics import COMPLETED_SHARE, GOODPUT, mean_texts, sign_of
from celltcp.comparison.short_runs import LONGER_THAN_RUN
from celltcp.comparison.verdicts.choices import (
    cca_to_set,
    ccas_to_set,
    choices_by,
    choices_of,
    is_refused,
    linux_ccas_to_set,
    needs_with_notes,
    on_flow,
    setting_text,
)
from celltcp.comparison.verdicts.harm import harm_text, harms_of
from celltcp.comparison.verdicts.yielding import room_text
from celltcp.present.section import AT_LEAST
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.outcome import SettingRow
    from celltcp.comparison.verdicts.choices import Choice


def rankings_of(comparison: Comparison) -> list[str]:
    """Returns a sentence for each need of a flow, or for the first need, with every CCA's value."""
    return [_ranking_text(comparison, choice) for choice in _choices_of_flows(comparison)]


def settings_of(comparison: Comparison, by: Sequence[str] = ()) -> list[SettingRow]:
    """Returns the congestion controls to set, each with its needs and the lines for Linux.

    A flow has one congestion control, so that one for another need is set instead of the first. Of
    metrics asked for, those by which a congestion control is best are the needs.
    """
    asked: dict[str, list[str]] = {}
    scenario = tomllib.loads(comparison.results.about["scenario"])
    short = {each.cca for each in comparison.short_runs}
    for choice in choices_by(comparison, by):
        if (cca := choice.verdict.best) is not None and not choice.verdict.are_all_tied:
            harm = harm_text(harms_of(comparison, cca, choice.flows))
            cost = f"it costs {choice.verdict.cost.text}" if choice.verdict.cost else ""
            asked.setdefault(cca, []).extend(needs_with_notes([(choice.need, (cost, harm))]))
    names = {cca: name.removesuffix("@none") for cca, name in labels(comparison.ccas).items()}
    on_text = on_flow(comparison)
    return [
        {
            "cca": f"{names[cca]}{on_text}{f' instead of {names[first]}' if cca != first else ''}",
            "need": (
                f"{' and '.join(needs)}{f' ({LONGER_THAN_RUN})' if cca in short else ''}"
                f"{room_text(comparison, cca)}"
            ),
            "lines": linux_commands(cca, scenario),
        }
        for chosen in ([asked] if asked else [ccas_to_set(comparison), linux_ccas_to_set(comparison)])
        for first in [*chosen][:1]
        for cca, needs in chosen.items()
    ]


def metric_texts(columns: Mapping[str, Sequence[Sequence[float]]]) -> list[str]:
    """Returns the means of metrics as text, in one unit for each metric.

    Args:
        columns: by metric, the values of every run, for each of the texts.
    """
    texts = [
        mean_texts(name, *(estimate(values).mean for values in column))
        for name, column in columns.items()
    ]
    return [" and ".join(row) for row in zip(*texts, strict=True)]


def cca_texts(
    ccas: Sequence[str],
    names: Mapping[str, str],
    columns: Mapping[str, Mapping[str, Sequence[float]]],
    bounds: Collection[str],
) -> str:
    """Returns congestion controls with their means of metrics as text.

    Args:
        ccas: the congestion controls, in their order.
        names: their labels.
        columns: by metric and congestion control, the values of every run.
        bounds: those whose values are lower bounds.
    """
    texts = metric_texts({name: [values[cca] for cca in ccas] for name, values in columns.items()})
    return ", ".join(
        f"{names[cca]} {AT_LEAST if cca in bounds else ''}{text}"
        for cca, text in zip(ccas, texts, strict=True)
    )


def further_settings(
    ranked: Comparison, compared: Collection[str], by: Sequence[str] = ()
) -> list[SettingRow]:
    """Returns the settings with better CCAs among those that were only tried, as `settings_of`.

    Args:
        ranked: the comparison with the tried ones.
        compared: congestion controls without them.
        by: metrics asked for.
    """
    names = labels(ranked.ccas)
    tried = {f"{names[each]}{on_flow(ranked)}" for each in ranked.ccas if each not in compared}
    rows = []
    for row in settings_of(ranked, by):
        # One that is set for another need than a better one is set without it.
        row["cca"] = row["cca"].partition(" instead of ")[0]
        row["need"] += ", tried as well"
        rows += [row] if row["cca"] in tried else []
    return rows


def tried_as_well(ranked: Comparison, compared: Collection[str]) -> list[str]:
    """Returns sentences on the CCAs that were only tried: those better than all compared, and others.

    Args:
        ranked: the comparison with the tried ones.
        compared: congestion controls without them.
    """
    tried = [cca for cca in ranked.ranked_ccas if cca not in compared]
    return [text for each in _choices_of_flows(ranked) for text in _tried_texts(ranked, each, tried)]


def not_to_be_set(ranked: Comparison, compared: Collection[str]) -> set[str]:
    """Returns the CCAs that were only tried, but those that are to be set for some need."""
    chosen = {
        best
        for each in _choices_of_flows(ranked)
        if (best := cca_to_set(ranked, each)) is not None and not is_refused(ranked, each, best)
    }
    return {*ranked.ccas} - {*compared} - chosen


def _tried_texts(ranked: Comparison, choice: Choice, tried: Sequence[str]) -> list[str]:
    names, texts = labels(ranked.ccas), []
    in_order, columns, bounds = _ordered(ranked, choice)
    first = next((cca for cca in in_order if cca not in tried), None)
    others = [cca for cca in in_order if cca in tried]
    best = cca_to_set(ranked, choice)
    is_better = best in tried and not is_refused(ranked, choice, str(best))
    if first is not None and best is not None and is_better:
        others.remove(best)
        own, instead = metric_texts(
            {name: [values[cca] for cca in (best, first)] for name, values in columns.items()}
        )
        least = AT_LEAST if first in bounds else ""
        texts.append(
            f"{names[best]}, which was tried as well, is better still for {choice.need}: {own} instead "
            f"of {least}{instead} of {names[first]}{room_text(ranked, best)}."
        )
    if others:
        cost, leader = choice.verdict.cost, choice.verdict.leader
        price = f"; {names[leader]} costs {cost.text}" if cost and leader in others else ""
        figures = cca_texts(others, names, columns, bounds)
        texts.append(f"Tried as well, and not to be set, for {choice.need}: {figures}{price}.")
    return texts


def _choices_of_flows(comparison: Comparison) -> list[Choice]:
    """Returns the choices for the needs of flows, or else the first one."""
    choices = choices_of(comparison)
    return [choice for choice in choices if choice.flows] or choices[:1]


def _ordered(
    comparison: Comparison, choice: Choice
) -> tuple[list[str], Mapping[str, Mapping[str, Sequence[float]]], Collection[str]]:
    """Returns the CCAs, the best first, their metrics for a need, and those with lower bounds."""
    ranked = comparison.ranked_ccas
    if choice.flows:
        stake = next(each for each in comparison.stakes if each.flow == choice.flows[0])
        ranked = sorted(ranked, key=stake.signed_mean, reverse=True)
        return ranked, {stake.metric: stake.values}, stake.bounds
    order = functools.partial(_signed_mean, comparison, choice.metric)
    metrics = (GOODPUT, comparison.delay_metric)
    columns = {name: {cca: comparison.values(cca, name) for cca in ranked} for name in metrics}
    return sorted(ranked, key=order, reverse=True), columns, ()


def _ranking_text(comparison: Comparison, choice: Choice) -> str:
    """Returns the CCAs with the metric of a need, the best first; goodput and delay for the network."""
    names, (ranked, columns, bounds) = labels(comparison.ccas), _ordered(comparison, choice)
    times = _times_text(comparison, choice)
    cca = cca_to_set(comparison, choice)
    is_not_set = cca is not None and is_refused(comparison, choice, cca)
    reason = setting_text(comparison, choice) if is_not_set else choice.verdict.contradicted_by
    note = f"; {reason}" if reason else ""
    return f"For {choice.need}: {cca_texts(ranked, names, columns, bounds)}{note}.{times}"


def _times_text(comparison: Comparison, choice: Choice) -> str:
    """Returns sentences with the times of transfers of which some were cut off; or empty."""
    application = next(
        (each for each in comparison.applications if each.flow in choice.flows[:1]), None
    )
    if application is None or choice.metric not in (COMPLETED_SHARE, application.completion_metric):
        return ""
    metric, names, text = application.completion_metric, labels(comparison.ccas), ""
    bounds = application.bounds(metric)
    if choice.metric == COMPLETED_SHARE:
        ccas = [cca for cca in comparison.ranked_ccas if application.values(metric)[cca]]
        all_text = cca_texts(ccas, names, {metric: application.values(metric)}, bounds)
        text = f" Time until the last one: {all_text}."
    complete = application.values("completion_s")
    ccas = [cca for cca in comparison.ranked_ccas if not math.isnan(estimate(complete[cca]).mean)]
    if not ccas or not bounds:
        return text
    of_complete = cca_texts(ccas, names, {"completion_s": complete}, ())
    return f"{text} Mean time of the complete ones: {of_complete}."


def _signed_mean(comparison: Comparison, metric: str, cca: str) -> float:
    """Returns the mean of a metric of the network with the sign that makes more better."""
    return sign_of(metric) * estimate(comparison.values(cca, metric)).mean
