"""Random tables of measurements with known content, as people's tools write them."""

from __future__ import annotations

import datetime
import random
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

#: Bits per second in one of a unit, by the spelling in the name of a column.
UNITS = {
    "kbps": 1e3,
    "Mbps": 1e6,
    "bps": 1.0,
    "MB/s": 8e6,
    "kbit/s": 1e3,
    "Mbit/s": 1e6,
    "KB/s": 8e3,
    "bytes per second": 8.0,
    "bits_per_second": 1.0,
    "Mbits/sec": 1e6,
}
_RATES = (
    *("throughput_{}", "DL throughput [{}]", "rate ({})", "bandwidth({})", "goodput.{}", "Capacity {}"),
    *("tput_{}", "downlink_{}", "dl_bitrate_{}", "Downlink Throughput ({})"),
)
_AMOUNTS = {
    "bytes": 8.0,
    "rx_bytes": 8.0,
    "bytes_received": 8.0,
    "Transfer [kB]": 8e3,
    "received_MB": 8e6,
}
_DATES = (
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%d/%m/%Y %H:%M:%S"),
    *(
        "%d.%m.%Y %H:%M:%S",
        "%m/%d/%Y %I:%M:%S %p",
        "%Y.%m.%d_%H.%M.%S",
        "%H:%M:%S",
        "%d-%b-%Y %H:%M:%S",
    ),
    *("%Y-%m-%d %H:%M:%S+02:00", "%Y-%m-%d %H:%M:%S CET", "%Y%m%d%H%M%S"),
)
#: Names of numbers of times, with what one second is in them and where they begin.
_NUMBERS = {
    "time": (1.0, 0.0),
    "time_s": (1.0, 0.0),
    "Elapsed [s]": (1.0, 0.0),
    "time_ms": (1e3, 0.0),
    "t (ms)": (1e3, 0.0),
    "timestamp_us": (1e6, 0.0),
    "timestamp": (1.0, 1.7e9),
    "ts": (1e3, 1.7e12),
}


#: What separates thousands and is never before decimals.
_GAPS = ("'", "\N{NO-BREAK SPACE}", " ")


@dataclass(frozen=True)
class KnownTable:
    """A table and its content."""

    data: bytes
    ending: str
    mean_bps: float
    length_s: float


@dataclass
class _Rows:
    """Rows that are being made: seconds of each, and for how long each counts."""

    at: list[float]
    lengths: list[float]
    usual: float


