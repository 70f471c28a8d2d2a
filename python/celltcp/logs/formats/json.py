"""Logs in JSON: iperf3, flent, Starlink, AlphaRTC, and records such as those of Sabre."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celltcp._core import CelltcpError
from celltcp.logs.errors import quoted_names
from celltcp.logs.formats.iperf3 import PAYLOAD, of_intervals, of_text
from celltcp.logs.formats.report_lines import Interval
from celltcp.logs.formats.writes import Writes
from celltcp.logs.recording import Recording
from celltcp.logs.table.words import SIDES
from celltcp.logs.timeouts import ETHERNET_SEGMENT, timed_out_rows
from celltcp.logs.units import words_of

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.source import Source

#: Maximum length of a list in a record whose items become columns.
_MAX_ITEMS = 8
#: Fields of a period of Sabre's and dash.js' network files.
_SABRE = {"duration_ms", "bandwidth_kbps", "latency_ms"}


class _KnownRecords(NamedTuple):
    """Records of a tool, with fields whose names have no unit."""

    kind: str
    #: Fields by which the records are recognised.
    fields: frozenset[str]
    #: Fields of time and rate by direction, and their units.
    columns: dict[Direction, str]
    unit: str
    #: Conditions on rows by direction, for tests of both directions one after the other.
    runs: dict[Direction, str] = {}  # noqa: RUF012 - a tuple is not changed


_KNOWN = (
    # `speedtest -f jsonl -p`: the rates are means since the begin of the test, unlike the amounts.
    _KnownRecords(
        "progress of Ookla's speedtest",
        frozenset(("type", "download.progress", "download.elapsed", "download.bytes")),
        {"down": "download.elapsed,download.bytes", "up": "upload.elapsed,upload.bytes"},
        "ms,B",
        {"down": "type=download", "up": "type=upload"},
    ),
    # `speedtest -f json`.
    _KnownRecords(
        "results of Ookla's speedtest",
        frozenset(("timestamp", "ping.latency", "download.bandwidth", "upload.bandwidth")),
        {"down": "timestamp,download.bandwidth", "up": "timestamp,upload.bandwidth"},
        "B/s",
    ),
    # `speedtest-cli --json`.
    _KnownRecords(
        "results of speedtest-cli",
        frozenset(("timestamp", "download", "upload", "bytes_sent", "bytes_received")),
        {"down": "timestamp,download", "up": "timestamp,upload"},
        "bit/s",
    ),
    # `ndt7-client -format=json`.
    _KnownRecords(
        "measurements of ndt7",
        frozenset(("Value.AppInfo.ElapsedTime", "Value.AppInfo.NumBytes", "Value.Test")),
        dict.fromkeys(("down", "up"), "Value.AppInfo.ElapsedTime,Value.AppInfo.NumBytes"),
        "us,B",
        {"down": "Value.Test=download", "up": "Value.Test=upload"},
    ),
    # https://github.com/intel/lpp-network-trace, lpp-network-trace-format.md
    _KnownRecords(
        "ntrace of LPP, each entry a test of the bandwidth",
        frozenset(("entryNo", "dateTime")),
        {"down": "dateTime,dlBw", "up": "dateTime,ulBw"},
        "kbit/s",
    ),
)


#: Sign before each record of a JSON text sequence (RFC 7464).
_RECORD_SEPARATOR = "\x1e"
#: Beginning of a JSON list; other lines begin with a bracket as well, such as those with a time.
_LIST = re.compile(r"\[\s*(?:[\[{\"\]]|-?\d[\d.eE+-]*\s*(?:,|\]\s*$)|true|false|null|$)")


def recognises(source: Source) -> bool:
    """Returns whether a file begins as JSON does."""
    start = source.head.lstrip(f"\ufeff \t\r\n{_RECORD_SEPARATOR}")
    return start.startswith("{") or bool(_LIST.match(start))


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads JSON of known tools, or else records of times and rates.

    Raises:
        CelltcpError: if the text is no JSON, or has no rates.
    """
    document = _parse(source.text())
    requested = options.direction or side
    if isinstance(document, dict):
        if isinstance(document.get("intervals"), list):
            return _iperf3(document, requested)
        if isinstance(document.get("x_values"), list) and isinstance(document.get("results"), dict):
            return _flent(document, requested)
        if (series := _prometheus(document)) is not None:
            return _records(series, options, side)
        history = _find_table(document, "downlinkThroughputBps", "downlink_throughput_bps")
        if history is not None and isinstance(_field(history, "downlinkThroughputBps"), list):
            return _starlink(history, requested)
        for key in ("downlink", "uplink") if requested == "down" else ("uplink", "downlink"):
            if _is_table(document.get(key)) and (pattern := document[key].get("trace_pattern")):
                return _alphartc(pattern, key)
    if isinstance(document, list) and document and _is_event(document[0]):
        # iperf3 --json-stream writes an event per line.
        events = [event for event in document if _is_event(event)]
        rows = [event["data"] for event in events if event["event"] == "interval"]
        start: dict[str, Any] = next(
            (event["data"] for event in events if event["event"] == "start"), {}
        )
        end: dict[str, Any] = next((event["data"] for event in events if event["event"] == "end"), {})
        return _iperf3({"start": start, "intervals": rows, "end": end}, requested)
    return _records(document, options, side)


