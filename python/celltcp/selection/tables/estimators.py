"""Tables of celltcp select estimators: shares of correct estimates."""

from __future__ import annotations

import pandas as pd

from celltcp.present.section import Column, Table, number_columns
from celltcp.scenarios.cca_mix import labels
from celltcp.selection.estimators import Accuracy


def accuracy_table(accuracy: Accuracy) -> Table:
    """Returns the shares of correct estimates by family and congestion control."""
    estimators = list(accuracy.overall["estimator"])
    names = labels(accuracy.ccas)
    rows: list[tuple[str, ...]] = []
    for family, group in accuracy.table.groupby("family", sort=True):
        rows.append((str(family), *[""] * len(estimators)))
        for cca in accuracy.ccas:
            cells = group[group["cca"] == cca].set_index("estimator")
            rows.append((f"  {names[cca]}", *(_cell(cells, estimator) for estimator in estimators)))
    columns = (Column("family,\n  CCA", folds=True), *number_columns(*estimators))
    title = "Right answers of estimators, %, and how many"
    return Table(columns, tuple(rows), title, frame="dense")


def confidence_table(accuracy: Accuracy) -> Table:
    """Returns the shares of correct estimates by range of confidence, a row per estimator."""
    by_confidence = accuracy.by_confidence
    ranges = list(dict.fromkeys(by_confidence["confidence"].sort_values()))
    overall = accuracy.overall.set_index("estimator")
    rows = []
    for estimator, group in by_confidence.groupby("estimator", sort=True):
        by_range = group.set_index("confidence")
        cells = (_cell(by_range, confidence) for confidence in ranges)
        rows.append((str(estimator), _cell(overall, str(estimator)), *cells))
    columns = (Column("estimator"), *number_columns("all", *ranges))
    title = "Right answers by confidence, %, and how many"
    return Table(columns, tuple(rows), title, frame="dense")


def _cell(rows: pd.DataFrame, key: str) -> str:
    """Returns the share of correct estimates in a row, and their number; empty without the row."""
    if key not in rows.index:
        return ""
    row = rows.loc[key].to_dict()
    count = row["answers"]
    count_text = f"{count / 1000:.0f}k" if count >= 10_000 else f"{count:.0f}"
    return f"{100 * row['right']:.0f} ({count_text})"
