"""Comparison as a part of a report: answer, tables, pictures over time and by distribution."""

from __future__ import annotations

from collections.abc import Sequence

from celltcp.comparison.applications.application_tables import metrics_table, texts_of_all_runs
from celltcp.comparison.applications.units_of_work import UNITS, units_of_applications
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.answer import tried_as_well
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.best_tried import Conclusion
from celltcp.comparison.explanation.trials.proposals import lines_of
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.plots.accessors import ComparisonPlots
from celltcp.comparison.report.fairness import fairness_finding
from celltcp.comparison.report.findings import differences_table, findings_of
from celltcp.comparison.report.front_page import answer_of, question_on, settings_section
from celltcp.comparison.report.pictures import (
    distribution,
    over_time,
    start_up,
    tradeoff,
)
from celltcp.comparison.report.provenance import provenance_sections, scenario_arguments
from celltcp.comparison.tables import (
    NO_RANDOMNESS,
    has_rows_of_flows,
    limits_sections,
    means_table,
    selector_texts,
    shares_table,
    subject_text,
)
from celltcp.present.scenario_text import scenario_sections
from celltcp.present.section import Block, Figure, Part, Section, runs_text

#: Titles of the distributions, by metric.
_DISTRIBUTIONS = {"goodput": "Distribution of goodput", "rtt": "Distribution of RTT"}

#: Texts with the pictures.
_TRADE_OFF = (
    "Each small point is a run, each large one the mean of a CCA, with 95 % intervals. The upper left "
    "is best."
)
_START_UP = "Bytes delivered since the first data byte: mean over the runs, with 95 % intervals."
_SPREAD = "Share of slots up to a value, with 95 % intervals from resampling whole runs."


def comparison_part(
    comparison: Comparison, command: str, name: str = "", by: Sequence[str] = ()
) -> Part:
    """Returns the part of a report on a comparison, with the command that reproduces its results.

    The title is `name`, or else the name of the scenario. `by` are chosen metrics, as in `findings_of`.
    """
    about = comparison.results.about
    title = name or str(about["name"])
    explained = ExplainedComparison(comparison, by)
    if not name:
        # Reports of several comparisons have no trials: they would take as long as the runs.
        budget = TrialBudget()
        explained.try_remedies(budget)
        explained.try_together(budget)
    question = question_on(
        comparison.ccas,
        f"{title}, in {runs_text(about['runs'])} of {about['duration_s']:g} s each over the same "
        "realisations of the channel",
    )
    # The answer is that of `compare --json`; congestion controls that were only tried follow it.
    settings = settings_section(comparison, explained.window_limit_text, by, explained.conclusion.best)
    fairness = fairness_finding({"": comparison})
    return Part(
        title=title,
        question=question,
        answer=answer_of(comparison, explained.window_limit_text, by),
        findings=(*([fairness] if fairness else []), *findings_of(comparison, by)),
        sections=(
            *([settings] if settings else []),
            *_tried_sections(explained),
            *_conclusion_sections(explained.conclusion),
            *_tables(explained, scenario_arguments(about)),
            *picture_sections(comparison),
            *scenario_sections(about),
            *provenance_sections(about, command),
        ),
        warnings=tuple(comparison.warnings),
    )


def _tried_sections(explained: ExplainedComparison) -> list[Section]:
    """Returns the congestion controls that were only tried; none without any."""
    compared = explained.comparison.ccas
    texts = tuple(tried_as_well(explained.ranked, compared))
    blocks = tuple(
        Block(
            f"{row['cca']}, on the {explained.sender}:", "".join(f"{line}\n" for line in row["lines"])
        )
        for row in explained.further_settings
        if row["lines"]
    )
    return [Section("Tried as well", text=texts, blocks=blocks, is_front=True)] if texts else []