def _is_event(value: Any) -> bool:
    return _is_table(value) and "event" in value and _is_table(value.get("data", {}))


def _parse(text: str) -> Any:
    """Returns a JSON document, or the list of records that lines have."""
    text = text.lstrip("\ufeff")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        document_error = error
    except RecursionError:
        raise CelltcpError("JSON is nested too deeply") from None
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if record := line.strip(f" \t\r{_RECORD_SEPARATOR}"):
            try:
                rows.append(json.loads(record))
            except (json.JSONDecodeError, RecursionError):
                if number == 1 or not rows:
                    raise CelltcpError(
                        f"is no JSON: {document_error.msg} in line {document_error.lineno}"
                    ) from None
                raise CelltcpError(f"line {number} is no JSON, as the lines before are") from None
    return rows


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _field(table: dict[str, Any], name: str) -> Any:
    """Returns a field by its name, in camel case or with underscores."""
    plain = name.replace("_", "").lower()
    return next((value for key, value in table.items() if key.replace("_", "").lower() == plain), None)


def _find_table(table: Any, *names: str) -> dict[str, Any] | None:
    """Returns the outermost table with one of these fields."""
    if not isinstance(table, dict):
        return None
    if any(name in table for name in names):
        return table
    candidates = (_find_table(value, *names) for value in table.values())
    return next((candidate for candidate in candidates if candidate is not None), None)


def _iperf3(document: dict[str, Any], requested: Direction) -> Recording:
    start = document.get("start") or {}
    is_server = "accepted_connection" in start
    is_reverse = bool((start.get("test_start") or {}).get("reverse"))
    has_both = any(interval.get("sum_bidir_reverse") for interval in document["intervals"])
    sums = _sums(document["intervals"], requested)
    # Only senders report retransmissions. Older versions do not say who sends.
    sends = any(of_sum.get("sender", "retransmits" in of_sum) for of_sum, _ in sums)
    direction: Direction = "down" if is_reverse else "up"
    who = "the server sends (-R)" if is_reverse else "the client sends"
    if has_both:
        direction, who = requested, f"both directions (--bidir), the {requested}link"
    if sends and not has_both and (output := _of_receiver(document, requested)) is not None:
        kind = f"iperf3 -J, {who}, intervals of the receiver"
        return dataclasses.replace(
            output,
            kind=kind,
            direction=direction,
            retransmissions=_retransmissions(document, [of_sum for of_sum, _ in sums]),
            bbr_loss=_bbr_loss(document, [of_sum for of_sum, _ in sums]),
            windows=_windows(sums),
        )
    intervals, rtts, in_flight = [], [], 0.0
    for of_sum, streams in sums:
        bps = of_sum["bits_per_second" if "bits_per_second" in of_sum else "throughput-bits"]
        begin, end = (round(float(of_sum[name]) * 1e9) for name in ("start", "end"))
        intervals.append(Interval(begin, end, float(bps)))
        known = [stream.get("rtt") for stream in streams if stream.get("rtt")]
        rtts.append(min(known) / 1e3 if known else np.nan)
        in_flight = max(in_flight, 8 * sum(float(stream.get("snd_cwnd") or 0) for stream in streams))
    if not intervals and document.get("error"):
        raise CelltcpError(f"iperf3 reported an error: {document['error']}")
    end_of = document.get("end") or {}
    no_capacity = timed_out = None
    if sends and intervals:
        is_back = has_both and (requested == "down") != is_server
        of_end = end_of.get("sum_received_bidir_reverse" if is_back else "sum_received") or {}
        # A server that sends knows nothing of what arrived.
        received = None if is_server else of_end.get("bits_per_second") or None
        is_udp = str((start.get("test_start") or {}).get("protocol", "")).upper() == "UDP"
        timed_out = _timed_out(document, intervals, sums)
        writes = Writes(
            intervals, in_flight, received, is_udp, [] if timed_out is None else timed_out.tolist()
        )
        no_capacity, intervals = writes.warning, writes.delivered()
    lowest = [
        (each.get("sender") or {}).get("min_rtt") or np.inf for each in end_of.get("streams") or []
    ]
    return of_intervals(
        f"iperf3 -J, {who}",
        intervals,
        rtt_ms=np.array(rtts),
        is_load_test=True,
        lowest_rtt_ms=min(lowest, default=np.inf) / 1e3,
        retransmissions=_retransmissions(document, [of_sum for of_sum, _ in sums]),
        bbr_loss=_bbr_loss(document, [of_sum for of_sum, _ in sums]),
        windows=_windows(sums),
        timed_out=timed_out,
        direction=direction,
        has_both=has_both,
        no_capacity=no_capacity,
    )


