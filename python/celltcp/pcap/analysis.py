"""Analysis of captures: joins and writes the tables of the native analysis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from celltcp._core import CaptureAnalysis, CelltcpError, capture_tables
from celltcp.pcap.diagnosis import DIAGNOSIS, INTERVAL_COLUMNS, diagnoses
from celltcp.pcap.diagnosis.gaps import with_outages_before
from celltcp.pcap.estimation.token_bucket import with_token_buckets
from celltcp.pcap.host_rtts import with_host_rtts
from celltcp.pcap.leftovers import (
    reclassify_in_blackouts,
    reclassify_in_queues_of_others,
    reclassify_leftovers,
    reclassify_overflows_of_both,
)
from celltcp.pcap.outcome import CAUSE_COLUMNS
from celltcp.pcap.tags import TagRule, with_tags
from celltcp.pcap.units.in_flight import with_all_in_flight
from celltcp.pcap.units.turns import with_client_turns, with_server_turns
from celltcp.pcap.units.units import with_units
from celltcp.results.folder import CAPTURES, require_own
from celltcp.results.folder_lock import check_files, check_links, locked_folder
from celltcp.results.parquet_writer import GrowingTable
from celltcp.results.publishing import publish
from celltcp.results.working import staging

#: Name of a capture from the standard input, which cannot be read again.
STDIN = "-"

#: Names of the tables, in their order.
TABLES = tuple(table.name for table in capture_tables())

#: Minimum share of the payload of a connection that is a main one.
_MIN_MAIN_SHARE = 0.1

#: Maximum number of records that are read before their tables are taken.
MAX_RECORDS = 200_000

#: Counts of repairs and omissions, with their descriptions.
REPAIRS = {
    "wrong_lengths": "packets with an impossible length, which was replaced",
    "backwards": "packets out of time order, sorted",
    "timeless": "packets of the same time, that of all: rates, RTTs and waits are not known",
    "clock_steps": "steps of the clock, taken out of the times after them",
    "captured_twice": "second copies of packets, left out",
    "captured_late": "segments captured after their own ACK, a fault of the capture",
    "missed": "connections with payload that was acknowledged but not captured",
    "reused": "connections with the ports of an earlier one, told apart",
    "no_handshake": "connections whose handshake is not in the capture, or only in part",
    "one_way": "connections of which one direction is not in the capture",
    "joined_fragments": "fragments of IP packets, put together",
    "fragments": "fragments of IP packets without the first one, left out",
    "cut": "packets cut within their headers, left out",
    "unread": "packets of a link type that is not read",
    "crowded_out": "connections ended early, as there were too many at a time",
}


@dataclass(frozen=True)
class CaptureAnalyses:
    """The analyses of one or more captures."""

    #: For each capture, in their order: `file`, counts, `broken` (byte and reason) or None.
    summaries: list[dict[str, Any]]
    #: Arrow tables by name, each with the column `file`; `segments` only where it was kept.
    tables: dict[str, pa.Table]

    @property
    def connections(self) -> pd.DataFrame:
        """A row per connection."""
        return self._frame("connections")

    @property
    def losses(self) -> pd.DataFrame:
        """A row per segment that was lost, retransmitted without need, or overtaken."""
        return self._frame("losses")

    @property
    def resets(self) -> pd.DataFrame:
        """A row per RST segment."""
        return self._frame("resets")

    @property
    def intervals(self) -> pd.DataFrame:
        """A row per connection, direction and 100 ms."""
        return self._frame("intervals")

    @property
    def units(self) -> pd.DataFrame:
        """A row per unit of work: a response, or a frame of a stream."""
        return self._frame("units")

    @property
    def segments(self) -> pd.DataFrame:
        """A row per TCP segment.

        Raises:
            CelltcpError: if they were not asked for.
        """
        if "segments" not in self.tables:
            raise CelltcpError("segments: not kept; allowed: analyse(..., segments=True)")
        return self._frame("segments")

    @property
    def broken(self) -> list[dict[str, Any]]:
        """The summaries of captures that could not be read to their end."""
        return [summary for summary in self.summaries if summary["broken"]]

    def repairs(self, summary: dict[str, Any]) -> dict[str, int]:
        """Returns the count of each of `REPAIRS` that a capture needed."""
        rows = self.connections
        rows = rows[rows["file"] == summary["file"]]
        counts = {
            **summary,
            "timeless": _packets_without_times(summary),
            "captured_twice": int(rows["captured_twice"].sum()),
            "captured_late": int(rows["captured_late"].sum()),
            "missed": int((rows["missed_bytes"] > 0).sum()),
            "no_handshake": int((~rows["handshake"].isin(["whole", "refused", "no SYN-ACK"])).sum()),
            "one_way": int(rows["is_one_way"].sum()),
        }
        return {name: counts[name] for name in REPAIRS if counts[name]}

    def by_waiting_time(self) -> pd.DataFrame:
        """Returns the connections by the time they waited, then by losses, then by resets.

        A client that lets time pass before its next request waits for nothing.
        """
        rows = self.connections
        resets, waited_s = (
            rows["resets_up"] + rows["resets_down"],
            rows["harm_s"] + rows["turns_down_s"],
        )
        order = rows.assign(_waited_s=waited_s, _resets=resets).sort_values(
            ["_waited_s", "losses", "_resets", "start_ns"],
            ascending=[False, False, False, True],
            kind="stable",
        )
        return order.drop(columns=["_waited_s", "_resets"])

    def main_first(self) -> pd.DataFrame:
        """Returns the main connections, the one with most payload first, then others as they waited.

        Main ones have a tenth of all payload. The order of the others is that of `by_waiting_time`.
        """
        rows = self.by_waiting_time()
        payload = rows["bytes_up"] + rows["bytes_down"]
        main = payload.where(payload >= _MIN_MAIN_SHARE * payload.sum(), 0).where(payload > 0, 0)
        return rows.loc[main.sort_values(ascending=False, kind="stable").index]

    def _frame(self, name: str) -> pd.DataFrame:
        data: pd.DataFrame = self.tables[name].to_pandas()
        return data


def waited_s(row: Mapping[Any, Any]) -> float:
    """Returns the time in which a connection waited, for the applications of both sides, too, s."""
    return float(row["harm_s"] + row["turns_up_s"] + row["turns_down_s"])


def mean_mbps(row: Mapping[Any, Any]) -> float:
    """Returns the payload of both directions over the duration of a connection, Mbit/s; NaN without."""
    payload, duration_s = int(row["bytes_up"] + row["bytes_down"]), float(row["duration_s"])
    return 8e-6 * payload / duration_s if duration_s > 0 else math.nan


def connection_rows(
    table: pd.DataFrame, row: Mapping[Any, Any] | pd.Series, up: int | None = None
) -> pd.DataFrame:
    """Returns the rows of a table about a connection.

    Args:
        table: table with the columns `file`, `connection` and `up`.
        row: row of the connection.
        up: direction, 1 for data of the client and 0 for data of the server; both unless given.
    """
    is_connection = (table["file"] == row["file"]) & (table["connection"] == row["connection"])
    rows: pd.DataFrame = table[is_connection if up is None else is_connection & (table["up"] == up)]
    return rows


class _TableStore:
    """Tables of the captures, in memory and as Parquet files; rows of segments are in one of them."""

    def __init__(self, out: Path | None, segments: bool) -> None:
        self.out = out
        self.names = [name for name in TABLES if segments or name != "segments"]
        self.batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in self.names}
        self.schemas: dict[str, pa.Schema] = {}
        self.files: dict[str, GrowingTable] = {}

    def add(self, file: str, tables: dict[str, pa.RecordBatch]) -> None:
        """Stores rows of a capture."""
        for name in self.names:
            batch = _with_file(tables[name], file)
            self.schemas[name] = batch.schema
            # Rows per segment would fill the memory; the other tables are needed whole.
            if name != "segments" or self.out is None:
                self.batches[name].append(batch)
            elif batch.num_rows:
                self._file(name, batch.schema).write(batch)

    def close(self, notes: Sequence[TagRule] | None) -> dict[str, pa.Table]:
        """Closes the files and returns the tables in memory."""
        tables = {
            name: pa.Table.from_batches(batches, self.schemas[name]).unify_dictionaries()
            for name, batches in self.batches.items()
            if batches
        }
        if "connections" in tables:
            for reclassify in (
                reclassify_leftovers,
                reclassify_in_blackouts,
                reclassify_overflows_of_both,
                reclassify_in_queues_of_others,
            ):
                tables = reclassify(tables)
            tables["connections"] = _with_diagnoses(tables)
            tables = with_units(tables)
        if notes is not None:
            connections = with_tags(tables["connections"].to_pandas(), list(notes))
            tables["connections"] = pa.Table.from_pandas(connections, preserve_index=False)
        for name, table in tables.items():
            if self.out is not None:
                self._file(name, table.schema).write(table)
        for file in self.files.values():
            file.close()
        return tables

    def abandon(self) -> None:
        """Closes the files, whose folder is about to be removed."""
        for file in self.files.values():
            file.abandon()

    def _file(self, name: str, schema: pa.Schema) -> GrowingTable:
        if name not in self.files:
            assert self.out is not None
            self.files[name] = GrowingTable(self.out / f"{name}.parquet", schema)
        return self.files[name]


def analyse(
    files: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    *,
    segments: bool = False,
    notes: Sequence[TagRule] | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> CaptureAnalyses:
    """Analyses captures: pcap or pcapng, plain, gzip or zstd.

    Args:
        files: one capture or more; `-` is the standard input.
        out: folder for the tables as Parquet files.
        segments: whether to keep a row per TCP segment.
        notes: rules for tags of connections, which become columns of `connections`.
        progress: called with the file and the number of records read.

    Raises:
        CelltcpError: if a file cannot be opened, or the folder cannot be written.
    """
    names = [str(files)] if isinstance(files, str | Path) else [str(file) for file in files]
    if not names:
        raise CelltcpError("no capture is named")
    if out is not None:
        require_own(out, CAPTURES)
    analyses = [(name, CaptureAnalysis(name, segments=segments)) for name in names]
    if out is None:
        return _read(analyses, _TableStore(None, segments), notes, progress)
    with locked_folder(out) as folder:
        tables = [f"{name}.parquet" for name in TABLES]
        check_links(folder, tables)
        check_files(folder, tables, "give another folder")
        with staging(folder) as staged:
            result = _read(analyses, _TableStore(staged, segments), notes, progress)
            publish(staged, folder, CAPTURES, {"files": names})
    return result


def _read(
    analyses: Sequence[tuple[str, CaptureAnalysis]],
    store: _TableStore,
    notes: Sequence[TagRule] | None,
    progress: Callable[[str, int], None] | None,
) -> CaptureAnalyses:
    """Reads captures to their ends."""
    summaries = []
    try:
        for file, analysis in analyses:
            has_more = True
            while has_more:
                has_more = analysis.advance(MAX_RECORDS)
                store.add(file, analysis.take_tables())
                if progress:
                    progress(file, int(analysis.summary()["packets"]))
            summaries.append({"file": file, **analysis.summary()})
        return CaptureAnalyses(summaries, store.close(notes))
    except BaseException:
        store.abandon()
        raise


def _with_diagnoses(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Returns the connections with lowest RTTs by hosts, and the diagnosis as the last column."""
    own = tables["connections"]
    connections = with_client_turns(with_host_rtts(own), tables["units"])
    connections = with_server_turns({**tables, "connections": connections})
    losses = tables["losses"].to_pandas()
    intervals = tables["intervals"].select(INTERVAL_COLUMNS).to_pandas()
    connections = with_outages_before(connections, losses, intervals)
    readable = {str(file) for file in connections["file"].unique().to_pylist()} - {STDIN}
    connections = with_token_buckets(connections, tables["losses"], readable)
    results = diagnoses(
        connections.to_pandas(),
        losses,
        intervals,
        own["near_rtt_min_ms"].to_pandas(),
    )
    connections = with_all_in_flight(connections, tables["units"])
    for name in ("cca", "cca_confidence"):
        index = connections.schema.get_field_index(name)
        field = connections.schema.field(index)
        column = pa.array([getattr(each, name) for each in results], field.type)
        connections = connections.set_column(index, field, column)
    causes = [each.sentence.columns() for each in results]
    for name, meaning in CAUSE_COLUMNS.items():
        kind = pa.string() if name in ("main_cause", "causes") else pa.float64()
        added: pa.Field[Any] = pa.field(name, kind, metadata={"meaning": meaning})
        connections = connections.append_column(added, pa.array([each[name] for each in causes], kind))
    field = pa.field("diagnosis", pa.string(), metadata={"meaning": DIAGNOSIS})
    sentences = pa.array([str(each.sentence) for each in results], pa.string())
    return connections.append_column(field, sentences)


def _packets_without_times(summary: Mapping[str, Any]) -> int:
    """Returns the number of packets of a capture if several have no time of their own, otherwise 0."""
    first, last = summary["times_ns"] or (None, None)
    packets = int(summary["packets"])
    return packets if packets > 1 and first is not None and first == last else 0


def _with_file(batch: pa.RecordBatch, file: str) -> pa.RecordBatch:
    """Returns rows with the name of their capture as the first column."""
    indices = np.zeros(batch.num_rows, np.int32)
    column = pa.DictionaryArray.from_arrays(indices, pa.array([file]))
    fields = [pa.field("file", column.type), *batch.schema]
    return pa.record_batch([column, *batch.columns], schema=pa.schema(fields))
