"""First page of a report: question, answer, and the commands that set the best CCA."""

from __future__ import annotations

import collections
import math
import tomllib
from collections.abc import Iterable, Sequence

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.trials.best_tried import BestTried
from celltcp.comparison.lines.settings_lines import option_commands, settings_blocks, systems
from celltcp.comparison.metrics import GOODPUT, metric_gap, words_of
from celltcp.comparison.report.initial_window import initial_window
from celltcp.comparison.report.receive_window import window_limit
from celltcp.comparison.report.scenario_lines import scenario_block
from celltcp.comparison.retransmitted import retransmitted_share
from celltcp.comparison.verdicts.choices import (
    Choice,
    as_good,
    cca_to_set,
    ccas_to_set,
    choices_of,
    instead_text,
    is_refused,
    linux_ccas_to_set,
    on_flow,
    setting_text,
    tie_break,
    will_any_do,
)
from celltcp.comparison.verdicts.verdict_tables import ahead_text
from celltcp.comparison.verdicts.yielding import yielding_text
from celltcp.present.rounding import rounded_text
from celltcp.present.section import AT_LEAST, Section
from celltcp.results.captured_limits import OTHER_PATH, is_other_path
from celltcp.results.statistics import estimate
from celltcp.scenarios.cca_mix import labels, ranked_mixes
from celltcp.scenarios.ccas import DEFAULT_CCA

#: Minimum share of retransmitted segments at which the answer has it.
_MIN_RETRANSMITTED_SHARE = 0.05


def question_on(ccas: Sequence[str], subject: str) -> str:
    """Returns the question of a report: which CCA is best, or what a single one gets.

    `subject` names scenarios and runs.
    """
    names = ", ".join(labels(ccas).values())
    best = f"Which of {names} is best on {subject}?"
    return best if len(ccas) > 1 else f"What does {names} get on {subject}?"


def answer_of(comparison: Comparison, window_limit_text: str = "", by: Sequence[str] = ()) -> str:
    """Returns the CCA to set for the first need that the runs decide, and its gains and losses.

    Earlier needs are listed as undecided. Without a decided need, the first one is described. Where a
    window of the hosts limits a flow under each CCA, `window_limit_text` is the answer. Metrics `by`
    which to rank are the needs.
    """
    if window_limit_text:
        return _sentence(window_limit_text)
    if is_other_path(comparison.results):
        return _sentence(OTHER_PATH)
    choices = choices_of(comparison, by)
    if not choices:
        return ""
    names = labels(comparison.ccas)
    refused = [
        choice
        for choice in choices
        for cca in [cca_to_set(comparison, choice)]
        if cca is not None and is_refused(comparison, choice, cca)
    ]
    decided = [
        choice for choice in choices if choice.verdict.best is not None and choice not in refused
    ]
    refusals = [f"For {each.need} {setting_text(comparison, each)}." for each in refused]
    failing = [
        f"For {each.need} {each.verdict.contradicted_by}."
        for each in choices
        if each.flows and each.verdict.contradicted_by
    ]
    if (refused or failing) and not decided:
        return " ".join([*failing, *refusals])
    choice = decided[0] if decided else choices[0]
    need, verdict = choice.whole_need, choice.verdict
    cca = cca_to_set(comparison, choice) or str(verdict.leader)
    other = _reference_cca(comparison, cca, choices)
    gaps = "; ".join(_gaps(comparison, cca, other, by))
    if will_any_do(comparison, choice):
        alike = ", ".join(names[each] for each in verdict.ranked)
        return f"For {need} no difference matters among {alike}: keep the one in use."
    if not decided:
        among = ", ".join(names[each] for each in verdict.ranked) + ahead_text(verdict, names)
        losses = _retransmissions_text(comparison, dict.fromkeys((*verdict.ranked, other)))
        against = f"{names[cca]} against {names[other]}: {gaps}"
        doubt = f", as {verdict.doubt}" if verdict.doubt else ""
        return f"For {need} it is undecided among {among}{doubt}. {against}.{losses}"
    tied = ", ".join(names[each] for each in as_good(verdict, cca))
    reason = tie_break(comparison, choice).reason
    tied_text = f"tied with {tied}{f'; {reason}' if reason else ''}" if tied else ""
    notes = [*filter(None, (tied_text, *verdict.dearer_texts(names)))]
    note = f" ({'; '.join(notes)})" if notes else ""
    if instead := instead_text(verdict, cca):
        note = f" ({instead})"
    text = (
        f"For {need}, set {names[cca]}{on_flow(comparison)}{note}. "
        f"Against {names[other]} it has {gaps}."
    )
    text += _retransmissions_text(comparison, (cca, other))
    earlier = [each for each in choices[: choices.index(choice)] if each not in refused]
    if undecided := [each.need for each in earlier if not each.verdict.contradicted_by]:
        text += f" For {' and '.join(undecided)} it is undecided."
    text = " ".join([text, *failing])
    return " ".join([text, *refusals])


