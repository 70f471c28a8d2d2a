"""Units of work in captures: each response, and each frame of a stream, with what delayed it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.causes import Cause, names
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, records
from celltcp.pcap.diagnosis.messages import messages_of
from celltcp.pcap.outcome import UNIT_COLUMNS
from celltcp.pcap.transfers import Transfers
from celltcp.pcap.units.frames import frames_of_stream
from celltcp.pcap.units.link_times import INTERVAL_COLUMNS, LinkTimes
from celltcp.pcap.units.queue_waits import QueueWaits
from celltcp.pcap.uplink_queues import UplinkQueues, max_error_s

#: Names of units of work, as `celltcp.comparison.applications.units_of_work` has them.
RESPONSE, FRAME = "response", "frame_delay"

#: Minimum excess of a slow unit over the median of its kind: as a share of it, and RTTs.
_MIN_EXCESS_SHARE, _MIN_EXCESS_RTTS = 0.25, 0.5
#: Least times of responses as a quantile, and minimum number of a size that show it.
_LEAST, _MIN_OF_SIZE = 0.05, 5
#: Minimum share of the delay behind a backlog at which the outage that caused it is its reason.
_MIN_LEFT_SHARE = 0.5
#: Minimum size over the median one at which a unit is slow for its size.
_MIN_SIZE_RATIO = 1.5
#: Maximum time between the handshake and the first request that is a part of it, s.
_MAX_AFTER_HANDSHAKE_S = 0.005

#: Minimum time on a link that sends all the time, s: three intervals.
_MIN_PASSING_S = 3 * INTERVAL_S

#: Columns of times that can delay a unit, with what each is.
PARTS = {
    "handshake_s": "handshake",
    "server_s": "server",
    "outage_s": "outage",
    "timeout_s": "time-out",
    "loss_s": "retransmission",
    "round_trips_s": "further round trip",
    "paused_s": "pause of the server",
    "uplink_queue_s": "uplink queue",
    "link_s": "link's rate",
    "queue_s": "queue",
}
#: Further round trips of a connection that had losses before, which shrink the window.
_SMALL_WINDOW = "further round trip in the window after losses"
#: Retransmission of what did not fit in a queue.
_OVERFLOW = "retransmission after a full queue"
#: Resend of a last segment: a loss probe (RFC 8985) comes before a time-out, and looks alike.
_TIMEOUT_OR_PROBE = "time-out or loss probe"
#: Cause of a delay: more payload than others.
_SIZE = "size"
#: Pause beside the receiver, where a lost end of the data sent looks alike: without other losses, and
#: with them.
_PAUSE_OR_TAIL = "pause of the server, or a lost end"
_TAIL_OR_PAUSE = "lost end (probable), or a pause of the server"
#: Cause of a delay of a frame without a loss: data that wait for those before them, or for losses of
#: those and the smaller window that follows.
_BACKLOG, _BEHIND_LOSSES = "frames before it", "losses of frames before it"
#: Cause of a delay of the first frame, which none is before.
_SET_UP = "connection set-up and initial window"


def with_units(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Returns the tables with units of work as simulations have them, with what delayed each.

    Of a stream with frames at regular times they are the frames, else the responses.
    """
    keys = ["file", "connection"]
    losses = tables["losses"].to_pandas()
    # What was sent again in vain after a time-out had no ACK meanwhile.
    is_lost = ~losses["kind"].isin(["spurious", "reordering"])
    losses = losses[is_lost | ((losses["kind"] == "spurious") & (losses["repair"] == "time-out"))]
    raw = tables["units"].to_pandas()
    queues = UplinkQueues.of_tables(tables)
    queues.add_ack_queues(tables)
    intervals = tables["intervals"].select([*INTERVAL_COLUMNS, "rtt_max_ms"]).to_pandas()
    connections = tables["connections"].to_pandas()
    links = LinkTimes(connections, intervals)
    waits = QueueWaits(Transfers(connections), intervals)
    unit_indices, loss_indices = (table.groupby(keys, observed=True).indices for table in (raw, losses))
    parts = []
    for row in records(connections):
        key = (row["file"], row["connection"])
        own = raw.iloc[unit_indices.get(key, [])]
        messages = messages_of(row)
        if messages is not None:
            is_own = (own["unit"] == FRAME) & (own["up"] == (row["direction"] == "up"))
            units = frames_of_stream(own[is_own], row, messages).assign(waits_s=0.0, filler="")
        else:
            units = _responses(own[own["unit"] == RESPONSE], row, queues)
            units = waits.with_waits(units, row)
        if len(units):
            units = _with_losses(units, losses.iloc[loss_indices.get(key, [])])
            parts.append(_with_link(units, None if messages else links.of_responses(units, row)))
    if parts:
        units = _with_causes(pd.concat(parts, ignore_index=True), connections)
    else:
        units = raw.iloc[:0].reindex(columns=[*raw, *UNIT_COLUMNS])
    schema = tables["units"].schema
    columns = [_column(units[field.name], field.type) for field in schema]
    table = pa.table(columns, schema=schema)
    for name, meaning in UNIT_COLUMNS.items():
        kind: pa.DataType = pa.string() if name == "delayed_by" else pa.float64()
        field: pa.Field[Any] = pa.field(name, kind, metadata={"meaning": meaning})
        table = table.append_column(field, _column(units[name], kind))
    return {**tables, "connections": _with_slow_calls(tables["connections"], units), "units": table}


