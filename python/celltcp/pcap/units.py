"""Units of work in captures: each response, and each frame of a stream, with what delayed it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from celltcp.pcap.diagnosis.evidence import records
from celltcp.pcap.diagnosis.messages import NORMAL_DECILE, Messages, messages_of
from celltcp.pcap.frame_ends import frame_ends
from celltcp.pcap.outcome import UNIT_COLUMNS

#: Names of units of work, as `celltcp.comparison.units_of_work` has them.
RESPONSE, FRAME = "response", "frame_delay"

#: Minimum excess of a slow unit over the median of its kind: as a share of it, and RTTs.
_MIN_EXCESS_SHARE, _MIN_EXCESS_RTTS = 0.25, 0.5
#: Least times of responses as a quantile, and minimum number of a size that show it.
_LEAST, _MIN_OF_SIZE = 0.05, 5
#: Minimum size over the median one at which a unit is slow for its size.
_MIN_SIZE_RATIO = 1.5
#: Maximum time between the handshake and the first request that is a part of it, s.
_MAX_AFTER_HANDSHAKE_S = 0.005
#: Minimum number of messages that show how large one is, and minimum share of key frames.
_MIN_AFTER_START, _KEY_FRAME_SHARE = 10, 0.003
#: Part of an interval by which frames may be due later than that: applications drift.
_MAX_DRIFT = 0.05
#: Minimum part of an outage whose data follow, beside those of the time in which they do: outages.
_MIN_CAUGHT_UP, _MAX_CATCH_UP = 0.5, 4
#: Minimum part of an interval without data before a message that did not wait.
_MIN_GAP = 0.25
#: Maximum part of an interval from a regular message to a large one that comes between such messages.
_MAX_BESIDE = 0.75
#: Minimum time without data beside the receiver that may be an outage, intervals.
_MIN_OUTAGE = 2
#: Minimum number of frames after others that did not wait which show their interval.
_MIN_SINGLE = 10
#: Minimum excess of the first of frames that come as one, standard deviations of their sum.
_LARGE_DEVIATIONS = 3.0
#: Maximum part of an interval by which frames may be early.
_MAX_EARLY = 0.1
#: Maximum number of messages after one that show when it was due, and standard deviations of the sum of
#: their intervals.
_MAX_LAG, _WALK_DEVIATIONS = 100, 2.0

#: Columns of times that can delay a unit, with what each is.
PARTS = {
    "handshake_s": "handshake",
    "server_s": "server",
    "outage_s": "outage",
    "timeout_s": "time-out",
    "loss_s": "retransmission",
    "round_trips_s": "further round trip",
    "paused_s": "pause of the server",
    "queue_s": "queue",
}
#: Further round trips of a connection that had losses before, which shrink the window.
_SMALL_WINDOW = "further round trip in the window after losses"
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
    unit_indices, loss_indices = (table.groupby(keys, observed=True).indices for table in (raw, losses))
    parts = []
    for row in records(tables["connections"].to_pandas()):
        key = (row["file"], row["connection"])
        own = raw.iloc[unit_indices.get(key, [])]
        messages = messages_of(row)
        if messages is not None:
            is_own = (own["unit"] == FRAME) & (own["up"] == (row["direction"] == "up"))
            units = _frames(own[is_own], row, messages)
        else:
            units = _responses(own[own["unit"] == RESPONSE], row)
        if len(units):
            parts.append(_with_losses(units, losses.iloc[loss_indices.get(key, [])]))
    if parts:
        units = _with_causes(pd.concat(parts, ignore_index=True), tables["connections"].to_pandas())
    else:
        units = raw.iloc[:0].reindex(columns=[*raw, *UNIT_COLUMNS])
    schema = tables["units"].schema
    columns = [_column(units[field.name], field.type) for field in schema]
    table = pa.table(columns, schema=schema)
    for name, meaning in UNIT_COLUMNS.items():
        kind: pa.DataType = pa.string() if name == "delayed_by" else pa.float64()
        field: pa.Field[Any] = pa.field(name, kind, metadata={"meaning": meaning})
        table = table.append_column(field, _column(units[name], kind))
    return {**tables, "units": table}


def _column(values: pd.Series, kind: pa.DataType) -> pa.Array[Any]:
    """Returns values as an Arrow column, which keeps NaN."""
    if pa.types.is_dictionary(kind):
        texts = pa.array(values.astype(str).tolist(), pa.string())
        encoded: pa.Array[Any] = texts.dictionary_encode().cast(kind)
        return encoded
    column: pa.Array[Any] = pa.array(values.tolist(), kind)
    return column


def _responses(own: pd.DataFrame, row: Mapping[Hashable, Any]) -> pd.DataFrame:
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
        handshake_s=0.0,
    )
    first = units.index[:1]
    connect_s = client_s + server_s + row["handshake_wait_s"] + _MAX_AFTER_HANDSHAKE_S
    if row["handshake"] == "whole" and (units.loc[first, "start_s"] <= connect_s).all():
        units.loc[first, "handshake_s"] = units.loc[first, "start_s"]
        units.loc[first, "first_byte_s"] += units.loc[first, "start_s"]
        units.loc[first, "start_s"] = 0.0
    units = units.dropna(subset=["first_s"])
    return units.assign(duration_s=units["end_s"] - units["start_s"])


def _frames(own: pd.DataFrame, row: Mapping[Hashable, Any], messages: Messages) -> pd.DataFrame:
    """Returns the frames of a stream with the times at which they are due, by a clock of the sender.

    The way to the receiver takes half the lowest RTT. Frames that come as one stand for as many as its
    size allows, and end where their share of its data does.
    """
    if own.empty:
        return own.assign(file=row["file"])
    rtt_s = 0.0 if np.isnan(row["rtt_min_ms"]) else row["rtt_min_ms"] / 1e3
    is_at_receiver = row["place"] == "receiver"
    # A frame is delivered behind those before it.
    part_ends_s = own["last_s" if is_at_receiver else "acked_s"].cummax().to_numpy(float)
    part_bytes = own["bytes"].cumsum().to_numpy(float)
    # The parts of a frame are one.
    groups = (own["is_part"].shift(fill_value=0) == 0).cumsum()
    frames = own.groupby(groups).agg(
        {
            **dict.fromkeys(own.columns, "first"),
            **dict.fromkeys(("bytes", "retransmissions"), "sum"),
            **dict.fromkeys(("last_s", "acked_s"), "max"),
        }
    )
    sizes = frames["bytes"].to_numpy(float)
    usual = max(float(np.median(sizes)), 1.0)
    by_size = np.clip(np.rint(sizes / usual), 1, None).astype(int)
    starts_s = frames["start_s"].to_numpy(float)
    ends_s = frames["last_s" if is_at_receiver else "acked_s"].fillna(np.inf).cummax().to_numpy(float)
    median_s = messages.interval_ms / 1e3
    are_prompt = _are_prompt(own, groups.to_numpy(), is_at_receiver, median_s)
    interval_s, jitter_s = _interval(starts_s, are_prompt & (by_size == 1), median_s)
    have_paused = np.append(False, starts_s[1:] > ends_s[:-1] + interval_s)
    if is_at_receiver:
        are_caught_up = _are_caught_up(starts_s, sizes / usual * interval_s)
        have_paused &= ~are_caught_up
        is_outage = are_caught_up & (np.diff(starts_s, prepend=starts_s[0]) > _MIN_OUTAGE * interval_s)
        are_prompt &= ~is_outage
        # Segments wait in queues before it.
        tails_s = np.zeros(len(starts_s))
    else:
        sent_s = own["last_s"].where(own["retransmissions"] == 0, own["start_s"])
        tails_s = sent_s.groupby(groups).last().to_numpy(float)
    counts, due_s, places = _slots(starts_s, tails_s, have_paused, are_prompt, by_size, interval_s)
    due_s = _due_before_others(due_s, counts, places, are_prompt, interval_s, jitter_s)
    # Since the client has begun, which its SYN shows.
    began_s = rtt_s / 2 if is_at_receiver else -rtt_s / 2
    in_usual = sizes / messages.size
    single = in_usual[1:][counts[1:] == 1]
    has_start = row["handshake"] == "whole" and len(single) >= _MIN_AFTER_START
    first = starts_s[:2] - began_s, in_usual[0], single, interval_s
    if has_start and (first_count := _first_count(*first)):
        counts[0], due_s[0] = first_count, starts_s[1] - first_count * interval_s
    frames = frames.assign(
        file=row["file"],
        start_s=due_s - (rtt_s / 2 if is_at_receiver else 0),
        first_byte_s=np.nan,
        rtt_s=rtt_s,
        handshake_s=0.0,
        server_s=0.0,
        round_trips_s=0.0,
        paused_s=0.0,
    )
    before = np.concatenate([[0.0], np.cumsum(sizes)[:-1]])
    repeated = frames.index.repeat(counts)
    units, count = frames.loc[repeated].reset_index(drop=True), np.repeat(counts, counts)
    # Frames that come as one end behind what was sent before the next one.
    spread = float(np.std(single) / np.mean(single)) if len(single) else 0.0
    shift_s = rtt_s / 2 if is_at_receiver else 0.0
    due_of_all_s = _due_of_all(due_s, counts, are_prompt, interval_s) - shift_s
    part_starts_s, part_begins = (
        own["start_s"].to_numpy(float),
        part_bytes - own["bytes"].to_numpy(float),
    )
    sent = np.interp(due_of_all_s + shift_s, part_starts_s, part_begins)
    share_ends, errors = np.repeat(before, counts) + np.repeat(sizes, counts), np.zeros(len(units))
    for index in np.flatnonzero(counts > 1):
        begin, stop = (int(counts[:number].sum()) for number in (index, index + 1))
        large = sizes[index] - counts[index] * usual if are_prompt[index] else 0.0
        # Frames come as one behind one that is larger than their sizes differ.
        if large < max(_LARGE_DEVIATIONS * spread * np.sqrt(counts[index]), 1) * usual:
            large = 0.0
        rest = sizes[index] - large
        ends, errors[begin:stop] = frame_ends(
            rest,
            counts[index],
            spread * messages.size,
            np.clip(sent[begin + 1 : stop] - before[index] - large, 0, rest),
        )
        share_ends[begin:stop] = before[index] + large + ends
    parts = np.minimum(np.searchsorted(part_bytes, share_ends - 1), len(part_bytes) - 1)
    # Without losses, data of a part arrive as they are sent.
    rest = ((part_bytes[parts] - share_ends) / own["bytes"].to_numpy(float)[parts]).clip(0, 1)
    spans_s = (own["last_s"] - own["start_s"]).where(own["retransmissions"] == 0, 0.0)
    ends_s = part_ends_s[parts] - rest * spans_s.to_numpy(float)[parts]
    received_s = ends_s - (0 if is_at_receiver else rtt_s / 2)
    share_begins = np.append(0.0, share_ends[:-1])
    units = units.assign(
        start_s=due_of_all_s,
        sent_s=np.interp(share_begins, part_begins, part_starts_s),
        end_s=received_s,
        error_s=errors / messages.size * interval_s,
        bytes=(units["bytes"] / count).round().astype(int),
    )
    return units.assign(duration_s=(units["end_s"] - units["start_s"]).clip(lower=0))


def _are_prompt(
    own: pd.DataFrame, groups: NDArray[Any], is_at_receiver: bool, period_s: float
) -> NDArray[np.bool_]:
    """Returns whether each message passed as it was written: behind a gap, and no loss.

    What waits for a window or a queue follows data before it without one.
    """
    is_lost = (own["retransmissions"] > 0).to_numpy()
    done_s = own["last_s" if is_at_receiver else "acked_s"].fillna(np.inf).to_numpy(float)
    repaired_s = np.maximum.accumulate(np.where(is_lost, done_s, -np.inf))
    sent_s = np.maximum.accumulate(np.where(is_lost, own["start_s"], own["last_s"]))
    starts_s = own["start_s"].to_numpy(float)
    is_prompt = np.append(
        True,
        (starts_s[1:] - sent_s[:-1] > _MIN_GAP * period_s) & (starts_s[1:] > repaired_s[:-1]),
    )
    return is_prompt[np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))]


def _interval(
    starts_s: NDArray[np.float64], are_single: NDArray[np.bool_], median_s: float
) -> tuple[float, float]:
    """Returns the mean time from one frame to the next, and its standard deviation, s.

    Args:
        starts_s: times of messages; some have several frames.
        are_single: whether each is one frame that did not wait.
        median_s: median time from one to the next, s.
    """
    gaps_s = np.diff(starts_s)
    is_near = np.abs(gaps_s - median_s) < median_s / 2
    is_single = is_near & are_single[1:] & are_single[:-1]
    single = gaps_s[is_single if is_single.sum() >= _MIN_SINGLE else is_near]
    if not len(single):
        return median_s, 0.0
    low, high = np.quantile(single, [0.1, 0.9])
    return float(single.mean()), float(high - low) / (2 * NORMAL_DECILE)


def _due_before_others(
    due_s: NDArray[np.float64],
    counts: NDArray[np.int64],
    places: NDArray[np.int64],
    are_prompt: NDArray[np.bool_],
    period_s: float,
    jitter_s: float,
) -> NDArray[np.float64]:
    """Returns the times at which messages were due, no later than later ones show.

    Messages that wait for the window come late, as those before them do: later ones catch up. Their
    intervals add up as a random walk.
    """
    due_s, earliest_s = due_s.copy(), np.maximum.accumulate(np.where(are_prompt, due_s, -np.inf))
    pauses = np.cumsum(np.diff(due_s, prepend=due_s[0]) > (np.append(0, counts[:-1]) + 0.5) * period_s)
    for lag in range(1, min(_MAX_LAG, len(due_s))):
        steps = np.maximum(places[lag:] - places[:-lag], 0)
        at_most_s = due_s[lag:] - steps * period_s + _WALK_DEVIATIONS * jitter_s * np.sqrt(steps)
        is_one = (pauses[lag:] == pauses[:-lag]) & ~are_prompt[:-lag]
        due_s[:-lag] = np.where(is_one, np.minimum(due_s[:-lag], at_most_s), due_s[:-lag])
    return np.maximum(due_s, earliest_s)


def _due_of_all(
    due_s: NDArray[np.float64],
    counts: NDArray[np.int64],
    are_prompt: NDArray[np.bool_],
    period_s: float,
) -> NDArray[np.float64]:
    """Returns the times at which the frames of messages were due, s.

    Those behind the first one are due by the next message, if that did not wait.
    """
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    firsts_s, next_s = due_s, np.append(due_s[1:], np.inf)
    early_s = np.nan_to_num(next_s - counts * period_s - firsts_s, posinf=np.inf)
    is_known = np.append(are_prompt[1:], False) & (np.abs(early_s) < period_s)
    shift_s = np.repeat(np.where(is_known, early_s, 0.0), counts)
    firsts_s = np.repeat(firsts_s, counts)
    due_of_all_s: NDArray[np.float64] = firsts_s + np.maximum(
        number * period_s + shift_s * (number > 0), 0.0
    )
    return due_of_all_s


def _slots(
    starts_s: NDArray[np.float64],
    tails_s: NDArray[np.float64],
    have_paused: NDArray[np.bool_],
    are_prompt: NDArray[np.bool_],
    by_size: NDArray[np.int64],
    period_s: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Returns for each message the number of its frames, when it was due, s, and intervals before it.

    A message behind others that were not acknowledged yet is late; the application has paused before
    one with an empty path.
    """
    counts, due_s = np.ones(len(starts_s), int), starts_s.copy()
    places, clock_s, anchor = np.zeros(len(starts_s), int), -np.inf, 0
    for number in range(1, len(starts_s)):
        last_s = due_s[number - 1]
        if by_size[number - 1] > 1 and last_s - clock_s < _MAX_BESIDE * period_s:
            # A large message beside those at regular times takes no interval.
            last_s, places[number - 1] = clock_s, places[number - 1] - 1
        steps = max(int(np.rint((starts_s[number] - last_s) / period_s)), 0)
        has_paused = have_paused[number]
        # Behind the last segment, which is not full, no frame waits.
        at_least = int((tails_s[number - 1] - last_s) / period_s + 1 + _MAX_EARLY)
        count = max(by_size[number - 1], at_least)
        if not has_paused:
            count = max(min(count, steps), 1)
        counts[number - 1] = count
        # Messages of another size may come between those at regular times.
        step = steps if has_paused or steps < count else count
        if not are_prompt[number]:
            due_s[number] = min(last_s + step * (1 + _MAX_DRIFT) * period_s, starts_s[number])
        clock_s = last_s + (count - 1) * period_s
        places[number] = places[number - 1] + count
        if are_prompt[number]:
            length = int(np.rint((starts_s[number] - due_s[anchor]) / period_s))
            for large in anchor + np.flatnonzero(by_size[anchor:number] > 1):
                # What no interval is left for is one large frame, not several.
                excess = places[number] - places[anchor] - length
                cut = min(max(excess, 0), places[large + 1] - places[large])
                counts[large] = max(counts[large] - cut, 1)
                places[large + 1 : number + 1] -= cut
            anchor = number
    counts[-1] = by_size[-1]
    return counts, due_s, places


