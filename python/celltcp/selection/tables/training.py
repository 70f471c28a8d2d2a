"""Tables of celltcp select train: the loss of trees, and that of the policy in whole runs."""

from __future__ import annotations

from celltcp.present.section import Column, Table, number_columns
from celltcp.selection.training import Training


def trees_table(training: Training) -> Table:
    """Returns the loss of each tree, and of the best single CCA, on families left out."""
    # A start that takes one CCA for all was not grown, and so never without a family.
    grown = [tree for tree in training.trees if tree.regret]
    headings = [
        each for tree in grown for each in (f"{tree.requirement}\n{tree.moment}\ntree", "\n\none")
    ]
    rows = []
    for family in sorted(grown[0].regret):
        losses = (each[family] for tree in grown for each in (tree.regret, tree.regret_of_one))
        rows.append((family, *(f"{value:.1%}" for value in losses)))
    title = f"Below the best choice of each moment ({training.cases} in all), on families left out"
    return Table((Column("family"), *number_columns(*headings)), tuple(rows), title)


def whole_runs_table(training: Training) -> Table:
    """Returns the losses in whole runs, a row per requirement, the lowest first."""
    losses = list(training.losses.items())
    labels = sorted(losses[0][1], key=lambda label: sum(lost[label] for _, lost in losses))
    rows = tuple(
        (requirement, *(f"{lost[label]:.1%}" for label in labels)) for requirement, lost in losses
    )
    title = "Below the best of each network, whole runs on networks not learnt from"
    return Table((Column("for"), *number_columns(*labels)), rows, title)
