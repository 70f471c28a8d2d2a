"""JSON types of the limits of flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

from celltcp._core import result_tables
from celltcp.results.json_fields import Columns, Number, sentence


def _columns() -> Mapping[str, object]:
    (table,) = (result_table for result_table in result_tables() if result_table.name == "limits")
    return {
        name.removesuffix("_s"): Annotated[Number, sentence(meaning.partition(", s")[0])]
        for name, meaning in table.columns
        if name.endswith("_s")
    }


#: Shares of the time of a flow by limit, from 0 to 1; None for those that the engine does not report.
LimitShares = Annotated[dict[str, Number], Columns(_columns)]


class LimitsRow(TypedDict):
    """Shares of the limits of a flow under a congestion control."""

    cca: Annotated[str, "Congestion control or line-up, as in --cca."]
    flow: Annotated[str, "Name of the flow in the scenario."]
    shares: Annotated[LimitShares, "Shares of its time, from 0 to 1, which add up to 1."]