def _are_caught_up(starts_s: NDArray[np.float64], lengths_s: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Returns whether data of the time before each message, without any, follow: an outage, no pause.

    Args:
        starts_s: times of messages.
        lengths_s: times in which a stream makes their data, s.
    """
    made_s = np.append(0.0, np.cumsum(lengths_s))
    gaps_s = np.diff(starts_s, prepend=starts_s[0])
    are_caught_up = np.zeros(len(starts_s), bool)
    # A path that is slow at first takes longer; sizes differ more in a longer time.
    for ratio, deviation_s in ((1, 0.0), (_MAX_CATCH_UP, 2 * float(np.median(lengths_s)))):
        later = np.searchsorted(starts_s, starts_s + ratio * gaps_s, "right")
        are_caught_up |= made_s[later] - made_s[:-1] >= (ratio + _MIN_CAUGHT_UP) * gaps_s + deviation_s
    return are_caught_up


def _first_count(
    starts_s: NDArray[np.float64], size: float, single: NDArray[np.float64], period_s: float
) -> int:
    """Returns the number of frames of the first message where some were due before it; else 0.

    An application may write during the handshake: the message then has more frames than there are
    intervals up to the next one, and more data than with one of the key frames that come at times.

    Args:
        starts_s: times of the first two messages since the client began.
        size: its size in frames of the mean size.
        single: those of later messages with one frame.
        period_s: interval of the frames.
    """
    large = float(np.quantile(single, 1 - _KEY_FRAME_SHARE))
    steps = max(int(np.rint((starts_s[1] - starts_s[0]) / period_s)), 1)
    count = int(np.rint(min(size, starts_s[1] / period_s)))
    return count if count > steps and size > large + steps - 1 else 0


def _with_losses(units: pd.DataFrame, losses: pd.DataFrame) -> pd.DataFrame:
    """Returns units with the losses in their times, and the times in which each kind was repaired."""
    starts_s, ends_s = units["start_s"].to_numpy(float), units["end_s"].to_numpy(float)
    repaired_s = losses["repaired_s"].to_numpy(float)
    lost_s = np.minimum(losses["t_s"].to_numpy(float), repaired_s)
    kinds = np.where(losses["kind"] == "outage", 0, np.where(losses["repair"] == "time-out", 1, 2))
    order = np.argsort(lost_s, kind="stable")
    lost_s, repaired_s, kinds = lost_s[order], repaired_s[order], kinds[order]
    times_s = np.zeros((len(units), 3))
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
                covered_s = until_s
    counts = waits_for
    if "sent_s" in units:
        # A lost segment is one of the frame that was being sent.
        sent_s = np.maximum.accumulate(units["sent_s"].to_numpy(float))
        frames = np.searchsorted(sent_s, lost_s, "right") - 1
        counts = np.bincount(frames.clip(min=0), minlength=len(units))
    units = units.assign(
        losses=counts, outage_s=times_s[:, 0], timeout_s=times_s[:, 1], loss_s=times_s[:, 2]
    )
    # What a request or its response waited for a repair is no time of the application.
    has_waited = (units["retransmissions"] == 0) & (waits_for > 0)
    has_timeout = has_waited & (units["timeout_s"] > 0)
    units.loc[has_timeout, "timeout_s"] = units["server_s"] - units["outage_s"]
    units.loc[has_timeout, "server_s"] = 0.0
    lost_before_s = times_s.sum(axis=1) * has_waited
    units["server_s"] = (units["server_s"] - lost_before_s).clip(lower=0)
    known = units[[name for name in PARTS if name != "queue_s"]].sum(axis=1)
    rest_s = units["duration_s"] - units["rtt_s"] - known
    return units.assign(queue_s=rest_s.clip(lower=0))


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
    causes = parts.idxmax(axis=1).map(PARTS)
    causes = causes.where(parts.max(axis=1) > 0, PARTS["queue_s"])
    has_losses = rows["losses"].reindex(index).to_numpy() > 0
    is_pause = is_at_receiver & (causes == PARTS["paused_s"])
    causes[is_pause] = np.where(has_losses, _TAIL_OR_PAUSE, _PAUSE_OR_TAIL)[is_pause]
    has_lost = units.groupby(["file", "connection"])["losses"].cumsum() > 0
    causes[has_lost & (causes == PARTS["round_trips_s"])] = _SMALL_WINDOW
    causes[is_frame & (causes == PARTS["queue_s"])] = _BACKLOG
    run = (is_slow != is_slow.shift()).cumsum()
    lost = units["losses"] + units["losses"].shift(fill_value=0)
    is_behind = lost.groupby(run).transform("sum") > 0
    causes[is_behind & (causes == _BACKLOG)] = _BEHIND_LOSSES
    is_first = is_frame & ~units.duplicated(["file", "connection"])
    causes[is_first & causes.isin([_BACKLOG, _BEHIND_LOSSES])] = _SET_UP
    is_large = units["bytes"] >= _MIN_SIZE_RATIO * usual["bytes"]
    by_size = causes.isin([PARTS["queue_s"], PARTS["round_trips_s"], _SMALL_WINDOW, _BACKLOG])
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