def _windows(sums: list[tuple[dict[str, Any], list[Any]]]) -> NDArray[np.float64] | None:
    """Returns the congestion window of each interval, the sum over streams, bytes; None if unknown."""
    windows = [[float(stream.get("snd_cwnd") or 0) for stream in streams] for _, streams in sums]
    return np.array(list(map(sum, windows))) if all(each and all(each) for each in windows) else None


def _timed_out(
    document: dict[str, Any], intervals: list[Interval], sums: list[tuple[dict[str, Any], list[Any]]]
) -> NDArray[np.bool_] | None:
    """Returns which intervals of a sender have time-outs; None if it reports no windows."""
    if (windows := _windows(sums)) is None:
        return None
    segment = _segment(document)
    again = np.array([float(of_sum.get("retransmits") or 0) for of_sum, _ in sums])
    rates = np.array([interval.bps for interval in intervals])
    return timed_out_rows(rates, windows, again, segment * max(len(streams) for _, streams in sums))


def _segment(document: dict[str, Any]) -> float:
    """Returns the payload of a segment, bytes."""
    return float((document.get("start") or {}).get("tcp_mss_default") or ETHERNET_SEGMENT)


def _is_bbr(document: dict[str, Any]) -> bool:
    used = str((document.get("end") or {}).get("sender_tcp_congestion", ""))
    return used.startswith("bbr")


def _bbr_loss(document: dict[str, Any], sums: list[dict[str, Any]]) -> float | None:
    """Returns the segments that BBR sent again, as a share of all; None for other CCAs."""
    again = sum(float(of_sum.get("retransmits") or 0) for of_sum in sums)
    sent = sum(float(of_sum.get("bytes") or 0) for of_sum in sums) / _segment(document)
    return again / sent if _is_bbr(document) and sent else None


def _retransmissions(
    document: dict[str, Any], sums: list[dict[str, Any]]
) -> NDArray[np.float64] | None:
    """Returns the retransmissions of each interval; None if they are not reported, or under BBR.

    BBR fills a link without a queue.
    """
    counts = [float(of_sum.get("retransmits", np.nan)) for of_sum in sums]
    if not np.isfinite(counts).any() or _is_bbr(document):
        return None
    return np.nan_to_num(counts)


def _sums(
    intervals: list[dict[str, Any]], requested: Direction
) -> list[tuple[dict[str, Any], list[Any]]]:
    """Returns the sum of each interval in a direction, and its streams."""
    result = []
    for interval in intervals:
        both = interval.get("sum_bidir_reverse")
        # Results of perfSONAR have a summary with its own names.
        of_sum = (
            both if both and requested == "down" else interval.get("sum") or interval.get("summary")
        )
        if not of_sum or of_sum.get("omitted"):
            continue
        streams = interval.get("streams") or []
        if both:
            streams = [stream for stream in streams if stream.get("sender") == of_sum.get("sender")]
        result.append((of_sum, streams))
    return result


def _of_receiver(document: dict[str, Any], requested: Direction) -> Recording | None:
    """Returns the intervals of the receiver that a sender's log has (`--get-server-output`)."""
    output: Any = document.get("server_output_json")
    if _is_table(output) and isinstance(output.get("intervals"), list):
        sums = _sums(output["intervals"], requested)
        if sums and not any(of_sum.get("sender") for of_sum, _ in sums):
            return _iperf3(output, requested)
    text = document.get("server_output_text")
    return of_text(str(text), requested) if text and "sec" in str(text) else None