def random_table(draw: random.Random) -> KnownTable:
    """Returns a table whose mean rate is known."""
    dated = draw.random() < 0.55
    rows = _rows(draw, whole_seconds=dated)
    separator = draw.choice([",", ",", ";", "\t", "|"])
    comma = separator in ";\t" and draw.random() < 0.4
    decimal: Callable[[str], str] = (
        (lambda text: text.replace(".", ",")) if comma else (lambda text: text)
    )
    columns = _times(draw, rows, dated=dated, decimal=decimal)
    name, values, known = _values(draw, rows)
    values = [decimal(value) for value in values]
    if separator in ";\t" and draw.random() < 0.3:
        values = [_grouped(value, draw.choice(_GAPS)) for value in values]
    columns.append((name, values))
    columns += _others(draw, len(rows.at), decimal)
    draw.shuffle(columns)
    lines = [separator.join(_quoted(name, separator) for name, _ in columns)]
    order = range(len(rows.at))
    if dated and draw.random() < 0.1:
        # The newest row first.
        order = order[::-1]
    for row in order:
        lines.append(separator.join(_quoted(texts[row], separator) for _, texts in columns))
    if draw.random() < 0.1:
        lines.insert(0, "# written by a tool")
    if draw.random() < 0.1:
        lines.insert(0, f"sep={separator}")
    text = draw.choice(["\n", "\r\n"]).join(lines) + draw.choice(["\n", ""])
    data = text.encode(draw.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    length = sum(weight for _, weight in known)
    mean = sum(rate * weight for rate, weight in known) / length
    return KnownTable(data, draw.choice([".csv", ".txt", ".log", ".down", ".dat"]), mean, length)


def _rows(draw: random.Random, *, whole_seconds: bool) -> _Rows:
    count = draw.randint(12, 80)
    step = draw.choice([1.0, 1.0, 2.0, 5.0] if whole_seconds else [0.1, 0.2, 0.5, 1.0, 1.0, 2.0])
    is_uneven = not whole_seconds and draw.random() < 0.3
    at, now = [], 0.0
    for _ in range(count):
        at.append(round(now, 3))
        now += step * (draw.uniform(0.8, 1.2) if is_uneven else 1.0)
        if draw.random() < 0.03:
            now += step * draw.randint(20, 400)
    steps = [after - before for before, after in pairwise(at)]
    usual = statistics.median(steps)
    lengths = [each if each <= 5 * usual else usual for each in steps]
    lengths.append(steps[-1] if steps[-1] <= 5 * usual else usual)
    return _Rows(at, lengths, usual)


def _times(
    draw: random.Random, rows: _Rows, *, dated: bool, decimal: Callable[[str], str]
) -> list[tuple[str, list[str]]]:
    if not dated:
        name = draw.choice(list(_NUMBERS))
        scale, start = _NUMBERS[name]
        digits = 0 if scale > 1 else 3
        return [(name, [decimal(f"{start + at * scale:.{digits}f}") for at in rows.at])]
    start_at = datetime.datetime(
        2024, draw.randint(1, 12), draw.randint(1, 28), draw.randint(0, 23), draw.randint(0, 59)
    )
    moments = [start_at + datetime.timedelta(seconds=at) for at in rows.at]
    if draw.random() < 0.1:
        days = [moment.strftime("%d.%m.%Y") for moment in moments]
        return [("Date", days), ("Time", [moment.strftime("%H:%M:%S") for moment in moments])]
    form = draw.choice(_DATES)
    name = draw.choice(["time", "Timestamp", "Date", "datetime", "When"])
    return [(name, [moment.strftime(form) for moment in moments])]


def _values(draw: random.Random, rows: _Rows) -> tuple[str, list[str], list[tuple[float, float]]]:
    """Returns name, values, and the rates in bit/s with the time that each counts."""
    base = draw.uniform(0.5, 60)
    rates = [max(0.05, base * draw.lognormvariate(0, 0.4)) * 1e6 for _ in rows.at]
    kind = draw.choice(["rate"] * 4 + ["amount", "counter"])
    if kind == "rate":
        unit = draw.choice(list(UNITS))
        texts = [_number(rate / UNITS[unit]) for rate in rates]
        known = [
            (float(text) * UNITS[unit], length)
            for text, length in zip(texts, rows.lengths, strict=True)
        ]
        if draw.random() < 0.4:
            lost = {row for row in range(len(texts)) if draw.random() < 0.05}
            known = [each for row, each in enumerate(known) if row not in lost] or known
            texts = [
                draw.choice(["", "NaN", "-", "n/a"]) if row in lost else text
                for row, text in enumerate(texts)
            ]
        return draw.choice(_RATES).format(unit), texts, known
    if kind == "amount":
        name = draw.choice(list(_AMOUNTS))
        scale = _AMOUNTS[name]
        pairs = list(zip(rates, rows.lengths, strict=True))
        texts = [_number(rate * length / scale) for rate, length in pairs]
        return (
            name,
            texts,
            [(float(t) * scale / each, each) for t, (_, each) in zip(texts, pairs, strict=True)],
        )
    count, counts = draw.randint(0, 10**9), []
    for rate, length in zip(rates, rows.lengths, strict=True):
        counts.append(count)
        count += round(rate * length / 8)
    steps = [after - before for before, after in pairwise(rows.at)]
    known = [
        ((counts[row + 1] - counts[row]) * 8 / step, step)
        for row, step in enumerate(steps)
        if step <= 5 * rows.usual
    ]
    return draw.choice(["bytes", "rx_bytes", "total_bytes"]), [str(each) for each in counts], known


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1e6 else f"{value:.6f}"


def _grouped(number: str, gap: str) -> str:
    """Returns a number with something between its thousands, as in French and in Switzerland."""
    whole, *rest = re.split(r"(?=[.,])", number, maxsplit=1)
    return f"{int(whole):,}".replace(",", gap) + "".join(rest) if whole.isdigit() else number


def _others(
    draw: random.Random, count: int, decimal: Callable[[str], str]
) -> list[tuple[str, list[str]]]:
    """Returns columns of something else, each in some of the tables."""
    kinds: dict[str, Callable[[], str]] = {
        draw.choice(["rtt_ms", "latency_ms", "Ping [ms]", "RTT"]): lambda: decimal(
            f"{draw.uniform(20, 90):.1f}"
        ),
        "RSRP": lambda: str(draw.randint(-120, -70)),
        "lat": lambda: decimal(f"{52 + draw.random():.5f}"),
        "cell_id": lambda: draw.choice(["101", "102", "103"]),
        "loss_rate": lambda: decimal(f"{draw.random():.3f}"),
        "operator": lambda: draw.choice(["Op A", "Op-B"]),
    }
    return [
        (name, [make() for _ in range(count)]) for name, make in kinds.items() if draw.random() < 0.3
    ]


def _quoted(text: str, separator: str) -> str:
    return f'"{text}"' if separator in text else text
