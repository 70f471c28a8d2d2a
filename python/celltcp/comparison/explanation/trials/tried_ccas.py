"""Congestion controls of Linux that were tried alone: they rank beside those of the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.lines.settings_lines import linux_sysctls
from celltcp.comparison.verdicts.choices import ccas_to_set
from celltcp.results.merged_tables import merged, renumbered
from celltcp.results.tables import Results
from celltcp.scenarios.cca_mix import has_several_flows
from celltcp.scenarios.requirements import QOE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from celltcp.comparison.explanation.trials.alternatives import Need
    from celltcp.comparison.explanation.trials.confirmation import Confirmation
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
    from celltcp.comparison.explanation.trials.trials import Trials


class RankedTrials(NamedTuple):
    """The comparison with the congestion controls tried in all of its runs, and all other trials."""

    comparison: Comparison
    others: list[ProposedRemedy]


def ranked_trials(
    trials: Trials,
    comparison: Comparison,
    needs: Sequence[Need],
    tried: Sequence[ProposedRemedy],
    confirmation: Confirmation,
    by: Sequence[str] = (),
) -> RankedTrials:
    """Returns a comparison with the congestion controls of Linux tried alone in all of its runs.

    Those that may be better than the one to set, after fewer runs, are tried in all, if that is cheap.
    Those that are better by chance are left out. None rank where they only leave undecided which one
    to set.

    Args:
        trials: trials of the comparison.
        comparison: comparison without them.
        needs: its needs.
        tried: remedies with the results of their trials.
        confirmation: confirmation of gains by other runs.
        by: metrics asked for, as in `ccas_to_set`.
    """
    further: list[ProposedRemedy] = []
    others: list[ProposedRemedy] = []
    all_runs = int(comparison.results.about["runs"])
    for proposed in tried:
        each = proposed
        is_of_linux = is_cca_alone(each) and all(map(linux_sysctls, each.replacement_ccas))
        if is_of_linux and len(comparison.ranked_ccas) > 1:
            count = each.run_count
            may_lead = any(
                need.net_gain(alternative, need.best_cca) > 0
                for need in needs
                for alternative in need.with_remedy(each)
            )
            if count < all_runs and may_lead:
                each = next(iter(trials.repeated([each], count)), each)
            if not all(
                confirmation.holds(need, alternative, need.best_cca)
                for need in needs
                for alternative in need.with_remedy(each)
            ):
                continue
            if each.after is not None and each.run_count == all_runs:
                further.append(each)
                continue
        others.append(each)
    ranked = with_further_ccas(comparison, [each.after for each in further if each.after is not None])
    if ccas_to_set(comparison, by) and not ccas_to_set(ranked, by):
        return RankedTrials(comparison, [*others, *further])
    return RankedTrials(ranked, others)


def is_cca_alone(proposed: ProposedRemedy) -> bool:
    """Returns whether a remedy is another congestion control of one flow, and nothing else."""
    remedy = proposed.remedy
    is_cca = bool(remedy.cca or remedy.parameter) and not (remedy.changes or remedy.middlebox)
    return is_cca and not any(map(has_several_flows, proposed.replacement_ccas))


def with_further_ccas(comparison: Comparison, others: Iterable[Comparison]) -> Comparison:
    """Returns a comparison with the congestion controls of others, each over the same seeds.

    Those that several have are those of the first of them.
    """
    about = comparison.results.about
    ccas, parts, count = [*about["cca"]], [comparison.results.tables], len(comparison.runs)
    for other in others:
        own = [cca for cca in other.ccas if cca not in ccas]
        runs = sorted(other.runs.loc[other.runs["cca"].isin(own), "run"])
        if not own:
            continue
        numbers = {run: count + index for index, run in enumerate(runs)}
        count += len(runs)
        parts.append({name: renumbered(each, numbers) for name, each in other.results.tables.items()})
        ccas += own
    if len(parts) == 1:
        return comparison
    # Keys of the runs are those of a folder.
    kept = {name: value for name, value in about.items() if name != "keys"}
    # A video has its own requirement, which no comparison is asked for.
    asked = [each for each in comparison.requirements if each != QOE]
    return Comparison(Results(merged(parts, ccas), {**kept, "cca": ccas}), asked)