def _flent(document: dict[str, Any], requested: Direction) -> Recording:
    """Reads a test of flent: series over `x_values`, those of throughput in Mbit/s."""
    series = {name: values for name, values in document["results"].items() if isinstance(values, list)}
    word = "download" if requested == "down" else "upload"
    fitting = [name for name in series if word in name.lower()]
    sums = [name for name in fitting if name.lower().endswith("sum")]
    chosen = sums[:1] or fitting[:1]
    if not chosen:
        raise CelltcpError(f"flent's test has no {word}; it has {quoted_names(list(series))}")
    # Series such as averages are no streams.
    streams = [
        name for name in fitting if not re.search(r"\b(?:avg|mean|median|min|max)\b", name, re.I)
    ]
    is_summed = not sums and len(streams) > 1
    moments = np.round(np.array(document["x_values"], dtype=np.float64) * 1e9).astype(np.int64)
    pings = [name for name in series if name.lower().startswith("ping")]

    def values(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([np.nan if each is None else float(each) for each in series[name]])

    names = " ".join(series).lower()
    summed = np.sum([values(name) for name in streams], axis=0) if is_summed else values(chosen[0])
    named = f"sum of {len(streams)} series" if is_summed else f'series "{chosen[0]}"'
    return Recording(
        f"test of flent, {named} in Mbit/s",
        "",
        moments,
        summed * 1e6,
        rtt_ms=values(pings[0]) if pings else None,
        has_both="upload" in names and "download" in names,
        notes=(PAYLOAD,),
    )


def _starlink(history: dict[str, Any], requested: Direction) -> Recording:
    name = "downlinkThroughputBps" if requested == "down" else "uplinkThroughputBps"
    rates = _field(history, name)
    if not isinstance(rates, list) or not rates:
        raise CelltcpError(f"Starlink's history has no {name}")
    values = np.array([np.nan if rate is None else float(rate) for rate in rates])
    latency = _field(history, "popPingLatencyMs")
    rtt = np.array([np.nan if each is None else float(each) for each in latency]) if latency else None
    # A ring buffer with a value per second; `current` counts all seconds so far.
    current = int(_field(history, "current") or 0)
    count = len(values)
    start = current % count if current > count else 0
    values = np.roll(values, -start)
    ns = np.arange(count, dtype=np.int64) * 10**9
    lengths = np.full(count, 10**9, dtype=np.int64)
    return Recording(
        "Starlink's history, a value a second",
        "",
        ns,
        values,
        lengths=lengths,
        rtt_ms=None if rtt is None or len(rtt) != count else np.roll(rtt, -start),
        has_both=_field(history, "uplinkThroughputBps") is not None,
        notes=("throughput of that time, which is at most the capacity",),
    )


def _prometheus(document: dict[str, Any]) -> dict[str, list[Any]] | None:
    """Returns the series of a range query of Prometheus as columns; None if it is no such result.

    Raises:
        CelltcpError: if there are several series, or none.
    """
    data = document.get("data")
    if not isinstance(data, dict) or data.get("resultType") != "matrix":
        return None
    series = data.get("result") or []
    if len(series) != 1:
        labels = [json.dumps(each.get("metric", {})) for each in series]
        raise CelltcpError(
            f"Prometheus returned {len(series)} series: query one of them by its labels"
            f"{f', such as {labels[0]}' if labels else ''}"
        )
    # The name of a metric has its unit, and ends with total if it is a counter.
    name = str(series[0].get("metric", {}).get("__name__", "value"))
    moments, values = zip(*series[0]["values"], strict=True)
    return {"time": list(moments), name: list(map(float, values))}


def _alphartc(pattern: list[dict[str, Any]], direction: str) -> Recording:
    intervals, start_ns = [], 0
    for step in pattern:
        length_ns = max(round(float(step.get("duration", 0)) * 1e6), 0)
        if "capacity" in step and length_ns:
            intervals.append(Interval(start_ns, start_ns + length_ns, float(step["capacity"]) * 1e3))
        start_ns += length_ns
    rtts = np.array([float(step.get("rtt") or np.nan) for step in pattern if "capacity" in step])
    return of_intervals(
        f"AlphaRTC, {direction}, capacity in kbit/s, duration in ms",
        intervals,
        rtt_ms=rtts if len(rtts) == len(intervals) else None,
        notes=(),
    )


def _records(document: Any, options: ReadOptions, side: Direction) -> Recording:
    import pandas as pd

    from celltcp.logs.table.reader import read_frame

    requested = options.direction or side
    rows = _rows_in(document, requested)
    if options.direction and rows != _rows_in(document, "up" if requested == "down" else "down"):
        # The rows are of that direction, so that their columns need no direction.
        options = dataclasses.replace(options, direction=None)
    if rows is None:
        keys = list(document) if isinstance(document, dict) else []
        has = f"; it has {quoted_names(keys)}" if keys else ""
        raise CelltcpError(f"JSON without records of times and rates{has}")
    has_names = isinstance(rows, dict) or isinstance(rows[0], dict)
    if isinstance(rows, dict) or not has_names:
        frame = pd.DataFrame(rows)
    else:
        frame = pd.json_normalize([_with_numbers(row) for row in rows])
    for name in frame.columns:
        # Lists, such as coordinates, are texts to a table.
        cells = frame[name]
        if cells.dtype == object and any(isinstance(value, list | dict) for value in cells):
            frame[name] = cells.astype("string")
    if isinstance(rows, dict):
        names = list(map(str, rows))
    else:
        names = [str(name) for name in frame.columns] if has_names else []
    names = names or [str(index + 1) for index in range(frame.shape[1])]
    kind = "Sabre's network periods" if set(names) >= _SABRE else "JSON records"
    known = next((records for records in _KNOWN if set(names) >= records.fields), None)
    if known is not None and options.column is None:
        kind, column = known.kind, known.columns[requested]
        run = options.run or known.runs.get(requested)
        if missing := [name for name in column.split(",") if name not in names]:
            raise CelltcpError(f'{kind}: there is no "{missing[-1]}"')
        unit = options.unit or known.unit
        options = dataclasses.replace(options, column=column, unit=unit, direction=None, run=run)
    recording = read_frame(frame, names, options, side, kind, has_names=has_names)
    if known is None:
        return recording
    both = {name for column in known.columns.values() for name in column.split(",")}
    return dataclasses.replace(recording, has_both=both <= set(names))


def _with_numbers(value: Any) -> Any:
    """Returns a record in which lists of records, such as those of UEs, are tables by number."""
    if isinstance(value, list) and 0 < len(value) <= _MAX_ITEMS and all(map(_is_table, value)):
        value = {str(index): item for index, item in enumerate(value)}
    if isinstance(value, dict):
        return {name: _with_numbers(field) for name, field in value.items()}
    return value


def _of_data_frame(table: dict[str, Any]) -> Any:
    """Returns the rows or columns of a table as pandas or InfluxDB write it; None for others."""
    names = table.get("columns")
    rows = table.get("data", table.get("values"))
    if isinstance(names, list) and isinstance(rows, list) and names and rows:
        is_table = all(isinstance(row, list) and len(row) == len(names) for row in rows)
        return [dict(zip(map(str, names), row, strict=True)) for row in rows] if is_table else None
    inner = list(table.values())
    if len(inner) < 2 or not all(isinstance(each, dict) and each for each in inner):
        return None
    if any(each.keys() != inner[0].keys() for each in inner):
        return None
    if all(key.isdigit() for key in table):
        return inner
    if all(key.isdigit() for key in inner[0]):
        return {name: list(column.values()) for name, column in table.items()}
    return None


def _sides(key: str) -> list[Direction]:
    """Returns the directions in a name."""
    return [side for side, words in SIDES.items() if not words.isdisjoint(words_of(key))]


def _rows_in(value: Any, requested: Direction, depth: int = 6) -> Any:
    """Returns the longest list of records, or table of equally long lists, in a document.

    Lists of the direction `requested` come before longer ones of the other direction.
    """
    if isinstance(value, list):
        if value and all(isinstance(each, dict) for each in value):
            # A single record, such as that of an interface, may hold the records.
            inside = _rows_in(value[0], requested, depth - 1) if len(value) == 1 else None
            return value if inside is None else inside
        if value and all(isinstance(each, list) and len(each) == 1 for each in value):
            # `ip -j` writes a list for each time.
            return _rows_in([each[0] for each in value], requested, depth - 1)
        if value and all(isinstance(each, list) and len(each) > 1 for each in value):
            return value
        if len(value) > 1 and all(isinstance(each, int | float) for each in value):
            return [[each] for each in value]
        return None
    if not isinstance(value, dict) or not depth:
        return None
    if (rows := _of_data_frame(value)) is not None:
        return rows
    lists = {key: each for key, each in value.items() if isinstance(each, list)}
    plain = {key: each for key, each in lists.items() if each and not isinstance(each[0], dict | list)}
    if len(plain) > 1 and len({len(each) for each in plain.values()}) == 1:
        return plain
    sides = {key: _sides(key) for key in value}
    if [requested] in sides.values():
        value = {key: each for key, each in value.items() if sides[key] in ([], [requested])}
    candidates = [
        rows for each in value.values() if (rows := _rows_in(each, requested, depth - 1)) is not None
    ]
    return max(candidates, key=len, default=None)
