"""Tables in lines of pairs such as `time=1 rate=20Mbps`, and in blocks with a pair in each line."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from celltcp.logs.table.times import looks_like_time

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.logs.source import Source

#: A name and its value: in quotes, or without spaces but one before a unit of rates.
_PAIR = re.compile(
    r"""([A-Za-z_][\w.]*)(?:=|:\s+(?=[-+]?\d))"""
    r"""("[^"]*"|[-+]?\d[\d.]* [kKMG]?i?(?:[Bb](?:its?|ytes?)?)(?:ps|/s(?:ec)?)\b|[^\s,;]*)"""
)
#: Suffix of InfluxDB for integers.
_WHOLE = re.compile(r"(?<=\d)[iu]$")
#: A line of a block.
_FIELD = re.compile(r"\s*([A-Za-z][\w .()/%-]*?)\s*[:=]\s+(\S.*?)\s*")
#: Minimum share of the first lines that have the same names.
_MIN_SAME_SHARE = 0.8
#: A time before the pairs, as in the logs of systems.
_TIME_BEFORE = re.compile(r"\s*\[?(.*?\d{1,2}:\d{2}[^\s\]]*(?: [AP]M| \d{4}\b)?)")
#: Times since 1970 before the pairs, or after them as in InfluxDB's line protocol.
_EPOCH_BEFORE = re.compile(r"\s*\[?(\d{10,19}(?:\.\d+)?)\b")
_EPOCH_AFTER = re.compile(r"\s(\d{10,19})\s*$")


def pairs_in(source: Source) -> pd.DataFrame | None:
    """Returns a table with a row for each line of pairs; `None` if the lines are no pairs.

    A time beside the pairs becomes the column `time`.
    """
    lines = source.lines()
    if _is_table(lines):
        return None
    counts = Counter(tuple(name for name, _ in _PAIR.findall(line)) for line in lines)
    names, same_pairs = counts.most_common(1)[0] if counts else ((), 0)
    if not names or same_pairs < _MIN_SAME_SHARE * len(lines):
        return None
    rows = []
    for line in source.text().splitlines():
        if pairs := {name: _WHOLE.sub("", value.strip('"')) for name, value in _PAIR.findall(line)}:
            rows.append({"time": _time_beside(line), **pairs})
    has_times = any(row["time"] is not None for row in rows)
    return _frame(rows) if has_times or len(names) > 1 else None


def _is_table(lines: list[str]) -> bool:
    """Returns whether the lines are those of a table with names, which may have pairs in its texts."""
    if not lines or _PAIR.search(lines[0]):
        return False
    return any(
        lines[0].count(sign) > 1 and lines[0].count(sign) <= min(line.count(sign) for line in lines)
        for sign in "\t;|,"
    )


def blocks_in(source: Source) -> pd.DataFrame | None:
    """Returns a table with a row for each block of lines `name: value`; `None` without such blocks.

    A line with only a time becomes the `time` of the block after it.
    """
    lines = source.lines()
    matches = Counter(match[1] for match in map(_FIELD.fullmatch, lines) if match)
    if len(matches) < 2 or sum(matches.values()) < _MIN_SAME_SHARE * len(lines) - 2 * max(
        matches.values()
    ):
        return None
    if max(matches.values()) < 2 or min(matches.values()) < 0.5 * max(matches.values()):
        return None
    rows: list[dict[str, str | None]] = [{}]
    for line in source.text().splitlines():
        match = _FIELD.fullmatch(line)
        name, value = match.groups() if match else ("time", _time_of(line))
        if value is None:
            continue
        if name in rows[-1]:
            rows.append({})
        rows[-1][name] = value
    return _frame(rows)


def _frame(rows: list[dict[str, str | None]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows).dropna(axis=1, how="all")


def _time_of(line: str) -> str | None:
    text = line.strip()
    return text if looks_like_time(text) or re.fullmatch(r"\d{10,19}(?:\.\d+)?", text) else None


def _time_beside(line: str) -> str | None:
    """Returns the time that stands before or after the pairs of a line."""
    pairs = list(_PAIR.finditer(line))
    before, after = line[: pairs[0].start()], line[pairs[-1].end() :]
    if (match := _TIME_BEFORE.match(before)) and looks_like_time(match[1]):
        return match[1]
    epoch = _EPOCH_BEFORE.match(before) or _EPOCH_AFTER.match(after)
    return epoch[1] if epoch else None