def _retransmissions_text(comparison: Comparison, ccas: Iterable[str]) -> str:
    """Returns a sentence on the shares of retransmitted segments; empty if all are small."""
    names = labels(comparison.ccas)
    shares = {cca: retransmitted_share(comparison, comparison.tested, cca) for cca in ccas}
    if max(shares.values()) < _MIN_RETRANSMITTED_SHARE:
        return ""
    texts = ", ".join(f"{names[cca]} {100 * share:.0f} %" for cca, share in shares.items())
    return f" Segments that are sent again: {texts}."


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def settings_section(
    comparison: Comparison,
    window_limit_text: str = "",
    by: Sequence[str] = (),
    tried: BestTried | None = None,
) -> Section | None:
    """Returns the lines that set the best congestion control; None if there is nothing to choose.

    A window of the hosts that limits a flow under each CCA leaves none to set. Metrics `by` which to
    rank are the needs. A sentence says that the best that was `tried` has another CCA.
    """
    choices = choices_of(comparison, by)
    if not choices:
        return None
    names = labels(comparison.ccas)
    chosen = cca_to_set(comparison, choices[0]) or str(choices[0].verdict.leader)
    window, initial = window_limit(comparison, chosen), initial_window(comparison, chosen)
    texts = [limit.text for limit in (window, initial) if limit]
    scenario = tomllib.loads(comparison.results.about["scenario"])
    # The lines of a limit replace those of the scenario for the same fields.
    replaced = [
        *(
            ("tcp.receive_buffer_max", "tcp.receive_buffer_initial", "tcp.receive_window_max")
            if window
            else ()
        ),
        *(("tcp.initial_window", "tcp.slow_start_after_idle") if initial else ()),
    ]
    own = scenario_block(scenario, replaced)
    first = tuple(limit.block for limit in (window, initial) if limit and limit.block)
    last = () if own is None else (own,)
    if window_limit_text:
        texts = texts or [_sentence(window_limit_text)]
        return Section("What to set", text=tuple(texts), blocks=(*first, *last), is_front=True)
    to_set = ccas_to_set(comparison, by)
    for choice in choices:
        need, verdict = choice.whole_need, choice.verdict
        cca = cca_to_set(comparison, choice)
        if cca is None:
            among = ", ".join(names[each] for each in verdict.ranked)
            state = "no difference that matters" if verdict.are_all_tied else "undecided"
            texts.append(f"For {need}: {verdict.contradicted_by or f'{state} among {among}'}.")
        else:
            tied = [names[each] for each in as_good(verdict, cca)]
            notes = [*([f"{', '.join(tied)} as good"] if tied else []), *verdict.dearer_texts(names)]
            also = f" ({'; '.join(notes)})" if notes else ""
            cost = verdict.cost if cca == verdict.leader else None
            price = f"; it costs {cost.text}" if cost else ""
            price = f" ({instead})" if (instead := instead_text(verdict, cca)) else price
            first_set = next(iter(to_set), comparison.usual_cca)
            instead = f" instead of {names[first_set]}" if cca in [*to_set][1:] else ""
            refusal = ""
            if is_refused(comparison, choice, cca, first_set):
                refusal = "not "
                price = f" (other flows lose more by it than with {names[first_set]})"
            name = f"{refusal}{names[cca]}{on_flow(comparison)}"
            texts.append(f"For {need}: {name}{instead}{also}{price}.")
    best = next(iter(to_set), None)
    first_verdict = choices[0].verdict
    is_worse = DEFAULT_CCA in comparison.ccas and DEFAULT_CCA not in first_verdict.ranked
    if best is None and is_worse and not first_verdict.contradicted_by:
        best = str(first_verdict.leader)
        among = " and ".join(names[each] for each in first_verdict.ranked)
        texts.append(
            f"{among} are better than {DEFAULT_CCA}; the lines set {names[best]}, which leads."
        )
    available = next(iter(linux_ccas_to_set(comparison, by).items()), None)
    if available is not None and (best is None or not settings_blocks(best)):
        best, needs = available
        texts.append(f"Best for {' and '.join(needs)}: {names[best]}, which the lines set.")
    if best is None and not first_verdict.undecided:
        texts.append("The runs give no reason to change the congestion control.")
    elif best is None:
        texts.append(
            "No difference is significant: the runs give no reason to change the congestion control. "
            "More runs (--runs) narrow the intervals."
        )
    if best is None:
        return Section("What to set", text=tuple(texts), blocks=(*first, *last), is_front=True)
    if tried is not None and tried.cca != best and not tried.is_of_operator and tried.remedy.options:
        texts.append(
            f"The lines are for {names[best]} without another change; the best of all that was tried, "
            f"with {names.get(tried.cca, tried.cca)}, follows with its own."
        )
    if text := yielding_text(comparison):
        texts.append(f"{text}.")
    blocks = settings_blocks(best)
    if not blocks:
        texts.append(_no_line_text(names[best]))
    else:
        known = systems().values()
        if option := option_commands(best, scenario, 0):
            texts.append(
                f"For {comparison.tested.name} alone, in place of its sysctl: {'; '.join(option)}."
            )
        texts.append(f"Sources: {'; '.join(str(each['source']) for each in known)}.")
    return Section("What to set", text=tuple(texts), blocks=(*first, *blocks, *last), is_front=True)