def slow_text(units: pd.DataFrame) -> str:
    """Returns how many units of a kind are slow, and how many by each cause, as text; empty if none."""
    slow = units.loc[units["delayed_by"] != "", "delayed_by"]
    if slow.empty:
        return ""
    is_frame = (units["unit"] == FRAME).any()
    usual = "usual" if is_frame else "the quickest of their size"
    causes = ", ".join(f"{count} by {cause}" for cause, count in slow.value_counts().items())
    return f"{len(slow)} of {len(units)} took longer than {usual}: {causes}"


def _with_slow_calls(connections: pa.Table, units: pd.DataFrame) -> pa.Table:
    """Returns connections whose diagnosis has what made calls slow before the pauses of the client."""
    rows = connections.select(["file", "connection", "diagnosis", "main_cause", "causes"]).to_pylist()
    calls = units[units["unit"] == RESPONSE].groupby(["file", "connection"], observed=True)
    for row in rows:
        key = (row["file"], row["connection"])
        is_late = names(row, Cause.LATE_CLIENT) and key in calls.groups
        if is_late and (text := slow_text(calls.get_group(key))):
            row |= {"diagnosis": f"calls: {text}; {row['diagnosis']}", "main_cause": ""}
    for name in ("diagnosis", "main_cause"):
        index = connections.schema.get_field_index(name)
        column = pa.array([row[name] for row in rows], pa.string())
        connections = connections.set_column(index, connections.schema.field(index), column)
    return connections


def _column(values: pd.Series, kind: pa.DataType) -> pa.Array[Any]:
    """Returns values as an Arrow column, which keeps NaN."""
    if pa.types.is_dictionary(kind):
        texts = pa.array(values.astype(str).tolist(), pa.string())
        encoded: pa.Array[Any] = texts.dictionary_encode().cast(kind)
        return encoded
    column: pa.Array[Any] = pa.array(values.tolist(), kind)
    return column


