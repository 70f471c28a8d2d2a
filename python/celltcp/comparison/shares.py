"""Shares of the path: what each flow and each connection got while all flows ran."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from celltcp.results import Results
from celltcp.results.frames import frame


class Shared(NamedTuple):
    """Goodput over the time in which all flows of a run were there; no rows for runs without it."""

    #: A row per run and flow: `run`, `name`, `cca`, `connections`, `goodput_mbps`.
    flows: pd.DataFrame
    #: A row per run and competitor: `run`, `goodput_mbps`. A competitor is a connection that lasted for
    #: all of that time, or the connections of a flow together if not all of them did.
    competitors: pd.DataFrame


def shared_path(results: Results) -> Shared:
    """Returns the shares of the path: from the start of the last flow to the end of the first one."""
    flows = frame(results.tables["flows"].select(["run", "flow", "name", "cca"]))
    flows = flows.assign(name=flows["name"].astype(str), cca=flows["cca"].astype(str))
    slots = frame(results.tables["slots"].select(["run", "flow", "t_s", "goodput_mbps"]))
    slots = slots.merge(flows, on=["run", "flow"])
    spans = slots.groupby(["run", "name"])["t_s"].agg(["min", "max"]).groupby("run")
    common = pd.DataFrame({"begin_s": spans["min"].max(), "end_s": spans["max"].min()})
    slots = slots.join(common, on="run")
    slot_s = float(results.about["slot_s"])
    # Times of slots are sums of floating-point numbers.
    near = slot_s / 2
    slots = slots[(slots["t_s"] > slots["begin_s"] - near) & (slots["t_s"] < slots["end_s"] + near)]
    lengths = ((common["end_s"] - common["begin_s"]) / slot_s).round() + 1
    by_connection = slots.groupby(["run", "name", "cca", "flow"], sort=False)["goodput_mbps"]
    each = by_connection.agg(["sum", "size"]).reset_index()
    length = each["run"].map(lengths)
    each = each.assign(goodput_mbps=each["sum"] / length, lasted=each["size"] >= length)
    by_flow = each.groupby(["run", "name", "cca"], sort=False)
    totals = by_flow.agg(connections=("flow", "size"), goodput_mbps=("goodput_mbps", "sum"))
    parallel = by_flow["lasted"].transform("all")
    kept = each.loc[parallel, ["run", "goodput_mbps"]]
    rest = each[~parallel].groupby(["run", "name"], sort=False, as_index=False)["goodput_mbps"].sum()
    competitors = pd.concat([kept, rest[["run", "goodput_mbps"]]]).sort_values("run", kind="stable")
    return Shared(totals.reset_index(), competitors.reset_index(drop=True))
