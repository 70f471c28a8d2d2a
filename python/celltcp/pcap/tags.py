"""Tags of the connections of a capture, from a CSV file of the user."""

from __future__ import annotations

import math
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pandas as pd

from celltcp._core import CelltcpError

#: Columns that select the connections of a row; all others are tags.
_SELECTING = ("start", "end", "address")

#: Last second of the year 2261, since 1970: times in nanoseconds have 64 bits.
_LATEST_S = 9_214_646_399

#: Minimum RSRP near the base station, and maximum RSRP far from it, dBm (Kim 2016, table 4).
_NEAR_DBM, _FAR_DBM = -80.0, -100.0

#: Maximum size of small files, and minimum size of large files, bytes (Kim 2016, §5.3.2).
_MAX_SMALL_BYTES, _MIN_LARGE_BYTES = 1_500_000, 10_000_000


@dataclass(frozen=True)
class TagRule:
    """Row of the file: a time range, addresses, and tags."""

    #: Time range in which connections start, ns since the Unix epoch; the end is not part of it.
    start_ns: int
    end_ns: int
    #: Network of the address of the client or server; None for all addresses.
    network: Any
    #: Values by tag.
    tags: dict[str, str]

    def matches(self, connection: pd.Series) -> bool:
        """Returns whether the connection began in the time range and has the address."""
        if not self.start_ns <= connection["start_ns"] < self.end_ns:
            return False
        if self.network is None:
            return True
        addresses = (_address(connection["client"]), _address(connection["server"]))
        return any(address in self.network for address in addresses)


def _address(endpoint: str) -> Any:
    """Returns the address of an endpoint such as `10.0.0.1:443` or `[fd00::1]:443`."""
    return ip_network(endpoint.rsplit(":", 1)[0].strip("[]")).network_address


def read_tag_rules(file: Path) -> list[TagRule]:
    """Reads the rows of a CSV file.

    Raises:
        CelltcpError: if the file is no table of tags; with row, column and what is allowed.
    """
    try:
        table = pd.read_csv(file, dtype=str, skipinitialspace=True, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise CelltcpError(f"{file}: is no table: {error}") from None
    if not isinstance(table.index, pd.RangeIndex):
        raise CelltcpError(f"{file}: is no table: a row has more fields than there are columns")
    table = table.fillna("")
    table.columns = [str(name).strip() for name in table.columns]
    if duplicates := sorted(set(table.columns[table.columns.duplicated()])):
        raise CelltcpError(f"{file}: the column {duplicates[0]!r} is there twice")
    if not set(table.columns) - set(_SELECTING):
        raise CelltcpError(f"{file}: has no tags; allowed: columns beside start, end and address")
    rows = [{str(name): str(text) for name, text in row.items()} for row in table.to_dict("records")]
    return [_tag_rule(file, number, row) for number, row in enumerate(rows, start=2)]


def _tag_rule(file: Path, number: int, row: dict[str, str]) -> TagRule:
    where = f"{file}: line {number}"
    tags = {name: str(text).strip() for name, text in row.items() if name not in _SELECTING}
    if tags.get("rsrp") and not tags.get("place"):
        tags["place"] = _place(where, tags["rsrp"])
    network = None
    if row.get("address", "").strip():
        try:
            network = ip_network(row["address"].strip(), strict=False)
        except ValueError:
            allowed = "an address such as 10.0.0.1 or a network such as 10.0.0.0/24"
            raise CelltcpError(f"{where}: address: {row['address']!r}; allowed: {allowed}") from None
    start = _time(where, "start", row.get("start", ""))
    end = _time(where, "end", row.get("end", ""))
    return TagRule(0 if start is None else start, 2**63 - 1 if end is None else end, network, tags)


def _time(where: str, column: str, text: str) -> int | None:
    """Returns a time, ns since the Unix epoch; times without a zone are UTC."""
    text = text.strip()
    if not text:
        return None
    try:
        seconds = float(text)
        time_ns = round(seconds * 1e9) if 0 <= seconds <= _LATEST_S else None
    except ValueError:
        time_ns = _date_ns(text)
    if time_ns is None or time_ns < 0:
        allowed = (
            "seconds since 1970 or a time such as 2016-05-01T12:00:00, of the years 1970 to 2261; "
            "empty for no limit"
        )
        raise CelltcpError(f"{where}: {column}: {text!r}; allowed: {allowed}")
    return time_ns


def _date_ns(text: str) -> int | None:
    """Returns a date and time, ns since the Unix epoch; None if it is none, or too far away."""
    try:
        time = pd.Timestamp(text)
        time = time.tz_localize("UTC") if time.tzinfo is None else time
        return int(time.as_unit("ns").value)
    except (ValueError, OverflowError):
        return None


def _place(where: str, text: str) -> str:
    """Returns the place in the cell for an RSRP in dBm."""
    try:
        rsrp_dbm = float(text)
    except ValueError:
        rsrp_dbm = math.nan
    if not math.isfinite(rsrp_dbm):
        raise CelltcpError(f"{where}: rsrp: {text!r}; allowed: a level in dBm")
    if rsrp_dbm > _NEAR_DBM:
        return "near"
    return "mid" if rsrp_dbm > _FAR_DBM else "far"


def with_tags(connections: pd.DataFrame, rules: list[TagRule]) -> pd.DataFrame:
    """Returns connections with the tag `size` and the tags of the first rule that matches each.

    Tags are empty for a connection without a rule.
    """
    names = list(dict.fromkeys(name for rule in rules for name in rule.tags))
    rows = []
    for _, connection in connections.iterrows():
        tags_of_rule = next((rule.tags for rule in rules if rule.matches(connection)), {})
        rows.append({name: tags_of_rule.get(name, "") for name in names})
    tags = pd.DataFrame(rows, index=connections.index, columns=names, dtype=str)
    if "size" not in tags:
        payload = connections[["bytes_up", "bytes_down"]].max(axis=1)
        tags["size"] = pd.cut(
            payload,
            [-1, _MAX_SMALL_BYTES, _MIN_LARGE_BYTES - 1, float("inf")],
            labels=["small", "medium", "large"],
        ).astype(str)
    return connections.drop(columns=[name for name in tags if name in connections]).join(tags)