def _responses(own: pd.DataFrame, row: Mapping[Hashable, Any], queues: UplinkQueues) -> pd.DataFrame:
    """Returns the responses of a connection, with times between client and server at the client.

    Requests on the way to the server, and the way back, take the same time.
    """
    is_down = row["direction"] == "down"
    client_ms, server_ms = (
        row[f"{'far' if is_client == is_down else 'near'}_rtt_min_ms"] for is_client in (True, False)
    )
    client_s, server_s = (0.0 if np.isnan(ms) else ms / 1e3 for ms in (client_ms, server_ms))
    is_at_client = row["place"] == ("receiver" if is_down else "sender")
    end_s = own["last_s"].cummax() if is_at_client else own["acked_s"]
    units = own.assign(
        file=row["file"],
        end_s=end_s,
        # At the capture, the request and the ACK come half an RTT later.
        first_byte_s=own["first_s"] - own["start_s"] + client_s,
        server_s=(own["first_s"] - own["requested_s"] - server_s).clip(lower=0),
        rtt_s=client_s + server_s,
        error_s=0.0,
        clock_error_s=0.0,
        handshake_s=0.0,
    )
    first = units.index[:1]
    handshake_queue_s = queues.waits_s(row, np.zeros(1), is_longest=True)[0]
    rtt_s = client_s + server_s
    connect_s = rtt_s + row["handshake_wait_s"] + handshake_queue_s + _MAX_AFTER_HANDSHAKE_S
    if row["handshake"] == "whole" and (units.loc[first, "start_s"] <= connect_s).all():
        units.loc[first, "handshake_s"] = units.loc[first, "start_s"]
        units.loc[first, "first_byte_s"] += units.loc[first, "start_s"]
        units.loc[first, "start_s"] = 0.0
    units = units.dropna(subset=["first_s"])
    units = _with_uplink_queues(units, row, queues)
    return units.assign(duration_s=units["end_s"] - units["start_s"])


def _with_uplink_queues(
    units: pd.DataFrame, row: Mapping[Hashable, Any], queues: UplinkQueues
) -> pd.DataFrame:
    """Returns responses with the time that packets of their client wait behind uploads.

    Its SYN, its request and the ACK before each further round trip go that way.
    """
    count, rtt_s = units["round_trips"], units["rtt_s"]
    started_s = np.zeros(len(units))
    waited_s = {
        name: queues.part_s(row, times_s, of_s)
        for name, times_s, of_s in (
            ("handshake_s", started_s, units["handshake_s"] - rtt_s - row["handshake_wait_s"]),
            ("round_trips_s", units["first_s"], units["round_trips_s"] / count - rtt_s),
            ("paused_s", units["first_s"], units["paused_s"]),
        )
    }
    waited_s["round_trips_s"] *= count
    # Of the rest, servers may take each time: the mean error of many is small.
    waited_s["server_s"] = np.minimum(units["server_s"], queues.waits_s(row, units["requested_s"]))
    rest = {name: units[name] - times_s for name, times_s in waited_s.items()}
    # A queue of which only one host's RTTs are known may be that of the data.
    is_uplink = queues.has_upload(row) or names(row, Cause.ACKS_IN_QUEUE)
    return units.assign(**rest, uplink_queue_s=sum(waited_s.values()) if is_uplink else 0.0)


