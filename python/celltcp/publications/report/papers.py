"""Repeated experiments as a part of a report: the published values and claims that are confirmed."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Sequence

from celltcp.comparison.report.provenance import provenance_sections
from celltcp.present.section import Figure, Finding, Part, Section
from celltcp.publications.agreement import Outcome
from celltcp.publications.plots import draw_outcomes
from celltcp.publications.publications import publications
from celltcp.publications.report.claims_table import claims_table
from celltcp.publications.report.numbers_table import numbers_table
from celltcp.publications.report.texts import agreement_text, differing_cells, sentence


def papers_part(outcomes: Sequence[Outcome]) -> Part:
    """Returns the part of a report on the experiments of publications."""
    names = list(dict.fromkeys(outcome.table.publication for outcome in outcomes))
    known = publications()
    sources = tuple(known[name].source if name in known else name for name in names)
    # All runs have the same settings.
    about = next(row for outcome in outcomes for row in outcome.rows).source.comparison.results.about
    experiments = [outcome.table.experiment for outcome in outcomes]
    words = ["celltcp", "papers", *(names if len(names) == 1 else ["--all"])]
    words += experiments if len(names) == 1 else []
    words += ["--runs", str(about["runs"]), "--seed", str(about["seed"]), "--out", "results"]
    common_origin = {key: value for key, value in about.items() if key != "hash"}
    return Part(
        title=f"Publications: {', '.join(names)}",
        question=(
            f"Do the figures of {len(outcomes)} "
            f"{'experiment' if len(outcomes) == 1 else 'experiments'} of "
            f"{', '.join(names)} come out here?"
        ),
        findings=tuple(finding for name in names for finding in _findings(name, outcomes)),
        sections=(
            *(section for outcome in outcomes for section in outcome_sections(outcome)),
            Section("Published in", text=sources),
            *provenance_sections(common_origin, shlex.join(words)),
        ),
    )


def _findings(name: str, outcomes: Sequence[Outcome]) -> list[Finding]:
    selected = [outcome for outcome in outcomes if outcome.table.publication == name]
    holding, judged_claims = map(sum, zip(*(outcome.claims for outcome in selected), strict=True))
    agreements = [agreement for outcome in selected for agreement in outcome.agreements]
    inside = sum(agreement.agreeing_count for agreement in agreements)
    judged_values = sum(agreement.judged_count for agreement in agreements)
    findings = []
    if judged_values:
        errors = [agreement.error for agreement in agreements]
        quantities = f"{len(errors)} {'quantity' if len(errors) == 1 else 'quantities'}"
        text = f"Mean error {100 * sum(errors) / len(errors):.0f} % over {quantities}"
        answer = f"{inside} of {judged_values} in their intervals"
        findings.append(Finding(f"Figures of {name}", answer, text))
    if judged_claims:
        findings.append(Finding(f"Claims of {name}", f"{holding} of {judged_claims} hold here"))
    return findings


def outcome_sections(outcome: Outcome) -> list[Section]:
    """Returns the sections of an experiment: values with the picture, claims, differing cells."""
    title = f"{outcome.table.publication}, {outcome.table.figure}: {outcome.table.title}"
    text = tuple(agreement_text(agreement) for agreement in outcome.agreements)
    holding, judged = outcome.claims
    if judged:
        text += (f"Claims of the publication: {holding} of {judged} hold here.",)
    if outcome.table.note:
        text += (sentence(outcome.table.note),)
    picture = functools.partial(draw_outcomes, [outcome])
    rows = [row for row in outcome.rows if row.published.claim is None]
    claims = [row for row in outcome.rows if row.published.claim is not None]
    figure = Figure(picture, f"Published figures and ours: {title}") if outcome.groups else None
    sections = [Section(title, numbers_table(rows) if rows else None, figure, text)]
    if claims:
        sections.append(Section(f"{title}: claims", claims_table(claims)))
    if differing := differing_cells(outcome):
        sections.append(Section(f"{title}: cells that differ", text=tuple(differing)))
    return sections