def _conclusion_sections(conclusion: Conclusion) -> list[Section]:
    """Returns the conclusion over all that was tried, and the alternatives with their lines."""
    best, alternatives = conclusion
    sections = []
    if best is not None:
        sections.append(Section("Better than a CCA alone", text=(best.text,), is_front=True))
    if alternatives is not None:
        of_rows = {
            "Lines for those with *, each with its host:": alternatives.lines,
            "Lines for the rows without *:": alternatives.other_lines,
        }
        blocks = tuple(
            Block(title, "".join(f"{line}\n" for line in lines))
            for title, lines in of_rows.items()
            if lines
        )
        legend = (alternatives.legend,) if alternatives.recommended else ()
        sections.append(
            Section("Alternatives by place", alternatives.table, text=legend, blocks=blocks)
        )
    return sections


def _tables(explained: ExplainedComparison, source: Sequence[str]) -> list[Section]:
    """Returns the tables and texts; `source` are the arguments that select the scenario."""
    comparison = explained.comparison
    sections = [
        *(
            Section(
                f"What the application of {application.flow} got",
                metrics_table(comparison, application),
                text=texts_of_all_runs(comparison, application),
            )
            for application in comparison.applications
        ),
        Section("Means and 95 % intervals", means_table(comparison), text=_notes(comparison)),
    ]
    if (differences := differences_table(comparison)) is not None:
        texts = (
            "Differences of the means are paired: in run i all CCAs meet the same channel. Tied means "
            "that the 95 % interval includes zero and is within 5 % of the leader's mean, or that all "
            "of it is within 1 % of that mean, or too little to matter. Undecided means that it "
            "includes zero and is wider.",
        )
        sections.append(Section("How sure", differences, text=texts))
    if comparison.has_shares:
        sections.append(Section("Shares of the flows", shares_table(comparison)))
    sentences = [text.strip() for block in explained.blocks for text in block]
    remedies = [line for text in explained.remedy_commands(*source) for line in lines_of(text)]
    commands = "".join(f"{line}\n" for line in remedies)
    return [
        *sections,
        *limits_sections(comparison.results),
        Section("What cost each CCA", text=(*explained.notes, *sentences)),
        *([Section("What to try next", code=commands)] if remedies else []),
    ]


def _notes(comparison: Comparison) -> tuple[str, ...]:
    notes = selector_texts(comparison)
    if not comparison.randomness:
        notes.append(NO_RANDOMNESS)
    if subject := subject_text(comparison):
        notes.append(subject)
    return tuple(notes)


def picture_sections(comparison: Comparison) -> list[Section]:
    """Returns the pictures of a comparison; none without slots."""
    if not len(comparison.tested_slots):
        return []
    seed = int(comparison.runs["seed"].min())
    flows_over_time = Figure(
        ComparisonPlots(comparison).time_series, "Goodput and RTT of the competing flows over time"
    )
    return [
        *(_units_section(comparison, metric) for metric in units_of_applications(comparison)),
        Section("Goodput against delay", figure=tradeoff(comparison), text=(_TRADE_OFF,)),
        *(
            [Section(f"Flows over time, run with seed {seed}", figure=flows_over_time)]
            if has_rows_of_flows([comparison])
            else []
        ),
        Section(f"Over time, run with seed {seed}", figure=over_time(comparison, seed)),
        Section("Start-up", figure=start_up(comparison), text=(_START_UP,)),
        *(
            Section(title, figure=distribution(comparison, metric), text=(_SPREAD,))
            for metric, title in _DISTRIBUTIONS.items()
        ),
    ]


def _units_section(comparison: Comparison, metric: str) -> Section:
    """Returns the distribution of the units of work METRIC or METRIC:FLOW."""
    name, _, flow = metric.partition(":")
    unit = UNITS[name]
    of_flow = f" of {flow}" if flow else ""
    text = f"Share of {unit.noun} up to a value, with 95 % intervals from resampling whole runs."
    return Section(
        f"Distribution of the {unit.title}{of_flow}",
        figure=distribution(comparison, metric),
        text=(text,),
    )