def _with_losses(units: pd.DataFrame, losses: pd.DataFrame) -> pd.DataFrame:
    """Returns units with the losses in their times, and the times in which each kind was repaired."""
    starts_s, ends_s = units["start_s"].to_numpy(float), units["end_s"].to_numpy(float)
    repaired_s = losses["repaired_s"].to_numpy(float)
    lost_s = np.minimum(losses["t_s"].to_numpy(float), repaired_s)
    # Frames that were sent again in vain waited for a path that stood still.
    is_outage = losses["kind"].isin(["outage", "spurious"] if "sent_s" in units else ["outage"])
    kinds = np.where(is_outage, 0, np.where(losses["repair"] == "time-out", 1, 2))
    kinds[(kinds == 1) & (losses["kind"] == "tail")] = 3
    order = np.argsort(lost_s, kind="stable")
    lost_s, repaired_s, kinds = lost_s[order], repaired_s[order], kinds[order]
    are_lost = (losses["kind"] != "spurious").to_numpy()[order]
    are_overflows = (losses["kind"] == "congestion").to_numpy()[order]
    overflows_s = np.zeros(len(units))
    times_s = np.zeros((len(units), 4))
    waits_for = np.zeros(len(units), int)
    longest_s = float((repaired_s - lost_s).max(initial=0))
    firsts = np.searchsorted(lost_s, starts_s - longest_s)
    lasts = np.searchsorted(lost_s, ends_s, "right")
    for number, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        covered_s = starts_s[number]
        for loss in range(first, last):
            if repaired_s[loss] <= starts_s[number]:
                continue
            waits_for[number] += int(lost_s[loss] >= starts_s[number])
            from_s, until_s = max(lost_s[loss], covered_s), min(repaired_s[loss], ends_s[number])
            if until_s > from_s:
                times_s[number, kinds[loss]] += until_s - from_s
                overflows_s[number] += (until_s - from_s) * (are_overflows[loss] and kinds[loss] == 2)
                covered_s = until_s
    counts = waits_for
    if "sent_s" in units:
        # A lost segment is one of the frame that was being sent.
        sent_s = np.maximum.accumulate(units["sent_s"].to_numpy(float))
        frames = np.searchsorted(sent_s, lost_s[are_lost], "right") - 1
        counts = np.bincount(frames.clip(min=0), minlength=len(units))
    units = units.assign(
        losses=counts,
        outage_s=times_s[:, 0],
        timeout_s=times_s[:, 1] + times_s[:, 3],
        loss_s=times_s[:, 2],
        is_tail=times_s[:, 3] > times_s[:, 1],
        is_overflow=2 * overflows_s > times_s[:, 2],
    )
    # What a request or its response waited for a repair is no time of the application, but for its
    # usual one: not all time-outs show.
    usual_s = units.loc[waits_for == 0, "server_s"].median()
    has_waited = (units["unit"] == RESPONSE) & (units["retransmissions"] == 0) & (waits_for > 0)
    has_timeout = has_waited & (units["timeout_s"] > 0)
    server_s = (units["server_s"] - times_s.sum(axis=1) * has_waited).clip(lower=0)
    server_s[has_timeout] = server_s.clip(upper=0.0 if np.isnan(usual_s) else usual_s)
    units.loc[has_timeout, "timeout_s"] = units["server_s"] - units["outage_s"] - server_s
    units["server_s"] = server_s
    known = units[[name for name in PARTS if name not in ("link_s", "queue_s")]].sum(axis=1)
    rest_s = units["duration_s"] - units["rtt_s"] - known
    return units.assign(queue_s=rest_s.clip(lower=0))


def _with_link(units: pd.DataFrame, passing_s: NDArray[np.float64] | None) -> pd.DataFrame:
    """Returns units with the times in which their data passed on a link with a queue, s; None without.

    A link that sends all the time loses none of it to repairs.
    """
    if passing_s is None:
        return units.assign(link_s=0.0)
    # What passes within few intervals leaves room for repairs between its segments.
    repairs_s = units["loss_s"].where(passing_s >= _MIN_PASSING_S, 0.0)
    # Nothing passes while the first data wait behind those of others, in each round trip.
    waits_s = units["waits_s"] * (1 + units["round_trips"])
    link_s = np.minimum(passing_s, (units["queue_s"] + repairs_s - waits_s).clip(lower=0))
    queue_s = (units["queue_s"] - link_s).clip(lower=0)
    return units.assign(
        link_s=link_s,
        loss_s=units[["queue_s", "loss_s"]].sum(axis=1) - link_s - queue_s,
        queue_s=queue_s,
    )