def _reference_cca(comparison: Comparison, cca: str, choices: Sequence[Choice]) -> str:
    """Returns the CCA to compare with: the usual one, the leader for another need, or the first."""
    others = [each for each in ranked_mixes(comparison.ccas) if each != cca]
    for usual in (comparison.usual_cca, DEFAULT_CCA):
        if usual in others:
            return usual
    leaders = [choice.verdict.leader for choice in choices if choice.verdict.leader in others]
    return str(leaders[0]) if leaders else others[0]


def _gaps(comparison: Comparison, cca: str, other: str, by: Sequence[str] = ()) -> list[str]:
    """Returns the metrics of two CCAs with their paired differences.

    Metrics `by` which to rank are first, then those of applications of other flows.
    """
    texts = []
    asked = [*map(comparison.best_by, by)]
    for best in asked:
        metric, flow = best.chosen
        values = [best.values[each] for each in (cca, other)]
        are_bounds = [each in best.bounds for each in (cca, other)]
        texts.append(_gap_text(metric, *values, flow=flow, are_bounds=are_bounds))
    flows = {best.chosen.flow for best in asked}
    for application in comparison.applications:
        if application.flow in flows:
            continue
        metric = application.ranking.metric
        values = [application.metrics[each][metric] for each in (cca, other)]
        bounds = application.bounds(metric)
        are_bounds = [each in bounds for each in (cca, other)]
        texts.append(_gap_text(metric, *values, flow=application.flow, are_bounds=are_bounds))
    for metric in (*((GOODPUT,) if comparison.is_competing else ()), comparison.delay_metric):
        values = [comparison.values(each, metric) for each in (cca, other)]
        texts.append(_gap_text(metric, *values))
    return texts


def _gap_text(
    metric: str,
    new: Sequence[float],
    old: Sequence[float],
    *,
    flow: str = "",
    are_bounds: Sequence[bool] = (False, False),
) -> str:
    """Returns a metric under two CCAs with the difference, which lower bounds do not have."""
    words = words_of(metric).suited(estimate(new).mean, estimate(old).mean)
    name = f"{words_of(metric).name}{f' of {flow}' if flow else ''}"
    gap = metric_gap(metric, new, old).scaled(words.factor)
    new_number, old_number = (words.number(estimate(values).mean) for values in (new, old))
    old_text = words.own_text(estimate(old).mean)
    if any(are_bounds):
        marks = [AT_LEAST if is_bound else "" for is_bound in are_bounds]
        return f"{name} {marks[0]}{new_number} instead of {marks[1]}{old_text}"
    if math.isnan(gap.mean):
        return f"{name} {new_number} instead of {old_text}"
    if new_number == old_number:
        return f"{name} {old_text} as well"
    change = words.with_unit(rounded_text(gap, words.digits))
    sign = "+" if gap.mean > 0 and not change.startswith("-") else ""
    return f"{name} {new_number} instead of {old_text} ({sign}{change})"


def _no_line_text(cca: str) -> str:
    return f"{cca} is in none of Linux, Windows and FreeBSD: no line sets it."


def several_answer(comparisons: Sequence[Comparison], noun: str) -> tuple[str, Section | None]:
    """Returns the answer of several comparisons in a sentence, and the lines that set their best CCA.

    `noun` is the word for what a comparison is on, such as `scenario`.
    """
    firsts = [choices[0] for comparison in comparisons if (choices := choices_of(comparison))]
    if not firsts:
        return "", None
    names = labels(dict.fromkeys(cca for comparison in comparisons for cca in comparison.ccas))
    needs = list(dict.fromkeys(first.need for first in firsts))
    counts: collections.Counter[str] = collections.Counter()
    for verdict in (first.verdict for first in firsts):
        counts.update(verdict.to_set)
    total = len(firsts)
    need = needs[0] if len(needs) == 1 else f"the application of each {noun}"
    ranked = sorted(counts, key=lambda cca: -counts[cca])
    if not ranked:
        return f"For {need} it is undecided on every {noun}.", None
    shares = ", ".join(f"{names[cca]} on {counts[cca]}" for cca in ranked)
    winner = ranked[0]
    text = f"best or tied of {total} {noun}s: {shares}"
    is_first = len(ranked) == 1 or counts[winner] > counts[ranked[1]]
    if not is_first or 2 * counts[winner] <= total:
        return f"For {need} no CCA is best on most; {text}.", None
    blocks = settings_blocks(winner)
    texts = [f"For {need}, {text}."]
    if not blocks:
        texts.append(_no_line_text(names[winner]))
    section = Section("What to set", text=tuple(texts), blocks=blocks, is_front=True)
    flows = {on_flow(comparison) for comparison in comparisons}
    flow = flows.pop() if len(flows) == 1 else ""
    return f"For {need}, set {names[winner]}{flow}; {text}.", section
