"""Memory files for policies, made from the connections with selectors in stored results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from celltcp._core import CelltcpError, lineups, memory_text, sealed_text
from celltcp.results.tables import Results, frame, read_results
from celltcp.scenarios.cca_mix import parse_flow_cca
from celltcp.selection.prior_connections import PriorConnection, final_measures

#: Reason for rejecting a file.
_NO_TEXT = "it is no text in UTF-8; if celltcp wrote it, make it again"


def memory_of(
    results: str | Path | Results, cca: str | None = None, known: str | Path | None = None
) -> str:
    """Returns the text of a memory file (`auto:memory=FILE`) with the measures of results.

    All connections with a selector count as if one machine had had them one after the other, in the
    order of runs and of their ends. Connections that the end of a run cuts off count, too.

    Args:
        results: results, or their folder.
        cca: only connections with this selector (`"auto:policy=bpftune"`); needed if there are several.
        known: a memory file to extend; by default an empty memory.

    Raises:
        CelltcpError: if there is no selector, several and none is named, or the file is no memory.
    """
    read = results if isinstance(results, Results) else read_results(results)
    estimates = frame(read.estimates)
    flows = frame(read.tables["flows"])
    flows["cca"] = flows["cca"].astype(str)
    selected = flows[[parse_flow_cca(text).is_selector for text in flows["cca"]]]
    rows = selected[selected["cca"] == _match_cca(list(selected["cca"].unique()), cca)]
    rows = rows.assign(end=rows["first_data_s"] + rows["duration_s"]).sort_values(["run", "end"])
    text = _read_memory(known) if known is not None else ""
    slots = frame(read.tables["slots"])
    for destination, group in rows.groupby("ue", sort=False):
        text = memory_text(str(destination), list(_prior_connections(group, slots, estimates)), text)
    return sealed_text(text)


def _match_cca(ccas: list[str], cca: str | None) -> str:
    """Returns the requested selector among those of the results; without a request, the only one."""
    allowed = "; ".join(ccas)
    if cca is None:
        if len(ccas) > 1:
            raise CelltcpError(f"cca: several were selected, say which one; allowed: {allowed}")
        return ccas[0]
    # Results may have the parameters in another order than the command.
    canonical = ",".join(lineups(cca))
    if canonical not in ccas:
        raise CelltcpError(f"cca: {cca!r} was not selected; allowed: {allowed}")
    return canonical


def _prior_connections(
    flows: pd.DataFrame, slots: pd.DataFrame, estimates: pd.DataFrame
) -> Iterator[PriorConnection]:
    """Yields the final measures of the connections that have estimates."""
    for _, flow in flows.iterrows():
        selected = estimates[(estimates["run"] == flow["run"]) & (estimates["flow"] == flow["flow"])]
        if not selected.empty:
            yield final_measures(str(selected.iloc[-1]["using_cca"]), flow, slots, estimates)


def _read_memory(file: str | Path) -> str:
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else _NO_TEXT
        raise CelltcpError(f"{file}: cannot be read: {reason}") from None
    return memory_text("", [], text, str(file))
