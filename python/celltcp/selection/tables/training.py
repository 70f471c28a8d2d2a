"""Tables of celltcp select train: regret of the models, and of the policy in full runs."""

from __future__ import annotations

from celltcp.present.section import Column, Table, number_columns
from celltcp.selection.training import TrainingResult


def models_table(training: TrainingResult) -> Table:
    """Returns the cross-validated regret of each model and of the best fixed CCA, a row per family."""
    # A start with a single CCA is not fitted, so it has no regret.
    fitted = [model for model in training.models if model.regret]
    headings = [
        heading
        for model in fitted
        for heading in (f"{model.requirement}\n{model.moment}\ntree", "\n\none")
    ]
    rows = []
    for family in sorted(fitted[0].regret):
        regrets = (
            by_family[family]
            for model in fitted
            for by_family in (model.regret, model.fixed_cca_regret)
        )
        rows.append((family, *(f"{value:.1%}" for value in regrets)))
    title = f"Below the best choice of each moment ({training.points} in all), on families left out"
    return Table((Column("family"), *number_columns(*headings)), tuple(rows), title)


def full_runs_table(training: TrainingResult) -> Table:
    """Returns the mean regrets in full runs: a row per requirement, a column per CCA, best first."""
    regrets = training.regrets
    labels = sorted(
        next(iter(regrets.values())),
        key=lambda label: sum(by_label[label] for by_label in regrets.values()),
    )
    rows = tuple(
        (requirement, *(f"{by_label[label]:.1%}" for label in labels))
        for requirement, by_label in regrets.items()
    )
    title = "Below the best of each network, full runs on held-out networks"
    return Table((Column("for"), *number_columns(*labels)), rows, title)