def _with_causes(units: pd.DataFrame, connections: pd.DataFrame) -> pd.DataFrame:
    """Returns units with what delayed each slow one: the part that exceeds its usual time most.

    That of responses is the least of their size, as losses may slow most of them; of frames the median.
    """
    rows = connections.set_index(["file", "connection"])
    index = pd.MultiIndex.from_frame(units[["file", "connection"]])
    servers = rows["server"].reindex(index).to_numpy()
    is_at_receiver = (rows["place"].reindex(index) == "receiver").to_numpy()
    keys = [units["file"].to_numpy(), servers, units["unit"].to_numpy()]
    is_frame = units["unit"] == FRAME
    usual = _usual(units, keys, is_frame)
    excess_s = units["duration_s"] - usual["duration_s"]
    is_slow = (excess_s >= _MIN_EXCESS_SHARE * usual["duration_s"]) & (
        excess_s >= _MIN_EXCESS_RTTS * units["rtt_s"]
    )
    parts = units[list(PARTS)] - usual[list(PARTS)]
    # A server is not blamed for the error of the queue beside it.
    is_error = (units["uplink_queue_s"] > 0) & (
        parts["server_s"] <= max_error_s(units["uplink_queue_s"])
    )
    parts["server_s"] = parts["server_s"].mask(is_error, 0.0)
    causes = parts.idxmax(axis=1).map(PARTS)
    causes = causes.where(parts.max(axis=1) > 0, PARTS["queue_s"])
    causes[units["is_tail"] & (causes == PARTS["timeout_s"])] = _TIMEOUT_OR_PROBE
    causes[units["is_overflow"] & (causes == PARTS["loss_s"])] = _OVERFLOW
    has_losses = rows["losses"].reindex(index).to_numpy() > 0
    is_pause = is_at_receiver & (causes == PARTS["paused_s"])
    causes[is_pause] = np.where(has_losses, _TAIL_OR_PAUSE, _PAUSE_OR_TAIL)[is_pause]
    has_lost = units.groupby(["file", "connection"])["losses"].cumsum() > 0
    causes[has_lost & (causes == PARTS["round_trips_s"])] = _SMALL_WINDOW
    is_filled = (units["filler"] != "") & (causes == PARTS["queue_s"])
    causes[is_filled] = "queue of connection " + units["filler"]
    causes[is_frame & (causes == PARTS["queue_s"])] = _BACKLOG
    is_new = (is_slow != is_slow.shift()) | ~units.duplicated(["file", "connection"])
    run = is_new.cumsum()
    lost = units["losses"] + units["losses"].shift(fill_value=0)
    is_behind = lost.groupby(run).transform("sum") > 0
    # What an outage left of a backlog only drains: the rest of a longer delay came after it.
    is_outage = causes == PARTS["outage_s"]
    left_s = excess_s.groupby([run, is_outage.cumsum()]).cummin()
    is_after = is_outage.groupby(run).cummax() & (left_s >= _MIN_LEFT_SHARE * excess_s)
    causes[is_after & (causes == _BACKLOG)] = PARTS["outage_s"]
    causes[is_behind & (causes == _BACKLOG)] = _BEHIND_LOSSES
    has_outage = units["outage_s"].groupby(run).transform("sum") > 0
    causes[has_outage & (causes == _BACKLOG)] = PARTS["outage_s"]
    is_first = is_frame & ~units.duplicated(["file", "connection"])
    causes[is_first & causes.isin([_BACKLOG, _BEHIND_LOSSES])] = _SET_UP
    is_large = units["bytes"] >= _MIN_SIZE_RATIO * usual["bytes"]
    by_size = is_filled | causes.isin(
        [PARTS["link_s"], PARTS["queue_s"], PARTS["round_trips_s"], _SMALL_WINDOW, _BACKLOG]
    )
    causes[is_large & by_size] = _SIZE
    return units.assign(delayed_by=causes.where(is_slow, ""))


def _usual(units: pd.DataFrame, keys: list[NDArray[Any]], is_frame: pd.Series) -> pd.DataFrame:
    """Returns the usual duration, size and parts of units: of their size, if enough have it."""
    columns = ["duration_s", "bytes", *PARTS]
    ratio = np.log(units["bytes"].clip(lower=1)) / np.log(_MIN_SIZE_RATIO)
    sizes = np.where(is_frame, 0, np.rint(ratio))
    of_kind, of_size = units[columns].groupby(keys), units[columns].groupby([*keys, sizes])
    has_size = of_size["bytes"].transform("size") >= _MIN_OF_SIZE
    tables = []
    for groups in (of_size, of_kind):
        places = groups.ngroup()
        median, least = (
            groups.quantile(part).reset_index(drop=True).reindex(places).set_axis(units.index)
            for part in (0.5, _LEAST)
        )
        least["bytes"] = median["bytes"]
        tables.append(median.where(is_frame, least))
    return tables[0].where(has_size, tables[1])
