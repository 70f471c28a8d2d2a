"""Memory of stored results: the experience of selected connections, for later ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from celltcp._core import CelltcpError, lineups, memory_text, sealed_text
from celltcp.results.tables import Results, frame, read_results
from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.selection.prior_connections import PriorConnection, final_measures

#: Reason for rejecting a file as memory.
_NO_TEXT = "it is no text in UTF-8; if celltcp wrote it, make it again"


def memory_of(
    results: str | Path | Results, cca: str | None = None, known: str | Path | None = None
) -> str:
    """Returns the text of a memory file (`auto:memory=FILE`) with the measures of these runs.

    All selected connections count as if one machine had had them one after the other, in the order of
    runs and of their ends. Connections that the end of a run has cut off count, too.

    Args:
        results: results, or their folder.
        cca: only connections under this one, as it was asked for (`"auto:policy=bpftune"`); needed if
            there are several.
        known: a memory file to add to; an empty memory unless given.

    Raises:
        CelltcpError: if nothing was selected, there are several and none is named, or the file is none.
    """
    read = results if isinstance(results, Results) else read_results(results)
    estimates = frame(read.estimates)
    flows = frame(read.tables["flows"])
    flows["cca"] = flows["cca"].astype(str)
    selected = flows[[parse_flow_cca(text).is_selector for text in flows["cca"]]]
    rows = selected[selected["cca"] == _chosen(list(selected["cca"].unique()), cca)]
    rows = rows.assign(end=rows["first_data_s"] + rows["duration_s"]).sort_values(["run", "end"])
    text = _text(known)
    slots = frame(read.tables["slots"])
    for destination, group in rows.groupby("ue", sort=False):
        text = memory_text(str(destination), list(_endings(group, slots, estimates)), text)
    return sealed_text(text)


def _chosen(stored: list[str], cca: str | None) -> str:
    """Returns the requested CCA of the results."""
    allowed = "; ".join(stored)
    if cca is None:
        if len(stored) > 1:
            raise CelltcpError(f"cca: several were selected, say which one; allowed: {allowed}")
        return stored[0]
    # Results have parameters in one order, whatever that was in the command.
    lineup = ",".join(lineups(cca))
    if lineup not in stored:
        raise CelltcpError(f"cca: {cca!r} was not selected; allowed: {allowed}")
    return lineup


def _endings(
    flows: pd.DataFrame, slots: pd.DataFrame, estimates: pd.DataFrame
) -> Iterator[PriorConnection]:
    """Returns the measures of these connections at their ends; those without a slot have none."""
    for _, flow in flows.iterrows():
        selected = estimates[(estimates["run"] == flow["run"]) & (estimates["flow"] == flow["flow"])]
        if not selected.empty:
            yield final_measures(str(selected.iloc[-1]["using_cca"]), flow, slots, estimates)


def _text(file: str | Path | None) -> str:
    """Returns the text of the memory file to extend."""
    if file is None:
        return ""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else _NO_TEXT
        raise CelltcpError(f"{file}: cannot be read: {reason}") from None
    return memory_text("", [], text, str(file))
